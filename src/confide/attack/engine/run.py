"""Carry an attack out: evidence, beliefs, blocks, kernel plan, results, one stage after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.engine.checks import check_attack, check_scene
from confide.attack.engine.kernel_plan import KernelPlan, Units
from confide.attack.engine.loops import Outcome, carry_out
from confide.attack.engine.other_rows import other_rows
from confide.attack.engine.prepare import Prepared, Stated, prepare
from confide.attack.engine.scene import Scene
from confide.attack.engine.treatments import treatments
from confide.attack.engine.unit_sums import carry_out_units
from confide.attack.intruder import Intruder
from confide.attack.population.people import PeopleModel
from confide.attack.results.attack import Attack
from confide.attack.results.units import make_units, spread_out
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import thread_count
from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.protect.release import Release

SUMMARIES = ("log_sum", "log_max", "n_max", "log_true", "above", "likely")


def run_attack(
    intruder: Intruder, release: Release, targets: Any, truth: Any, *, threads: int | None, progress: Progress,
    also: Sequence[Release] = (), behind: bool | None = None, stated: Stated | None = None,
) -> Attack:  # fmt: skip
    """The posterior of every target, summarised; `also`: further copies, row by row of the same people; `behind`: see
    `prepare`; `stated`: the rows whose probability is asked for, instead of the targets' own."""
    began = time.perf_counter()
    check_attack(intruder, release, bool(also))
    ready = prepare(intruder, release, targets, truth, also, behind=behind, stated=stated)
    with progress_bar("attacking", len(ready.who.truth), progress) as done:
        found = carry_out_all(ready, thread_count(threads), done)
    table = found.table
    if ready.groups is not None:
        table = table.with_columns(unit=pl.Series(ready.own))
    return Attack(
        intruder, release, spread_out(table, ready.of), ready.who.truth, treatments(ready, intruder),
        time.perf_counter() - began, found.pairs, ready.own_row, ready.of, found.log_scale, found.absent,
        (targets, truth, tuple(also)), found.people, found.short,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Found:
    """Results of all units, one row each, and what goes with them: see `Attack`."""

    table: pl.DataFrame
    log_scale: F64
    absent: F64
    pairs: tuple[float, float]
    people: tuple[PeopleModel, ...]
    short: int


def carry_out_all(ready: Prepared, threads: int, done: Callable[[int], None]) -> Found:
    """Every pattern of knowledge carried out, one after the other."""
    columns = {k: np.full(len(ready.units.target), np.nan) for k in (*SUMMARIES, "n_t", "people")}
    pairs, models, short = np.zeros(2), list[PeopleModel](), 0.0
    for mine, scene, units, people in ready.parts():
        check_scene(scene, ready.intruder)
        outcome, candidates = _carry_out(ready, scene, units, threads, done)
        short = max(short, people.short)
        models += [] if people.model is None else [people.model]
        _collect(columns, mine, scene, units, outcome, people.n_t)
        if candidates is not None:  # units, and those that are absent beside them
            columns["people"][mine] += candidates - columns["n_t"][mine]
            columns["n_t"][mine] = candidates
        pairs += outcome.pairs
    table, log_scale, absent = make_units(columns, ready.own, ready.intruder.membership == "certain")
    return Found(table, log_scale, absent, (float(pairs[0]), float(pairs[1])), tuple(models), int(short))


def _carry_out(
    ready: Prepared, scene: Scene, units: Units, threads: int, done: Callable[[int], None]
) -> tuple[Outcome, I64 | None]:
    """The outcome of records; or of units that have several, with how many of them are candidates of each target."""
    if ready.groups is None:
        return carry_out(KernelPlan.of(scene, units), units, threads, done), None
    unit = ready.groups.released
    return carry_out_units(scene, units, unit, other_rows(scene, unit), threads, done)


def _collect(
    columns: dict[str, F64], mine: Any, scene: Scene, units: Units, outcome: Outcome, people: F64 | None
) -> None:
    """Results of some units among those of all."""
    n_t = np.bincount(scene.block_r, weights=scene.count, minlength=max(scene.n_blocks, 1))
    block = scene.block_t[units.target]
    inside, block = block >= 0, np.maximum(block, 0)
    columns["n_t"][mine] = np.where(inside, n_t[block], 0.0)
    columns["people"][mine] = 0.0 if people is None or not len(people) else np.where(inside, people[block], 0.0)
    for name in SUMMARIES:
        columns[name][mine] = getattr(outcome, name)
