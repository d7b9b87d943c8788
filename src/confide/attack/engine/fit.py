"""The third stage: all that is fitted on the whole file, as one value of arrays.

A `Fit` and some rows are enough to attack those rows, here or elsewhere: `Scene.place` makes block numbers, cells and
part A of any part of the release from it. It pickles. Where every step in play can work in parts it holds nothing as
long as the file; else `whole` says why the file must stay together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.class_logs import ClassLogs, class_logs
from confide.attack.beliefs.classes import Classes
from confide.attack.beliefs.held_out import Held
from confide.attack.beliefs.homes import CategoryHome, NumberHome
from confide.attack.beliefs.joint_numbers import JointBelief, fit_joint, known_together, uncertain_in
from confide.attack.beliefs.numbers import NumberFit, Reference, fit_numbers, is_number
from confide.attack.beliefs.regressions import Fitted
from confide.attack.beliefs.score_tilts import Predictors
from confide.attack.beliefs.synthetic import correlation
from confide.attack.engine.absence import Absence, fit_absence
from confide.attack.engine.fit_room import check_room
from confide.attack.evidence.case import Case, needs_whole, set_aside, spread_of
from confide.attack.evidence.gather import Knowledge, Uncertain, gather
from confide.attack.intruder import Uniform
from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Records, codes_in
from confide.protect.likelihoods.spread import Spread


@dataclass(frozen=True, eq=False)
class Believed:
    """Classes, cells and what is believed given both; `_r` are those of records, whose helpers are known.

    `log_pi`: (cells, K) log Pr(class given cell). `numbers_t`: the same numbers without helpers. `joint`: by positions
    of known numbers, the belief in their combinations. `correlation`: of synthetic numbers known together. `compared`:
    whether what targets are without helpers was fitted: where nobody can be absent it is the same for all records.
    """

    classes: Classes = field(default_factory=Classes)
    cells: Cells = field(default_factory=lambda: Cells.fit([()], (), [0])[0])
    cells_r: Cells = field(default_factory=lambda: Cells.fit([()], (), [0])[0])
    log_pi: F64 | ClassLogs = field(default_factory=lambda: np.zeros((1, 1)))
    log_pi_r: F64 | ClassLogs = field(default_factory=lambda: np.zeros((1, 1)))
    numbers: tuple[NumberFit, ...] = ()
    numbers_t: tuple[NumberFit, ...] = ()
    joint: Mapping[tuple[int, ...], JointBelief] = field(default_factory=dict)
    correlation: F64 | None = None
    correlation_t: F64 | None = None
    compared: bool = True


class More(Protocol):
    """A step in play that hangs on what is believed of targets and records: made for rows of any part. It pickles."""

    def joined(self, case: Case, knowledge: Knowledge, fit: Fit, targets: Records) -> Knowledge:
        """What is known, with that step, of these targets and of the case's released rows."""

    def log_absent(self, knowledge: Knowledge, targets: Records) -> F64 | float:
        """log of what targets' weights are divided by beside absence."""


@dataclass(frozen=True, eq=False)
class Fit:
    """One pattern of knowledge, fitted. `case`: the setting, without rows where parts can be attacked by themselves.

    `numeric`: per uncertain step whether it is integrated over (else it is a class). `needs_belief`: A or B asks for
    beliefs. `mixture`: unknown classes are averaged over. `helped`: records have known values that sharpen beliefs.
    `absence`: what is believed of people who are not in the release, None where nothing depends on it;
    `whole_absence`: also of what is known of altered variables. `scales`:
    spreads of numbers that a naive intruder compares. `sharpest`: positions of known numbers with errors of
    unknown size, those that tell records apart best first. `whole`: why the file must stay together, empty if it need
    not. `more`: steps in play that are made of beliefs, after those that evidence gives. `homes`: by step, what rows
    of one unit have in common, where other rows of units say something.
    """

    case: Case
    knows: tuple[str, ...]
    between: Mapping[str, tuple[float, float]]
    numeric: tuple[bool, ...]
    needs_belief: bool
    mixture: bool
    helped: bool
    believed: Believed
    scales: Mapping[str, float]
    sharpest: tuple[int, ...]
    whole: str
    absence: Absence | None = None
    whole_absence: bool = False
    more: tuple[More, ...] = ()
    homes: Mapping[int, CategoryHome | NumberHome] = field(default_factory=dict)

    def knowledge(self, case: Case, targets: Records) -> Knowledge:
        """All that is known of some targets, and of the released rows of a part: the case with these."""
        found = gather(case, self.knows, self.between)
        for step in self.more:
            found = step.joined(case, found, self, targets)
        return found

    def at(self, between: Mapping[str, tuple[float, float]]) -> Fit:
        """The same where these intervals are known of the same variables. Only how finely believed values are looked at
        hangs on them, and absence where it does not stand for all (`absence_of`)."""
        if between == self.between:
            return self
        numbers, numbers_t = (
            tuple(n.within(between[n.variable]) if n.variable in between and not n.known else n for n in each)
            for each in (self.believed.numbers, self.believed.numbers_t)
        )
        believed = replace(self.believed, numbers=numbers, numbers_t=numbers_t)
        return replace(self, between=dict(between), believed=believed)

    def __repr__(self) -> str:
        b = self.believed
        kind = "in parts" if not self.whole else "the whole file"
        return f"Fit: {', '.join(self.knows)} known; {b.classes.size} classes, {len(b.cells_r)} cells; {kind}"


def fit(case: Case, knowledge: Knowledge, targets: Records, knows: tuple[str, ...], between: Mapping[str, Any]) -> Fit:
    """Fit beliefs for targets of whom one pattern of variables is known."""
    steps = knowledge.uncertain
    numeric = tuple(is_number(u, case) for u in steps)
    asked = any(u.like_a is not None or u.silent or not all(u.known) or bool(u.mistakes) for u in steps)
    mixture = bool(knowledge.helpers) or any(not all(u.known) or bool(u.mistakes) for u in steps)
    if asked:
        believed = _believe(case, knowledge, numeric, targets)
    else:
        believed = Believed(numbers=fit_numbers(steps, numeric, None)[0])
    scales = {v: spread_of(case, v) for v in knowledge.nearest}
    whole = needs_whole(case)
    found = Fit(
        case if whole else set_aside(case), knows, {}, numeric, asked, asked and mixture,
        asked and bool(knowledge.helpers), believed, scales, _sharpest_first(steps, believed.numbers), whole,
        absence_of(case, knowledge, targets, between),
    )  # fmt: skip
    return found.at(between)


def absence_of(
    case: Case, knowledge: Knowledge, targets: Records, between: Mapping[str, Any], beside: Sequence[int] = ()
) -> Absence | None:
    """What is believed of people who are not in the release; `beside`: altered steps on which that depends."""
    certain = {v: pair for v, pair in between.items() if v not in knowledge.limits}
    return fit_absence(case, knowledge, targets, *reference_of(case, knowledge), certain, beside)


def aside(case: Case, knowledge: Knowledge, targets: Records) -> Fit:
    """A fit for some of the steps in play, of which all is known: for part A alone."""
    numeric = tuple(is_number(u, case) for u in knowledge.uncertain)
    believed = _believe(case, knowledge, numeric, targets)
    return Fit(set_aside(case), (), {}, numeric, True, False, False, believed, {}, (), "a part of another fit")


def _believe(case: Case, knowledge: Knowledge, numeric: Sequence[bool], targets: Records) -> Believed:
    """Classes, cells and beliefs."""
    steps, certain, rows = knowledge.uncertain, knowledge.certain, np.flatnonzero(knowledge.eligible)
    reference, codes, weight = reference_of(case, knowledge)
    held = case.held(reference.select(_believed_of(knowledge, reference)), weight)
    met = [u.met(reference) if case.intruder.beliefs != "released" else reference for u in steps]
    classes, of = Classes.build(steps, numeric, met, reference.n, _region_codes(case, steps, met))
    files = [codes, [c.released[rows] for c in certain], [c.of(targets) for c in certain]]
    sizes, lengths = [c.size for c in certain], [reference.n, len(rows), targets.n]

    def believed(files: list[list[I64]], sizes: list[int]) -> tuple[Any, ...]:
        cells, (cell, *_) = Cells.fit(files, sizes, lengths[: len(files)], weight)
        log_pi = _class_log(case, cells, cell, of, classes, held, weight)
        about = Reference(case, reference, met, cells, cell, classes, of, weight, held, knowledge.limits)
        predictors = Predictors(cells.design, cell, of, classes.size, held)
        return predictors, cells, log_pi, *fit_numbers(steps, numeric, about)

    compared = not knowledge.helpers or _compared(case)
    if compared:
        about, cells, log_pi, numbers_t, fitted, scores_t = believed(files, sizes)
        cells_r, log_pi_r, numbers, scores = cells, log_pi, numbers_t, scores_t
    else:
        cells, log_pi, numbers_t, scores_t = Cells.fit(files, sizes, lengths, weight)[0], np.zeros((1, 1)), (), ()
    if knowledge.helpers:
        ref, rec, size = zip(*(helper(case, v, reference) for v in knowledge.helpers), strict=True)
        more = [[*files[0], *ref], [*files[1], *(z[rows] for z in rec)]]
        order = by_name(knowledge)
        about, cells_r, log_pi_r, numbers, fitted, scores = believed(
            [[codes[i] for i in order] for codes in more], [[*sizes, *size][i] for i in order]
        )
    joint = {} if case.intruder.as_printed else _joint(case, steps, numbers, fitted, rows, about)
    r, r_t = correlation(scores), correlation(scores_t)
    return Believed(classes, cells, cells_r, log_pi, log_pi_r, numbers, numbers_t, joint, r, r_t, compared)


def _compared(case: Case) -> bool:
    """Whether weights of records are compared with anything but each other: absence, what a target's own mistakes say,
    or other rows of its unit."""
    return case.intruder.membership != "certain" or bool(case.intruder.errors) or case.grouped


def _believed_of(knowledge: Knowledge, reference: Records) -> list[str]:
    """The variables that beliefs are about or rest on: nothing else decides which records are held out."""
    names = [*(c.name for c in knowledge.certain), *knowledge.helpers]
    names += [v for u in knowledge.uncertain if not (u.direct and u.like_a is None) for v in u.variables]
    return [v for v in dict.fromkeys(names) if v in reference]


def reference_of(case: Case, knowledge: Knowledge) -> tuple[Records, list[I64], F64 | None]:
    """The file on which beliefs are fitted, its certain labels, and how many rows each of its rows stands for."""
    if case.intruder.beliefs != "released":
        return case.original, [c.of(case.original) for c in knowledge.certain], case.original_count
    for u in knowledge.uncertain:
        for v in u.variables:
            if u.met(case.original)[v].kind != case.released[v].kind:
                raise InputError(f'beliefs="released" cannot be fitted: "{v}" is coarsened after it was perturbed.')
    return case.released, [c.released for c in knowledge.certain], case.count


def _region_codes(case: Case, steps: Sequence[Uncertain], met: Sequence[Records]) -> list[dict[str, I64]]:
    """Labels of unknown noisy numbers (zero, inside, above): they are classes, since nobody knows them."""
    if case.intruder.beliefs == "released":
        return [{v: label.released for v, label in u.regions.items()} for u in steps]
    return [{v: label.of(records) for v, label in u.regions.items()} for u, records in zip(steps, met, strict=True)]


def helper(case: Case, v: str, reference: Records) -> tuple[I64, I64, int]:
    """A released, unaltered, unknown variable as a predictor: codes of reference rows and of records."""
    z = case.codebook(v)
    chain = case.compiled.way(v).after
    ref = reference[v] if case.intruder.beliefs == "released" else chain.image(reference[v])
    size = len(z.levels) if z.kind == "categorical" else len(z)
    return codes_in(ref, z), codes_in(case.released[v], z), size


def by_name(knowledge: Knowledge) -> list[int]:
    """The order in which certain variables, then helpers, predict what records hold: whoever knows what of them, the
    same predictors give the same fit."""
    names = [*(c.name for c in knowledge.certain), *knowledge.helpers]
    return sorted(range(len(names)), key=names.__getitem__)


def helper_codes(case: Case, helpers: Sequence[str]) -> list[I64]:
    """Codes of the released rows of variables that help."""
    return [codes_in(case.released[v], case.codebook(v)) for v in helpers]


def _class_log(
    case: Case, cells: Cells, cell: I64, of: I64, classes: Classes, held: Held, weight: F64 | None
) -> F64 | ClassLogs:
    if isinstance(case.intruder.beliefs, Uniform) or classes.size == 1:
        return np.full((len(cells), classes.size), -np.log(classes.size))
    check_room(case.room, cells, len(cell), classes.sizes)
    return class_logs(cells.design, cells.patterns, cell, of, classes.digits, classes.sizes, held, weight)


def _joint(
    case: Case,
    steps: Sequence[Uncertain],
    numbers: Sequence[NumberFit],
    fitted: Sequence[Fitted | None],
    rows: I64,
    about: Predictors,
) -> dict[tuple[int, ...], JointBelief]:
    """Beliefs in combinations of known numbers, for every set of them that some record leaves uncertain together."""
    likes = [None if (a := steps[n.item].like_a) is None else a.margins()[n.margin] for n in numbers]
    asked = known_together([n.known for n in numbers], likes)
    if len(asked) < 2 or not len(rows):
        return {}
    inside = np.stack([uncertain_in(likes[i], case.released[numbers[i].variable], rows) for i in asked])
    out = {}
    for pattern in np.unique(inside.T, axis=0):
        which = tuple(i for i, noisy in zip(asked, pattern, strict=True) if noisy)
        parts = [(b, f) for i in which if (b := numbers[i].belief) is not None and (f := fitted[i]) is not None]
        if len(which) > 1 and len(parts) == len(which):
            found = fit_joint(parts, [likes[i] for i in which], about)
            if found is not None:
                out[which] = found
    return out


def _sharpest_first(steps: Sequence[Uncertain], numbers: Sequence[NumberFit]) -> tuple[int, ...]:
    """Positions of known numbers with errors of unknown size: the sharpest decides which records are visited."""
    likes = {i: steps[n.item].like.margins()[n.margin] for i, n in enumerate(numbers) if n.known}
    spreads = {i: like for i, like in likes.items() if isinstance(like, Spread)}
    return tuple(sorted(spreads, key=lambda i: spreads[i].vagueness()))
