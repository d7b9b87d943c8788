"""One person asked about again: what an intruder would find who knew fewer variables, or in a coarser release."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.evidence.case import make_case
from confide.attack.evidence.gather import gather
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder
from confide.attack.results.again import prepared
from confide.core.errors import InputError
from confide.frames import to_polars
from confide.frames.columns import Records
from confide.frames.comparing import encode_like
from confide.protect.coarser import Coarser, coarsened

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.protect.release import Release

ANEW = "These figures are of this release: a plan with the step added draws anew."
MOST_ASKED = 60
"""Attacks on one person that one question may take; those that counting answers are free."""

Answer = tuple[int, float]
"""Records that agree with all that is certain, and the largest probability."""


def drawn(release: Release) -> bool:
    """Whether another release by the plan would have other values, or other records."""
    plan = release.plan
    return plan is not None and any(s.role != "coarsen" and s.draws for s in plan.parts)


def knowing(who: Intruder, names: Collection[str], whole: bool, values: Collection[str] | None = None) -> Intruder:
    """The same intruder who knows no more than the variables named; what is not known is left out (part B), unless the
    `whole` formula is asked for. `values`: what may be known as a value (None: all that was)."""
    told, may = who.knows_missing, who.knows if values is None else values
    return replace(
        who, unavailable=who.unavailable if whole else "ignore",
        others="sdl" if who.others == "exact" and not whole else who.others,
        knows=tuple(v for v in who.knows if v in names and v in may),
        between={v: ends for v, ends in who.between.items() if v in names},
        errors={v: e for v, e in who.errors.items() if v in names},
        knows_missing=told if isinstance(told, bool) else tuple(v for v in told if v in names),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Question:
    """A target of an attack, and what is known of it: `knows` as values, `between` as intervals.

    `more`: what is not known counts too (part B).
    """

    attack: Attack
    target: int
    knows: tuple[str, ...]
    between: dict[str, tuple[float, float]]
    more: bool = False
    answers: dict[tuple[object, ...], Answer | None] = field(default_factory=dict)
    spent: list[int] = field(default_factory=lambda: [0])
    _dropped: dict[str, Coarser] = field(default_factory=dict)

    @classmethod
    def of(cls, attack: Attack, target: int) -> Question:
        fit = prepared(attack).scene_of(target)[0].fit
        return cls(attack, target, tuple(fit.knows), dict(fit.between), fit.mixture)

    @property
    def variables(self) -> tuple[str, ...]:
        return (*self.knows, *self.between)

    @property
    def out_of_patience(self) -> bool:
        return self.spent[0] >= MOST_ASKED

    @property
    def drawn(self) -> bool:
        """Whether another release by the plan would have other values, or other records."""
        return drawn(self.attack.release)

    @property
    def exact(self) -> bool:
        """Whether unknown variables help in ways that are too slow to ask about again and again."""
        return "exact" in self.attack.intruder.levels

    @cached_property
    def person(self) -> tuple[pl.DataFrame, list[int] | None]:
        """The target as a file of one row, and its original row where it is known."""
        targets = self.attack.given[0]
        row = int(self.attack.truth[self.target])
        at = row if targets is None and row >= 0 else self.target
        file = self.attack.release.original if targets is None else to_polars(targets, "targets")
        ends = [c for v in self.between for c in self.attack.intruder.between[v]]
        return file.select([*self.knows, *ends])[at : at + 1], None if row < -1 else [row]

    def dropping(self, names: Iterable[str]) -> tuple[Coarser, ...]:
        """Each variable left out of the release."""
        return tuple(self._dropped.setdefault(v, Coarser(v, f"{v} left out")) for v in names)

    def ask(self, names: Collection[str], changes: Iterable[Coarser] = (), whole: bool = False) -> Answer | None:
        """What is found by the variables named; None where that is refused, or enough attacks were made.

        What is not among them is left out (part B), unless the `whole` formula is asked for.
        """
        changes, whole = tuple(changes), whole and self.more
        gone = {c.variable for c in changes if c.step is None}
        kept = tuple(v for v in self.variables if v in names and v not in gone)
        key = (kept, tuple(id(c) for c in changes), whole)
        if key not in self.answers:
            try:
                self.answers[key] = self._answer(knowing(self.attack.intruder, kept, whole, self.knows), changes)
            except InputError:  # a step of the plan, or the attack, cannot be had with that
                self.answers[key] = None
        return self.answers[key]

    def _answer(self, who: Intruder, changes: tuple[Coarser, ...]) -> Answer | None:
        release = coarsened(self.attack.release, changes)
        if not who.knows and not who.between:
            n = self._everybody(release)
            return n, 1 / n
        counted = self._counted(who, release)
        if counted is not None or self.out_of_patience:
            return counted
        self.spent[0] += 1
        also = [coarsened(copy, changes) for copy in self.attack.given[2]]
        return self._attacked(who, release, also)

    def _everybody(self, release: Release) -> int:
        unit = unit_of(self.attack.intruder, release)
        groups = prepared(self.attack).groups
        return release.frame.height if unit is None or groups is None else len(np.unique(groups.released))

    def _attacked(self, who: Intruder, release: Release, also: list[Release]) -> Answer:
        from confide.attack.engine.run import run_attack

        file, truth = self.person
        behind = prepared(self.attack).behind
        found = run_attack(who, release, file, truth, threads=None, progress=False, also=also, behind=behind).units
        return int(found["candidates"][0]), float(found["p_max"][0])

    def _counted(self, who: Intruder, release: Release) -> Answer | None:
        """Where all that is used is certain, so that all candidates are alike."""
        if who.membership != "certain" or unit_of(who, release) is not None or self.attack.given[2]:
            return None
        case = make_case(who, release)
        between = {v: self.between[v] for v in who.between}
        knowledge = gather(case, tuple(who.knows), between)
        if knowledge.uncertain or knowledge.nearest:
            return None
        file = self.person[0]
        own = Records([encode_like(file.get_column(v), case.original[v]) for v in who.knows], n=1)
        same = knowledge.eligible
        for c in knowledge.certain:
            same = same & (c.released == c.of(own)[0])
        n = int(same.sum())
        return n, 1 / n if n else 0.0
