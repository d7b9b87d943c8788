"""A node as a plan: recodings for levels between, nothing for values as they are, and variables that are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from confide.core.errors import raise_all
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.protect.methods.recode import Recode
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism


def level_step(variable: str, hierarchy: Hierarchy, level: int) -> Recode | None:
    """A level as a step; None for values as they are, and for a variable that is left out.

    >>> level_step("age", Hierarchy(widths=[5, 10]), 2).width
    10
    """
    if level == 0 or (hierarchy.leaves_out and level == len(hierarchy.levels) - 1):
        return None
    if hierarchy.widths is not None:
        return Recode(variable, width=hierarchy.widths[level - 1], start=hierarchy.start)
    if hierarchy.breaks is not None:
        labels = None if hierarchy.labels is None else hierarchy.labels[level - 1]
        return Recode(variable, breaks=hierarchy.breaks[level - 1], labels=labels)
    return Recode(variable, hierarchy=hierarchy, level=hierarchy.levels[level])


def plan_at(plan: Plan, hierarchies: Mapping[str, Hierarchy], node: Mapping[str, int]) -> Plan:
    """The plan with each variable at its level of the node.

    Recodings come before the steps of the plan. A step that alters a variable which is left out goes on without it, as
    it says itself, or falls away with all of them; where it cannot go on, the plan is refused.
    """
    out = [v for v, h in hierarchies.items() if h.leaves_out and node[v] == len(h.levels) - 1]
    recodes = [s for v, h in hierarchies.items() if (s := level_step(v, h, node[v])) is not None]
    kept = [s for step in plan.steps for s in _left(step, out)]
    return replace(plan, steps=(*recodes, *kept), drop=(*plan.drop, *out))


def _left(step: Mechanism, out: Sequence[str]) -> Sequence[Mechanism]:
    """What is left of a step; the step itself where it cannot go on, which the plan then refuses."""
    found = step.without(out) if set(step.variables) & set(out) else (step,)
    return (step,) if found is None else found


def check_plan(plan: Plan, hierarchies: Mapping[str, Hierarchy]) -> None:
    """Refuse variables that cannot be made coarser within a plan."""
    gone = {**dict.fromkeys(plan.drop, "not released"), **dict.fromkeys(plan.identifiers, "an identifier")}
    gone |= {v: "the weight" for v in (plan.weight,) if v} | {v: "the unit" for v in (plan.unit,) if v}
    problems = [f'hierarchies: "{v}" is {gone[v]} in the plan; leave it out.' for v in hierarchies if v in gone]
    for step in plan.parts:
        if step.role == "coarsen":
            problems += [
                f'hierarchies: {type(step).__name__} of the plan makes "{v}" coarser already; leave out the step, or '
                "the hierarchy."
                for v in step.variables
                if v in hierarchies
            ]
    raise_all(problems)
