"""Steps that can be told whom to choose: the plan with some records forced, or with a higher rate for everybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from confide.core.errors import InputError
from confide.core.registry import known
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism


def forcible(plan: Plan) -> list[int]:
    """Positions of the steps that can be told by row positions whom to choose; refused where there is none."""
    found = [k for k, step in enumerate(plan.steps) if step.with_forced(()) is not None]
    if found:
        return found
    can = sorted(c.__name__ for c in known("method").values() if c.with_forced is not Mechanism.with_forced)
    raise InputError(
        f"No step of the plan can be told which records to choose. Methods that can, by force=: {', '.join(can)}; but "
        "not where they have a rule of their own, such as candidates=."
    )


def with_forced(plan: Plan, rows: Iterable[int]) -> Plan:
    """The plan with these records among those that are always chosen."""
    forcible(plan)
    more = set(rows)
    return replace(plan, steps=[s.with_forced(more) or s for s in plan.steps]) if more else plan


def with_rate(plan: Plan, rate: float) -> Plan:
    """The plan whose steps that can be told whom to choose have at least this rate for everybody."""
    where = set(forcible(plan))
    return replace(plan, steps=[s.with_share(rate) if k in where else s for k, s in enumerate(plan.steps)])


def rate_of(plan: Plan) -> float | None:
    """The largest rate of the steps that can be told whom to choose; None where they have none."""
    shares = [plan.steps[k].share_chosen for k in forcible(plan)]
    return max((s for s in shares if s is not None), default=None)


def without(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan without these steps, and the variables they alter."""
    where = set(forcible(plan))
    kept = [s for k, s in enumerate(plan.steps) if k not in where]
    altered = dict.fromkeys(v for k in where for v in plan.steps[k].variables)
    return replace(plan, steps=kept), list(altered)
