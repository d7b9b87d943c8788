"""Which levels of reasoning an intruder could also use, and which of them is right most often."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from confide.attack.evidence.unreleased import as_shown
from confide.attack.intruder import Intruder

if TYPE_CHECKING:
    from confide.protect.copies import Copies
    from confide.protect.release import Release

UNALTERED = "unaltered"
NAMES = ("informed", "exact", UNALTERED, "naive")
"""Levels that are tried; any other combination of levels is called "as stated"."""


def levels_of(intruder: Intruder, release: Release | Copies | None = None) -> dict[str, Intruder]:
    """The same intruder at every level that could find more, by name; the intruder as stated is first.

    All of them know the same of the targets, and differ only in how they read the release:

    - "informed": all parts informed, or B left out, which many files do not need;
    - "exact": B and A exact, so that unknown variables which are released unaltered count too (also for which of the
      values behind a coarser one is a record's), and synthetic values are not taken for the target's own. B is then in
      use although it was left out: it is read off the release;
    - "unaltered": only what the plan left unaltered is read, and all records that agree there are alike. Nobody can be
      misled so, and a plan may mislead all who read what it altered: a value of somebody else leads away from the
      target;
    - "naive": released values are taken as true. Only where membership is certain: who takes altered values as true has
      no use of its own belief that the target is absent.

    The intruder itself is among them, the very object, under its own name ("as stated" where it is none of these).
    Nobody is given knowledge of the plan that was not stated: an intruder who is naive or average in some part, who
    leaves C or A out, or who reckons as printed has no variants. With a `release`, variants that cannot differ there
    (nothing that is known and released was altered, or coarsened beside what else is shown, and no mistakes are stated)
    or cannot be (the plan is not known; a
    naive reading of several copies; an altered number of which an interval is known, which cannot be left aside) are
    left out. An attack may still refuse a variant with an `InputError` that
    depends on the data (mistakes about a synthetic variable at level "exact"); it is then not possible.

    >>> import confide as cf
    >>> list(levels_of(cf.Intruder(knows=["sex"], unavailable="ignore")))
    ['informed', 'exact', 'unaltered', 'naive']
    >>> list(levels_of(cf.Intruder.at("exact", knows=["sex"]))), list(levels_of(cf.Intruder.at("naive", knows=["sex"])))
    (['exact', 'informed', 'unaltered', 'naive'], ['naive'])
    >>> list(levels_of(cf.Intruder.at("average", knows=["sex"])))
    ['as stated']
    """
    name = level_of(intruder)
    own = {name: intruder}
    c, _, a = intruder.levels
    if name == "naive" or intruder.as_printed or c not in ("sdl", "exact") or a not in ("sdl", "exact"):
        return own
    others = [other for other in NAMES if other != name and (other != "naive" or intruder.membership == "certain")]
    every = {**own, **{other: _at(intruder, other) for other in others}}
    if release is not None:
        every = {other: who for other, who in every.items() if other == name or _may_differ(intruder, release, other)}
    return every


def level_of(intruder: Intruder) -> str:
    """The name of the level at which all parts of an intruder are: informed, exact, unaltered or naive, else "as
    stated".

    >>> import confide as cf
    >>> level_of(cf.Intruder(knows=["sex"])), level_of(cf.Intruder(knows=["sex"], others="ignore"))
    ('informed', 'as stated')
    """
    c, b, a = intruder.levels
    if intruder.as_printed or c == "naive":
        return "as stated" if intruder.as_printed else "naive"
    if c in ("sdl", "exact") and (b, a) == ("exact", "exact"):
        return "exact"
    if (c, b, a) == ("ignore", "ignore", "ignore"):
        return UNALTERED
    return "informed" if c == "sdl" and b in ("sdl", "ignore") and a == "sdl" else "as stated"


def _at(intruder: Intruder, level: str) -> Intruder:
    level = "ignore" if level == UNALTERED else level
    return replace(intruder, available=level, unavailable=level, others=level)


def _may_differ(intruder: Intruder, release: Release | Copies, level: str) -> bool:
    """Whether another level is possible, and could come to something else."""
    one, several = (release, False) if not hasattr(release, "releases") else (release.releases[0], True)
    if one.compiled is None or (several and level == "naive"):
        return False
    altered = {v for v, way in one.compiled.ways.items() if way.random is not None}
    shown = as_shown(intruder, one)
    if level == UNALTERED:
        return bool(altered & {*shown.knows}) and not altered & {*shown.between}
    if shown.errors or altered & {*shown.knows, *shown.between}:
        return True
    return level != "naive" and _values_behind(shown, one)


def _values_behind(shown: Intruder, release: Release) -> bool:
    """Whether a known variable is released in coarser form, beside others that are not known and not altered."""
    assert release.compiled is not None
    ways, public = release.compiled.ways, release.public_variables
    altered = {v for v, way in ways.items() if way.random is not None}
    if shown.beliefs != "original" or not {*public} - altered - {*shown.knows, *shown.between}:
        return False
    coarser = [v for v in shown.knows if v in ways and ways[v].after.steps and v not in altered]
    return any(_fewer_values(release, v) for v in coarser)


def _fewer_values(release: Release, variable: str) -> bool:
    """Whether a coarser variable has fewer values; of a release of a scan, where nobody counts, it is taken to have."""
    if not hasattr(release, "frame"):
        return True
    return release.frame[variable].n_unique() < release.original[variable].n_unique()
