"""The factors of a chain of categories: what predicts the next one, and how probable each is by cell and prefix.

Notation is that of `class_model`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

MOST_COEFFICIENTS = 20_000
"""Up to so many, predictors are also tried together."""


@dataclass(frozen=True, eq=False)
class Cell:
    """What is certain: `alone`, indicators of each predictor; `paired`, with those of what two are together."""

    alone: sp.csr_matrix
    paired: sp.csr_matrix

    @classmethod
    def of(cls, design: sp.csr_matrix, patterns: I64, k: int) -> Cell:
        """With the pairs of codes (predictors, cells) that occur, where they are few enough for k categories."""
        d, n = len(patterns), design.shape[0]
        both = [Distinct.rows([patterns[a], patterns[b]], n) for a in range(d) for b in range(a)]
        if not both or sum(len(at) for at in both) * k > MOST_COEFFICIENTS:
            return cls(design, design)
        return cls(design, sp.hstack([design, *(indicators(at.of, len(at)) for at in both)]).tocsr())


@dataclass(frozen=True, eq=False)
class Prefix:
    """The variables before, given as `codes` (variables, U) of so many `sizes`; `crosses`: designs in which they are
    crossed with what is certain are tried too."""

    codes: I64
    sizes: tuple[int, ...]
    crosses: bool = True

    @property
    def alone(self) -> sp.csr_matrix:
        each = [indicators(codes, size) for codes, size in zip(self.codes, self.sizes, strict=True)]
        return sp.hstack(each).tocsr() if each else sp.csr_matrix((self.codes.shape[1], 0))

    def crossed(self, certain: sp.csr_matrix, u: I64) -> sp.csr_matrix:
        """Columns of what is certain, once for every code of every variable, for rows with these prefixes."""
        blocks, p = [], certain.shape[1]
        for codes, size in zip(self.codes, self.sizes, strict=True):
            columns = certain.indices + p * np.repeat(codes[u], np.diff(certain.indptr))
            blocks.append(sp.csr_matrix((certain.data, columns, certain.indptr), shape=(len(u), p * size)))
        return sp.hstack(blocks).tocsr()


@dataclass(frozen=True, eq=False)
class Factor:
    """Pr(k_v given cell and prefix) as coefficients: `cells` (columns, K), `prefixes` (columns, K), and `both`
    (codes of the variables before, columns, K), None where they are not crossed. `own`: what one record adds to that of
    its own pattern, shape (patterns, K), with the patterns' `at`, their cells and prefixes."""

    cell: sp.csr_matrix
    prefix: Prefix
    constant: F64
    cells: F64
    prefixes: F64
    both: F64 | None
    own: sp.csr_matrix
    at: tuple[I64, I64]

    @cached_property
    def scores(self) -> tuple[F64, F64]:
        """The parts of eta that belong to cells, with the constant, and to prefixes: (cells, K) and (prefixes, K)."""
        return np.asarray(self.constant + self.cell @ self.cells), np.asarray(self.prefix.alone @ self.prefixes)

    def log_p(self, u: I64, k: I64, cells: I64 | None = None) -> F64:
        """log Pr for pairs of a prefix and a category, shape (cells, pairs); pairs of one prefix lie together. `cells`:
        only these, rising (None: all)."""
        (on_cells, on_prefixes), (of, prefix) = self.scores, self.at
        place = np.arange(len(on_cells)) if cells is None else np.full(len(on_cells), -1)
        if cells is not None:
            on_cells, place[cells] = on_cells[cells], np.arange(len(cells))
        own = self.cell if cells is None else self.cell[cells]
        out = np.empty((len(on_cells), len(u)))
        starts = np.cumsum([0, *self.prefix.sizes])
        for mine in np.split(np.arange(len(u)), np.flatnonzero(np.diff(u)) + 1):
            at = int(u[mine[0]])
            eta = on_cells + on_prefixes[at]
            if self.both is not None:
                together = self.both[starts[:-1] + self.prefix.codes[:, at]].sum(axis=0)
                eta = eta + own[:, : len(together)] @ together
            seen = np.flatnonzero((prefix == at) & (place[of] >= 0))
            eta[place[of[seen]]] -= self.own[seen].toarray()
            top = eta.max(axis=1, keepdims=True)
            log_sum = top + np.log(np.exp(eta - top).sum(axis=1, keepdims=True))
            out[:, mine] = eta[:, k[mine]] - log_sum
        return out


def indicators(codes: I64, size: int) -> sp.csr_matrix:
    """One column per code, shape (n, size)."""
    n = len(codes)
    return sp.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, size))
