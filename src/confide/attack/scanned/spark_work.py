"""What workers of a cluster do with batches and buckets: objects that pickle, with all they need in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows, parts_are_asked, with_parts
from confide.attack.engine.fit import Fit
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import gather
from confide.attack.scanned.bucket import Blocks, attack_bucket, own_places
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.cut import Cut
from confide.attack.scanned.pattern import placed_by
from confide.attack.scanned.who import Who
from confide.core.scale.rows_alike import sums_of
from confide.core.scale.spark_batches import packed_rows, plain_table
from confide.core.scale.spark_files import ROW
from confide.core.scale.spark_pairs import Links
from confide.frames.columns import I64, Column, Records
from confide.frames.scan.codebook import Codebook

if TYPE_CHECKING:
    import pyarrow as pa

AT, LOG_M = "__at", "__log_m"
TARGETS, RECORDS = 0, 1
UNITS = (
    "target bigint, candidates bigint, p_true double, p_max double, n_max bigint, hit boolean, as_likely bigint, "
    "rank bigint, p_absent double, status string, pairs double, visited double"
)
"""The schema of results."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Released rows by all that decides of their block and cell, with counts, sums of weights, and the first of each.

    `case`: without rows; `weight`: the variable that says for how many people a row stands, if any.
    """

    case: Case
    knows: tuple[str, ...]
    after: Codebook
    weight: str | None

    def keys(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table of a batch: keys, sums, the first row and what it holds, all as long integers and doubles."""
        plain = encoded(self.after, frame)
        rows, _, keys = placed_by(replace(self.case, released=plain), self.knows)
        keys = keys.rename({v: f"k{i}" for i, v in enumerate(keys.columns)}).cast(pl.Int64)
        codes = frame_of(plain.take(rows)).select(
            pl.col(v).cast(pl.Float64 if c.kind == "numeric" else pl.Int64).alias(f"c{i}")
            for i, (v, c) in enumerate(self.after.columns.items())
        )
        held = [] if self.weight is None else [frame[self.weight][rows].alias("w")]
        wide = pl.concat([keys, codes, frame.select(ROW)[rows], pl.DataFrame(held)], how="horizontal")
        sums = [s.alias(f"s{i}") for i, s in enumerate(sums_of([] if self.weight is None else ["w"]))]
        return wide.group_by(keys.columns, maintain_order=True).agg(
            *sums, pl.col(ROW).first(), pl.col("^c[0-9]+$").first()
        )

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        return self.keys(frame).to_arrow(compat_level=pl.CompatLevel.oldest())

    def schema(self, keys: int) -> str:
        """Of the table."""
        sums = 1 if self.weight is None else 3
        columns = [f"k{i} bigint" for i in range(keys)] + [f"s{i} double" for i in range(sums)] + [f"{ROW} bigint"]
        kinds = ("double" if c.kind == "numeric" else "bigint" for c in self.after.columns.values())
        return ", ".join([*columns, *(f"c{i} {kind}" for i, kind in enumerate(kinds))])


def encoded(book: Codebook, frame: pl.DataFrame) -> Records:
    """Rows in the codes of the whole file."""
    made = book.encode(frame, 0)
    return Records(made.values(), n=made.n)


@dataclass(frozen=True, eq=False)
class PackRecords:
    """Released rows with log m = -log A, cut by bucket. `someone`: any target."""

    fit: Fit
    after: Codebook
    links: Links
    cut: Cut
    someone: Records

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        wide, labels = self.placed(frame)
        sent, bucket = self.cut.of_records(labels, wide.height)
        return packed_rows(wide[sent], bucket, RECORDS)

    def placed(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[I64]]:
        """Rows that can be candidates, with log m, their numbers and those of their original rows; and their labels."""
        plain = encoded(self.after, frame)
        case = replace(self.fit.case, released=plain)
        knowledge = self.fit.knowledge(case, self.someone)
        scene = Scene.place(case, knowledge, self.fit, TargetSide.of(knowledge, self.fit, self.someone))
        rows = scene.rows
        at = frame[ROW].to_numpy()[rows]
        more = {ROW: self.links.of(at), AT: at, LOG_M: scene.log_m}
        wide = frame_of(plain.take(rows)).with_columns(pl.Series(v, x) for v, x in more.items())
        return wide, [c.released[rows] for c in knowledge.certain]


@dataclass(frozen=True, eq=False)
class PackTargets:
    """Original rows that count and have one pattern of missing values, cut by bucket. `gaps`: of each known variable
    of which a missing value is not known to be one, whether it is missing."""

    fit: Fit
    before: Codebook
    who: Who
    cut: Cut
    gaps: Mapping[str, bool]

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        batch, numbers = encoded(self.before, frame), frame[ROW].to_numpy()
        mine = self.who.counts(numbers)
        for v, missing in self.gaps.items():
            mine &= batch[v].missing == missing
        rows = np.flatnonzero(mine)
        known = Records(batch.select(self.fit.case.intruder.knows).take(rows).values(), n=len(rows))
        if parts_are_asked(self.fit.case):
            known = with_parts(known, part_of_rows(batch.take(rows)))
        knowledge = gather(self.fit.case, self.fit.knows, {})
        bucket = self.cut.of_targets([c.of(known) for c in knowledge.certain], numbers[rows])
        return packed_rows(frame_of(known).with_columns(pl.Series(ROW, numbers[rows])), bucket, TARGETS)


@dataclass(frozen=True, eq=False)
class AttackBucket:
    """The results of all targets of a bucket; rows are put into the order of both files first."""

    fit: Fit
    known: Blocks
    who: Who
    before: Mapping[str, Column]
    after: Mapping[str, Column]

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        if TARGETS not in sides:
            return as_units(pl.DataFrame(schema=TYPES))
        t = sides[TARGETS].sort(ROW)
        z = sides[RECORDS].sort(AT) if RECORDS in sides else nobody(self.after)
        row = t[ROW].to_numpy()
        table, pairs = attack_bucket(
            self.fit, self.known, records_of(t, self.before), np.where(self.who.released(row), 0, -1),
            records_of(z, self.after), own_places(row, z[ROW].to_numpy()), log_m=z[LOG_M].to_numpy(),
        )  # fmt: skip
        return as_units(with_pairs(table, self.who.numbers(row), pairs))


def with_pairs(table: pl.DataFrame, target: I64, pairs: tuple[float, float]) -> pl.DataFrame:
    """Results with the numbers of targets; the first also has the pairs of all."""
    alone = np.arange(len(target)) == 0
    return table.with_columns(
        pl.Series("target", target), pl.Series("pairs", alone * pairs[0]), pl.Series("visited", alone * pairs[1])
    )


def nobody(after: Mapping[str, Column]) -> pl.DataFrame:
    """Records of a bucket that has none."""
    held = frame_of(Records([c.with_values(c.values[:0]) for c in after.values()], n=0))
    return held.with_columns(
        pl.Series(ROW, [], dtype=pl.Int64), pl.Series(AT, [], dtype=pl.Int64), pl.Series(LOG_M, [], dtype=pl.Float64)
    )


_KINDS = {"bigint": pl.Int64, "double": pl.Float64, "boolean": pl.Boolean, "string": pl.String}
TYPES = {name: _KINDS[kind] for name, kind in (each.split() for each in UNITS.split(", "))}


def as_units(frame: pl.DataFrame, types: Mapping[str, type[pl.DataType]] = TYPES) -> pa.Table:
    """In the schema of results."""
    return plain_table(frame.select(pl.col(v).cast(t) for v, t in types.items()))
