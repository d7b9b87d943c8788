"""Which unit each row of a file belongs to that is read in parts: four bytes a row, and one for whether the unit has
released rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.attack.beliefs.unit_rows import UnitRows
from confide.attack.evidence.grouping import too_few_units
from confide.attack.scanned.coded import Places
from confide.core.errors import raise_all
from confide.frames.columns import I64, Bools
from confide.protect.scanned.units import UnitNumbers

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


@dataclass(frozen=True, eq=False)
class FileUnits:
    """`unit`: the number of each original row's unit, that of its first row; `there`: by number, whether a row of it
    was released; `released`: how many rows were; `without`: original rows that have no unit."""

    name: str
    unit: NDArray[Any]
    there: Bools
    released: int
    without: int = 0

    @classmethod
    def of(cls, release: ScannedRelease, name: str, column: Iterable[tuple[int, pl.DataFrame]]) -> FileUnits:
        """From the column of the original that numbers units, in parts; and from the links."""
        n = release.original.height
        found = UnitNumbers(name, n)
        without = 0
        for first, batch in column:
            without += batch[name].null_count()
            found.add(first, batch)
        raise_all(too_few_units(name, n, len(found.first)))
        unit = found.out.astype(np.int32 if n < 2**31 else np.int64)
        there = np.zeros(n, dtype=bool)
        for link in release.links():
            there[unit[link]] = True
        return cls(name, unit, there, release.released.height, without)

    @property
    def several(self) -> bool:
        """Whether some unit has several rows."""
        return bool((self.unit != np.arange(len(self.unit), dtype=self.unit.dtype)).any())

    def of_rows(self, rows: I64) -> I64:
        """The units of original rows."""
        return self.unit[rows].astype(np.int64)

    def own(self, truth: I64) -> I64:
        """The unit of each target, by its original row; -1 where no row of it was released, and what is negative as it
        is."""
        unit = self.of_rows(np.maximum(truth, 0))
        return np.where(truth >= 0, np.where(self.there[unit], unit, -1), truth)

    def of_released(self, links: Iterator[I64]) -> NDArray[Any]:
        """The units of all released rows."""
        parts = [self.unit[link] for link in links]
        return np.concatenate([self.unit[:0], *parts])

    def sizes(self, links: Iterator[I64]) -> I64:
        """How many released rows units have that have any."""
        many = np.zeros(len(self.unit), dtype=np.int32)
        for link in links:
            np.add.at(many, self.unit[link], 1)
        return many[many > 0].astype(np.int64)


def places_for(units: FileUnits | None, rows: int) -> Places | None:
    """Room for the place of each row among those that differ, four bytes, where units have several rows."""
    return None if units is None or not units.several else np.zeros(rows, dtype=np.uint32)


def unit_rows(
    release: ScannedRelease, units: FileUnits | None, places: Places | None, released: bool
) -> UnitRows | None:  # fmt: skip
    """The unit and the place of each row of the file that beliefs are fitted on, None where each is one by itself."""
    if units is None or places is None:
        return None
    return UnitRows(units.of_released(release.links()) if released else units.unit, places, units.released)
