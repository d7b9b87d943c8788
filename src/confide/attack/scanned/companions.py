"""Released rows put aside by block together with the other rows of their units, wherever these lie.

What a record says of a target hangs on all rows of its unit, so a bucket has beside its own records all rows of their
units: companions, which are no candidates there. Rows are read twice: for the bucket of each (two bytes a row), and,
once it is known which buckets every unit has rows in, to be put aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.attack.beliefs.unit_rows import TOGETHER, UnitRows
from confide.attack.scanned.file_units import FileUnits
from confide.core.scale.spilled import Spilled
from confide.frames.columns import I64

UNIT, MINE = "__unit", "__mine"
NOWHERE = 2**16 - 1
"""The bucket of a row that is no candidate."""
SENT = 1_000_000
"""Rows that are put aside together."""


@dataclass(frozen=True, eq=False)
class Touched:
    """Which buckets units have rows in: those of unit u are `bucket[start[u]:start[u + 1]]`, two bytes each."""

    start: NDArray[Any]
    bucket: NDArray[np.uint16]

    @classmethod
    def of(cls, unit: NDArray[Any], bucket: NDArray[np.uint16], many: int) -> Touched:
        """Of released rows; `many`: the highest number of a unit, and one.

        >>> found = Touched.of(np.array([0, 2, 2, 0]), np.array([7, 1, 1, 3], dtype=np.uint16), 3)
        >>> found.start.tolist(), found.bucket.tolist()
        ([0, 2, 2, 3], [3, 7, 1])
        """
        start, parts = np.zeros(many + 1, dtype=np.int32 if len(unit) < 2**31 else np.int64), [bucket[:0]]
        for _, at in UnitRows(unit, None, len(unit)).ranges(TOGETHER):
            there = at[bucket[at] != NOWHERE]
            pairs = np.sort(unit[there].astype(np.int64) << 16 | bucket[there])
            pairs = pairs[np.diff(pairs, prepend=-1) != 0]
            np.add.at(start, (pairs >> 16) + 1, 1)
            parts.append((pairs & NOWHERE).astype(np.uint16))
        np.cumsum(start, out=start)
        return cls(start, np.concatenate(parts))

    def sent(self, unit: I64) -> tuple[I64, I64]:
        """Each of some rows as often as its unit has buckets, and these."""
        first = self.start[unit].astype(np.int64)
        times = self.start[unit + 1] - first
        rows = np.repeat(np.arange(len(unit)), times)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
        return rows, self.bucket[first[rows] + within].astype(np.int64)


class WithCompanions:
    """Rows on their way to buckets. `batches`: the release once more, with the original row of each; `alone`: nothing
    is asked of companions, so that there are none."""

    def __init__(
        self, aside: Spilled, units: FileUnits, batches: Callable[[], Iterable[tuple[I64, pl.DataFrame]]], alone: bool
    ) -> None:
        self.aside, self.units, self.batches, self.alone = aside, units, batches, alone
        self.bucket = np.full(units.released, NOWHERE, dtype=np.uint16)
        self.unit, self.many = np.empty(units.released, dtype=units.unit.dtype), 0

    def add(self, frame: pl.DataFrame, link: I64, rows: I64, bucket: I64) -> None:
        """The next batch: the original row of each, which rows can be candidates, and the buckets of these."""
        self.bucket[self.many + rows] = bucket
        self.unit[self.many : self.many + frame.height] = self.units.unit[link]
        self.many += frame.height

    def done(self) -> Spilled:
        """All rows, put aside."""
        touched = None if self.alone else Touched.of(self.unit, self.bucket, len(self.units.unit))
        at = 0
        for _, frame in self.batches():
            here = slice(at, at + frame.height)
            rows, at = np.flatnonzero(self.bucket[here] != NOWHERE), at + frame.height
            unit, own = self.unit[here][rows].astype(np.int64), self.bucket[here][rows].astype(np.int64)
            wide = frame[rows].with_columns(pl.Series(UNIT, self.unit[here][rows]))
            sent, to = (np.arange(len(rows)), own) if touched is None else touched.sent(unit)
            for low in range(0, max(len(sent), 1), SENT):
                some, there = sent[low : low + SENT], to[low : low + SENT]
                self.aside.add(wide[some].with_columns(pl.Series(MINE, own[some] == there)), there)
        return self.aside


class ByBlock:
    """Rows on their way to buckets, where each is one by itself."""

    def __init__(self, aside: Spilled) -> None:
        self.aside = aside

    def add(self, frame: pl.DataFrame, link: I64, rows: I64, bucket: I64) -> None:  # noqa: ARG002 - as above
        """See `WithCompanions`."""
        self.aside.add(frame[rows], bucket)

    def done(self) -> Spilled:
        """See `WithCompanions`."""
        return self.aside
