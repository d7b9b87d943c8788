"""Stated targets where too few rows are alike, on Spark: the driver has the targets, workers cut the release by block
and meet the targets of each bucket with its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows
from confide.attack.engine.fit import Fit
from confide.attack.engine.intervals import Between, shares_m
from confide.attack.engine.treatments import treatments
from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.units import ALIKE
from confide.attack.scanned.bucket import Blocks, own_places
from confide.attack.scanned.buckets import Bucketed, StatedPeople, told
from confide.attack.scanned.coded import frame_of, records_of
from confide.attack.scanned.companions import MINE, UNIT
from confide.attack.scanned.cut import Cut
from confide.attack.scanned.intervals import Intervals, attack_intervals
from confide.attack.scanned.pattern import Learnt
from confide.attack.scanned.setting import Setting
from confide.attack.scanned.spark_buckets import SHARE, SparkFiles, SparkPattern, written
from confide.attack.scanned.spark_units import UNIT_TYPES, UNITS_OF_ROWS, rows_of_units
from confide.attack.scanned.spark_work import (
    AT,
    LOG_M,
    RECORDS,
    TARGETS,
    UNITS,
    PackRecords,
    as_units,
    encoded,
    no_records,
    no_units,
)  # fmt: skip
from confide.attack.scanned.stated_people import alike, ends_of, learn_together, stated_people
from confide.attack.scanned.unit_bucket import UnitBucket, attack_by_interval
from confide.attack.targets import Targets
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import Asked
from confide.core.scale.spark import Spark
from confide.core.scale.spark_batches import PACKED, SIZE, Workers, packed_rows, plain_table, quiet
from confide.core.scale.spark_files import ROW, as_uri
from confide.core.scale.spark_pairs import Links
from confide.frames.columns import I64, Column, Records
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import BATCH
from confide.protect.scanned.units import OnDisk

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from confide.protect.scanned.release import ScannedRelease

TRUTH, STATE, WHICH = "__truth", "__state", "__which"
"""Of a target its original row; what it is in the release, or its unit there; and which of the intervals is known."""


def attack_stated_on_spark(
    intruder: Intruder, release: ScannedRelease, spark: Spark, asked: Asked, targets: tuple[pl.DataFrame, I64],
    out: Path | None, stated: Intruder, progress: Progress,
) -> Bucketed:  # fmt: skip
    """The whole attack. `targets`: with the original row of each; `stated`: the intruder as given."""
    with spark.working(release) as folder, Workers(spark.session, folder) as workers:
        files = SparkFiles(release, workers)
        setting = Setting.of(intruder, files, list(asked.original), BATCH, spark.in_bytes)
        who, state = stated_people(setting, *targets, lambda: _parts(setting, workers, targets[1]))
        groups = alike(who, tuple(intruder.knows), setting.case.told_missing)
        setting = setting.asking(files, groups)
        unit = None if setting.units is None else OnDisk(folder / "unit.npy", setting.units.unit)
        work, parts = _Stated(setting, who, state, workers, spark, asked, unit), list[str]()
        with progress_bar("attacking", 2 * len(groups) + 1, progress) as done:
            for k, ((knows, _), each) in enumerate(groups.items()):
                found, intervals = work.learnt(knows, each)
                done(1)
                parts.append(as_uri(folder / f"results-{k}"))
                work.attacked(found, intervals, each).write.parquet(parts[-1])
                done(1)
            pairs, table = written(spark, parts, who.records.n, out, UNITS if unit is None else UNITS_OF_ROWS)
            done(1)
    merged = None if table is None else table.with_columns(pl.lit(1, dtype=pl.Int64).alias(ALIKE))
    return Bucketed(
        merged, treatments(told(setting, intruder, who.records), stated), pairs, tuple(work.models), int(work.short),
        (), setting.before, setting.after, who.records.n, StatedPeople(who.records, work.of, tuple(work.fits)),
        setting.units,
    )  # fmt: skip


def _parts(setting: Setting, workers: Workers, truth: I64) -> I64:
    """The part of each target's original row, found by workers; of other rows anything."""
    original = setting.release.original
    names = list(setting.before.columns)
    work = PartOf(setting.before, np.unique(truth[truth >= 0]))
    found = workers.here(workers.by_batches(original, names, work, f"{ROW} bigint, part bigint"))
    part = np.zeros(original.height, dtype=np.int64)
    part[found[ROW].to_numpy()] = found["part"].to_numpy()
    return part


@dataclass(frozen=True, eq=False)
class PartOf:
    """The part of some original rows, by all that is held of them."""

    before: Codebook
    asked: I64

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        mine = frame.filter(pl.Series(np.isin(frame[ROW].to_numpy(), self.asked)))
        part = part_of_rows(encoded(self.before, mine))
        return plain_table(mine.select(ROW).with_columns(pl.Series("part", part, dtype=pl.Int64)))


@dataclass(eq=False)
class _Stated:
    """What was learnt so far: `of`, the place of each target's fit. `unit`: of original rows, where units are
    attacked."""

    setting: Setting
    who: Targets
    state: I64
    workers: Workers
    spark: Spark
    asked: Asked
    unit: OnDisk | None

    def __post_init__(self) -> None:
        self.of = np.zeros(self.who.records.n, dtype=np.int64)
        self.fits, self.models, self.short = list[tuple[Fit, Between]](), list[PeopleModel](), 0.0

    def learnt(self, knows: tuple[str, ...], each: list[tuple[I64, Between]]) -> tuple[Learnt, Intervals]:
        """What buckets share, of targets of whom the same variables are known."""
        behind = bool((self.state >= 0).all())
        shown = self._pattern(knows).labels()
        found, intervals, models, few = learn_together(self.setting, self.who, knows, each, behind, shown)
        for k, (rows, _) in enumerate(each):
            self.of[rows] = len(self.fits)
            self.fits.append((intervals.fits.get(k, found.fit), intervals.between[k]))
        self.models += models
        self.short = max(self.short, few)
        return found, intervals

    def _pattern(self, knows: tuple[str, ...]) -> SparkPattern:
        nobody, ends = np.zeros(0, dtype=np.int64), ends_of(self.setting, self.who)
        return SparkPattern(self.setting, knows, nobody, self.workers, self.spark, self.asked, ends)

    def attacked(self, found: Learnt, intervals: Intervals, each: list[tuple[I64, Between]]) -> DataFrame:
        """The results of all buckets. Records stay where they are whose blocks have no targets, and no other row of
        whose unit is in such a block."""
        setting, release = self.setting, self.setting.release
        which = np.full(self.who.records.n, -1, dtype=np.int64)
        for k, (rows, _) in enumerate(each):
            which[rows] = k
        rows = np.flatnonzero(which >= 0)
        people = self.who.records.take(rows)
        labels = [c.of(people) for c in found.knowledge.certain]
        at = found.blocks.places(tuple(labels), len(rows))
        many = np.bincount(at[at >= 0], minlength=len(found.blocks.size)).astype(float)
        part = self._pattern(found.fit.knows)
        cut = Cut.of(found.blocks, many, part.many(len(rows)))
        wanted = tuple(c[many > 0] for c in found.blocks.labels)
        links = Links(release.link_files, release.released.offsets)
        packed = self._packed(rows, which[rows], cut.of_targets(labels, rows))
        said = {v: c.with_values(c.values[:0]) for v, c in self.who.records.items()}  # what their codes refer to
        files = said, setting.after.columns
        if self.unit is not None:
            every = PackRecords(found.fit, setting.after, links, cut, found.someone, others=False)
            held = int(SHARE * self.spark.task_bytes / 8)
            mine = AttackStatedUnits(found.fit, found.blocks, intervals, *files, held)
            sent = part.sent(found, every, self.unit, wanted)
            return self.workers.by_buckets(sent.union(packed), cut.many, mine, UNITS_OF_ROWS)
        shared = shares_m(found.fit, found.asking.knowledge)
        records = PackRecords(found.fit, setting.after, links, cut, found.someone, wanted, shared)
        sent = self.workers.by_batches(release.released, list(setting.after.columns), records, PACKED)
        work = AttackStated(found.fit, found.blocks, intervals, *files)
        return self.workers.by_buckets(sent.union(packed), cut.many, work, UNITS)

    def _packed(self, rows: I64, which: I64, bucket: I64) -> DataFrame:
        """Targets with what is known of each, cut by bucket."""
        import pyarrow as pa

        people, tables, truth, units = self.who.records.take(rows), [], self.who.truth[rows], self.setting.units
        state = self.state[rows] if units is None else units.own(truth)
        more = {ROW: rows, TRUTH: truth, STATE: state, WHICH: which}
        frame = frame_of(people, beside={v: x.astype(np.int64) for v, x in more.items()})
        for first in range(0, len(rows), SIZE):
            some = slice(first, first + SIZE)
            tables.append(packed_rows(frame[some], bucket[some], TARGETS))
        with quiet():
            return self.spark.session.createDataFrame(pa.concat_tables(tables), schema=PACKED)


@dataclass(frozen=True, eq=False)
class AttackStated:
    """The results of the stated targets of a bucket; records are put into the order of the release first."""

    opened: Fit
    known: Blocks
    asked: Intervals
    before: Mapping[str, Column]
    after: Mapping[str, Column]

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        if TARGETS not in sides:
            return no_units()
        t = sides[TARGETS].sort(ROW)
        z = sides[RECORDS].sort(AT) if RECORDS in sides else no_records(self.after)
        people = _people(t, self.before)
        table, pairs = attack_intervals(
            self.opened, self.known, self.asked, t[WHICH].to_numpy(), people, t[STATE].to_numpy(),
            records_of(z, self.after), own_places(t[TRUTH].to_numpy(), z[ROW].to_numpy()),
            log_m=z[LOG_M].to_numpy(),
        )  # fmt: skip
        return as_units(table.with_columns(t[ROW].alias("target")), pairs)


@dataclass(frozen=True, eq=False)
class AttackStatedUnits:
    """The same, where units are attacked. `held`: see `UnitBucket`."""

    opened: Fit
    known: Blocks
    asked: Intervals
    before: Mapping[str, Column]
    after: Mapping[str, Column]
    held: int

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        if TARGETS not in sides:
            return no_units(UNIT_TYPES)
        t, z = sides[TARGETS].sort(ROW), rows_of_units(sides, self.after)
        records, unit, mine = records_of(z, self.after), z[UNIT].to_numpy(), z[MINE].to_numpy()
        table, pairs = attack_by_interval(
            lambda k: UnitBucket(
                self.asked.fit(self.opened, k), self.asked.blocks(self.known, k), records, unit, mine, self.held
            ),
            t[WHICH].to_numpy(), _people(t, self.before), t[STATE].to_numpy(),
        )  # fmt: skip
        return as_units(table.with_columns(t[ROW].alias("target")), pairs, UNIT_TYPES)


def _people(t: pl.DataFrame, before: Mapping[str, Column]) -> Records:
    """What is known of the targets of a bucket."""
    return Records(records_of(t.drop(ROW, TRUTH, STATE, WHICH), before).values(), n=t.height)
