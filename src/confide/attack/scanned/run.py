"""Attack a release that is larger than memory: count what is alike, attack that, spread the results out."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.attack.engine.run import carry_out_all
from confide.attack.engine.treatments import treatments
from confide.attack.intruder import Intruder
from confide.attack.results.units import ALIKE
from confide.attack.scanned.buckets import attack_in_buckets
from confide.attack.scanned.checks import check_scanned
from confide.attack.scanned.distinct_files import DistinctFiles, StatedTargets, asked_of
from confide.attack.scanned.result import ScannedAttack
from confide.attack.scanned.truth import rows_of_targets
from confide.core.errors import InputError
from confide.core.files.whole_folder import check_new_folder, whole_folder
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count
from confide.core.scale.engine import Asked, Engine
from confide.core.scale.local import Local
from confide.core.scale.rows_alike import TooMany
from confide.frames import to_polars

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


def attack_scanned(
    intruder: Intruder, release: ScannedRelease, targets: Any, truth: Any, *, out: str | os.PathLike[str] | None,
    engine: Engine | None, threads: int | None, progress: Progress,
) -> ScannedAttack:  # fmt: skip
    """The posterior of every target, summarised; one row per target is written to the folder `out`, if one is named."""
    began = time.perf_counter()
    folder = None if out is None else check_new_folder(out)
    check_scanned(intruder, release)
    if targets is None and truth is not None:
        raise InputError("truth goes with targets; the default targets know theirs.")
    frame = None if targets is None else to_polars(targets, "targets")
    rows = None if frame is None else rows_of_targets(release, frame, truth)
    shown, asked = asked_of(intruder, release, frame is not None)
    where, workers = Local() if engine is None else engine, thread_count(threads)
    if isinstance(where, Local) and where.buckets is not None:
        return _in_buckets(
            intruder, shown, release, where, asked, folder, frame, thread_count(threads), progress, began
        )
    try:
        with where.counting(release, asked, progress) as counting:
            files = DistinctFiles.of(shown, release, counting.counted, where.in_bytes)
            stated = None if frame is None or rows is None else StatedTargets.of(frame, rows, counting)
            ready = files.prepare(stated)
            with progress_bar("attacking", int(ready.units.count.sum()), progress) as done:
                found = carry_out_all(ready, workers, done)
            merged = found.table.drop("target").with_columns(pl.Series(ALIKE, ready.units.count).cast(pl.Int64))
            if folder is not None and ready.of is not None:
                counting.spread(merged.drop(ALIKE).select(pl.all().gather(ready.of)), folder, progress)
    except TooMany:
        if not isinstance(where, Local) or frame is not None:
            raise
        return _in_buckets(
            intruder, shown, release, where, asked, folder, frame, thread_count(threads), progress, began
        )
    if folder is not None and ready.of is None:
        with whole_folder(folder, private=True) as made:
            found.table.write_parquet(made / "part-00000.parquet")
    return ScannedAttack(
        intruder, release, merged, tuple(treatments(ready, intruder)), time.perf_counter() - began, found.pairs, files,
        stated, None if folder is None else Path(folder), found.people, found.short,
    )  # fmt: skip


def _in_buckets(
    intruder: Intruder, shown: Intruder, release: ScannedRelease, local: Local, asked: Asked, folder: Path | None,
    targets: pl.DataFrame | None, threads: int, progress: Progress, began: float,
) -> ScannedAttack:  # fmt: skip
    """The attack where too few rows are alike."""
    if targets is not None:
        raise InputError("targets: stated targets are not attacked in buckets; leave buckets out, or the targets.")
    if shown.between:
        raise InputError("between names columns of targets=...; give the targets.")
    found = attack_in_buckets(shown, release, local, asked, folder, intruder, threads, progress)
    return ScannedAttack(
        intruder, release, found.merged, tuple(found.treatments), time.perf_counter() - began, found.pairs, found,
        None, folder, found.people, found.short,
    )  # fmt: skip
