"""A state as confide's own documents: the plan, the study file. What a page says, these say too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confide.app.state import AS_IT_IS, DROP, State, Table

DATA = "data.parquet"
"""The project's own copy of the file, beside its study file."""

REPEATS, SEED = 5, 1
MANY = 40
"""Variables of which every pair is measured; of more, those that can be known or are private."""

DETAIL, ANALYSES, PAIRS = "entropy", "ci_overlap", "hellinger_pairs"
"""What analysts keep, by the names that a study gives its measures."""

KEPT = {DETAIL: "detail kept", ANALYSES: "analyses kept", PAIRS: "relations kept"}
LOSSES = (DETAIL, PAIRS)
"""Measures that are 0 at best: what is kept is 1 less the loss."""


def release_table(state: State) -> dict[str, Any]:
    """What all plans share: identifiers, weight, unit, kinds, and what is never released."""
    out: dict[str, Any] = {}
    if found := state.variables("identifier"):
        out["identifiers"] = found
    for role in ("weight", "unit"):
        if found := state.variables(role):
            out[role] = found[0]
    if found := state.variables("drop"):
        out["drop"] = found
    for kind in ("categorical", "numeric"):
        if named := [v for v, k in state.kinds.items() if k == kind and _released(state, v)]:
            out[kind] = named
    return out


def _released(state: State, variable: str) -> bool:
    return state.roles.get(variable) not in ("identifier", "drop", "unit")


def plan_table(state: State, steps: Sequence[Table]) -> dict[str, Any]:
    """A plan as `cf.Plan.from_dict` reads it."""
    shared = release_table(state)
    gone = [str(s["variable"]) for s in steps if s["method"] == DROP]
    made: dict[str, Any] = {**shared, "steps": [dict(s) for s in steps if s["method"] != DROP]}
    if gone:
        made["drop"] = [*shared.get("drop", []), *(v for v in gone if v not in shared.get("drop", []))]
        for kind in ("categorical", "numeric"):
            if kind in made:
                made[kind] = [v for v in made[kind] if v not in gone]
    return made


def utility_tables(state: State) -> list[dict[str, Any]]:
    """What analysts need: detail of what can be known, relations of every two variables, and the regression stated.
    Of a file with very many variables, relations of those that can be known or are private."""
    out: list[dict[str, Any]] = []
    if state.knowable:
        out.append({"measure": "entropy", "variables": state.knowable})
    pairs: dict[str, Any] = {"measure": "hellinger", "pairs": True}
    if len(state.roles) > MANY:  # all pairs of hundreds of variables would take hours
        pairs["variables"] = state.variables("key", "sensitive")[:MANY]
    out.append(pairs)
    if state.formula:
        out.append({"measure": "ci_overlap", "formula": state.formula})
    return out


def measures_of(state: State) -> list[str]:
    """The names of the measures of utility."""
    return [DETAIL] * bool(state.knowable) + [PAIRS] + [ANALYSES] * bool(state.formula)


def intruder_tables(state: State) -> list[dict[str, Any]]:
    """Intruders as a study file has them: what only the screens say is left out."""
    return [{k: v for k, v in who.items() if k != "about"} for who in state.intruders]


def choice_table(state: State) -> dict[str, Any] | None:
    """The rule as a study file has it; None where no limit is stated."""
    rule = state.rule
    if not rule.get("max_found"):
        return None
    measures = measures_of(state)
    by = rule["by"] if rule.get("by") in measures else measures[0]
    out: dict[str, Any] = {"max_risk": {"found": rule["max_found"]}, "by": by}
    if rule.get("cautious", True):
        out["cautious"] = True
    if rule.get("min_analyses") and state.formula:
        out["min_utility"] = {ANALYSES: rule["min_analyses"]}
    return out


def study_table(
    state: State, candidates: Sequence[Table] | None = None, *, repeats: int = REPEATS, data: str = DATA
) -> dict[str, Any]:
    """The study that compares candidates with the file as it is, as `cf.Study.from_dict` reads it."""
    named = list(state.candidates if candidates is None else candidates)
    plans = [{"name": AS_IT_IS, **plan_table(state, ())}]
    plans += [{"name": c["name"], **plan_table(state, c["steps"])} for c in named]
    out: dict[str, Any] = {
        "title": state.name, "data": data, "repeats": repeats, "seed": SEED,
        "plan": plans, "intruder": intruder_tables(state), "utility": utility_tables(state),
    }  # fmt: skip
    rule = choice_table(state)
    return out if rule is None else {**out, "choice": rule}


def kept(measure: str, value: float | None) -> float | None:
    """How much is kept, as a share of 1, whichever way a measure goes."""
    if value is None:
        return None
    return 1 - value if measure in LOSSES else value
