"""Plans as settings of dials: what can be turned, what each setting releases, and which settings are next to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from confide.core.errors import InputError
from confide.core.registry import known
from confide.protect.plan import Plan
from confide.protect.seam.dials import Change, Dial, Outlook, Untried
from confide.protect.seam.mechanism import Mechanism
from confide.study.advise.order import in_order

Setting = tuple[tuple[int, Any], ...]
"""Dials by their number, rising, each with its strength; one that is not named is not turned."""


def offered(outlook: Outlook) -> tuple[list[Dial], list[Untried]]:
    """All that registered methods, and a plan itself, offer for a file; and what they do not, with the reason."""
    dials, untried = [*dropping(outlook)], list[Untried]()
    for method in known("method").values():
        for offer in method.dials(outlook):
            if isinstance(offer, Untried):
                untried.append(offer)
            else:
                dials.append(offer)
    return dials, untried


def dropping(outlook: Outlook) -> Iterator[Dial]:
    """A variable that is not released at all, if that protects anybody and leaves others."""
    if len({*outlook.readable} | ({outlook.weight} - {None})) > 1:
        yield from (_dropped(s.name) for s in outlook.worth())


def _dropped(name: str) -> Dial:
    return Dial("drop", (name,), (True,), lambda _: Change(drop=(name,)), lambda _: f"drop {name}")


def changed(plan: Plan, change: Change) -> Plan:
    """A plan with a change: a step of the same method on the same variables is replaced, others are added; of variables
    that are no longer released nothing is done. What cannot be carried out is an error."""
    new = {(s.method, s.variables) for s in change.steps}
    old = [s for s in plan.steps if (s.method, s.variables) not in new]
    gone = set(change.drop)
    left: list[Mechanism] = []
    for step in (*old, *change.steps):
        kept = step.without(gone) if gone else (step,)
        if kept is None:
            raise InputError(f"{step.where} cannot go on without {', '.join(sorted(gone & set(step.variables)))}.")
        left += kept
    there = set(plan.kinds) - gone
    return replace(
        plan, steps=tuple(in_order(left)), drop=(*plan.drop, *(v for v in change.drop if v not in plan.drop)),
        categorical=[v for v in plan.categorical if v in there], numeric=[v for v in plan.numeric if v in there],
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Space:
    """What can be done to a file: a plan to begin with, and dials."""

    base: Plan
    dials: Sequence[Dial]

    def plan(self, setting: Setting) -> Plan:
        """The plan at a setting; an error where it cannot be carried out."""
        plan = self.base
        for k, strength in setting:
            plan = changed(plan, self.dials[k].at(strength))
        return plan

    def says(self, setting: Setting) -> str:
        """A setting in words."""
        return "; ".join(self.dials[k].says(x) for k, x in setting) or "as it is"

    def families(self, setting: Setting) -> tuple[str, ...]:
        """The families of the dials that are turned."""
        return tuple(dict.fromkeys(self.dials[k].family for k, _ in setting))

    def turned(self, setting: Setting, dial: int, strength: Any | None) -> Setting:
        """The same setting with one dial at a strength; None takes it away."""
        rest: dict[int, Any] = {k: x for k, x in setting if k != dial}
        return tuple(sorted(({**rest, dial: strength} if strength is not None else rest).items(), key=lambda t: t[0]))

    def moves(self, setting: Setting) -> Iterator[tuple[int, Any | None, Setting]]:
        """Settings one turn away: a dial turned to its next strength up or down, turned for the first time (at any of
        its strengths), or taken away. What cannot be carried out is left out by whoever makes the plan."""
        at: Mapping[int, Any] = dict(setting)
        for k, dial in enumerate(self.dials):
            if k not in at:
                yield from ((k, x, self.turned(setting, k, x)) for x in dial.strengths)
                continue
            yield k, None, self.turned(setting, k, None)
            near = [x for x in dial.strengths if x != at[k]]
            yield from ((k, x, self.turned(setting, k, x)) for x in near)
