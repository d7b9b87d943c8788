"""Rows that are alike, counted on Spark: distinct rows of both files by its own operations, pairs of them by workers.
The driver receives distinct rows and pairs with their counts, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import Asked, Counted, File, Linked
from confide.core.scale.local import bytes_of_row
from confide.core.scale.rows_alike import PLACE, both, canonical
from confide.core.scale.spark_batches import PACKED, Workers
from confide.core.scale.spark_files import ROW, as_uri, collected, distinct_rows, named_again
from confide.core.scale.spark_pairs import (
    PAIRED,
    RANGE,
    CountPairs,
    FindPairs,
    Links,
    Paired,
    Placed,
    SpreadPairs,
    Wholes,
    schema_of,
)  # fmt: skip
from confide.core.scale.spark_write import write_ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

I64 = NDArray[np.int64]
LOOKED_UP = 60
"""Bytes that a distinct row takes on each worker, by variable."""


@dataclass(frozen=True, eq=False)
class SparkCounting:
    """`paired`: the places of rows, by range of original rows, on scratch. `known`: pairs as whole numbers, rising;
    `many`: rows that count, by range."""

    workers: Workers
    counted: Counted
    paired: DataFrame
    wholes: Wholes
    known: I64
    many: dict[int, int]

    @classmethod
    def of(
        cls, workers: Workers, rooms: tuple[int, int], release: Linked, asked: Asked, folder: Path, progress: Progress
    ) -> SparkCounting:  # fmt: skip
        """Distinct rows of both files, then their pairs; `rooms`: bytes for what comes here, and for what each worker
        looks up, which is the distinct rows."""
        room, each = rooms
        most = min(
            room // bytes_of_row(len(asked.original) + len(asked.released)), each // (LOOKED_UP * len(asked.original))
        )
        with progress_bar("counting rows that are alike", 4, progress) as done:
            before = _distinct(workers, release.original, asked.original, asked.original_added, most)
            done(1)
            after = _distinct(workers, release.released, asked.released, asked.added, most)
            done(1)
            links = Links(release.link_files, release.released.offsets)
            o = workers.by_batches(release.original, asked.original, Placed(_places(before, asked.original)), PACKED)
            z = workers.by_batches(
                release.released, asked.released, Placed(_places(after, asked.released), links), PACKED
            )
            ranges = -(-release.original.height // RANGE)
            workers.by_buckets(o.union(z), ranges, Paired(), PAIRED).write.parquet(as_uri(folder / "pairs"))
            done(1)
            paired = workers.session.read.schema(PAIRED).parquet(as_uri(folder / "pairs"))
            wholes = Wholes(after.height + 1, asked.everybody)
            found, many = _counts(workers, paired, wholes)
            done(1)
        known = found["whole"].to_numpy()
        pairs = known // wholes.width, known % wholes.width - 1, found["many"].to_numpy().astype(float)
        return cls(workers, Counted(before, after, *pairs), paired, wholes, known, many)

    def pairs_of(self, rows: I64) -> I64:
        """See `Counting`."""
        asked = np.unique(rows)
        near = self.paired.filter(self.paired["range"].isin(np.unique(asked // RANGE).tolist()))
        found = self.workers.here(self.workers.over(near, FindPairs(self.wholes, asked), f"{ROW} bigint, whole bigint"))
        mine = pl.DataFrame({ROW: rows}).join(found, on=ROW, how="left", maintain_order="left")["whole"]
        return np.searchsorted(self.known, mine.to_numpy())

    def spread(self, table: pl.DataFrame, out: Path, progress: Progress = None) -> None:
        """Write one row for each person who counted; see `Counting`."""
        starts = np.cumsum([0, *self.many.values()]).tolist()
        first = dict(zip(self.many, starts, strict=False))
        work = SpreadPairs(self.wholes, self.known, table, first)
        with progress_bar("writing", 1, progress) as done:
            write_ranges(self.workers, self.paired, work, f"target bigint, {schema_of(table)}", len(first), out)
            done(1)


def _distinct(
    workers: Workers, file: File, names: Sequence[str], added: Sequence[str], most: int
) -> pl.DataFrame:  # fmt: skip
    rows = workers.numbered(file, both(names, added))
    return named_again(distinct_rows(rows, names, added, most, workers.at_most), file, names)


def _places(distinct: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Distinct rows with their places."""
    return canonical(distinct.select(names)).with_columns(pl.Series(PLACE, np.arange(distinct.height, dtype=np.uint32)))


def _counts(workers: Workers, paired: DataFrame, wholes: Wholes) -> tuple[pl.DataFrame, dict[int, int]]:
    """Distinct pairs with their counts, rising, and how many rows count in each range, in their order."""
    found = workers.over(paired, CountPairs(wholes), "range bigint, whole bigint, many bigint")
    found = found.persist()
    try:
        pairs = workers.here(found.groupBy("whole").agg({"many": "sum"})).rename({"sum(many)": "many"}).sort("whole")
        many = collected(found.groupBy("range").agg({"many": "sum"})).sort("range")
    finally:
        found.unpersist()
    return pairs, dict(many.iter_rows())
