"""Stated targets where too few rows are alike: the release is put aside by block, once for all of whom the same is
known, and each target meets the records of its own block. Intervals are asked of records inside their bucket."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.fit import Fit
from confide.attack.engine.intervals import Between
from confide.attack.engine.treatments import treatments
from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.units import ALIKE
from confide.attack.scanned.bucket import own_places
from confide.attack.scanned.buckets import Bucketed, Pattern, StatedPeople, told
from confide.attack.scanned.coded import records_of
from confide.attack.scanned.intervals import Intervals, attack_intervals
from confide.attack.scanned.meeting import ROW, unit_bucket
from confide.attack.scanned.pattern import Learnt
from confide.attack.scanned.setting import LocalFiles, Setting
from confide.attack.scanned.stated_people import Shown, alike, ends_of, learn_together, part_of_rows_here, stated_people
from confide.attack.scanned.unit_bucket import attack_by_interval
from confide.attack.targets import Targets
from confide.core.files.whole_folder import whole_folder
from confide.core.run.progress import Progress, progress_bar
from confide.core.scale.engine import Asked
from confide.core.scale.local import Local
from confide.core.scale.scratch import scratch_folder
from confide.core.scale.spilled import Spilled, bucket_of
from confide.frames.columns import I64

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


def attack_stated(
    intruder: Intruder, release: ScannedRelease, local: Local, asked: Asked, targets: tuple[pl.DataFrame, I64],
    out: Path | None, stated: Intruder, threads: int, progress: Progress,
) -> Bucketed:  # fmt: skip
    """The whole attack. `targets`: with the original row of each; `stated`: the intruder as given."""
    files = LocalFiles(release, local.batch)
    setting = Setting.of(intruder, files, list(asked.original), local.batch, local.in_bytes)
    who, state = stated_people(setting, *targets, lambda: part_of_rows_here(setting))
    groups = alike(who, tuple(intruder.knows), setting.case.told_missing)
    setting = setting.asking(files, groups)
    with scratch_folder(local.scratch) as folder, progress_bar("attacking", who.records.n, progress) as done:
        work = _Stated(setting, who, state, local, threads)
        for k, knows in enumerate(dict.fromkeys(knows for knows, _ in groups)):
            part = Pattern(
                setting, knows, np.zeros(0, dtype=np.int64), folder, str(k), local, None, ends_of(setting, who)
            )
            records, case, count, weights = part.records(asked)
            for (mine, _), each in groups.items():
                if mine == knows:
                    work.attack(each, knows, (case, count, weights), records, done)
    table = work.table()
    if out is not None:
        with whole_folder(out, private=True) as made:
            table.write_parquet(made / "part-00000.parquet")
    merged = table.drop("target").with_columns(pl.lit(1, dtype=pl.Int64).alias(ALIKE))
    return Bucketed(
        merged, treatments(told(setting, intruder, who.records), stated), (float(work.pairs[0]), float(work.pairs[1])),
        tuple(work.models), int(work.short), (), setting.before, setting.after, merged.height,
        StatedPeople(who.records, work.of, tuple(work.fits)), setting.units,
    )  # fmt: skip


@dataclass(eq=False)
class _Stated:
    """Results so far, of each target: `of`, its fit."""

    setting: Setting
    who: Targets
    state: I64
    local: Local
    threads: int

    def __post_init__(self) -> None:
        self.of = np.zeros(self.who.records.n, dtype=np.int64)
        self.fits, self.models, self.found = list[tuple[Fit, Between]](), list[PeopleModel](), list[pl.DataFrame]()
        self.short, self.pairs = 0.0, np.zeros(2)

    def attack(
        self, each: list[tuple[I64, Between]], knows: tuple[str, ...], shown: Shown, records: Spilled,
        done: Callable[[int], None],
    ) -> None:  # fmt: skip
        """Targets of whom the same variables are known, bucket by bucket."""
        behind = bool((self.state >= 0).all())
        found, asked, models, few = learn_together(self.setting, self.who, knows, each, behind, shown)
        which = np.full(self.who.records.n, -1, dtype=np.int64)
        for k, (rows, _) in enumerate(each):
            which[rows], self.of[rows] = k, len(self.fits)
            self.fits.append((asked.fits.get(k, found.fit), asked.between[k]))
        self.models += models
        self.short = max(self.short, few)
        rows = np.flatnonzero(which >= 0)
        people = self.who.records.take(rows)
        bucket = bucket_of([c.of(people) for c in found.knowledge.certain], len(rows), records.buckets)
        for b in np.unique(bucket).tolist():
            mine = rows[bucket == b]
            table, pairs = self._met(mine, which[mine], found, asked, records.bucket(b))
            self.pairs += pairs
            self.found.append(table.insert_column(0, pl.Series("target", mine)))
            done(len(mine))

    def _met(
        self, mine: I64, which: I64, found: Learnt, asked: Intervals, z: pl.DataFrame
    ) -> tuple[pl.DataFrame, tuple[float, float]]:  # fmt: skip
        """Some targets met with the records of their bucket. Where units are attacked, interval by interval."""
        setting, who = self.setting, self.who
        if setting.units is None:
            return attack_intervals(
                found.fit, found.blocks, asked, which, who.records.take(mine), self.state[mine],
                records_of(z, setting.after.columns), own_places(who.truth[mine], z[ROW].to_numpy()), self.threads,
            )  # fmt: skip
        bucket = unit_bucket(setting, z, self.local, self.threads)
        return attack_by_interval(
            lambda k: bucket(asked.fit(found.fit, k), asked.blocks(found.blocks, k)), which, who.records.take(mine),
            setting.units.own(who.truth[mine]),
        )  # fmt: skip

    def table(self) -> pl.DataFrame:
        """One row for each target, in their order."""
        return pl.concat(self.found).sort("target")
