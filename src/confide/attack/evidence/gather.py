"""From a release and an intruder to evidence: what is certain, what is uncertain, what is looked up.

Everything here speaks in terms of `Evidence`; which method gave it is not known and not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from confide.attack.evidence.case import Case
from confide.attack.evidence.mistaken_labels import is_altered, label_of_mistaken, standing_apart
from confide.attack.evidence.mistakes import mistake_matrix, mistaken_value, wider
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Bools, Column, Records, codes_in
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.silent import Silent
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import SYNTHETIC, View
from confide.protect.seam.likelihood import Likelihood


@dataclass(frozen=True, eq=False)
class Certain:
    """One certain label: a block key, and a predictor of what is not known."""

    name: str
    of: Callable[[Records], I64]
    released: I64
    size: int


@dataclass(frozen=True, eq=False)
class Off:
    """Noise of a number of which the intruder's own value is off, and by how much: the standard deviation `sd`.

    `inside(records)`: whose own value is an altered one.
    """

    like: Normal
    sd: float
    inside: Callable[[Records], Bools]


@dataclass(frozen=True, eq=False)
class Uncertain:
    """One random step in play. `variables` in play; `known[i]` whether the intruder has the value of variable i.

    `like` serves C and B, `like_a` serves A (None: left out of A). `met` turns true values into those the step met.
    `direct`: `like` multiplies in by itself, whatever is believed: of the intruder's own, possibly mistaken value, or a
    method's own reading of a pair, with `log_own` for its part A, shape (r,), and `bare` where that is left out.
    `mistakes`: for a known category that may be mistaken, Pr(own value given the true one). `once`: about a value
    that is the same in every copy of a release. `given_record`: `like` speaks of the target's value given the record's,
    Pr(x given z), which beside absence is divided by Pr(x given the certain labels): "whole" where nothing has been
    divided yet, "tilt" where it was by Pr(x) at large; else empty. `off`: for a known noisy number that may be
    mistaken, the noise and the mistake; `like` has both spreads together, for who believes nothing. `cells`: numbers
    of known values that can be counted in a register of the population. `behind`: a table of known values of which
    records show a coarser form.
    """

    variables: tuple[str, ...]
    known: tuple[bool, ...]
    like: Likelihood
    like_a: Likelihood | None
    met: Callable[[Records], Records]
    regions: Mapping[str, Labels] = field(default_factory=dict)
    direct: bool = False
    mistakes: Mapping[str, F64] = field(default_factory=dict)
    log_own: F64 | None = None
    bare: bool = False
    once: bool = False
    given_record: str = ""
    off: Off | None = None
    cells: Callable[[Records], I64] | None = None
    behind: bool = False

    @property
    def silent(self) -> bool:
        """Known, but synthetic in the release: it counts only for what it says of other variables."""
        return isinstance(self.like, Silent)

    @property
    def variables_known(self) -> tuple[str, ...]:
        """Those of its variables in play that the intruder has."""
        return tuple(v for v, known in zip(self.variables, self.known, strict=True) if known)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """All that one intruder can use about targets that share a pattern of known variables.

    `certain` labels make blocks; `nearest` are numbers a naive intruder compares; `helpers` are unknown variables of
    the record that sharpen beliefs; `eligible` marks records that intervals allow; `limits` are intervals of
    uncertain numbers.
    """

    certain: tuple[Certain, ...]
    uncertain: tuple[Uncertain, ...]
    nearest: tuple[str, ...]
    helpers: tuple[str, ...]
    eligible: Bools
    limits: Mapping[str, tuple[float, float]]


def gather(case: Case, knows: tuple[str, ...], between: Mapping[str, tuple[float, float]]) -> Knowledge:
    """The evidence for targets of whom exactly these variables are known."""
    c, b, a = case.intruder.levels
    certain: list[Certain] = []
    nearest: list[str] = []
    eligible = np.ones(case.released.n, dtype=bool)
    uncertain: list[Uncertain] = []
    random_known = [v for v in knows if case.altered(v)]
    for v in knows:
        if v in random_known:
            continue
        if v in case.intruder.errors:
            uncertain.append(_mistaken(case, v))
            certain += [Certain(v, label.of, label.released, label.size) for label in standing_apart(case, v)]
        else:
            certain.append(_face_value(case, v))
    for v, (low, high) in between.items():
        if case.compiled.way(v).random is None or c == "naive":
            eligible &= _meets(case, v, low, high)
    if c == "naive":
        for v in random_known:
            _take_as_true(case, v, certain, nearest)
        return Knowledge(tuple(certain), tuple(uncertain), tuple(nearest), (), eligible, {})
    limits = {v: pair for v, pair in between.items() if case.compiled.way(v).random is not None}
    for i in sorted({w.random for w in case.compiled.ways.values() if w.random is not None}):
        _random_step(case, i, knows, limits, (c, b, a), certain, uncertain)
    helpers = _helpers(case, uncertain, b == "exact", {*knows, *between})
    if not helpers and all(all(u.known) and not u.mistakes for u in uncertain):
        uncertain = [u for u in uncertain if not u.silent]  # nothing that it could say something of
    return Knowledge(tuple(certain), tuple(uncertain), (), helpers, eligible, limits)


def _helpers(case: Case, uncertain: list[Uncertain], all_kept: bool, known: set[str]) -> tuple[str, ...]:
    """Released, unaltered variables that nobody knows of the target but that say something about the record.

    At level "exact" all of them, also those whose truth differs though they are released as the file has them, and
    those that are known but perhaps mistaken; else
    only those that a step in play reads (the groups inside which it swapped): its likelihood depends on them, so the
    belief about what it altered must too; and what is guessed next, whose guess depends on who is whom.
    """
    kept = [v for v in case.released if case.compiled.way(v).random is None and v not in known]
    if all_kept:
        judged = [v for u in uncertain if u.given_record == "whole" for v in u.variables]
        return (*kept, *judged, *(v for v in case.released if case.only_modelled(v)))
    in_play = {v for u in uncertain if not u.direct and not u.silent for v in u.variables}
    read = {v for s in case.compiled.steps if s.role == "random" and in_play & set(s.variables) for v in s.needs}
    return tuple(v for v in kept if v in read or v in case.seen)


def _random_step(
    case: Case, i: int, knows: tuple[str, ...], limits: Mapping[str, Any], levels: tuple[str, str, str],
    certain: list[Certain], uncertain: list[Uncertain],
) -> None:  # fmt: skip
    """Labels and likelihood of step i for what the intruder knows and does not know of its variables."""
    c, b, a = levels
    mine = tuple(v for v in case.compiled.steps[i].variables if v in case.released)
    known = tuple(v for v in mine if v in knows)
    # In the step's own order, which its likelihood keeps to.
    in_play = tuple(
        v for v in mine if (c != "ignore" if v in known else v in limits or v in case.seen or b != "ignore")
    )
    if not known and not in_play:
        return
    view = case.view(knows)
    level = "ignore" if not in_play else c if known else b if b != "ignore" else "sdl"
    evidence = step_evidence(case, i, level, view, tuple(v for v in mine if v in known or v in in_play))
    for v in known:
        if v in evidence.labels:
            label = evidence.labels[v]
            of = _after_meeting(view, label.of)
            if v in case.intruder.errors and isinstance(evidence.likelihood, Normal):
                of = label_of_mistaken(case, v, of, evidence.likelihood, view)
            certain.append(Certain(v, of, label.released, label.size))
    if not in_play:
        return
    if evidence.sense == "y|z":  # what is not known of it says nothing
        in_play = tuple(v for v in in_play if v in known or v in limits)
    if not in_play:
        return
    if set(in_play) != set(evidence.about):
        evidence = step_evidence(case, i, c if any(v in known for v in in_play) else b, view, in_play)
    vague = {*limits, *case.intruder.errors} & set(evidence.about)
    if evidence.sense == "pair" and vague and evidence.instead is not None:
        evidence = Evidence(evidence.about, evidence.labels, evidence.instead)
    if evidence.likelihood is None:
        return
    if evidence.sense == "pair":
        uncertain += _own_reading(case, i, evidence, limits, a, view)
        return
    if isinstance(evidence.likelihood, Silent):
        seen = tuple(v for v in in_play if v in known)
        wrong = [v for v in seen if v in case.intruder.errors]
        if wrong:
            raise InputError(
                f'errors: "{wrong[0]}" is synthetic in the release, and mistakes about such a variable are not '
                "understood; leave it out of errors, or out of knows."
            )
        uncertain += [Uncertain((v,), (True,), replace(evidence.likelihood, variable=v), None, view.met) for v in seen]
        return
    if evidence.sense == "y|z":
        uncertain += _truth_given_released(case, evidence, known, limits, view)
        return
    like_a = None
    if a != "ignore" or set(in_play) & set(case.seen):
        like_a = evidence.likelihood
        if a == "average" or (a != "ignore" and "average" in (b, c)):
            like_a = step_evidence(case, i, a, view, in_play).likelihood
    regions = {v: evidence.labels[v] for v in in_play if v not in known and v in evidence.labels}
    like, mistakes, off = evidence.likelihood, {}, None
    for v in known:
        if v in case.intruder.errors and v in in_play:
            if isinstance(like, Normal):
                off = Off(like, float(case.intruder.errors[v]), is_altered(case, v, evidence, view))
                like = wider(like, case.intruder.errors[v], v)
            elif (met := view.met(case.originals(v).records))[v].kind == "categorical":
                mistakes[v] = mistake_matrix(case.intruder.errors[v], met[v], met.count)
            else:
                raise InputError(
                    f'errors: mistakes about the perturbed number "{v}" are supported for added noise only.'
                )
    flags = tuple(v in known for v in in_play)
    uncertain.append(Uncertain(in_play, flags, like, like_a, view.met, regions, mistakes=mistakes, off=off))


def _truth_given_released(
    case: Case, evidence: Evidence, known: tuple[str, ...], limits: Mapping[str, Any], view: View
) -> list[Uncertain]:
    """A model of the true value given the released one: it needs no A, and is asked only about what is known."""
    for v in evidence.about:
        if v in limits:
            raise InputError(f'between: "{v}" carries error in the file, so an interval cannot be used; give a value.')
        if v in case.intruder.errors:
            raise InputError(
                f'errors: the plan says already how the true "{v}" differs from the released one; add the error there.'
            )
    like = evidence.likelihood
    if not known or like is None:
        return []
    if case.intruder.membership == "certain":
        like = like.among_present()
    flags = (True,) * len(evidence.about)
    return [Uncertain(evidence.about, flags, like, None, view.met, direct=True, once=True, given_record="tilt")]


def _own_reading(
    case: Case, i: int, evidence: Evidence, limits: Mapping[str, Any], a: str, view: View
) -> list[Uncertain]:
    """A method's own reading of pairs, which asks for no belief; its part A where that is not left out."""
    for v in evidence.about:
        if v in limits or v in case.intruder.errors:
            what, deepest = "between" if v in limits else "errors", "exact" in case.intruder.levels
            way = 'ask at level "exact"'
            if deepest:
                way = "coarsen the variables altered together, which have too many joint values to average over"
            read = f'this intruder reads "{v}" as its method does, beside the target\'s own value'
            if view.sort(v) == SYNTHETIC:
                read = f'"{v}" is synthetic, and this intruder compares it with the target\'s own value'
            raise InputError(f"{what}: {read}; give that value, or {way}.")
    others = None
    if a != "ignore":
        others = evidence.log_others
        if a == "average" or "average" in case.intruder.levels:
            others = step_evidence(case, i, a, view, evidence.about).log_others
    assert evidence.likelihood is not None
    flags = (True,) * len(evidence.about)
    return [
        Uncertain(
            evidence.about, flags, evidence.likelihood, None, view.met, direct=True, log_own=others,
            bare=others is None, cells=evidence.cells,
        )
    ]  # fmt: skip


def step_evidence(case: Case, i: int, level: str, view: View, about: tuple[str, ...]) -> Evidence:
    """What step i says of some of its variables, at a level."""
    fitted = case.believed[i] if level == "average" else case.compiled.fitted[i]
    order = tuple(v for v in case.compiled.steps[i].variables if v in about)
    used = "exact" if "exact" in case.intruder.levels and level != "ignore" else level
    found: Evidence = fitted.evidence(replace(view, level=used), order)
    return found


def _after_meeting(view: View, of: Callable[[Records], I64]) -> Callable[[Records], I64]:
    return lambda records: of(view.met(records))


def _face_value(case: Case, v: str, as_seen: Chain | None = None) -> Certain:
    """The released value itself as a label: kept, recoded, topcoded, rounded; or taken as true by a naive intruder."""
    z = case.codebook(v)
    chain = case.compiled.way(v).after if as_seen is None else as_seen
    size = len(z.levels) if z.kind == "categorical" else len(z)
    # A missing value is a label of its own, of records and of targets.
    released = _label_codes(case.released[v], z, size)
    return Certain(v, lambda records: _label_codes(chain.image(records[v]), z, size), released, size + 1)


def _label_codes(column: Column, z: Column, size: int) -> I64:
    return np.where(column.missing, size, codes_in(column, z))


def _take_as_true(case: Case, v: str, certain: list[Certain], nearest: list[str]) -> None:
    """A naive intruder's view of a perturbed variable: equal categories, nearest numbers."""
    if case.released[v].kind == "numeric":
        nearest.append(v)
        return
    way = case.compiled.way(v)
    certain.append(_face_value(case, v, Chain((*way.before.steps, *way.after.steps))))


def allowed_in(case: Case, v: str, z: Column) -> tuple[F64, F64, Bools]:
    """Of released values: the true one lies from the first number up to the second, if there is one (the third)."""
    way = case.compiled.way(v)
    chain = way.before if z.kind == "categorical" and not way.after.steps else way.after
    if z.kind == "categorical" and not chain.steps:
        raise InputError(f'between: "{v}" is categorical; knowledge of it must be a value, not an interval.')
    number = z.usable if z.kind == "numeric" else ~z.missing  # an answer code lies in no interval
    return *chain.cells(z), number


def _meets(case: Case, v: str, low: float, high: float) -> Bools:
    """Records whose released value allows a true value in [low, high]; missing ones do not."""
    return overlaps(*allowed_in(case, v, case.released[v]), low, high)


def overlaps(cell_low: F64, cell_high: F64, number: Bools, low: float, high: float) -> Bools:
    """Where a number from `cell_low` up to `cell_high` may lie in [low, high]."""
    with np.errstate(invalid="ignore"):
        return np.asarray((cell_low <= high) & (cell_high > low) & number)


def meets(z: Column, chain: Chain, low: float, high: float) -> Bools:
    """Where a value in its released form allows a true value in [low, high]."""
    return overlaps(*chain.cells(z), z.usable if z.kind == "numeric" else ~z.missing, low, high)


def _mistaken(case: Case, v: str) -> Uncertain:
    """A variable that is released as it is, but of which the intruder's own value may be wrong."""
    chain = case.compiled.way(v).after
    like = mistaken_value(case.originals(v), case.released[v], case.codebook(v), chain, case.intruder.errors[v])
    return Uncertain((v,), (True,), like, None, lambda records: records, direct=True, once=True, given_record="whole")
