"""Which rows of a file are of one unit, beside what its rows hold: a file may be its distinct rows.

Rows of a unit lie anywhere in a file. What must be asked of units (which of them are held out, what their rows have in
common) is asked of a number or two per row: the row's unit, and its place among the rows that differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.attack.beliefs.held_out import HELD_OUT, Held, digests, evenly, mixed
from confide.frames.columns import I64, Bools, Records

TOGETHER = 2_000_000
"""Rows that are put in the order of units together."""
NOBODY = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class UnitRows:
    """`unit`: the number of each row's unit; `place`: the row among those that differ (None: each is its own);
    `released`: how many rows the release has. Any whole numbers: of a large file four bytes each.

    >>> rows = UnitRows(np.array([2, 0, 2, 0, 1]), np.array([0, 0, 1, 0, 1]), 5)
    >>> [(first.tolist(), at.tolist()) for first, at in rows.ranges(3)]
    [([0, 2], [0, 0, 1]), ([0], [0, 1])]
    """

    unit: NDArray[Any]
    place: NDArray[Any] | None
    released: int

    def lean(self) -> UnitRows:
        """The same without rows: units have several, that is all."""
        return UnitRows(NOBODY, None, self.released)

    def held(self, records: Records) -> Held:
        """Which of the rows are held out: whole units. `records`: the rows that differ."""
        digest = digests(records)
        size = int(self.unit.max(initial=-1)) + 1
        whole, there = np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=bool)
        for some, at in self._pieces():
            np.add.at(whole, some, digest[at])
            there[some] = True
        chosen = np.empty(size, dtype=bool)
        for low in range(0, size, TOGETHER):
            chosen[low : low + TOGETHER] = evenly(mixed(whole[low : low + TOGETHER])) < HELD_OUT
        rows = np.zeros(records.n)
        for some, at in self._pieces():
            rows += np.bincount(at[chosen[some]], minlength=records.n)
        return Held(rows, digest, len(self.unit) / max(int(there.sum()), 1))

    def ranges(self, most: int, only: Bools | None = None) -> Iterator[tuple[I64, I64]]:
        """Units one after another, about so many rows at a time and none of them cut: where each unit begins among
        these rows, and their places. `only`: by place, rows that count."""
        for low, high in self._units():
            rows = np.flatnonzero((self.unit >= low) & (self.unit < high))
            at = rows if self.place is None else self.place[rows].astype(np.int64)
            if only is not None:
                rows, at = rows[only[at]], at[only[at]]
            unit = self.unit[rows]
            order = np.argsort(unit, kind="stable")
            at, first = at[order], np.flatnonzero(np.diff(unit[order].astype(np.int64), prepend=-1))
            starts = np.append(first, len(at))
            for some in np.split(np.arange(len(first)), np.searchsorted(first, np.arange(most, len(at), most))):
                if len(some):
                    begin = starts[some[0]]
                    yield first[some] - begin, at[begin : starts[some[-1] + 1]]

    def _pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Units and places of rows as they stand, some at a time."""
        for low in range(0, len(self.unit), TOGETHER):
            some = self.unit[low : low + TOGETHER]
            at = np.arange(low, low + len(some)) if self.place is None else self.place[low : low + TOGETHER]
            yield some, at

    def _units(self) -> Iterator[tuple[int, int]]:
        """Ranges of units with about so many rows as are put in order together."""
        many = np.zeros(int(self.unit.max(initial=-1)) + 1, dtype=np.int64)
        for some, _ in self._pieces():
            np.add.at(many, some, 1)
        np.cumsum(many, out=many)
        cuts = np.searchsorted(many, np.arange(TOGETHER, int(many[-1]) if len(many) else 0, TOGETHER)) + 1
        yield from pairwise(np.unique([0, *cuts, len(many)]).tolist())
