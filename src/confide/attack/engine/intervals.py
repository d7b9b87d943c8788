"""Targets of whom intervals of the same variables are known: what does not hang on the intervals is made once.

Evidence, beliefs, labels and blocks are those of open intervals, which allow every value. An interval of a variable
that is released as it is leaves out records of a block; one of an altered number cuts the sums over what is believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from confide.attack.engine.fit import Fit, absence_of, fit
from confide.attack.engine.kernel_plan import in_order
from confide.attack.engine.link import linked_variables
from confide.attack.engine.mistaken_noise import MistakenNoise
from confide.attack.engine.more_steps import with_more
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, allowed_in, overlaps
from confide.attack.intruder import Uniform
from confide.frames.columns import F64, I64, Bools, Records

Between = Mapping[str, tuple[float, float]]
Cells = list[tuple[str, tuple[F64, F64, Bools]]]


def opened(between: Between) -> dict[str, tuple[float, float]]:
    """The same intervals, all open."""
    return dict.fromkeys(between, (-np.inf, np.inf))


def kept_of(fitted: Fit, knowledge: Knowledge) -> list[str]:
    """Variables known as intervals of which the release shows what is true, or of which that is taken for true."""
    return [v for v in fitted.between if v not in knowledge.limits]


def fits_all(fitted: Fit, knowledge: Knowledge) -> bool:
    """Whether `Fit.at` is all that an interval asks for; else something is fitted with it."""
    even = isinstance(fitted.case.intruder.beliefs, Uniform) and bool(knowledge.limits)
    return not even and (fitted.absence is None or not kept_of(fitted, knowledge))


def shares_m(fitted: Fit, knowledge: Knowledge) -> bool:
    """Whether log m is the same for all intervals: part A asks for all values of a number, but an interval cuts the
    groups in which the noise cannot tell them apart."""
    mine = [n.belief.groups for n in fitted.believed.numbers if n.belief is not None and n.variable in knowledge.limits]
    return not fitted.more and fits_all(fitted, knowledge) and all(g is None for g in mine)


def fit_at(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records, between: Between) -> Fit:
    """The fit of these targets, from one for open intervals (`knowledge`: what is then known, without more steps)."""
    if between == fitted.between or fits_all(fitted, knowledge):
        return fitted.at(between)
    mine = at_interval(knowledge, between)
    if isinstance(case.intruder.beliefs, Uniform):
        return with_more(case, mine, fit(case, mine, targets, fitted.knows, between), targets)[1]
    found = fitted.at(between)
    for step in found.more:
        if isinstance(step, MistakenNoise):
            mine = step.joined(case, mine, found, targets)
    shown, beside = linked_variables(case, mine)
    return replace(found, absence=absence_of(case, mine, targets, between, beside if shown else ()))


def at_interval(knowledge: Knowledge, between: Between) -> Knowledge:
    """What is known with these intervals instead of open ones; `eligible` is left as it is."""
    return replace(knowledge, limits={v: between[v] for v in knowledge.limits})


def known_at(
    cases: Sequence[Case], knowledge: Knowledge, fitted: Fit, targets: Records
) -> tuple[Knowledge, TargetSide]:
    """What is known of targets with the intervals of their fit, and their side; `cases`: of all copies; `knowledge`:
    with open intervals, without more steps."""
    eligible = knowledge.eligible
    for v in kept_of(fitted, knowledge):
        for case in cases:
            eligible = eligible & overlaps(*allowed_in(case, v, case.released[v]), *fitted.between[v])
    known = replace(at_interval(knowledge, fitted.between), eligible=eligible)
    for step in fitted.more:
        known = step.joined(cases[0], known, fitted, targets)
    return known, TargetSide.of(known, fitted, targets)


@dataclass(frozen=True, eq=False)
class Together:
    """Targets and records placed with open intervals: `scene`; `knowledge`: without more steps; `cases`: of all copies
    of the release."""

    cases: Sequence[Case]
    knowledge: Knowledge
    scene: Scene

    @classmethod
    def of(
        cls, cases: Sequence[Case], knowledge: Knowledge, fitted: Fit, targets: Records, known_m: F64 | None = None
    ) -> Together:
        """Place them. `known_m`: log m, where it is known."""
        known, side = known_at(cases, knowledge, fitted, targets)
        if not shares_m(fitted, knowledge):
            known_m = np.zeros(cases[0].released.n)  # each part has its own
        return cls(cases, knowledge, Scene.place(cases[0], known, fitted, side, known_m=known_m))

    def _cells(self, rows: I64) -> Cells:
        """Of each variable that is kept, between which values each record's true one lies, and whether it has one."""
        kept = kept_of(self.scene.fit, self.knowledge)
        return [(v, allowed_in(case, v, case.released[v].take(rows))) for v in kept for case in self.cases]

    @cached_property
    def apart(self) -> bool:
        """Whether targets of each interval have a side of their own."""
        return bool(self.scene.fit.more) or not fits_all(self.scene.fit, self.knowledge)

    @cached_property
    def _merged(self) -> tuple[Scene, I64 | None, Cells]:
        """The records that differ, in the order in which parts are worked on; by released row the one that stands for
        it; and their cells. Where each interval has a side of its own, the records as they are."""
        if self.apart:
            return self.scene, None, self._cells(self.scene.rows)
        cells = [x for _, each in self._cells(self.scene.rows) for x in each]
        scene, place = in_order(self.scene, cells)
        return scene, place, self._cells(scene.rows)

    def own(self, rows: I64) -> I64:
        """The records that stand for released rows in parts; -1 stays."""
        place = self._merged[1]
        return rows if place is None else np.where(rows >= 0, place[np.maximum(rows, 0)], -1)

    @cached_property
    def kept(self) -> bool:
        """Whether intervals leave out records."""
        return bool(kept_of(self.scene.fit, self.knowledge))

    @cached_property
    def _shares_m(self) -> bool:
        return shares_m(self.scene.fit, self.knowledge)

    def everybody(self, between: Between) -> tuple[Scene, I64]:
        """All records that intervals allow, and which blocks these have: to count people."""
        whole, nobody = self.scene, np.zeros(0, dtype=np.int64)
        at = _allowed(self._cells(whole.rows), between, np.arange(len(whole.rows)))
        known = at_interval(whole.knowledge, between)
        return whole.only(at, whole.side.take(nobody, whole.fit), nobody, replace(whole.fit, between=between), known)

    def part(self, targets: I64, fitted: Fit) -> tuple[Scene, I64]:
        """Some targets, of whom the same intervals are known, with the records of their blocks that these allow; and
        which blocks those are. `fitted`: theirs."""
        whole, _, cells = self._merged
        block_t = whole.block_t[targets]
        at = _allowed(cells, fitted.between, whole.members_of(np.unique(block_t[block_t >= 0])))
        if self.apart:
            known, side = known_at(self.cases, self.knowledge, fitted, whole.targets.take(targets))
            return Scene.place(whole.case, known, fitted, side, whole.rows[at]), np.unique(whole.block_r[at])
        known = at_interval(whole.knowledge, fitted.between)
        scene, left = whole.only(at, whole.side.take(targets, fitted), targets, fitted, known)
        return (scene if self._shares_m else scene.with_others()), left


def _allowed(cells: Cells, between: Between, at: I64) -> I64:
    """Those of some records that the intervals of kept variables allow."""
    for v, (low, high, there) in cells:
        at = at[overlaps(low[at], high[at], there[at], *between[v])]
    return at
