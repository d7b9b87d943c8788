"""What N_t, the number of people who could be a target, rests on."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from confide.attack.engine.membership import weight_scale
from confide.attack.intruder import Unsure
from confide.core.visible import visible
from confide.protect.scanned.release import ScannedRelease

if TYPE_CHECKING:
    from confide.attack.population.people import PeopleModel
    from confide.attack.results.attack import Attack
    from confide.attack.scanned.result import ScannedAttack

WIDTH = 118


def people_lines(attack: Attack | ScannedAttack) -> list[str]:
    """How many people could be the target, and who says so; nothing where membership is certain."""
    if attack.intruder.membership == "certain":
        return []
    text = f"N_t, the people who could be the target: {_source(attack)}"
    return ["", *textwrap.wrap(text, WIDTH, break_on_hyphens=False)]


def unchecked(membership: str | Unsure, outside: bool = False) -> str:
    """What a comparison of claims with the truth does not check: the belief about membership, on both sides of it.

    Targets who are all released say nothing of how many others could be meant. Nothing where membership is not unsure.

    >>> unchecked(Unsure(total=60_000)).partition(":")[2]
    ' that rests on what was stated, a population of 60,000 and a log-linear model, and counts on both sides.'
    """
    if not isinstance(membership, Unsure):
        return ""
    how = "a log-linear model" if membership.model == "loglinear" else "proportion to the release"
    if membership.population is not None:
        stated = "the population that is given"
    elif membership.weights is not None:
        stated = f'the weights "{visible(membership.weights)}" and {how}'
    else:
        stated = f"{'the size of a population' if outside else f'a population of {membership.total:,.0f}'} and {how}"
    return (
        "Comparing claims with the truth does not check how many people could be the target, since all targets are "
        f"released: that rests on what was stated, {stated}, and counts on both sides."
    )


def _source(attack: Attack | ScannedAttack) -> str:
    who = attack.intruder.membership
    if not isinstance(who, Unsure):
        return "counted in the original file."
    if who.population is not None:
        return "counted in the population that is given." + _short(attack)
    if attack.people:
        more = f" The first of {len(attack.people)} patterns of knowledge." if len(attack.people) > 1 else ""
        return _model(attack.people[0]) + more + _raised(who, attack)
    if who.model == "loglinear":
        return "everybody, since nothing that is known is certain."
    if who.weights is not None:
        return (
            f'the weights "{visible(who.weights)}" of the records that agree, added up, in proportion to the release.'
            + _raised(who, attack)
        )
    return f"{who.total:,.0f} times the share of records that agree, in proportion to the release."


def _short(attack: Attack | ScannedAttack) -> str:
    """Where a population has fewer people than there are records, which no population of the file can have."""
    if not attack.short:
        return ""
    return (
        f" For {attack.short:,} of {_released(attack):,} released records it has fewer people with the same "
        "labels than the release has records, which cannot be: it is not the population of this file, or its values "
        "are spelt otherwise. There N_t is the number of records."
    )


def _released(attack: Attack | ScannedAttack) -> int:
    release = attack.release
    return release.released.height if isinstance(release, ScannedRelease) else release.frame.height


def _raised(who: Unsure, attack: Attack | ScannedAttack) -> str:
    """What was done with weights of a file of which a part is released."""
    if isinstance(attack.release, ScannedRelease):
        fewer = who.weights is not None and attack.release.released.height < attack.release.original.height
        return " Released weights are raised, so that they add up to those of the whole file." if fewer else ""
    scale = weight_scale(who, attack.release)
    return (
        "" if scale == 1 else f" Released weights times {scale:,.4g}, so that they add up to those of the whole file."
    )


def _model(model: PeopleModel) -> str:
    """A fitted model in words."""
    pairs = ", ".join(f"{visible(a)} x {visible(b)}" for a, b in model.pairs) or "none"
    names = ", ".join(visible(v) for v in model.variables)
    bins = f"; in bins: {', '.join(visible(v) for v in model.binned)}" if model.binned else ""
    verdict = "" if model.passed else " (near 0 for a model that fits): take N_t with care"
    kind = "1 / E(1/F), for the people behind records" if model.behind else "E(F), for targets from the population"
    return (
        f"estimated, {kind}, by a Poisson log-linear model of {names} in the release, {model.fraction:.2%} of the "
        f"population; pairs: {pairs}{bins}; z1 {model.z1:+.1f}, z2 {model.z2:+.1f}{verdict}."
    )
