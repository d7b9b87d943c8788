"""Units of several rows on a cluster: rows are gathered by unit first, then go to all buckets in which their unit has
rows. Which unit an original row is of, workers look up in a file on scratch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.scanned.bucket import Blocks
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.companions import MINE, UNIT
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.spark_work import (
    AT,
    LOG_M,
    RECORDS,
    TARGETS,
    TYPES,
    UNITS,
    PackRecords,
    Types,
    as_units,
    no_records,
    no_units,
    within,
)
from confide.attack.scanned.unit_bucket import UnitBucket
from confide.attack.scanned.who import Who
from confide.core.scale.rows_alike import PLACE, canonical, joined_places
from confide.core.scale.spark_batches import packed_rows
from confide.core.scale.spark_files import ROW
from confide.frames.columns import I64, Column
from confide.frames.scan.codebook import Codebook
from confide.protect.scanned.spark_work import in_a_row, told
from confide.protect.scanned.units import OnDisk

if TYPE_CHECKING:
    import pyarrow as pa

FIRST, TIMES = "__first", "__times"
"""The first bucket that a record is a candidate in, and in how many, one after the other."""
UNITS_OF_ROWS = f"{UNITS}, unit bigint"
"""The schema of results."""
UNIT_TYPES: Types = {**TYPES, "unit": pl.Int64}


@dataclass(frozen=True, eq=False)
class PlacesOfBatch:
    """The place of each row among the distinct ones of a file, `table`, in codes."""

    book: Codebook
    table: pl.DataFrame

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        return told([(first, (first, self._of(batch))) for first, batch in in_a_row(frame)])

    def _of(self, batch: pl.DataFrame) -> np.ndarray:
        names = [v for v in self.table.columns if v != PLACE]
        coded = frame_of(self.book.encode(batch, 0, names), names)
        table = self.table.with_columns(pl.col(v).cast(t) for v, t in coded.schema.items())
        return joined_places(canonical(coded), table).to_numpy().astype(np.uint32)


@dataclass(frozen=True, eq=False)
class UnitsOnDisk:
    """The unit of each original row, and what counts as its own where it is a target: one more, 0 where no row of the
    unit was released."""

    unit: OnDisk
    own: OnDisk

    @classmethod
    def of(cls, units: FileUnits, folder: Path) -> UnitsOnDisk:
        """In files on scratch."""
        own = np.where(units.there[units.unit], units.unit.astype(np.int64) + 1, 0)
        return cls(OnDisk(folder / "unit.npy", units.unit), OnDisk(folder / "own.npy", own))


@dataclass(frozen=True, eq=False)
class PackUnits:
    """Released rows with all that buckets ask of them, cut by unit, into so many; `alone`: by bucket at once, since
    nothing is asked of other rows. `wanted`: labels of the blocks that have candidates, None for all."""

    records: PackRecords
    unit: OnDisk
    many: int
    alone: bool
    wanted: tuple[I64, ...] | None = None

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        wide, labels = self.records.placed(frame)
        unit = self.unit[wide[ROW].to_numpy()]
        wide = wide.with_columns(pl.Series(UNIT, unit), pl.lit(True).alias(MINE))
        first, times = self.records.cut.ranges(labels, wide.height)
        if self.wanted is not None:
            times = times * within(labels, self.wanted, wide.height)
        if self.alone:
            sent, bucket = _spread(first, times)
            return packed_rows(wide[sent], bucket, RECORDS)
        wide = wide.with_columns(pl.Series(FIRST, first), pl.Series(TIMES, times))
        return packed_rows(wide, unit % self.many, RECORDS)


@dataclass(frozen=True, eq=False)
class SendUnits:
    """All rows of some units, sent to all buckets in which the unit has candidates."""

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        rows = sides[RECORDS].sort(UNIT, AT)
        first, times = (rows[v].to_numpy() for v in (FIRST, TIMES))
        at, bucket = _spread(first, times)
        unit = rows[UNIT].to_numpy()
        pairs = np.unique(unit[at] << 31 | bucket)
        low, high = (np.searchsorted(pairs, u << 31) for u in (unit, unit + 1))
        sent, place = _spread(low, high - low)
        there = pairs[place] & (2**31 - 1)
        mine = (there >= first[sent]) & (there < (first + times)[sent])
        wide = rows.drop(FIRST, TIMES)[sent].with_columns(pl.Series(MINE, mine))
        return packed_rows(wide, there, RECORDS)


def _spread(first: I64, times: I64) -> tuple[I64, I64]:
    """Rows, each as often as its times say, with numbers that rise from its first."""
    rows = np.repeat(np.arange(len(first)), times)
    return rows, first[rows] + np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)


@dataclass(frozen=True, eq=False)
class AttackUnits:
    """The results of all targets of a bucket; rows are put into the order of both files first. `held`: see
    `UnitBucket`."""

    fit: Fit
    known: Blocks
    who: Who
    units: UnitsOnDisk
    before: Mapping[str, Column]
    after: Mapping[str, Column]
    held: int

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        if TARGETS not in sides:
            return no_units(UNIT_TYPES)
        t = sides[TARGETS].sort(ROW)
        z = rows_of_units(sides, self.after)
        row, unit = t[ROW].to_numpy(), z[UNIT].to_numpy()
        bucket = UnitBucket(
            self.fit, self.known, records_of(z, self.after), unit, z[MINE].to_numpy(), self.held,
            log_m=z[LOG_M].to_numpy(),
        )  # fmt: skip
        table, pairs = bucket.attack(records_of(t, self.before), self.units.own[row] - 1)
        return as_units(table.with_columns(pl.Series("target", self.who.numbers(row))), pairs, UNIT_TYPES)


def rows_of_units(sides: Mapping[int, pl.DataFrame], after: Mapping[str, Column]) -> pl.DataFrame:
    """The records of a bucket and the other rows of their units, in the order of the release."""
    if RECORDS in sides:
        return sides[RECORDS].sort(AT)
    return no_records(after).with_columns(pl.Series(UNIT, [], dtype=pl.Int64), pl.Series(MINE, [], dtype=pl.Boolean))
