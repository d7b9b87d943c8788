"""Steps of the plan in the making: added, changed, moved, taken away; and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.app.documents import plan_table, release_table
from confide.app.reading import read
from confide.app.state import DROP, State, Table


def step_words(step: Table) -> str:
    """A step as a heading has it."""
    if step["method"] == DROP:
        return f"Leave out {step['variable']}"
    said = next(iter(read("words", [dict(step)])), f"{step['method']} {', '.join(variables_of(step))}")
    return said[:1].upper() + said[1:]


def about(step: Table, schema: Mapping[str, Any] | None) -> str:
    """What a method does, in the words of its schema."""
    if step["method"] == DROP:
        return "The variable is not released at all."
    return "" if schema is None else str(schema.get("description", ""))


def variables_of(step: Table) -> list[str]:
    """The variables that a step alters."""
    named = step.get("variables", step.get("variable", step.get("what", ())))
    return [named] if isinstance(named, str) else [str(v) for v in named]


def proposed_name(state: State) -> str:
    """A name for the plan in the making, which no candidate has yet."""
    said = [step_words(s) for s in state.steps]
    base = "; ".join([said[0], *(t[:1].lower() + t[1:] for t in said[1:])])[:80].rstrip("; ") if said else ""
    return free_name(base, [str(c["name"]) for c in state.candidates]) if base else ""


def free_name(base: str, taken: Sequence[str]) -> str:
    """The name, or with a number behind it where somebody has it."""
    return next(n for k in range(1, len(taken) + 2) if (n := base if k == 1 else f"{base} {k}") not in taken)


def kept_as(state: State) -> str:
    """The candidate that has just these steps; empty where none has."""
    steps = [dict(s) for s in state.steps]
    return next((str(c["name"]) for c in state.candidates if [dict(s) for s in c["steps"]] == steps), "")


def added(state: State, step: Table) -> State:
    """The state with one more step: in the place of one that does the same with the same variables; else at the end, or
    as late as a plan allows. What was done to a variable that is left out falls away."""
    steps = [dict(s) for s in state.steps]
    if step["method"] == DROP:
        steps = [s for s in steps if variables_of(s) != variables_of(step)]
        return state.but(steps=[*steps, dict(step)], opened=len(steps) + 1)
    same = [k for k, s in enumerate(steps) if s["method"] == step["method"] and variables_of(s) == variables_of(step)]
    if same:
        steps[same[0]] = dict(step)
        return state.but(steps=steps, opened=same[0] + 1)
    steps = [s for s in steps if s["method"] != DROP or s["variable"] not in variables_of(step)]
    tries = [[*steps[:k], dict(step), *steps[k:]] for k in range(len(steps), -1, -1)]
    made = next((t for t in tries if _is_plan(state, t)), tries[0])
    return state.but(steps=made, opened=next(k for k, s in enumerate(made, 1) if s == dict(step)))


def _is_plan(state: State, steps: Sequence[Table]) -> bool:
    return not read("problems", plan_table(state, steps))


def adopted(state: State, plan: Table, kinds: Mapping[str, str]) -> State:
    """The state with the steps of a whole plan; `kinds`: of the file, so that only other ones are stated."""
    shared = release_table(state)
    gone = [v for v in plan.get("drop", ()) if v not in shared.get("drop", ())]
    steps = [dict(s) for s in plan.get("steps", ())] + [{"method": DROP, "variable": v} for v in gone]
    return with_kinds(state.but(steps=steps, opened=0), plan, kinds)


def with_kinds(state: State, plan: Table, kinds: Mapping[str, str]) -> State:
    """The state with the kinds that a plan names, where the file is taken otherwise."""
    named = {v: kind for kind in ("categorical", "numeric") for v in plan.get(kind, ())}
    own = {v: k for v, k in named.items() if state.kinds.get(v, kinds.get(v)) != k}
    return state.but(kinds={**state.kinds, **own}) if own else state


def moved(state: State, at: int, by: int) -> State:
    """The state with a step (from 1) moved up or down by one place."""
    steps = list(state.steps)
    to = at + by
    if 1 <= at <= len(steps) and 1 <= to <= len(steps):
        steps[at - 1], steps[to - 1] = steps[to - 1], steps[at - 1]
        return state.but(steps=steps, opened=to)
    return state


def removed(state: State, at: int) -> State:
    """The state without a step (from 1)."""
    return state.but(steps=[s for k, s in enumerate(state.steps, 1) if k != at], opened=0)
