"""Steps that can be told whom to choose: the plan with some records forced, or with a higher rate for everybody."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from confide.core.errors import InputError
from confide.core.registry import known
from confide.protect.plan import Plan


def forcible(plan: Plan) -> list[int]:
    """Positions of the steps with a field `force` that takes row positions; refused where there is none."""
    found = [k for k, step in enumerate(plan.steps) if _has(step, "force") and _takes_rows(step)]
    if found:
        return found
    can = sorted(c.__name__ for c in known("method").values() if _has(c, "force"))
    raise InputError(
        f"No step of the plan can be told which records to choose. Methods that can, by force=: {', '.join(can)}; but "
        "not where they have a rule of their own, such as candidates=."
    )


def _has(step: Any, name: str) -> bool:
    return is_dataclass(step) and name in [f.name for f in fields(step)]


def _takes_rows(step: Any) -> bool:
    """A step may refuse row positions: it chooses by a rule, or by a column that names the records."""
    if isinstance(step.force, str):
        raise InputError(
            f'{type(step).__name__} already forces the records of the column "{step.force}"; give their row positions '
            "instead, so that others can be added."
        )
    try:
        replace(step, force=())
    except InputError:
        return False
    return True


def with_forced(plan: Plan, rows: Iterable[int]) -> Plan:
    """The plan with these records among those that are always chosen."""
    where, more = set(forcible(plan)), set(rows)
    if not more:
        return plan
    steps: list[Any] = list(plan.steps)
    for k in where:
        steps[k] = replace(steps[k], force=tuple(sorted({*(steps[k].force or ()), *more})))
    return replace(plan, steps=steps)


def with_rate(plan: Plan, rate: float) -> Plan:
    """The plan whose steps that can be told whom to choose have at least this rate for everybody."""
    steps: list[Any] = list(plan.steps)
    for k in forcible(plan):
        if _has(steps[k], "rate"):
            steps[k] = replace(steps[k], rate=max(steps[k].rate, rate))
    return replace(plan, steps=steps)


def rate_of(plan: Plan) -> float | None:
    """The largest rate of the steps that can be told whom to choose; None where they have none."""
    steps: list[Any] = [plan.steps[k] for k in forcible(plan)]
    return max((float(s.rate) for s in steps if _has(s, "rate")), default=None)


def without(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan without these steps, and the variables they alter."""
    where = set(forcible(plan))
    kept = [s for k, s in enumerate(plan.steps) if k not in where]
    altered = dict.fromkeys(v for k in where for v in plan.steps[k].variables)
    return replace(plan, steps=kept), list(altered)
