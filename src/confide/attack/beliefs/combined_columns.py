"""Columns of indicators that are taken together: fewer numbers to read for each pattern of predictors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.frames.columns import I64
from confide.frames.distinct import Distinct

COMBINED = 32
"""Columns are taken together while that gives at most one combination for so many patterns."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Indicators x as a product: pattern g has the combinations `at[start[g] : start[g + 1]]` of columns, and `joined`,
    (combinations, columns), says which these are; `back` is its transpose."""

    start: I64
    at: I64
    joined: sp.csr_matrix
    back: sp.csr_matrix

    @classmethod
    def of(cls, x: sp.csr_matrix) -> Columns:
        """Columns that follow each other, where all patterns have as many of them; else each by itself."""
        n, d = x.shape[0], x.nnz // max(x.shape[0], 1)
        if np.any(np.diff(x.indptr) != d):
            own = sp.eye(x.shape[1]).tocsr()
            return cls(x.indptr.astype(np.int64), x.indices.astype(np.int64), own, own)
        at, joins = _combinations(x.indices.reshape(n, d).astype(np.int64).T, x.shape[1])
        joined = sp.vstack(joins).tocsr()
        return cls(np.arange(n + 1) * len(at), np.stack(at, axis=1).ravel(), joined, joined.T.tocsr())


def _combinations(columns: I64, many: int) -> tuple[list[I64], list[sp.csr_matrix]]:
    """Per group of columns, given as (columns of a pattern, patterns), the combination of each pattern, counted through
    all groups; and the columns of each combination."""
    d, n = columns.shape
    at: list[I64] = []
    joins: list[sp.csr_matrix] = []
    first = 0
    while first < d:
        mine, last = Distinct.rows([columns[first]], n), first + 1
        while last < d and len(more := Distinct.rows([mine.of, columns[last]], n)) * COMBINED <= n:
            mine, last = more, last + 1
        at.append(mine.of + sum(j.shape[0] for j in joins))
        held = columns[first:last, mine.first].T
        ends = np.arange(0, held.size + 1, last - first)
        joins.append(sp.csr_matrix((np.ones(held.size), held.ravel(), ends), shape=(len(mine), many)))
        first = last
    return at, joins


def with_constant(design: sp.csr_matrix) -> sp.csr_matrix:
    """Indicators with a column of ones before them, columns of each row in rising order: rounding, and with it where a
    fit ends, hangs on the order."""
    n = design.shape[0]
    start = design.indptr + np.arange(n + 1, dtype=design.indptr.dtype)
    rest = np.ones(len(design.indices) + n, dtype=bool)
    rest[start[:-1]] = False
    at, values = np.zeros(len(rest), dtype=design.indices.dtype), np.ones(len(rest))
    at[rest], values[rest] = design.indices + 1, design.data
    out = sp.csr_matrix((values, at, start), shape=(n, design.shape[1] + 1))
    out.sort_indices()
    return out
