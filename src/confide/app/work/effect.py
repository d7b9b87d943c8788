"""What steps do: the file as it is and with every number of steps, met by all intruders, in one study of drafts."""

from __future__ import annotations

from typing import Any

import polars as pl

import confide as cf
from confide.app.state import AS_IT_IS
from confide.app.work.measured import drafted, effect, intruders_of
from confide.app.work.plain import finite
from confide.app.work.preview import preview
from confide.app.worker import Work

DRAFT = "work/draft"

Plans = dict[int, cf.Plan]
"""Plans by how many of the steps they have."""


def run(work: Work) -> dict[str, Any]:
    """The effect of each number of steps; a step that cannot be carried out is told with its reason. What is no plan
    yet (a step that needs a later one) counts with the next."""
    plans, wrong = _stated(work)
    intruders = intruders_of(work.given["intruders"])
    preview(work, plans[max(plans)], max(plans), intruders)
    while True:
        try:
            result = drafted(work, DRAFT, {named(k): p for k, p in plans.items()}, intruders)
            break
        except cf.InputError as error:
            found = _blamed(error, plans)
            if 0 in found:
                raise
            wrong |= found
            plans = {k: p for k, p in plans.items() if k not in found}
    broken = max(plans) + 1
    return {**_told(result, plans), "problems": {str(broken): wrong[broken]} if broken in wrong else {}}


def _stated(work: Work) -> tuple[Plans, dict[int, list[str]]]:
    """Plans by their number of steps, and what is wrong with those that are none."""
    plans: Plans = {}
    wrong: dict[int, list[str]] = {}
    for count, table in enumerate(work.given["plans"]):
        try:
            plans[count] = cf.Plan.from_dict(table)
        except cf.InputError as error:
            if count == 0:
                raise
            wrong[count] = list(error.problems)
    return plans, wrong


def _blamed(error: cf.InputError, plans: Plans) -> dict[int, list[str]]:
    """What is wrong by the number of steps, where sentences name plans; else it is the plan with most steps."""
    out: dict[int, list[str]] = {}
    for count in plans:
        where = f'plan "{named(count)}": '
        if own := [p.removeprefix(where) for p in error.problems if p.startswith(where)]:
            out[count] = own
    return out or {max(plans): list(error.problems)}


def named(count: int) -> str:
    """What the plan with so many steps is called."""
    return AS_IT_IS if count == 0 else f"with {count} step{'s' * (count != 1)}"


def _told(result: cf.StudyResult, plans: Plans) -> dict[str, Any]:
    last = named(max(plans))
    own = f'"{last}", '
    return {
        "rows": result.info.rows, "plans": [{"count": k, **effect(result, named(k))} for k in sorted(plans)],
        "cautions": [c.removeprefix(own) for c in result.cautions() if c.startswith(own)],
        "shares": _shares(result.distributions.filter(pl.col("plan") == last)),
    }  # fmt: skip


def _shares(rows: pl.DataFrame) -> dict[str, list[list[Any]]]:
    """By variable: value, share of people before, share after."""
    out: dict[str, list[list[Any]]] = {}
    for variable, level, before, after in rows.select("variable", "level", "before", "after").iter_rows():
        out.setdefault(variable, []).append([level, finite(before), finite(after)])
    return out
