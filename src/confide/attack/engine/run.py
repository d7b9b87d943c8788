"""Carry an attack out: encode, split targets by what is known of them, compute, put together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.engine.compute import Outcome, compute
from confide.attack.engine.evidence import Case, believed_steps, gather
from confide.attack.engine.membership import check_membership, people_in_blocks, population_records
from confide.attack.engine.scene import Scene
from confide.attack.intruder import Intruder, Unsure
from confide.attack.results.attack import Attack, Treatment
from confide.attack.results.copies import joined
from confide.attack.targets import gather_targets, released_row
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.run.threads import progress_bar, thread_count
from confide.frames.columns import F64
from confide.protect.compiled import Compiled
from confide.protect.seam.mechanism import SYNTHETIC

if TYPE_CHECKING:
    from confide.protect.release import Release


def run_attack(
    intruder: Intruder, release: Release, targets: Any, truth: Any, *, threads: int | None, progress: bool | None,
    also: Sequence[Release] = (),
) -> Attack:  # fmt: skip
    """The posterior of every target, summarised; `also`: further copies, row by row of the same people."""
    began = time.perf_counter()
    _check(intruder, release)
    if also and intruder.levels[0] == "naive":
        raise InputError(
            "A naive intruder takes released values as true, and copies contradict each other; attack one copy, as "
            "copies[0]."
        )
    case = make_case(intruder, release)
    others = [make_case(intruder, copy) for copy in also]
    who = gather_targets(intruder, release, case.original, targets, truth)
    own_row = released_row(release, who.truth)
    workers = thread_count(threads)
    n = who.records.n
    extra = _population(intruder, case)
    columns = {
        k: np.full(n, np.nan) for k in ("log_sum", "log_max", "n_max", "log_true", "above", "likely", "n_t", "people")
    }
    pairs, scenes = np.zeros(2), []
    with progress_bar("attacking", n, progress) as done:
        for rows, knows, between in who.patterns(tuple(intruder.knows)):
            knowledge = joined([gather(each, knows, between) for each in (case, *others)])
            scene = Scene(case, knowledge, who.records.take(rows), between)
            _check_scene(scene, intruder)
            outcome = compute(scene, np.maximum(own_row[rows], -1), workers, done)
            _collect(columns, rows, scene, outcome, people_in_blocks(scene, intruder, release, extra))
            pairs += outcome.pairs
            scenes.append((rows, scene))
    return Attack.of(
        intruder, release, who.truth, own_row, columns, scenes, _treatments(case, intruder, release),
        seconds=time.perf_counter() - began, pairs=(float(pairs[0]), float(pairs[1])),
        given=(targets, truth, tuple(also)),
    )  # fmt: skip


def _check(intruder: Intruder, release: Release) -> None:
    if not hasattr(release, "public_variables"):
        raise InputError(
            f"An attack needs a release, not {type(release).__name__}: make one with plan.protect(...) or with "
            "Release.adopt(...)."
        )
    if release.compiled is not None and release.compiled.nobody:
        raise InputError(release.compiled.nobody)
    problems = [
        f'knows: "{v}" is not released, so knowing it tells nothing.{did_you_mean(v, release.public_variables)}'
        for v in (*intruder.knows, *intruder.between)
        if v not in release.public_variables
    ]
    problems += _wrong_guesses(intruder, release)
    if release.plan is None and intruder.available != "naive":
        problems.append(
            'The plan behind this release is not known, so only an intruder with available="naive" can attack it.'
        )
    raise_all(problems)
    if not intruder.knows and not intruder.between:
        raise InputError("The intruder knows nothing: name the variables in knows=[...].")
    check_membership(intruder, release)


def _wrong_guesses(intruder: Intruder, release: Release) -> list[str]:
    """Guesses about internals that no step of the plan has, or that cannot be so."""
    steps = () if release.plan is None else release.plan.parts
    checks = {name: check for s in steps for name, check in s.guesses.items()}
    problems = []
    for name, given in intruder.guesses.items():
        if name not in checks:
            problems.append(f'guesses: no step of the plan has something called "{name}".{did_you_mean(name, checks)}')
            continue
        variables = {v for s in steps if name in s.guesses for v in s.variables}
        single = given if isinstance(given, Mapping) else {"": given}
        problems += [
            f'guesses: the plan has no "{name}" of "{v}".{did_you_mean(v, variables)}'
            for v in single
            if v and v not in variables
        ]
        problems += [f"guesses: {wrong}." for g in single.values() if (wrong := checks[name](g))]
    return problems


def make_case(intruder: Intruder, release: Release) -> Case:
    """Original and released files as arrays, with the steps an "average" intruder believes in."""
    compiled = release.compiled or Compiled((), {}, ())
    public = release.public_variables
    needed = [*intruder.knows, *intruder.between]
    needed += [v for v, w in compiled.ways.items() if w.random is not None]
    needed += [v for step in compiled.steps if step.role == "random" for v in step.needs]
    if "exact" in intruder.levels:
        needed += public
    names = [v for v in dict.fromkeys(needed) if v in public and v in release.original.columns]
    lost = [v for v in (*intruder.knows, *intruder.between) if v not in names]
    if lost:
        raise InputError(f'The original file has no column "{lost[0]}", so nobody can be said to know it.')
    original, released = release.encoded(names, numeric=intruder.between)
    believed = believed_steps(intruder, compiled, original, released)
    return Case(intruder, compiled, original, released, believed, blind=release.plan is None)


def _population(intruder: Intruder, case: Case) -> Any:
    who = intruder.membership
    if isinstance(who, Unsure) and who.population is not None:
        certain = [c.name for c in gather(case, tuple(intruder.knows), {}).certain]
        names = tuple(dict.fromkeys([*certain, *(v for v in intruder.between if case.compiled.way(v).random is None)]))
        people, count = population_records(who, case.original, names)
        return people, count
    return None


def _check_scene(scene: Scene, intruder: Intruder) -> None:
    """Beside absence, C must be commensurate with 1: a density needs its A."""
    if (
        intruder.membership != "certain"
        and any(
            (number and not u.direct and not u.silent) or u.bare
            for number, u in zip(scene.numeric, scene.uncertain, strict=True)
        )
        and intruder.levels[2] == "ignore"
        and not scene.knowledge.nearest
    ):
        raise InputError(
            'others="ignore" leaves a density beside the probability of absence, which cannot be compared. Use '
            'others="informed", or membership="certain".'
        )


def _collect(columns: dict[str, F64], rows: Any, scene: Scene, outcome: Outcome, people: F64 | None) -> None:
    n_t = np.bincount(scene.block_r, minlength=max(scene.n_blocks, 1)).astype(float)
    inside = scene.block_t >= 0
    block = np.maximum(scene.block_t, 0)
    values = {
        "log_sum": outcome.log_sum, "log_max": outcome.log_max, "n_max": outcome.n_max, "log_true": outcome.log_true,
        "above": outcome.above, "likely": outcome.likely, "n_t": np.where(inside, n_t[block], 0.0),
        "people": np.zeros(len(rows)) if people is None or not len(people) else np.where(inside, people[block], 0.0),
    }  # fmt: skip
    for name, value in values.items():
        columns[name][rows] = value


def _treatments(case: Case, intruder: Intruder, release: Release) -> list[Treatment]:
    """How each variable was treated, for the printout."""
    out, naive = [], intruder.levels[0] == "naive"
    named = {} if release.plan is None else release.plan.named_kinds
    for v, column in case.original.items():
        way = case.compiled.way(v)
        steps = [s for s in case.compiled.steps if v in s.variables]
        known = "known" if v in intruder.knows else "interval" if v in intruder.between else "not known"
        did = "not known" if case.blind else " then ".join(type(s).__name__ for s in steps) or "kept"
        sort = "taken as true" if case.altered(v) and naive else "uncertain" if way.random is not None else "certain"
        if "exact" in intruder.levels and case.compiled.sorts.get(v) == SYNTHETIC:
            sort = "synthetic"
        why = "needed by a step" if column.why == "named" and v not in named else column.why
        out.append(Treatment(v, known, column.kind, why, did, sort))
    return out
