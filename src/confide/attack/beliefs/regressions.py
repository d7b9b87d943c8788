"""What an intruder believes about a number it does not know, given cell and class.

A number's normal score is linear in the indicators of cell and class, mapped back through the reference file's own
values.

Notation
--------
c : cell, a distinct pattern of predictors
k : class, one of K joint categories
s : normal score of a number, the normal quantile of its rank in the reference file
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr, ndtri

from confide.attack.beliefs.class_model import indicators
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, codes_of_numbers

PENALTY = 1.0
"""Ridge on the coefficients, in units of one record."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The reference rows that a belief was fitted on, their values, and what its regression left over: for beliefs in
    several numbers together, and dropped once those are made."""

    rows: I64
    y: F64
    residual: F64


@dataclass(frozen=True, eq=False)
class NumberBelief:
    """A number given cell and class, through its normal score s ~ N(mu[c, k], tau^2).

    `values`: distinct reference values, sorted; `middle`: their scores; `edges`: boundaries between those.
    `nodes`, `node_edges`: the same thinned to steps that the noise cannot resolve.
    """

    values: F64
    edges: F64
    middle: F64
    nodes: F64
    node_edges: F64
    mu: F64
    tau: float

    @classmethod
    def fit(
        cls, design: sp.csr_matrix, cell: I64, classes: I64, k: int, y: F64, rows: I64,
        steps: Callable[[F64], F64] | None, logs: bool = False, weight: F64 | None = None,
    ) -> tuple[NumberBelief, Fitted]:  # fmt: skip
        """Fit on the reference rows given (those whose value the step alters); `steps` merges values in one unit.

        `cell`, `classes`, `weight`: of all reference rows. With `logs` the scores are logarithms, as printed, instead
        of normal scores.
        """
        values, inverse = np.unique(y, return_inverse=True)
        own = None if weight is None else weight[rows]
        count = np.bincount(inverse, weights=own)
        edges = _log_edges(values) if logs else _score_edges(count)
        middle = np.log(values) if logs else _middle(edges)
        score = middle[inverse]
        each = sp.hstack([design[cell[rows]], indicators(classes[rows], k)]).tocsr()
        beta = _ridge(each, score, own)
        residual = score - each @ beta
        tau = max(float(np.sqrt(np.average(residual**2, weights=own))), 1e-3)
        split = design.shape[1]
        mu = (design @ beta[:split])[:, None] + beta[None, split:]
        nodes, node_edges = _thinned(values, count, edges, steps)
        return cls(values, edges, middle, nodes, node_edges, mu, tau), Fitted(rows, y, residual)

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
    return NumberBelief(nodes, edges, _middle(edges), nodes, edges, zero, 1.0)


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


def _ridge(design: sp.csr_matrix, y: F64, weight: F64 | None) -> F64:
    weighted = design if weight is None else sp.diags(weight) @ design
    gram = (weighted.T @ design).toarray()
    gram[np.diag_indices_from(gram)] += PENALTY
    with one_blas_thread():
        return np.asarray(np.linalg.solve(gram, weighted.T @ y))
