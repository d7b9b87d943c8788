"""Pairs of an original row with its own released one, found by workers range by range of original rows.

Of each row only its place among distinct rows travels, four bytes, packed by range; two arrays a range stay on scratch,
from which pairs are counted and results are written in the order of the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.scale.rows_alike import PLACE, canonical, joined_places
from confide.core.scale.spark_batches import packed_rows
from confide.core.scale.spark_files import ROW

if TYPE_CHECKING:
    import pyarrow as pa

I64 = NDArray[np.int64]
RANGE = 2**18
"""Original rows whose places are held together."""
ORIGINAL, RELEASED = 0, 1
PAIRED = "range bigint, original binary, released binary"
KINDS = {pl.Int64: "bigint", pl.Float64: "double", pl.Boolean: "boolean", pl.String: "string"}


@dataclass(frozen=True, eq=False)
class Links:
    """The original row of each released one, read from the files of the private folder as far as they are asked for."""

    files: tuple[Path, ...]
    offsets: tuple[int, ...]

    def of(self, rows: I64) -> I64:
        """Of these released rows."""
        part = np.searchsorted(self.offsets, rows, side="right") - 1
        out = np.empty(len(rows), dtype=np.int64)
        for k in np.unique(part).tolist():
            mine = part == k
            out[mine] = np.load(self.files[k], mmap_mode="r")[rows[mine] - self.offsets[k]]
        return out


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows of a batch as places among `distinct`, cut by range of original rows; `links`: of the released file."""

    distinct: pl.DataFrame
    links: Links | None = None

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        place = joined_places(canonical(frame.select(pl.exclude(ROW))), self.distinct)
        rows = frame[ROW].to_numpy()
        side = ORIGINAL if self.links is None else RELEASED
        rows = rows if self.links is None else self.links.of(rows)
        held = {"at": (rows % RANGE).astype(np.int32), PLACE: place.to_numpy().astype(np.int32)}
        return packed_rows(pl.DataFrame(held).with_columns(pl.Series("range", rows // RANGE)), rows // RANGE, side)


class Paired:
    """The places of all original rows of a range, and those of their own released rows; -1 for none."""

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        import pyarrow as pa

        held, number = [], 0
        for side in (ORIGINAL, RELEASED):
            places = np.full(RANGE, -1, dtype=np.int32)
            if side in sides:
                number = int(sides[side]["range"][0])
                places[sides[side]["at"].to_numpy()] = sides[side][PLACE].to_numpy()
            held.append(places.tobytes())
        columns = [pa.array([number], pa.int64()), *(pa.array([x], pa.binary()) for x in held)]
        return pa.table(columns, names=["range", "original", "released"])


@dataclass(frozen=True, eq=False)
class Wholes:
    """Pairs as whole numbers: `width` is one more than there are distinct released rows; `everybody`: original rows
    count as well that were not released."""

    width: int
    everybody: bool

    def of(self, batch: pa.RecordBatch) -> Iterator[tuple[int, I64, I64]]:
        """The number of each range, the rows of it that count, and their pairs."""
        for number, *held in zip(*(c.to_pylist() for c in batch.columns), strict=True):
            original, released = (np.frombuffer(x, dtype=np.int32).astype(np.int64) for x in held)
            rows = np.flatnonzero((original >= 0) & ((released >= 0) | self.everybody))
            yield number, rows, original[rows] * self.width + released[rows] + 1


@dataclass(frozen=True, eq=False)
class CountPairs:
    """The distinct pairs of a range, with how many rows have each."""

    wholes: Wholes

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pl.DataFrame]:
        for number, _, whole in self.wholes.of(batch):
            found, many = np.unique(whole, return_counts=True)
            yield pl.DataFrame({"range": np.full(len(found), number), "whole": found, "many": many.astype(np.int64)})


@dataclass(frozen=True, eq=False)
class FindPairs:
    """The pairs of some original rows."""

    wholes: Wholes
    asked: I64

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pl.DataFrame]:
        for number, rows, whole in self.wholes.of(batch):
            mine = np.isin(rows + number * RANGE, self.asked)
            yield pl.DataFrame({ROW: rows[mine] + number * RANGE, "whole": whole[mine]})


@dataclass(frozen=True, eq=False)
class SpreadPairs:
    """One row of `table` for each row that counts, by its place among pairs; `first`: the number of the first target
    of each range."""

    wholes: Wholes
    known: I64
    table: pl.DataFrame
    first: Mapping[int, int]

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pl.DataFrame]:
        for number, rows, whole in self.wholes.of(batch):
            found = self.table[np.searchsorted(self.known, whole)]
            first = self.first.get(number, 0)
            yield found.insert_column(0, pl.Series("target", np.arange(first, first + len(rows))))


def schema_of(table: pl.DataFrame) -> str:
    """The schema of a table of numbers, truth values and text."""
    return ", ".join(f"{v} {KINDS[type(t)]}" for v, t in table.schema.items())
