"""Stated targets where too few rows are alike: the release is put aside by block, once for all of whom the same is
known, and each target meets the records of its own block. Intervals are asked of records inside their bucket."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.engine.behind import part_of_rows, parts_are_asked, with_parts
from confide.attack.engine.fit import Fit
from confide.attack.engine.treatments import treatments
from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.units import ALIKE
from confide.attack.scanned.buckets import Bucketed, Pattern, told
from confide.attack.scanned.meeting import met
from confide.attack.scanned.pattern import Learnt, learn
from confide.attack.scanned.setting import LocalFiles, Setting
from confide.attack.targets import UNKNOWN, Targets, part_of, stated_targets
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
    who, state = _people(setting, *targets)
    patterns = list(who.patterns(tuple(intruder.knows), setting.case.told_missing))
    setting = setting.asking(files, [knows for _, knows, _ in patterns])
    with scratch_folder(local.scratch) as folder, progress_bar("attacking", who.records.n, progress) as done:
        work = _Stated(setting, who, state, local, threads)
        for k, knows in enumerate(dict.fromkeys(knows for _, knows, _ in patterns)):
            part = Pattern(setting, knows, np.zeros(0, dtype=np.int64), folder, str(k), local, None)
            records, case, count, weights = part.records(asked)
            for rows, mine, between in patterns:
                if mine == knows:
                    people = who.records.take(rows)
                    behind = bool((state >= 0).all())
                    found = learn(setting, knows, people, case, count, weights, behind, between)
                    work.attack(rows, found, records)
                    done(len(rows))
    table = work.table()
    if out is not None:
        with whole_folder(out, private=True) as made:
            table.write_parquet(made / "part-00000.parquet")
    merged = table.drop("target").with_columns(pl.lit(1, dtype=pl.Int64).alias(ALIKE))
    return Bucketed(
        merged, treatments(told(setting, intruder, who.records), stated), (float(work.pairs[0]), float(work.pairs[1])),
        tuple(work.models), int(work.short), tuple(work.fits), setting.before, setting.after, merged.height,
        (who.records, work.of), setting.units,
    )  # fmt: skip


def _people(setting: Setting, frame: pl.DataFrame, truth: I64) -> tuple[Targets, I64]:
    """What is known of targets; and of each 0 where it is released, -1 where not, -2 where that is unknown."""
    known, low, high = stated_targets(setting.case.intruder, setting.case.original, frame)
    release, inside = setting.release, truth >= 0
    own = np.zeros(release.original.height, dtype=bool)
    for link in release.links(setting.rows):
        own[link] = True
    if parts_are_asked(setting.case):
        part = np.zeros(release.original.height, dtype=np.int8)
        for batch in release.originals(setting.before, setting.rows):
            part[batch.rows] = part_of_rows(batch)
        known = with_parts(known, part_of(truth, part.astype(np.int64)))
    state = np.where(inside, np.where(own[np.maximum(truth, 0)], 0, -1), np.where(truth == UNKNOWN, UNKNOWN, -1))
    return Targets(known, truth, low, high), state


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
        self.fits, self.models, self.found = list[Fit](), list[PeopleModel](), list[pl.DataFrame]()
        self.short, self.pairs = 0.0, np.zeros(2)

    def attack(self, rows: I64, found: Learnt, records: Spilled) -> None:
        """Targets of one pattern, bucket by bucket."""
        self.of[rows] = len(self.fits)
        self.fits.append(found.fit)
        self.models += [] if found.model is None else [found.model]
        self.short = max(self.short, found.few)
        people = self.who.records.take(rows)
        bucket = bucket_of([c.of(people) for c in found.knowledge.certain], len(rows), records.buckets)
        for b in np.unique(bucket).tolist():
            mine = rows[bucket == b]
            table, pairs = met(
                self.setting, found.fit, found.blocks, self.who.records.take(mine), self.who.truth[mine],
                self.state[mine], records.bucket(b), self.local, self.threads,
            )  # fmt: skip
            self.pairs += pairs
            self.found.append(table.insert_column(0, pl.Series("target", mine)))

    def table(self) -> pl.DataFrame:
        """One row for each target, in their order."""
        return pl.concat(self.found).sort("target")
