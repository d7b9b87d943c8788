"""What an intruder believes about values it does not know: ONE joint model, from which A and B both come.

The model speaks of *cells* (patterns of what is certain) and *classes* (joint categories of the uncertain
variables): Pr(k given cell) is a multinomial regression on the cells' indicators; a number given cell and class
has a normal score that is linear in the same indicators, mapped back through the reference file's own values.

Notation
--------
c : cell, a distinct pattern of predictors
k : class, one of K joint categories
s : normal score of a number, the normal quantile of its rank in the reference file
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr, ndtri

from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, codes_of_numbers, combine

FINE = 100
"""Predictors with at most this many codes enter as they are; others in bins of about equal counts."""
BINS = 32
LARGE = 150
"""Beyond this many classes a regression is not worth its cost: each cell's own counts, drawn towards the file's."""
PENALTY = 1.0
"""Ridge on the coefficients of both regressions, in units of one record."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Patterns of predictors. `design`: sparse indicators, one row per cell; `of`: lists of codes to cell numbers."""

    design: sp.csr_matrix
    of_reference: I64
    of_records: I64
    of_targets: I64

    @classmethod
    def build(
        cls, reference: Sequence[I64], records: Sequence[I64], targets: Sequence[I64], sizes: Sequence[int],
        n_reference: int, n_records: int, n_targets: int,
    ) -> Cells:  # fmt: skip
        """Code the predictors of reference rows, records and targets alike; -1 is a code of its own."""
        if not sizes:
            zero = [np.zeros(n, dtype=np.int64) for n in (n_reference, n_records, n_targets)]
            return cls(sp.csr_matrix(np.ones((1, 1))), *zero)
        columns, widths = [], []
        for ref, rec, tgt, size in zip(reference, records, targets, sizes, strict=True):
            every, width = _binned(np.concatenate([ref, rec, tgt]), ref, size)
            columns.append(every)
            widths.append(width)
        whole = combine(columns, widths)
        _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        starts = np.concatenate([[0], np.cumsum([w + 1 for w in widths])])
        at = np.stack([c[first] + 1 + s for c, s in zip(columns, starts[:-1], strict=True)], axis=1)
        rows = np.repeat(np.arange(len(first)), at.shape[1])
        design = sp.csr_matrix((np.ones(at.size), (rows, at.ravel())), shape=(len(first), int(starts[-1])))
        keep = np.asarray(design.sum(axis=0)).ravel() > 0
        inverse = inverse.astype(np.int64)
        a, b = n_reference, n_reference + n_records
        return cls(design[:, keep], inverse[:a], inverse[a:b], inverse[b:])


def _binned(codes: I64, reference: I64, size: int) -> tuple[I64, int]:
    """Codes as they are where few, else bins of about equal counts in the reference (codes rise with values)."""
    if size <= FINE:
        return codes, size
    known = np.sort(reference[reference >= 0])
    if not len(known):
        return np.where(codes < 0, -1, 0), 1
    cuts = np.unique(known[(np.arange(1, BINS) * len(known)) // BINS])
    return np.where(codes < 0, -1, np.searchsorted(cuts, codes, side="right")), len(cuts) + 1


def log_class_probabilities(cells: Cells, classes: I64, k: int, penalty: float = PENALTY) -> F64:
    """log Pr(k given cell), shape (cells, K): multinomial regression on distinct (cell, class) patterns with counts."""
    n_cells = cells.design.shape[0]
    present = np.bincount(classes, minlength=k)
    if k == 1:
        return np.zeros((n_cells, 1))
    if n_cells == 1 or (present > 0).sum() == 1:
        smooth = (present + 1e-3) / (present.sum() + 1e-3 * k)
        return np.tile(np.log(smooth), (n_cells, 1))
    if k > LARGE:
        return _shrunk(cells, classes, k, present)
    from sklearn.linear_model import LogisticRegression

    pair, count = np.unique(cells.of_reference * k + classes, return_counts=True)
    model = LogisticRegression(C=1 / penalty, max_iter=200, tol=1e-4)
    with warnings.catch_warnings(), one_blas_thread():
        # 200 steps come within a fraction of a percent of the optimum, far inside the sampling error of the file; and
        # many classes among few records are what small files have.
        warnings.simplefilter("ignore")
        model.fit(cells.design[pair // k], pair % k, sample_weight=count.astype(float))
    out = np.full((n_cells, k), -np.inf)
    out[:, model.classes_.astype(int)] = model.predict_log_proba(cells.design)
    return out


def _shrunk(cells: Cells, classes: I64, k: int, present: I64, prior: float = 5.0) -> F64:
    """Class frequencies of each cell, with `prior` records' worth of the whole file's frequencies added."""
    n_cells = cells.design.shape[0]
    counts = np.bincount(cells.of_reference * k + classes, minlength=n_cells * k).reshape(n_cells, k)
    overall = (present + 1e-3) / (present.sum() + 1e-3 * k)
    return np.asarray(np.log((counts + prior * overall) / (counts.sum(axis=1, keepdims=True) + prior)))


@dataclass(frozen=True, eq=False)
class NumberBelief:
    """A number given cell and class, through its normal score s ~ N(mu[c, k], tau^2).

    `values`: distinct reference values, sorted; `middle`: their scores; `edges`: boundaries between those.
    `nodes`, `node_edges`: the same thinned to steps that the noise cannot resolve. `rows`, `y`, `residual`: the
    reference rows it was fitted on, their values, and what the regression left over (in units of tau).
    """

    values: F64
    edges: F64
    middle: F64
    nodes: F64
    node_edges: F64
    mu: F64
    tau: float
    residual: F64
    rows: I64
    y: F64

    @classmethod
    def fit(
        cls, cells: Cells, classes: I64, k: int, y: F64, rows: I64, steps: Callable[[F64], F64] | None,
        logs: bool = False,
    ) -> NumberBelief:  # fmt: skip
        """Fit on the reference rows given (those whose value the step alters); `steps` merges values in one unit.

        With `logs` the scores are logarithms, as printed, instead of normal scores.
        """
        values, inverse, count = np.unique(y, return_inverse=True, return_counts=True)
        edges = _log_edges(values) if logs else _score_edges(count)
        middle = np.log(values) if logs else _middle(edges)
        score = middle[inverse]
        design = sp.hstack([cells.design[cells.of_reference[rows]], _indicators(classes[rows], k)]).tocsr()
        beta = _ridge(design, score)
        fitted = design @ beta
        residual = score - fitted
        tau = max(float(np.sqrt(np.mean(residual**2))), 1e-3)
        split = cells.design.shape[1]
        mu = (cells.design @ beta[:split])[:, None] + beta[None, split:]
        nodes, node_edges = _thinned(values, count, edges, steps)
        return cls(values, edges, middle, nodes, node_edges, mu, tau, residual / tau, rows, y)

    def score(self, y: F64) -> F64:
        """Normal scores of any values, by interpolation between reference values."""
        return np.interp(y, self.values, self.middle)

    def log_density(self, y: F64, cell: I64, k: I64 | int) -> F64:
        """log density of the normal score of y given cell and class; the scale's own slope is left out."""
        x = (self.score(y) - self.mu[cell, k]) / self.tau
        return np.asarray(-0.5 * x * x - np.log(self.tau))

    def log_point(self, y: F64, cell: I64) -> F64:
        """log Pr(this very value given cell, k), shape (n, K); -inf for values the reference does not hold."""
        at = codes_of_numbers(y, self.values)
        place = np.maximum(at, 0)
        a = (self.edges[place][:, None] - self.mu[cell]) / self.tau
        b = (self.edges[place + 1][:, None] - self.mu[cell]) / self.tau
        flip = a + b > 0
        mass = np.where(flip, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a))
        with np.errstate(divide="ignore"):
            return np.where(at[:, None] >= 0, np.log(np.maximum(mass, 1e-300)), -np.inf)


def uniform_belief(low: float, high: float, n_cells: int, k: int, finest: float) -> NumberBelief:
    """Somebody who believes only that a number lies in a range."""
    step = max(finest, (high - low) / 4000)
    nodes = np.linspace(low, high, max(int(np.ceil((high - low) / step)) + 1, 2))
    edges = _score_edges(np.ones(len(nodes), dtype=np.int64))
    zero = np.zeros((n_cells, k))
    return NumberBelief(
        nodes, edges, _middle(edges), nodes, edges, zero, 1.0, np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0)
    )


def _score_edges(count: I64) -> F64:
    share = np.concatenate([[0.0], np.cumsum(count) / count.sum()])
    share[-1] = 1.0
    return np.asarray(ndtri(share))


def _log_edges(values: F64) -> F64:
    """Boundaries half way between logarithms of neighbouring values."""
    logs = np.log(values)
    return np.concatenate([[-np.inf], 0.5 * (logs[1:] + logs[:-1]), [np.inf]])


def _middle(edges: F64) -> F64:
    """The score in the middle of each value's share of ranks."""
    return np.asarray(ndtri(0.5 * (ndtr(edges[:-1]) + ndtr(edges[1:]))))


def _thinned(values: F64, count: I64, edges: F64, steps: Callable[[F64], F64] | None) -> tuple[F64, F64]:
    """Merge values that the noise cannot tell apart: one node per unit of `steps` (None: all), at its mean."""
    if steps is None:
        return values, edges
    group = np.floor(steps(values))
    first = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    total = np.add.reduceat(count.astype(float), first)
    nodes = np.add.reduceat(values * count, first) / total
    return nodes, np.concatenate([edges[first], edges[-1:]])


def _indicators(codes: I64, k: int) -> sp.csr_matrix:
    n = len(codes)
    return sp.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, k))


def _ridge(design: sp.csr_matrix, y: F64) -> F64:
    gram = (design.T @ design).toarray()
    gram[np.diag_indices_from(gram)] += PENALTY
    with one_blas_thread():
        return np.asarray(np.linalg.solve(gram, design.T @ y))
