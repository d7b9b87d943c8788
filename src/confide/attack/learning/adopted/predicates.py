"""Predicates about people, such as "race = Asian and age >= 85 and income <= 1,200", and how many rows satisfy each.

A condition is a column, an operator and a value. Q predicates of k conditions are three arrays of shape (Q, k). Rows of
a file are counted along the sorted column that leaves the fewest of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.core.run.compile import unfused
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64

EQUAL, ATLEAST, ATMOST, MISSING, UNEQUAL, ABOVE, BELOW, PRESENT = range(8)


@dataclass(frozen=True, eq=False)
class Predicates:
    """`columns`, `operators`, `values`: of each condition, shape (Q, k)."""

    columns: I64
    operators: I64
    values: F64

    def __len__(self) -> int:
        return len(self.columns)

    def take(self, rows: NDArray[np.integer]) -> Predicates:
        """Some of them."""
        return Predicates(self.columns[rows], self.operators[rows], self.values[rows])

    def first_of_each(self) -> Predicates:
        """Each once, in the order in which they stand; conditions are in the order of columns."""
        order = np.argsort(self.columns, axis=1, kind="stable")
        columns, operators = (np.take_along_axis(x, order, axis=1) for x in (self.columns, self.operators))
        values = np.take_along_axis(self.values, order, axis=1)
        keys = np.hstack([columns, operators, np.nan_to_num(values)])
        _, first = np.unique(keys, axis=0, return_index=True)
        return Predicates(columns, operators, values).take(np.sort(first))


def joined(one: Predicates, two: Predicates) -> Predicates:
    """Both, each once."""
    pairs = zip(vars(one).values(), vars(two).values(), strict=True)
    return Predicates(*(np.concatenate(p) for p in pairs)).first_of_each()


@dataclass(frozen=True, eq=False)
class Index:
    """A file made ready for counting. `cells`: its values, shape (n, d); `order`, `ranked`: the rows of each column by
    value, missing last, and those values, shape (d, n); `present`: values that are there, shape (d,)."""

    cells: F64
    order: I64
    ranked: F64
    present: I64

    @classmethod
    def of(cls, cells: F64) -> Index:
        """Of values with NaN where missing, shape (n, d)."""
        order = np.ascontiguousarray(np.argsort(cells, axis=0, kind="stable").T.astype(np.int64))
        ranked = np.ascontiguousarray(np.take_along_axis(cells.T, order, axis=1))
        return cls(np.ascontiguousarray(cells), order, ranked, (~np.isnan(cells)).sum(axis=0).astype(np.int64))

    def counts(self, asked: Predicates, most: int, threads: int = 1) -> I64:
        """How many rows satisfy each predicate; counting ends where there are more than `most`."""
        out = np.zeros(len(asked), dtype=np.int64)

        def work(a: int, b: int) -> None:
            parts = (self.cells, self.order, self.ranked, self.present)
            _count(*parts, asked.columns, asked.operators, asked.values, most, a, b, out)

        steps = range(0, len(asked), 256)
        run_pieces(work, [(a, min(a + 256, len(asked))) for a in steps], threads, lambda _: None)
        return out


@unfused(inner=True)
def _holds(x, operator, value):  # type: ignore[no-untyped-def]
    """Whether a value satisfies a condition; a missing one satisfies only that it is missing."""
    if np.isnan(x):
        return operator == MISSING
    if operator == EQUAL:
        return x == value
    if operator == ATLEAST:
        return x >= value
    if operator == ATMOST:
        return x <= value
    if operator == UNEQUAL:
        return x != value
    if operator == ABOVE:
        return x > value
    if operator == BELOW:
        return x < value
    return operator == PRESENT


@unfused(inner=True)
def _stretch(ranked, present, n, operator, value):  # type: ignore[no-untyped-def]
    """The stretch of a sorted column outside of which no row satisfies a condition."""
    if operator == MISSING:
        return present, n
    if operator in (UNEQUAL, PRESENT):
        return 0, present
    here = ranked[:present]
    left, right = np.searchsorted(here, value), np.searchsorted(here, value, side="right")
    if operator == EQUAL:
        return left, right
    if operator == ATLEAST:
        return left, present
    if operator == ABOVE:
        return right, present
    return (0, right) if operator == ATMOST else (0, left)


@unfused
def _count(cells, order, ranked, present, columns, operators, values, most, first, last, out):  # type: ignore[no-untyped-def]
    n, k = cells.shape[0], columns.shape[1]
    for q in range(first, last):
        a, b, along = 0, n, 0
        for c in range(k):
            v = columns[q, c]
            left, right = _stretch(ranked[v], present[v], n, operators[q, c], values[q, c])
            if c == 0 or right - left < b - a:
                a, b, along = left, right, c
        count = 0
        for i in range(a, b):
            row = order[columns[q, along], i]
            good = True
            for c in range(k):
                if not _holds(cells[row, columns[q, c]], operators[q, c], values[q, c]):
                    good = False
                    break
            if good:
                count += 1
                if count > most:
                    break
        out[q] = count
