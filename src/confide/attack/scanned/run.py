"""Attack a release that is larger than memory: count what is alike, attack that, spread the results out."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.attack.engine.run import carry_out_all
from confide.attack.engine.treatments import treatments
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder
from confide.attack.results.units import ALIKE
from confide.attack.scanned.buckets import attack_in_buckets
from confide.attack.scanned.checks import check_scanned
from confide.attack.scanned.distinct_files import DistinctFiles, StatedTargets, asked_of
from confide.attack.scanned.needs import NeedsWhole
from confide.attack.scanned.population import counted_population
from confide.attack.scanned.result import ScannedAttack
from confide.attack.scanned.spark_buckets import attack_on_spark
from confide.attack.scanned.spark_stated import attack_stated_on_spark
from confide.attack.scanned.stated import attack_stated
from confide.attack.scanned.truth import rows_of_targets
from confide.attack.scanned.whole import attack_whole, why_whole
from confide.core.errors import InputError
from confide.core.files.whole_folder import whole_folder
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count
from confide.core.scale.engine import Asked, Engine
from confide.core.scale.local import Local, engine_of
from confide.core.scale.rows_alike import TooMany
from confide.core.scale.spark import Spark
from confide.core.scale.spark_write import new_place
from confide.frames import to_polars
from confide.frames.columns import I64
from confide.protect.scanned.places import check_not_public

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

FEWER = (
    "Or let the intruder know fewer variables, or round the numbers that the plan alters (cf.Round): altered variables "
    "count, also where they are not known."
)
"""What to do where distinct rows do not fit."""


def attack_scanned(
    intruder: Intruder, release: ScannedRelease, targets: Any, truth: Any, *, out: str | os.PathLike[str] | None,
    engine: Engine | None, threads: int | None, progress: Progress,
) -> ScannedAttack:  # fmt: skip
    """The posterior of every target, summarised; one row per target is written to the folder `out`, if one is named."""
    began = time.perf_counter()
    folder = None if out is None else new_place(out, engine, targets is not None)
    check_not_public(folder, getattr(engine, "scratch", None), release.released.files)
    check_scanned(intruder, release)
    if targets is None and truth is not None:
        raise InputError("truth goes with targets; the default targets know theirs.")
    frame = None if targets is None else to_polars(targets, "targets")
    rows = None if frame is None else rows_of_targets(release, frame, truth)
    where, workers = engine_of(engine), thread_count(threads)
    counted = counted_population(intruder, where.in_bytes)
    shown, asked = asked_of(counted, release, frame is not None)
    try:
        if why := why_whole(intruder, release):
            raise NeedsWhole(why)
        return _in_parts(intruder, shown, release, where, asked, folder, (frame, rows), workers, progress, began)
    except NeedsWhole as e:
        found = attack_whole(counted, release, asked, (frame, rows), where, e.why, folder, threads, progress)
        return replace(found, intruder=intruder)
    except TooMany as e:
        rows_at_most = max(release.original.height, release.released.height)
        raise e.told(rows_at_most, where.in_bytes, FEWER) from None


def _in_parts(
    intruder: Intruder, shown: Intruder, release: ScannedRelease, where: Engine, asked: Asked, folder: Path | None,
    targets: tuple[pl.DataFrame | None, I64 | None], workers: int, progress: Progress, began: float,
) -> ScannedAttack:  # fmt: skip
    """Merged; or in buckets, where too few rows are alike or somebody asks for it."""
    frame, rows = targets
    if _units(intruder, release):
        here = where if isinstance(where, Local | Spark) else Local(where.in_bytes)
        return _in_buckets(intruder, shown, release, here, asked, folder, targets, workers, progress, began)
    if isinstance(where, Local | Spark) and where.buckets is not None:
        return _in_buckets(intruder, shown, release, where, asked, folder, targets, workers, progress, began)
    try:
        with where.counting(release, asked, progress) as counting:
            files = DistinctFiles.of(shown, release, counting, where.in_bytes)
            stated = None if frame is None or rows is None else StatedTargets.of(frame, rows, counting)
            ready = files.prepare(stated)
            with progress_bar("attacking", int(ready.units.count.sum()), progress) as done:
                found = carry_out_all(ready, workers, done)
            merged = found.table.drop("target").with_columns(pl.Series(ALIKE, ready.units.count).cast(pl.Int64))
            if folder is not None and ready.of is not None:
                counting.spread(merged.drop(ALIKE).select(pl.all().gather(ready.of)), folder, progress)
    except TooMany:
        if not isinstance(where, Local | Spark):
            raise
        return _in_buckets(intruder, shown, release, where, asked, folder, targets, workers, progress, began)
    if folder is not None and ready.of is None:
        with whole_folder(folder, private=True) as made:
            found.table.write_parquet(made / "part-00000.parquet")
    return ScannedAttack(
        intruder, release, merged, tuple(treatments(ready, intruder)), time.perf_counter() - began, found.pairs,
        files.closed(), stated, folder, found.people, found.short,
    )  # fmt: skip


def _units(intruder: Intruder, release: ScannedRelease) -> bool:
    """Whether units are attacked: of what their rows have in common, counts of rows that are alike say nothing."""
    return unit_of(intruder, release) is not None  # type: ignore[arg-type]


def _in_buckets(
    intruder: Intruder, shown: Intruder, release: ScannedRelease, where: Local | Spark, asked: Asked,
    folder: Path | None, targets: tuple[pl.DataFrame | None, I64 | None], threads: int, progress: Progress,
    began: float,
) -> ScannedAttack:  # fmt: skip
    """The attack where too few rows are alike."""
    frame, rows = targets
    if shown.between and frame is None:
        raise InputError("between names columns of targets=...; give the targets.")
    if frame is not None and rows is not None and isinstance(where, Spark):
        found = attack_stated_on_spark(shown, release, where, asked, (frame, rows), folder, intruder, progress)
    elif frame is not None and rows is not None and isinstance(where, Local):
        found = attack_stated(shown, release, where, asked, (frame, rows), folder, intruder, threads, progress)
    elif isinstance(where, Spark):
        found = attack_on_spark(shown, release, where, asked, folder, intruder, progress)
    else:
        found = attack_in_buckets(shown, release, where, asked, folder, intruder, threads, progress)
    return ScannedAttack(
        intruder, release, found.merged, tuple(found.treatments), time.perf_counter() - began, found.pairs, found,
        None, folder, found.people, found.short,
    )  # fmt: skip
