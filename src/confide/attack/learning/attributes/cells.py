"""Cells of known variables: categories of each, and how many people of a reference file have each value in each cell.

Of everybody who is alike in all of that one row is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64, Column, codes_in, combine
from confide.frames.distinct import Distinct, by_code

WEIGHTS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 300.0, 1000.0, np.inf)
"""Records' worth of the level before, of which the best is taken."""
FINE, COARSE = 24, 6
"""Bins of a known number that has more values."""
MOST = 2**62
"""Cells that can be counted."""


@dataclass(frozen=True, eq=False)
class Feature:
    """A known variable as categories: `cuts` of a number, None for codes as they are; `size`: how many there are,
    missing one of them."""

    column: Column
    cuts: F64 | None
    size: int

    @classmethod
    def of(cls, column: Column, most: Sequence[int]) -> list[Feature]:
        """As the reference file has it; a number once in at most so many bins each, as long as it has more values."""
        if column.kind == "categorical":
            return [cls(column.codebook(), None, len(column.levels) + 1)]
        there = column.values[~column.missing]
        found = Distinct.rows([there], len(there))
        values, upto = there[found.first], np.cumsum(found.count)
        out = []
        for bins in most:
            if len(values) <= bins:
                out += [cls(column.with_values(values), None, len(values) + 1)]
                break
            cuts = np.unique(_quantiles(values, upto, np.arange(1, bins) / bins))
            out += [cls(column.with_values(values), cuts, len(cuts) + 2)]
        return out

    def codes(self, column: Column) -> I64:
        """Codes of values, the last one for missing, -1 for what the reference has not."""
        if self.cuts is not None:
            found = np.searchsorted(self.cuts, column.values, side="right")
        else:
            found = codes_in(column, self.column)
        return np.where(column.missing, self.size - 1, found).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Level:
    """Cells of some features: `known`, the sorted codes of cells; `counts` (cells, bins); `total`; `a`, its weight."""

    features: tuple[int, ...]
    known: I64
    counts: sp.csr_matrix
    total: F64
    a: float

    def place(self, codes: Sequence[I64], sizes: Sequence[int], n: int) -> I64:
        """The cell of each row, -1 where nobody of the reference is in it."""
        whole = _cell_codes([codes[f] for f in self.features], [sizes[f] for f in self.features], n)
        at = np.clip(np.searchsorted(self.known, whole), 0, max(len(self.known) - 1, 0))
        return np.where(self.known[at] == whole, at, -1) if len(self.known) else np.full(n, -1)

    def shrink(self, out: F64, cell: I64, own: I64) -> None:
        """Beliefs of the level before, (n, bins + 1), become those of this one; `cell`: of each row, -1 for none;
        `own`: the bin that is left out, -1 for none."""
        start, at = self.counts.indptr.astype(np.int64), self.counts.indices.astype(np.int64)
        _shrink(out, cell, own, start, at, self.counts.data, self.total, self.a)


def _quantiles(values: F64, upto: F64, shares: F64) -> F64:
    """Those of a number with these values, in rising order, of which `upto` people have none that is larger: between
    two people on the line through their values, as `np.quantile` has them."""
    at = shares * (upto[-1] - 1)
    low = np.floor(at)
    a, b = (values[np.searchsorted(upto, x, side="right")] for x in (low, np.minimum(low + 1, upto[-1] - 1)))
    t = at - low
    return np.asarray(np.where(t < 0.5, a + (b - a) * t, b - (b - a) * (1 - t)))


def _cell_codes(codes: Sequence[I64], sizes: Sequence[int], n: int) -> I64:
    if _span(sizes) < MOST:
        return combine(list(codes), list(sizes)) if codes else np.zeros(n, dtype=np.int64)
    out = np.zeros(n, dtype=np.uint64)  # cells beyond counting: told apart by a mixed number
    for c in codes:
        out = (out ^ (c + 2).astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        out ^= out >> np.uint64(29)
    return (out >> np.uint64(1)).astype(np.int64)


def _span(sizes: Sequence[int]) -> int:
    return math.prod(size + 1 for size in sizes)


@dataclass(frozen=True, eq=False)
class Reference:
    """The reference file, those alike once: `codes` of each feature, `y`, their bins; `count`: how many each stands
    for."""

    codes: tuple[I64, ...]
    features: Sequence[Feature]
    y: I64
    bins: int
    count: F64

    @classmethod
    def of(cls, codes: Sequence[I64], features: Sequence[Feature], y: I64, bins: int) -> Reference:
        alike = Distinct.rows([*codes, y], len(y))
        return cls(tuple(c[alike.first] for c in codes), features, y[alike.first], bins, alike.count)

    def level(self, which: Sequence[int], a: float) -> Level:
        """Cells of some features."""
        cell, first, whole = self._cells(which)
        counts = sp.csr_matrix((self.count, (cell, self.y)), shape=(len(first), self.bins + 1))
        counts.sum_duplicates()
        total = np.bincount(cell, weights=self.count, minlength=len(first)).astype(np.float64)
        return Level(tuple(which), whole[first], counts, total, a)

    def _cells(self, which: Sequence[int]) -> tuple[I64, I64, I64]:
        """The cell of each row, a row of each cell, and the code of each row's cell."""
        codes, sizes = [self.codes[f] for f in which], [self.features[f].size for f in which]
        whole = _cell_codes(codes, sizes, len(self.y))
        span = _span(sizes)
        first, cell = by_code(whole, span if span < MOST else None)
        return cell, first, whole

    def likeliest(self, which: Sequence[int], p: F64) -> tuple[float, F64, float]:
        """The weight of a level that makes left-out values likeliest beside beliefs p in each row's own value, with
        these values' chances then, and the sum of their logs."""
        cell, first, _ = self._cells(which)
        value = cell * (self.bins + 1) + self.y
        of_value = by_code(value, len(first) * (self.bins + 1))[1]
        mine, total = (np.bincount(of, weights=self.count)[of] - 1 for of in (of_value, cell))
        best = (np.inf, p, self._likely(p))
        for a in WEIGHTS[:-1]:
            q = (mine + a * p) / (total + a)
            likely = self._likely(q)
            if likely > best[2]:
                best = (a, q, likely)
        return best

    def _likely(self, p: F64) -> float:
        return float(self.count @ np.log(np.maximum(p, 1e-300)))


@compiled
def _shrink(out, cell, own, start, at, count, total, a):  # type: ignore[no-untyped-def]
    for i in range(len(cell)):
        c, mine, row = cell[i], own[i], out[i]
        if c < 0:
            continue
        whole = max(total[c] - (1 if mine >= 0 else 0) + a, 1e-300)
        for b in range(len(row)):
            row[b] *= a
        for k in range(start[c], start[c + 1]):
            row[at[k]] += count[k] - (1 if at[k] == mine else 0)
        for b in range(len(row)):
            row[b] /= whole
