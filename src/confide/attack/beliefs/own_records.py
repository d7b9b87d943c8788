"""What one record adds to a belief about itself: leverages of a multinomial regression on distinct patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from confide.attack.beliefs import pattern_sums
from confide.attack.beliefs.combined_columns import with_constant
from confide.attack.beliefs.multinomial import FITTED
from confide.core.run.memory import remembered
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

CURVATURES = 4_000_000
"""Second derivatives that are held at once."""
COLUMNS = 1_000
"""Up to so many, what a record adds to its own category takes into account how columns overlap."""


def own_weight(design: sp.csr_matrix, counts: F64, b: F64, penalty: float) -> sp.csr_matrix:
    """How much one of the records adds to the linear predictor of its own pattern and category, where there is one.

    To first order, category by category: its leverage times what is left of it, 1 - p. The part of the constant stays:
    what the whole file has does not depend on one record.
    """
    added = remembered(_added, design, counts, b, penalty)
    return sp.csr_matrix((added, np.nonzero(counts)), shape=counts.shape)


def _added(design: sp.csr_matrix, counts: F64, b: F64, penalty: float) -> F64:
    """The same for each pattern and category that has a record, in order."""
    x, rows = with_constant(design).sorted_indices(), counts.sum(axis=1)
    added, at = np.zeros(np.count_nonzero(counts)), np.nonzero(counts)
    log_sum, ridge = _log_sums(x, b), np.full(x.shape[1], penalty)
    ridge[0] = 1e-8
    for some in _batches(_by_category(at[1]), x.shape[1]):
        p = np.exp(np.asarray(x @ b[:, [k for k, _ in some]]) - log_sum[:, None])
        for i, leverage in enumerate(_leverages(x, rows, p, ridge, [at[0][mine] for _, mine in some])):
            constant = 1 / max(float((rows * p[:, i] * (1 - p[:, i])).sum()), 1e-300)
            added[some[i][1]] = np.maximum(leverage - constant, 0.0) * (1 - p[at[0][some[i][1]], i])
    return added


def _batches(categories: list[tuple[int, I64]], columns: int) -> list[list[tuple[int, I64]]]:
    """So many categories at a time that their curvatures fit into memory."""
    many = max(CURVATURES // columns**2, 1)
    return [categories[a : a + many] for a in range(0, len(categories), many)]


def _by_category(codes: I64) -> list[tuple[int, I64]]:
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return [(int(codes[mine[0]]), mine) for mine in np.split(order, cuts) if len(mine)]


def _log_sums(x: sp.csr_matrix, b: F64) -> F64:
    """log of the sum over categories, shape (g,), some patterns at a time."""
    step, out = max(FITTED // b.shape[1], 1), np.empty(x.shape[0])
    for at in range(0, x.shape[0], step):
        eta = np.asarray(x[at : at + step] @ b)
        top = eta.max(axis=1)
        out[at : at + step] = top + np.log(np.exp(eta - top[:, None]).sum(axis=1))
    return out


def _leverages(x: sp.csr_matrix, rows: F64, p: F64, ridge: F64, seen: Sequence[I64]) -> Iterator[F64]:
    """x' H^-1 x of some patterns, category by category; where there are very many columns, as if these did not overlap.

    `p`: probabilities (g, categories); `seen`: patterns of each category.
    """
    if x.shape[1] > COLUMNS:
        held = np.asarray(x.T @ (rows[:, None] * p * (1 - p))) + ridge[:, None]
        yield from (np.asarray(x[mine] @ (1 / held[:, i])) for i, mine in enumerate(seen))
        return
    start, at = x.indptr.astype(np.int64), x.indices.astype(np.int64)
    h, w = np.zeros((1, x.shape[1], x.shape[1], p.shape[1])), np.ascontiguousarray(rows[:, None] * p * (1 - p))
    pattern_sums.blocks(0, p.shape[1], start, np.zeros_like(at), at, w, h)
    for i, mine in enumerate(seen):
        below = np.ascontiguousarray(h[0, :, :, i])
        with one_blas_thread():
            inverse = inverse_below(below + np.diag(ridge))
        yield pattern_sums.quadratic(start, at, inverse, mine)


def inverse_below(lower: F64) -> F64:
    """Of a symmetric matrix, given on and below the diagonal: the same of its inverse, which is positive."""
    from scipy.linalg.lapack import dpotrf, dpotri

    factor, wrong = dpotrf(lower, lower=1)
    if not wrong:
        found, wrong = dpotri(factor, lower=1)
    if wrong:
        found = np.linalg.inv(np.tril(lower) + np.tril(lower, -1).T)
    return np.ascontiguousarray(found, dtype=np.float64)
