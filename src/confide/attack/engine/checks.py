"""What an attack cannot do, said before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from confide.attack.engine.membership import check_membership
from confide.attack.engine.scene import Scene
from confide.attack.evidence.grouping import check_unit
from confide.attack.evidence.unreleased import unusable
from confide.attack.intruder import Intruder
from confide.core.errors import InputError, did_you_mean, raise_all

if TYPE_CHECKING:
    from confide.protect.release import Release


def check_attack(intruder: Intruder, release: Release, copies: bool) -> None:
    """Bad input; `copies`: of a release with others beside it."""
    if not hasattr(release, "public_variables"):
        raise InputError(
            f"An attack needs a release, not {type(release).__name__}: make one with plan.protect(...) or with "
            "Release.adopt(...)."
        )
    check_known(intruder, release)
    check_unit(intruder, release, copies)
    check_membership(intruder, release)
    if copies and intruder.levels[0] == "naive":
        raise InputError(
            "A naive intruder takes released values as true, and copies contradict each other; attack one copy, as "
            "copies[0]."
        )


def check_known(intruder: Intruder, release: Release) -> None:
    """What the intruder knows and guesses must be there to be known."""
    if release.compiled is not None and release.compiled.nobody:
        raise InputError(release.compiled.nobody)
    problems = unusable(intruder, release)
    problems += _wrong_guesses(intruder, release)
    if release.plan is None and intruder.available != "naive":
        problems.append(
            'The plan behind this release is not known, so only an intruder with available="naive" can attack it.'
        )
    raise_all(problems)
    if not intruder.knows and not intruder.between:
        raise InputError("The intruder knows nothing: name the variables in knows=[...].")


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


def check_scene(scene: Scene, intruder: Intruder) -> None:
    """Beside absence, C must be commensurate with 1: a density needs its A."""
    if (
        intruder.membership != "certain"
        and any(
            (number and not u.direct and not u.silent) or u.bare
            for number, u in zip(scene.fit.numeric, scene.uncertain, strict=True)
        )
        and intruder.levels[2] == "ignore"
        and not scene.knowledge.nearest
    ):
        raise InputError(
            'others="ignore" leaves a density beside the probability of absence, which cannot be compared. Use '
            'others="informed", or membership="certain".'
        )
