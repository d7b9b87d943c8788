"""Regressors that are a function of categories times a product of numbers, summed once for each cell of categories.

Notation: N rows and k columns as in `propensity_logistic`, sorted by cell; g cells, combinations of all categories
(and of missing numbers, and of those outside the original's range) that occur; t products of numbers: 1, u and u v.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from confide.frames.columns import F64, I64, Bools, combine
from confide.measure.utility.propensity_logistic import Residual, Terms, terms
from confide.measure.utility.stacked import Stacked

NUMBERS, ROWS = 4, 4
"""With more numbers than these, or fewer rows per cell, blocks of rows are faster."""


@dataclass(frozen=True, eq=False)
class CellTerms:
    """`f`: each column's function of the cell, shape (k, g). `product`: which product of numbers it is multiplied by,
    shape (k,). `products`: shape (t, N). `starts`: the first row of each cell, shape (g,). `without`: as in `Terms`."""

    f: F64
    product: I64
    products: F64
    starts: I64
    without: int

    @property
    def width(self) -> int:
        """k, the columns of X."""
        return len(self.f)

    def only(self, kept: Bools) -> CellTerms:
        """Some of the columns."""
        return replace(self, f=self.f[kept], product=self.product[kept])

    def scored(self, b: F64, residual: Residual) -> tuple[F64, F64]:
        """The linear predictor Xb, shape (N,), and X'r with the residual r that it leads to, shape (k,)."""
        factor = np.stack([b[at] @ self.f[at] for at in self._columns()])
        many = np.diff(self.starts, append=self.products.shape[1])
        eta = np.einsum("ij,ij->j", np.repeat(factor, many, axis=1), self.products)
        sums = np.add.reduceat(self.products * residual(slice(None), eta), self.starts, axis=1)
        return eta, np.einsum("ij,ij->i", self.f, sums[self.product])

    def gram(self, w: F64) -> F64:
        """X'WX, shape (k, k)."""
        total, columns = np.empty((self.width, self.width)), self._columns()
        for m, i in enumerate(columns):
            for n, j in enumerate(columns[: m + 1]):
                sums = np.add.reduceat(self.products[m] * self.products[n] * w, self.starts)
                total[np.ix_(i, j)] = block = (self.f[i] * sums) @ self.f[j].T
                total[np.ix_(j, i)] = block.T
        return total

    def _columns(self) -> list[I64]:
        """The columns of each product."""
        return [np.flatnonzero(self.product == m) for m in range(len(self.products))]


def by_cell(stacked: Stacked, interactions: bool) -> tuple[Terms | CellTerms, Stacked]:
    """Terms, and the rows that they are of: in cells where that is faster, else row by row."""
    if len(stacked.numbers) > NUMBERS:
        return terms(stacked, interactions), stacked
    marks = [*map(np.isnan, stacked.numbers.values()), *stacked.outside.values()]
    coded = [*stacked.codes.values(), *((x.astype(np.int64), 2) for x in marks)]
    key = combine([c for c, _ in coded], [size for _, size in coded])
    small = key.astype(np.uint16) if len(key) and key.max() < 2**16 else key  # sorted by counting
    order = np.argsort(small, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    if not len(starts) or len(starts) * ROWS > len(key):
        return terms(stacked, interactions), stacked
    rows = stacked.taken(order)
    return _cell_terms(terms(rows, interactions, starts), rows, starts), rows


def _cell_terms(t: Terms, rows: Stacked, starts: I64) -> CellTerms:
    """Columns of X taken apart: a number is 1 in the function of the cell, a category 1 in the product."""
    number = np.full(len(t.main) + 1, -1)
    number[list(t.numbers)] = np.arange(len(t.numbers))
    scaled = np.stack([*(rows.scaled[v] for v in t.numbers.values()), np.ones(len(rows.y))])
    main = np.where(number[:, None] >= 0, 1.0, np.append(t.main, np.ones((1, len(starts))), axis=0))
    none = np.full(len(t.own), -1)
    left, right = np.concatenate([[-1], t.own, t.left]), np.concatenate([[-1], none, t.right])
    pairs = np.sort(number[np.stack([left, right])], axis=0)
    found, product = np.unique(pairs, axis=1, return_inverse=True)
    return CellTerms(main[left] * main[right], product.ravel(), scaled[found[0]] * scaled[found[1]], starts, t.without)
