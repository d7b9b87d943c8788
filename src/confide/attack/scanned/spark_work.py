"""What workers of a cluster do with batches and buckets: objects that pickle, with all they need in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows, parts_are_asked, with_parts
from confide.attack.engine.blocks import blocks
from confide.attack.engine.fit import Fit
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, gather
from confide.attack.scanned.bucket import Blocks, attack_bucket, own_places
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.cut import Cut
from confide.attack.scanned.pattern import Ends, placed_by
from confide.attack.scanned.who import Who
from confide.core.scale.rows_alike import sums_of
from confide.core.scale.spark_batches import packed_rows, plain_table
from confide.core.scale.spark_files import ROW
from confide.core.scale.spark_pairs import Links
from confide.frames.columns import I64, Bools, Column, Records
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
    ends: Ends

    def keys(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The table of a batch: keys, sums, the first row and what it holds, all as long integers and doubles."""
        plain = encoded(self.after, frame)
        rows, _, keys = placed_by(replace(self.case, released=plain), self.knows, self.ends)
        keys = keys.rename({v: f"k{i}" for i, v in enumerate(keys.columns)}).cast(pl.Int64)
        codes = wide_codes(plain.take(rows), self.after.columns)
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
        return ", ".join([*columns, *code_types(self.after.columns.values())])


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Rows with these numbers, in the codes of the whole file."""

    rows: I64
    after: Codebook
    names: tuple[str, ...]

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        some = frame.filter(pl.Series(np.isin(frame[ROW].to_numpy(), self.rows)))
        codes = wide_codes(self.after.encode(some, 0, self.names), self.names)
        return plain_table(codes.with_columns(some[ROW]))

    @property
    def schema(self) -> str:
        """Of the table."""
        return ", ".join([*code_types(self.after.columns[v] for v in self.names), f"{ROW} bigint"])


def wide_codes(records: Records, names: Iterable[str]) -> pl.DataFrame:
    """Codes as long integers and numbers as doubles, under short names."""
    return frame_of(records).select(
        pl.col(v).cast(pl.Float64 if records[v].kind == "numeric" else pl.Int64).alias(f"c{i}")
        for i, v in enumerate(names)
    )


def code_types(columns: Iterable[Column]) -> list[str]:
    """The types of the same for Spark."""
    return [f"c{i} {'double' if c.kind == 'numeric' else 'bigint'}" for i, c in enumerate(columns)]


def encoded(book: Codebook, frame: pl.DataFrame) -> Records:
    """Rows in the codes of the whole file."""
    made = book.encode(frame, 0)
    return Records(made.values(), n=made.n)


@dataclass(frozen=True, eq=False)
class PackRecords:
    """Released rows with log m = -log A, cut by bucket. `someone`: any target. `wanted`: labels of the blocks that are
    sent, None for all; `others`: whether log m is asked for."""

    fit: Fit
    after: Codebook
    links: Links
    cut: Cut
    someone: Records
    wanted: tuple[I64, ...] | None = None
    others: bool = True

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        wide, labels = self.placed(frame)
        sent, bucket = self.cut.of_records(labels, wide.height)
        return packed_rows(wide[sent], bucket, RECORDS)

    def placed(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, list[I64]]:
        """Rows that can be candidates, with log m, their numbers and those of their original rows; and their labels."""
        plain = encoded(self.after, frame)
        case = replace(self.fit.case, released=plain)
        knowledge = self.fit.knowledge(case, self.someone)
        asked, none = self._asked(knowledge), None if self.others else np.zeros(plain.n)
        side = TargetSide.of(knowledge, self.fit, self.someone)
        scene = Scene.place(case, knowledge, self.fit, side, asked, none)
        rows = scene.rows
        at = frame[ROW].to_numpy()[rows]
        more = {ROW: self.links.of(at), AT: at, LOG_M: scene.log_m}
        wide = frame_of(plain.take(rows)).with_columns(pl.Series(v, x) for v, x in more.items())
        return wide, [c.released[rows] for c in knowledge.certain]

    def _asked(self, knowledge: Knowledge) -> I64 | None:
        """Rows that can be candidates and are in a block that is sent; None for all that can."""
        if not self.wanted:
            return None
        rows = np.flatnonzero(knowledge.eligible)
        return rows[within([c.released[rows] for c in knowledge.certain], self.wanted, len(rows))]


def within(labels: Sequence[I64], wanted: tuple[I64, ...], n: int) -> Bools:
    """Which of n rows are in these blocks; without labels there is one, of all."""
    if not wanted:
        return np.ones(n, dtype=bool)
    return np.asarray(blocks(wanted, labels, len(wanted[0]), n)[1] >= 0)


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
        return packed_rows(frame_of(known, beside={ROW: numbers[rows]}), bucket, TARGETS)


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
            return no_units()
        t = sides[TARGETS].sort(ROW)
        z = sides[RECORDS].sort(AT) if RECORDS in sides else no_records(self.after)
        row = t[ROW].to_numpy()
        table, pairs = attack_bucket(
            self.fit, self.known, records_of(t, self.before), np.where(self.who.released(row), 0, -1),
            records_of(z, self.after), own_places(row, z[ROW].to_numpy()), log_m=z[LOG_M].to_numpy(),
        )  # fmt: skip
        return as_units(table.with_columns(pl.Series("target", self.who.numbers(row))), pairs)


def no_records(after: Mapping[str, Column]) -> pl.DataFrame:
    """What a bucket without a record has."""
    held = frame_of(Records([c.with_values(c.values[:0]) for c in after.values()], n=0))
    more = {ROW: pl.Int64, AT: pl.Int64, LOG_M: pl.Float64}
    return held.with_columns(pl.Series(v, [], dtype=t) for v, t in more.items())


_KINDS = {"bigint": pl.Int64, "double": pl.Float64, "boolean": pl.Boolean, "string": pl.String}
Types = Mapping[str, type[pl.DataType]]
TYPES: Types = {name: _KINDS[kind] for name, kind in (each.split() for each in UNITS.split(", "))}


def no_units(types: Types = TYPES) -> pa.Table:
    """The results of a bucket without a target."""
    return plain_table(pl.DataFrame(schema=types))


def as_units(frame: pl.DataFrame, pairs: tuple[float, float], types: Types = TYPES) -> pa.Table:
    """Results of a bucket in their schema; its pairs are told in the first row."""
    alone = np.arange(frame.height) == 0
    told = frame.with_columns(pl.Series("pairs", alone * pairs[0]), pl.Series("visited", alone * pairs[1]))
    return plain_table(told.select(pl.col(v).cast(t) for v, t in types.items()))
