"""What pages ask workers about steps, and what they say of the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from confide.app.documents import (
    ANALYSES,
    DETAIL,
    KEPT,
    PAIRS,
    choice_table,
    intruder_tables,
    kept,
    measures_of,
    plan_table,
    utility_tables,
)
from confide.app.state import State, Table

CODED = re.compile(r"C\((.*?)\)")
"""How a formula says that a variable is taken as categories."""


def effect_given(state: State, steps: Sequence[Table]) -> dict[str, Any]:
    """What the task `effect` is about: every number of steps, the intruders, and what analysts need."""
    return {
        "plans": [plan_table(state, steps[:k]) for k in range(len(steps) + 1)],
        "intruders": intruder_tables(state), "utility": utility_tables(state),
    }  # fmt: skip


def risk_given(state: State) -> dict[str, Any]:
    """The same of the file as it is, with the quickest measure: only risk is asked for."""
    return {**effect_given(state, ()), "utility": [{"measure": "entropy", "variables": state.knowable}]}


def improve_given(state: State) -> dict[str, Any]:
    """What the task `improve` is about: the plan, the limits, and the measure to be kept."""
    rule = choice_table(state) or {}
    return {
        "plan": plan_table(state, state.steps), "as_it_is": plan_table(state, ()),
        "intruders": intruder_tables(state), "utility": utility_tables(state),
        "limits": rule.get("max_risk", {}), "by": rule.get("by") or measures_of(state)[0],
    }  # fmt: skip


def limit_of(state: State, rows: int) -> float | None:
    """The most people who may be found; None where nobody stated a limit."""
    stated = state.rule.get("max_found")
    if not stated:
        return None
    text = str(stated).strip()
    try:
        return float(text.rstrip("% ")) / 100 * rows if text.endswith("%") else float(text)
    except ValueError:
        return None


def kept_of(effect: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is kept, as shares of 1, with what suffers most: detail, relations, analyses."""
    out = []
    for measure in (DETAIL, PAIRS, ANALYSES):
        if measure in effect["measures"]:
            share = kept(measure, effect["measures"][measure])
            worst = effect["suffers"].get(measure, "") if share is not None and share < 1 - 1e-9 else ""
            worst = CODED.sub(r"\1", worst)
            out.append({"measure": measure, "share": share, "word": KEPT[measure], "suffers": worst})
    return out


def step_effects(result: Mapping[str, Any] | None, count: int) -> list[dict[str, Any] | None]:
    """By step: how many the worst intruder found before and after it; None where it is not known. What is no plan by
    itself counts with the step that completes it: `with_next` says so."""
    if result is None:
        return [None] * count
    found = {p["count"]: p["worst"]["found"] for p in result["plans"]}
    out: list[dict[str, Any] | None] = []
    for k in range(1, count + 1):
        if k in found:
            before = found[max(j for j in found if j < k)]
            out.append({"before": before, "after": found[k], "fewer": _less(before, found[k])})
        else:
            later = any(j > k for j in found)
            out.append({"with_next": True} if later else None)
    return out


def _less(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else before - after


def still_right(result: Mapping[str, Any], old: Sequence[Table], new: Sequence[Table]) -> dict[str, Any]:
    """An older answer without what has changed since: the numbers of the first steps, if those are the same."""
    same = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return {**result, "plans": [p for p in result["plans"] if p["count"] <= same], "problems": {}}
