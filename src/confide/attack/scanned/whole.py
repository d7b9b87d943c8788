"""What must see all rows at once: the variables in play of both files are held in memory, where it has room for them.

A census has many columns, an attack few: those that are known, altered, or read by a step. Where counts of rows that
are alike do not say enough (a method that an intruder fits to all released rows) these few are
read whole, and the engine in memory attacks them. What does not fit is refused before anything is read.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.attack.engine.run import run_attack
from confide.attack.evidence.case import why_together
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder
from confide.attack.results.attack import Attack
from confide.attack.results.cost import memory_of
from confide.attack.results.units import ALIKE
from confide.attack.scanned.result import ScannedAttack
from confide.attack.targets import UNKNOWN
from confide.core.errors import InputError
from confide.core.files.whole_folder import whole_folder
from confide.core.run.progress import Progress
from confide.core.scale.engine import Asked, Engine
from confide.frames.columns import I64
from confide.frames.encoded import Encoded
from confide.protect.release import Release

if TYPE_CHECKING:
    from pathlib import Path

    from confide.protect.scanned.release import ScannedRelease


PER_UNIT_ROW = 1_200
"""Bytes more that a row takes where units are attacked: what other rows of its unit say of each value it may have."""


@dataclass(frozen=True, eq=False)
class Whole:
    """The attack that was made in memory."""

    attack: Attack


def why_whole(intruder: Intruder, release: ScannedRelease) -> str:
    """Why counts of rows that are alike are not enough, as far as plan and intruder say; empty where they may be."""
    return why_together(intruder, release.compiled, {})


def attack_whole(
    intruder: Intruder, release: ScannedRelease, asked: Asked, targets: tuple[pl.DataFrame | None, I64 | None],
    where: Engine, why: str, out: Path | None, threads: int | None, progress: Progress,
) -> ScannedAttack:  # fmt: skip
    """The attack in memory on the variables in play. `targets`: those stated, with their original rows."""
    began, unit = time.perf_counter(), unit_of(intruder, release)  # type: ignore[arg-type]
    frame, rows = targets
    many = 0 if frame is None else frame.height
    needed = memory_of(release.released.height, max(release.original.height, many), len(asked.original))
    needed += 0 if unit is None else release.released.height * PER_UNIT_ROW
    if needed > where.in_bytes:
        raise InputError(
            f"This attack holds all rows at once: {why}. Its {len(asked.original)} variables in play take about "
            f"{needed / 2**30:.1f} GB, and {where.in_bytes / 2**30:.1f} GB are allowed. Allow more, as in "
            f'engine=cf.Local(memory="{int(needed / 2**30) + 1}GB"), attack a part of the file (cf.read), or leave '
            "that out."
        )
    held = _in_memory(release, [*asked.original, *asked.original_added, *([] if unit is None else [unit])])
    truth: Any = rows if rows is not None and not bool((rows == UNKNOWN).any()) else None
    found = run_attack(intruder, held, frame, truth, threads=threads, progress=progress)
    if out is not None:
        with whole_folder(out, private=True) as made:
            found.units.write_parquet(made / "part-00000.parquet")
    table = found.units.drop("target").with_columns(pl.lit(1, dtype=pl.Int64).alias(ALIKE))
    return ScannedAttack(
        intruder, release, table, tuple(found.treatments), time.perf_counter() - began, found.pairs, Whole(found), None,
        out, found.people, found.short,
    )  # fmt: skip


def _in_memory(release: ScannedRelease, names: list[str]) -> Release:
    """The release with some of its variables, its rows in the order of the files."""
    wanted = list(dict.fromkeys(names))
    original = release.original.collect([v for v in release.original.columns if v in wanted])
    released = release.released.collect([v for v in release.public_variables if v in wanted])
    before, after = Encoded(original, release.original.schema), Encoded(released)
    return Release(
        release.plan, released, released, original, release.link, release.origin, release.compiled, None, before, after
    )
