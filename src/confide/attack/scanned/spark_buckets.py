"""Where too few rows are alike, on Spark: records and targets cut by block on workers, and attacked there bucket by
bucket. The driver receives counts and fits; nothing as long as a file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.blocks import blocks
from confide.attack.engine.fit import Fit
from confide.attack.engine.fit_homes import homes_of
from confide.attack.engine.treatments import treatments
from confide.attack.evidence.case import Case, set_aside
from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.scanned.buckets import PER_ROW, Bucketed, described, told
from confide.attack.scanned.coded import Places, frame_of, records_of, tally_of
from confide.attack.scanned.cut import Cut
from confide.attack.scanned.file_units import FileUnits
from confide.attack.scanned.kept_files import KeptFiles
from confide.attack.scanned.pattern import Ends, Learnt, learn
from confide.attack.scanned.setting import Setting
from confide.attack.scanned.spark_units import (
    UNITS_OF_ROWS,
    AttackUnits,
    PackUnits,
    PlacesOfBatch,
    SendUnits,
    UnitsOnDisk,
)
from confide.attack.scanned.spark_work import UNITS, AttackBucket, Labelled, PackRecords, PackTargets, SomeRows
from confide.attack.scanned.unit_bucket import buckets_for_units
from confide.attack.scanned.who import Who
from confide.core.errors import InputError
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import COUNT, Asked
from confide.core.scale.kept import kept_folder
from confide.core.scale.local import MOST
from confide.core.scale.remembered import Remembered, named
from confide.core.scale.rows_alike import PLACE, canonical
from confide.core.scale.spark import Spark
from confide.core.scale.spark_batches import PACKED, Workers
from confide.core.scale.spark_files import ROW, as_uri, collected, distinct_rows, named_again
from confide.core.scale.spark_pairs import Links
from confide.core.scale.spark_write import write_in_order
from confide.frames.columns import F64, I64, Records
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import BATCH, Scan
from confide.frames.scan.tallies import Tallies
from confide.frames.tally import Tally
from confide.protect.scanned.spark_work import SEEN, UnitsOfBatch
from confide.protect.scanned.units import OnDisk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from confide.protect.scanned.release import ScannedRelease

FINISHED = "_SUCCESS"
"""What Spark writes beside results when all of them are there."""
SHARE = 0.5
"""Of the memory of a task, for one bucket."""


def attack_on_spark(
    intruder: Intruder, release: ScannedRelease, spark: Spark, asked: Asked, out: Path | None, stated: Intruder,
    progress: Progress,
) -> Bucketed:  # fmt: skip
    """The whole attack; `stated`: the intruder as given."""
    if out is None:
        raise InputError(
            "Results of so many targets are not kept here: name a folder that the workers see, "
            "attack(release, out=..., engine=cf.Spark(session))."
        )
    place = release.private if spark.scratch is None else spark.scratch
    cut = ("Spark", spark.buckets, spark.in_bytes, spark.task_bytes)
    with (
        spark.working(release) as folder,
        kept_folder(place, described(intruder, release, cut)) as kept,
        Workers(spark.session, folder) as workers,
    ):
        files = KeptFiles(SparkFiles(release, workers), Remembered(kept.folder))
        setting = Setting.of(intruder, files, list(asked.original), BATCH, spark.in_bytes)
        units = None if setting.units is None else UnitsOnDisk.of(setting.units, folder)
        who, behind, many = _who(release, asked.everybody)
        models, short, fits, parts = list[PeopleModel](), 0.0, list[Fit](), list[str]()
        with progress_bar("attacking", 2 * len(setting.patterns) + 1, progress) as done:
            for k, (rows, knows) in enumerate(setting.patterns):
                part = SparkPattern(setting, knows, rows, workers, spark, asked)
                found = part.learnt(behind, files.kept)
                done(1)
                results = kept.folder / f"results-{k}"
                parts.append(as_uri(results))
                if not (results / FINISHED).exists():
                    part.attacked(found, who, units).write.mode("overwrite").parquet(parts[-1])
                done(1)
                fits.append(found.fit)
                models += [] if found.model is None else [found.model]
                short = max(short, found.few)
            pairs, _ = written(spark, parts, many, out, UNITS if units is None else UNITS_OF_ROWS)
            done(1)
    return Bucketed(
        None, treatments(told(setting, intruder), stated), pairs, tuple(models), int(short), tuple(fits),
        setting.before, setting.after, many, units=setting.units,
    )  # fmt: skip


def _who(release: ScannedRelease, everybody: bool) -> tuple[Who, bool, int]:
    """Who counts and who is released; whether all who count are released; and how many count."""
    own = np.zeros(release.original.height, dtype=bool)
    for link in release.links():
        own[link] = True
    there = np.full(len(own), True) if everybody else own
    return Who.of(there, own), bool((own | ~there).all()), int(there.sum())


def written(
    spark: Spark, parts: list[str], many: int, out: Path | None, schema: str = UNITS
) -> tuple[tuple[float, float], pl.DataFrame | None]:  # fmt: skip
    """Write the results in the order of targets, or bring them here where there is no folder. First the pairs in all
    blocks and those visited."""
    from pyspark.sql import functions as f

    results = spark.session.read.schema(schema).parquet(*parts)
    sums = collected(results.agg(f.sum("pairs").alias("pairs"), f.sum("visited").alias("visited")))
    pairs, visited = sums.row(0)
    rows, table = results.drop("pairs", "visited"), None
    if out is None:
        table = collected(rows).sort("target").drop("target")
    else:
        write_in_order(rows, many, out)
    return (float(pairs or 0), float(visited or 0)), table


@dataclass(frozen=True, eq=False)
class SparkFiles:
    """Both files, read by workers. See `Files`."""

    release: ScannedRelease
    workers: Workers

    def codebooks(self, names: list[str], numeric: Sequence[str] = ()) -> tuple[Codebook, Codebook]:
        """Distinct values by variable, counted by workers."""

        def counted(scan: Scan, wanted: list[str], empty: Tallies) -> Tallies:
            found: Tallies = self.workers.summarised(scan, wanted, empty)
            return found

        return self.release.encoded(names, numeric, counted=counted)

    def people(self, before: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """Distinct original rows, counted by Spark and encoded here."""
        return self._counted(self.release.original, before, names, most, places)

    def records(self, after: Codebook, names: list[str], most: int, places: Places | None = None) -> Tally:
        """Distinct released rows, likewise."""
        return self._counted(self.release.released, after, names, most, places)

    def units(self, name: str) -> FileUnits:
        """See `Files`."""
        found = self._told(self.release.original, [name], UnitsOfBatch())
        return FileUnits.of(self.release, name, found)

    def tables(self, after: Codebook, keys: list[tuple[str, ...]]) -> dict[tuple[str, ...], Tally]:
        """Joint counts of the release, likewise."""
        return {key: self._counted(self.release.released, after, list(key)) for key in keys}

    def sampled(self, after: Codebook, names: Sequence[str], rows: I64) -> Records:
        """Released rows with these numbers, found by workers."""
        work = SomeRows(rows, after, tuple(names))
        found = self.workers.here(self.workers.by_batches(self.release.released, names, work, work.schema)).sort(ROW)
        return records_of(pl.DataFrame([found[f"c{i}"].alias(v) for i, v in enumerate(names)]), after.columns)

    def _counted(
        self, scan: Scan, book: Codebook, names: list[str], most: int = 2**31 - 2, places: Places | None = None
    ) -> Tally:
        rows = self.workers.numbered(scan, names)
        found = named_again(distinct_rows(rows, names, (), most, self.workers.at_most), scan, names)
        coded = frame_of(book.encode(found, 0, names)).with_columns(found[COUNT])
        alike = coded.group_by(names).agg(pl.col(COUNT).sum())
        if places is not None:
            table = canonical(alike.select(names)).with_columns(
                pl.Series(PLACE, np.arange(alike.height, dtype=np.uint32))
            )
            for first, some in self._told(scan, names, PlacesOfBatch(book, table)):
                places[first : first + len(some)] = some
        return tally_of(alike, book.columns, places)

    def _told(self, scan: Scan, names: list[str], work: Any) -> Iterator[tuple[int, Any]]:
        """What workers gather of the rows of a file, in their order."""
        for made in self.workers.here(self.workers.by_batches(scan, names, work, SEEN)).sort("first")["made"]:
            yield pickle.loads(made)


@dataclass(frozen=True, eq=False)
class SparkPattern:
    """Targets of whom the same variables are known."""

    setting: Setting
    knows: tuple[str, ...]
    rows: I64
    workers: Workers
    spark: Spark
    asked: Asked
    ends: Ends = field(default_factory=dict)

    def learnt(self, behind: bool, kept: Remembered) -> Learnt:
        """What all buckets share."""
        return learn(self.setting, self.knows, self.rows, *self.labels(kept), behind=behind, kept=kept)

    def labels(self, kept: Remembered | None = None) -> tuple[Case, F64, F64 | None]:
        """A few records that show all labels there are, with how many each stands for, and for how many people."""
        after, released = self.setting.after, self.setting.release.released
        weight = self.asked.added[0] if self.asked.added else None
        work = Labelled(set_aside(self.setting.case), self.knows, after, weight, self.ends)
        keys = _width(work, self.setting)
        names = [*after.columns, *([] if weight is None or weight in after.columns else [weight])]

        def counted() -> pl.DataFrame:
            rows = self.workers.by_batches(released, names, work, work.schema(keys))
            return self.workers.here(_added_up(rows, keys, 1 if weight is None else 3, len(after.columns))).sort(ROW)

        found = counted() if kept is None else kept.of(named("labels", self.knows), counted)
        shown = pl.DataFrame([found[f"c{i}"].alias(v) for i, v in enumerate(after.columns)])
        case = replace(self.setting.case, released=records_of(shown, after.columns), count=None)
        if weight is None:
            return case, found["s0"].to_numpy(), None
        if bad := int(found["s2"].sum()):
            raise InputError(f'Unsure: {bad} released weights in "{weight}" are zero, negative or missing.')
        return case, found["s0"].to_numpy(), self._scaled(found["s1"].to_numpy(), weight)

    def _scaled(self, sums: F64, weight: str) -> F64:
        from pyspark.sql import functions as f

        original, released = self.setting.release.original, self.setting.release.released
        if released.height >= original.height:
            return sums
        values = self.workers.numbered(original, [weight]).select(f.col(f"`{weight}`").cast("double").alias("w"))
        everybody = collected(values.filter("w > 0 and not isnan(w)").agg(f.sum("w").alias("w")))["w"][0]
        return np.asarray(sums * (float(everybody) / float(sums.sum())))

    def attacked(self, found: Learnt, who: Who, units: UnitsOnDisk | None) -> DataFrame:
        """The results of all buckets. `units`: where units are attacked."""
        setting, release = self.setting, self.setting.release
        cut = Cut.of(found.blocks, self._targets(found), self.many(setting.release.original.height))
        links = Links(release.link_files, release.released.offsets)
        told_missing, knows = setting.case.told_missing, setting.case.intruder.knows
        first = int(self.rows[0])
        gaps = {v: bool(setting.people[v].missing[first]) for v in knows if v not in told_missing}
        records = PackRecords(found.fit, setting.after, links, cut, found.someone)
        targets = PackTargets(found.fit, setting.before, who, cut, gaps)
        aside = self.workers.by_batches(release.original, list(setting.before.columns), targets, PACKED)
        if units is not None:
            return self._units(found, who, units, records, aside)
        both = self.workers.by_batches(release.released, list(setting.after.columns), records, PACKED).union(aside)
        work = AttackBucket(found.fit, found.blocks, who, setting.targets, setting.after.columns)
        return self.workers.by_buckets(both, cut.many, work, UNITS)

    def _units(
        self, found: Learnt, who: Who, units: UnitsOnDisk, records: PackRecords, targets: DataFrame
    ) -> DataFrame:  # fmt: skip
        """The same of units: a first shuffle gathers the rows of each, and sends them to all that it touches."""
        setting, rows = self.setting, self.sent(found, records, units.unit)
        held = int(SHARE * self.spark.task_bytes / 8)
        attack = AttackUnits(found.fit, found.blocks, who, units, setting.targets, setting.after.columns, held)
        return self.workers.by_buckets(rows.union(targets), records.cut.many, attack, UNITS_OF_ROWS)

    def sent(
        self, found: Learnt, records: PackRecords, unit: OnDisk, wanted: tuple[I64, ...] | None = None
    ) -> DataFrame:  # fmt: skip
        """Released rows, each in all buckets in which its unit has candidates. `wanted`: see `PackUnits`."""
        setting, alone, many = self.setting, not found.fit.homes, records.cut.buckets
        work = PackUnits(records, unit, many, alone, wanted)
        rows = self.workers.by_batches(setting.release.released, list(setting.after.columns), work, PACKED)
        return rows if alone else self.workers.by_buckets(rows, many, SendUnits(), PACKED)

    def _targets(self, found: Learnt) -> F64:
        """Original rows in each block, whoever counts among them."""
        setting, known = self.setting, found.blocks
        labels = [c.of(setting.case.original) for c in found.knowledge.certain]
        n, count = setting.case.original.n, setting.case.original_count
        mine, at, number = blocks(known.labels, labels, len(known.size), n)
        many = np.bincount(at[at >= 0], weights=None if count is None else count[at >= 0], minlength=number)
        return np.asarray(many[mine], dtype=float)

    def many(self, targets: int) -> int:
        """As many buckets as the memory of a task asks for, and enough for all workers."""
        if self.spark.buckets is not None:
            return self.spark.buckets
        room, setting = SHARE * self.spark.task_bytes, self.setting
        least = 2 * int(self.spark.session.sparkContext.defaultParallelism)
        if setting.units is not None:
            sizes, homes = setting.units.sizes(setting.release.links()), homes_of(setting.case, self.knows)
            return max(least, buckets_for_units(targets, sizes, homes, room, MOST))
        rows = targets + setting.release.released.height
        return max(least, int(np.ceil(rows * PER_ROW / room)))


def _width(work: Labelled, setting: Setting) -> int:
    """How many columns the keys of labels have: that hangs on the plan, not on rows."""
    release = setting.release
    few = release.released.slice(0, 1, [*setting.after.columns])
    few = few.with_columns(pl.Series(ROW, np.arange(few.height)))
    if work.weight is not None and work.weight not in few.columns:
        few = few.with_columns(pl.lit(1.0).alias(work.weight))
    return sum(v.startswith("k") for v in work.keys(few).columns)


def _added_up(rows: DataFrame, keys: int, sums: int, codes: int) -> DataFrame:
    """Sums by key, added in the order of rows so that they are the same each time; and the first row of each."""
    from pyspark.sql import functions as f

    names = [f"s{i}" for i in range(sums)]
    kept = f.struct(ROW, *names, *(f"c{i}" for i in range(codes)))
    alike = rows.groupBy(*(f"k{i}" for i in range(keys))).agg(f.sort_array(f.collect_list(kept)).alias("all"))
    first = f.col("all")[0]
    added = [f.aggregate(f.col("all")[v], f.lit(0.0), lambda a, x: a + x).alias(v) for v in names]
    return alike.select(*added, first[ROW].alias(ROW), *(first[f"c{i}"].alias(f"c{i}") for i in range(codes)))
