r"""Pr(joint category given cell): one factor per variable, each a multinomial regression.

.. math:: \Pr(k_1, \dots, k_d \mid c) = \prod_v \Pr(k_v \mid c, k_1, \dots, k_{v-1})

The regression of :math:`k_v` has the indicators of what is certain (the cell) and of the variables before it, alone or
also in pairs, and as much smoothing as makes held-out records likeliest. Variables with few categories come first. A
joint category that nobody has gets a probability too; and no single record has much weight in that of its own: the
target must not pass for a reason to expect somebody like it.

Notation
--------
c : cell, a pattern of what is certain
u : prefix, the categories of the variables before
eta : linear predictor, one part for cells and one for prefixes
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs.multinomial import coefficients, fit_coefficients
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

PAIRS = 20_000
"""Coefficients up to which pairs of predictors are tried."""
PRESENT = 1e-3
"""Records added to each category where nothing predicts it."""


@dataclass(frozen=True, eq=False)
class Predictors:
    """Distinct patterns of predictors: `alone` their indicators, `pairs` those of two together (None: not tried)."""

    alone: sp.csr_matrix
    pairs: sp.csr_matrix | None = None

    @classmethod
    def of(cls, alone: sp.csr_matrix, codes: Sequence[I64] | I64, k: int) -> Predictors:
        """With the pairs of codes (predictors, patterns) that occur, where their number times k is small enough."""
        both = [Distinct.rows([codes[a], codes[b]], alone.shape[0]) for a in range(len(codes)) for b in range(a)]
        if not both or sum(len(at) for at in both) * k > PAIRS:
            return cls(alone)
        return cls(alone, sp.hstack([indicators(at.of, len(at)) for at in both]).tocsr())

    def matrix(self, paired: bool) -> sp.csr_matrix:
        return sp.hstack([self.alone, self.pairs]).tocsr() if paired and self.pairs is not None else self.alone


NOTHING = Predictors(sp.csr_matrix((1, 0)))


def log_class_probabilities(
    design: sp.csr_matrix, cell: I64, classes: I64, k: int, penalty: float | None = None, weight: F64 | None = None
) -> F64:
    """log Pr(k given cell), shape (cells, K), of one variable.

    `cell`, `classes`: of the reference's rows; `weight`: how much each counts (None: 1); `penalty`: None for that
    under which held-out records are likeliest.
    """
    return _log_first(Predictors(design), cell, classes, k, weight, penalty)


def log_joint_probabilities(
    design: sp.csr_matrix, patterns: I64, cell: I64, own: I64, classes: I64, sizes: Sequence[int],
    weight: F64 | None = None,
) -> F64:  # fmt: skip
    """log Pr(joint category given cell), shape (cells, K).

    `design`, `patterns`: of the cells; `cell`, `own`: each reference row's cell and joint category; `classes`:
    (variables, K), the joint categories as codes of their variables, which have so many `sizes`.
    """
    order = np.argsort(sizes, kind="stable")
    out = np.zeros((design.shape[0], 1))
    of = np.zeros(classes.shape[1], dtype=np.int64)  # the prefix of each class
    known = np.zeros((0, 1), dtype=np.int64)  # the prefixes, as codes
    for at, v in enumerate(order):
        k, code = sizes[v], classes[v]
        cells = Predictors.of(design, patterns, k)
        if at == 0:
            on_cells, on_prefixes = _log_first(cells, cell, code[own], k, weight), np.zeros((1, k))
        else:
            before = _before(known, [sizes[w] for w in order[:at]], k)
            on_cells, on_prefixes = _predictors_of(cells, before, cell, of[own], code[own], k, weight)
        child = Distinct.rows([of, code], len(of))
        parent, mine = of[child.first], code[child.first]
        out = out[:, parent]
        out += on_cells[:, mine]
        out += on_prefixes[parent, mine]
        out -= _log_sums(on_cells, on_prefixes)[:, parent]
        of, known = child.of, np.vstack([known[:, parent], mine])
    return np.asarray(out[:, of])


def _before(known: I64, sizes: Sequence[int], k: int) -> Predictors:
    """Prefixes (variables, U) as predictors."""
    alone = sp.hstack([indicators(codes, size) for codes, size in zip(known, sizes, strict=True)]).tocsr()
    return Predictors.of(alone, known, k)


def _log_first(
    cells: Predictors, cell: I64, codes: I64, k: int, weight: F64 | None, penalty: float | None = None
) -> F64:
    """log Pr(category given cell), shape (cells, K): the file's shares where there is one cell or one category."""
    present = np.bincount(codes, weights=weight, minlength=k).astype(float)
    n = cells.alone.shape[0]
    if n == 1 or (present > 0).sum() == 1:
        return np.tile(np.log((present + PRESENT) / (present.sum() + PRESENT * k)), (n, 1))
    nowhere = np.zeros(len(cell), dtype=np.int64)
    eta, _ = _predictors_of(cells, NOTHING, cell, nowhere, codes, k, weight, penalty)
    return eta - _log_sums(eta, np.zeros((1, k)))


def _predictors_of(
    cells: Predictors, before: Predictors, cell: I64, prefix: I64, codes: I64, k: int, weight: F64 | None,
    penalty: float | None = None,
) -> tuple[F64, F64]:  # fmt: skip
    """The linear predictor of one variable: the part of cells, shape (cells, K), and that of prefixes, (U, K)."""
    at = Distinct.rows([cell, prefix], len(cell))
    counts = np.bincount(at.of * k + codes, weights=weight, minlength=len(at) * k).reshape(len(at), k).astype(float)
    c, u = cell[at.first], prefix[at.first]
    pairs = cells.pairs is not None or before.pairs is not None
    designs = [
        sp.hstack([cells.matrix(p)[c], before.matrix(p)[u]]).tocsr() for p in ((False, True) if pairs else (False,))
    ]
    b = remembered(_coefficients, counts, penalty, *designs)
    paired = len(designs) > 1 and len(b) == designs[1].shape[1] + 1
    x, y = cells.matrix(paired), before.matrix(paired)
    split = 1 + x.shape[1]
    return b[0] + x @ b[1:split], y @ b[split:]


def _coefficients(counts: F64, penalty: float | None, *designs: sp.csr_matrix) -> F64:
    return coefficients(designs, counts) if penalty is None else fit_coefficients(designs[0], counts, penalty)


def _log_sums(a: F64, b: F64) -> F64:
    """log of sum over k of exp(a_ck + b_uk), shape (cells, U)."""
    top, more = a.max(axis=1, keepdims=True), b.max(axis=1, keepdims=True)
    with one_blas_thread():
        return np.asarray(np.log(np.exp(a - top) @ np.exp(b - more).T) + top + more.T)


def indicators(codes: I64, size: int) -> sp.csr_matrix:
    """One column per code, shape (n, size)."""
    n = len(codes)
    return sp.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, size))
