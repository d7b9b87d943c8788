"""What limits an attack's result, said where it is printed: claims that are off, stronger levels, odd knowledge."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.evidence.grouping import grouping
from confide.attack.evidence.twins import why_twins
from confide.attack.intruder import Unsure
from confide.attack.results.intervals import missed
from confide.attack.results.tried import variants
from confide.attack.results.units import all_released
from confide.core.shares import percent
from confide.core.visible import visible
from confide.measure.risk.claims import claims_of
from confide.show.text.people import unchecked

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.attack.scanned.result import ScannedAttack
    from confide.measure.risk.identification import Summary

WIDTH = 118
PRINTED = 2_000_000
"""Values of the release up to which a printout tries other levels; beyond, they are tried when asked for."""
NOTHING = "claimed against true: nothing to compare, since no target has a candidate"
HUGE = 50
"""Rows per unit above which the column that states them is doubted."""


def caution_lines(attack: Attack) -> list[str]:
    """Every caution of the printout, one sentence or more each, without breaks; then what claims do not check."""
    said = [f"Caution: {said}" for said in (*_of_units(attack), *_of_intervals(attack), *_of_claims(attack))]
    return [*said, *_unchecked(attack)]


def claim_lines(attack: Attack) -> list[str]:
    """Claimed against true, and what follows where they differ; then levels that find more."""
    claims = claims_of(attack.units)
    if claims is None or not attack.units.height:
        return wrapped(_of_unknown(attack))
    if not (attack.units["n_max"] > 0).any():
        return ["", NOTHING, *wrapped(_of_claims(attack))]
    more = [line for said in _unchecked(attack) for line in textwrap.wrap(said, WIDTH, break_on_hyphens=False)]
    return ["", str(claims), *more, *wrapped(_of_claims(attack))]


def _unchecked(attack: Attack) -> list[str]:
    """What the comparison leaves open, where absent people are not among the targets."""
    said = unchecked(attack.intruder.membership)
    return [said] if said and attack.units.height and all_released(attack.units) else []


def _of_claims(attack: Attack) -> list[str]:
    claims, unknown = claims_of(attack.units), _of_unknown(attack)
    if claims is None or not attack.units.height:
        return unknown
    absent = absent_said(attack.intruder.membership, attack.summary())
    return [
        *unknown,
        *absent,
        *(said for said in (claims.caution(), _level_caution(attack)) if said),
        *of_unused(attack),
    ]


def absent_said(membership: str | Unsure, found: Summary) -> list[str]:
    """Targets who are not in the release, where the intruder is certain that they are: their risk is not small, it was
    not asked for."""
    absent = 0 if found.released is None else found.targets - found.released
    if membership != "certain" or not absent:
        return []
    return [
        f"{absent:,} of {found.targets:,} targets ({percent(absent, found.targets)}) are not in the release, though "
        "the intruder is certain that they are, and count as not found. If they should be there, compare their "
        'identifiers with those of the original; if not, say membership="in_file" or Unsure(...).'
    ]


def of_unused(attack: Attack | ScannedAttack) -> list[str]:
    """What steps in play leave out though the level of the intruder promises it."""
    level, compiled = "exact" if "exact" in attack.intruder.levels else "sdl", attack.release.compiled
    if compiled is None:
        return []
    known = {*attack.intruder.knows, *attack.intruder.between}
    every = zip(compiled.steps, compiled.fitted, strict=True)
    found = [f.unused(level) for s, f in every if f is not None and known & set(s.variables)]
    return [said for said in found if said]


def _of_unknown(attack: Attack) -> list[str]:
    """Targets of whom nothing can be said: they are no evidence of safety."""
    n, bad = attack.units.height, int((attack.units["status"] == "contradiction").sum())
    return unknown_said(bad, n, attack.summary().found) if bad else []


def unknown_said(bad: int, n: int, found: float | None) -> list[str]:
    """Of so many of n targets nothing can be said; `found`: of the others."""
    if not bad:
        return []
    others = "" if found is None or bad == n else f"; of the other {n - bad:,}, {percent(found, n - bad)} are found"
    return [
        f"no record can be that of {bad:,} of {n:,} targets ({percent(bad, n)}), though they should be there: what the "
        f"intruder knows or supposes does not fit the release. Their risk is unknown, not small{others}."
    ]


def _level_caution(attack: Attack) -> str:
    names = list(variants(attack))
    if len(names) < 2:
        return ""
    if attack.release.frame.height * attack.release.frame.width > PRINTED:
        return f"{levels_were(names[1:])} not tried on a file of this size: ask attack.stronger()."
    tried = attack.stronger()
    if not tried.better:
        return ""
    found = {r["level"]: r["found"] for r in tried.frame.iter_rows(named=True)}
    n, better, own = tried.frame["targets"][0], tried.better, names[0]
    shown = [f"{found[name]:,.0f} ({percent(found[name], n)})" for name in (better, own)]
    return (
        f"level {better} finds {shown[0]} of {n:,} targets tried, this level ({own}) {shown[1]}: "
        f'rely on Intruder.at("{better}", ...).'
    )


def levels_were(names: Sequence[str]) -> str:
    """As "levels exact and naive were"."""
    return f"level {names[0]} was" if len(names) == 1 else f"levels {', '.join(names[:-1])} and {names[-1]} were"


def unit_lines(attack: Attack) -> list[str]:
    """What is said of units that have several rows, or seem to."""
    groups = grouping(attack.intruder, attack.release)
    if groups is None:
        return twins_said(why_twins(attack.release))
    said = unit_said(groups.name, len(np.unique(groups.released)), groups.shown)
    return [said, *wrapped(_of_units(attack))]


def twins_said(why: str) -> list[str]:
    """That rows look like several of one unit, if something makes them look so."""
    said = f"Rows look like several rows of the same units ({visible(why)}): state unit=, or claims are too sure."
    return [said] if why else []


def unit_said(name: str, n: int, shown: bool) -> str:
    """What probabilities are of, where units are stated."""
    how = "linked by a pseudonym" if shown else "taken to be linkable, although no pseudonym is released"
    return f"unit {visible(name)}: probabilities are of {n:,} units, whose rows are {how}"


def _of_units(attack: Attack) -> list[str]:
    """Units that are too large, and rows that have none."""
    groups = grouping(attack.intruder, attack.release)
    if groups is None:
        return []
    original = attack.release.original
    without = original.get_column(groups.name).null_count()
    many = len(np.unique(groups.released)), len(groups.released)
    return odd_units(groups.name, *many, without, original.height)


def odd_units(name: str, n: int, rows: int, without: int, original: int) -> list[str]:
    """Whether n units of so many released rows are too large, and how many of the original rows have none."""
    name, out = visible(name), []
    if rows > HUGE * n:
        out.append(f'{n:,} units have {rows / n:,.0f} rows each on average: does "{name}" say which rows are of one?')
    if without:
        share = percent(without, original)
        out.append(f'{without:,} original rows ({share}) have no "{name}": each counts as a unit of its own.')
    return out


def interval_lines(attack: Attack) -> list[str]:
    """Targets whose true value their interval misses."""
    return wrapped(_of_intervals(attack))


def _of_intervals(attack: Attack) -> list[str]:
    return [
        f"the interval of {visible(v)} misses the true value of {wrong:,} of {known:,} targets "
        f"({percent(wrong, known)}), who are looked for in the wrong place."
        for v, (wrong, known) in missed(attack).items()
        if wrong
    ]


def wrapped(cautions: Sequence[str]) -> list[str]:
    """Cautions as lines."""
    return [line for said in cautions for line in textwrap.wrap(f"Caution: {said}", WIDTH, break_on_hyphens=False)]
