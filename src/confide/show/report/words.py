"""Plans, intruders and measures in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from math import isinf
from typing import Any

from confide.attack.intruder import Intruder, Unsure
from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.core.registry import first_sentence, shipped
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism
from confide.show.names import both, capital

LEVELS = {
    "sdl": "reasons as an informed intruder (knows the plan, not the draws)",
    "average": "reasons with a guess at the plan",
    "naive": "takes released values as true", "ignore": "does without",
    "exact": "reasons with all that follows from the plan",
}  # fmt: skip
HIDDEN = "stated, not shown"
SCRIPT = {"stated": "in a script"}
LISTED = 8
"""Longer lists of values are said to be so many."""


def plan_words(
    plan: Plan, outside: bool, columns: frozenset[str], quoted: frozenset[tuple[int, str]] = frozenset()
) -> dict[str, Any]:
    """A plan's steps in words with their parameters, and what is left out of the release.

    Parts that are marked private are never among them. Outside, neither are tables and labels of categories, which may
    name few people, and values of the fields in `quoted` (by place of the step), which do.
    """
    steps = []
    for place, step in enumerate(plan.steps):
        names, stated = _stated(step)
        what = first_sentence(type(step)) or f"Apply the method {step.method}."
        sentence = f"{_listed(names)}: {what[:1].lower()}{what[1:]}" if names else what
        told = {k: HIDDEN if (place, k) in quoted else _text(v, outside, columns) for k, v in stated.items()}
        shown = [(k.replace("_", " "), text) for k, text in told.items()]
        shown = shown if stated is not SCRIPT else list(SCRIPT.items())
        steps.append({"sentence": sentence, "method": step.method, "parameters": shown})
    gone = [f"{_listed(plan.identifiers)} (identifying)"] if plan.identifiers else []
    gone += [_listed(plan.drop)] if plan.drop else []
    return {"steps": steps, "gone": "; ".join(gone), "weight": plan.weight}


def _stated(step: Mechanism) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The variables of a step and its parameters; those of a step that no document can hold are not looked into."""
    try:
        table = Writer(public=True).table(step)
    except InputError:
        return tuple(step.variables), SCRIPT
    return _names(table.pop("variable", None) or table.pop("variables", ())), table


def columns_of(plans: Sequence[Plan], intruders: Sequence[Intruder]) -> frozenset[str]:
    """Every name of a variable that plans and intruders mention."""
    found: set[str] = set()
    for plan in plans:
        found.update(plan.identifiers, plan.drop, plan.categorical, plan.numeric, [plan.weight or ""])
        for part in plan.parts:
            found.update(part.variables, part.needs)
    for who in intruders:
        found.update(who.knows, who.between)
    return frozenset(found)


def intruder_words(who: Intruder, outside: bool) -> list[str]:
    """What an intruder knows, in sentences."""
    out = [f"Knows {_listed(who.knows)}." if who.knows else "Knows no variable exactly."]
    if who.between:
        out.append(f"Knows {_listed(tuple(who.between))} as {'an interval' if len(who.between) == 1 else 'intervals'}.")
    out.append(_membership(who, outside))
    c, b, a = who.levels
    parts = {"known variables": c, "unknown variables": b, "how common a record is": a}
    if len({a, b, c}) == 1:
        out.append(f"{LEVELS[c].capitalize()}." if c != "ignore" else "Gives all candidates the same probability.")
    else:
        out.append("; ".join(f"for {k}, {LEVELS[v]}" for k, v in parts.items()).capitalize() + ".")
    if who.errors:
        out.append(f"May be mistaken about {_listed(tuple(who.errors))}.")
    if who.beliefs == "released":
        out.append("Learns how values go together from the released file alone.")
    elif who.beliefs != "original":
        out.append("Knows nothing of how values go together but their ranges.")
    if who.believes:
        out.append("Believes in a plan of its own.")
    return out


def _membership(who: Intruder, outside: bool) -> str:
    of = who.membership
    if of == "certain":
        return "Knows that the target is in the release."
    if of == "in_file":
        return "Knows that the target was surveyed, but not whether the record is released."
    assert isinstance(of, Unsure)
    unsure = "Does not know whether the target is in the file; "
    if of.population is not None:
        return f"{unsure}assumes a population, and counts in it who could be the target."
    how = "by a log-linear model" if of.model == "loglinear" else "in proportion to the release"
    if of.weights is not None:
        return f"{unsure}uses the survey weight {of.weights} to estimate {how} how many people could be the target."
    size = "a population" if outside else f"a population of {of.total:,.0f}"
    return f"{unsure}assumes {size}, and estimates {how} how many of them could be the target."


def measure_words(measure: Measure, outside: bool, columns: frozenset[str]) -> dict[str, str]:
    """A measure's meaning, settings, direction and range."""
    means = first_sentence(type(measure)) or "A measure of the agency's own."
    low, high = measure.range
    ends = f"from {low:g} upwards" if isinf(high) else f"between {low:g} and {high:g}"
    best = "without limit" if isinf(measure.best) else f"{measure.best:g}"
    said = f"{measure.direction.capitalize()} is better, {ends}; {best} where the release equals the original."
    return {"name": capital(both(measure.name)), "means": means, "range": said,
            "settings": "; ".join(f"{k} {v}" for k, v in _settings(measure, outside, columns))}  # fmt: skip


def _settings(measure: Measure, outside: bool, columns: frozenset[str]) -> list[tuple[str, str]]:
    """What was stated of a measure and differs from its defaults; outside, of this package's measures only, since
    nobody knows what the numbers of another one mean."""
    if not is_dataclass(measure) or (outside and not shipped(type(measure))):
        return []
    out = []
    for f in fields(measure):
        value = getattr(measure, f.name)
        default = f.default if f.default is not MISSING else None
        if f.name == "label" or f.metadata.get("private") or value is None or value == default:
            continue
        if isinstance(value, Mapping):
            value = list(value)
        named = f.name in ("variables", "formula") or (f.name == "estimates" and not outside)
        text = _listed(_names(value)) if named else _text(value, outside, columns)
        out.append((f.name.replace("_", " "), text))
    return out


def _text(value: Any, outside: bool, columns: frozenset[str]) -> str:
    """A parameter as text; outside, only numbers, yes or no, and names of variables."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,.12g}"
    if isinstance(value, str):
        return value if not outside or value in columns else HIDDEN
    if isinstance(value, (list, tuple)) and all(v is None or isinstance(v, (int, float, str)) for v in value):
        if len(value) > LISTED:
            return f"{len(value)} values"
        return ", ".join("no limit" if v is None else _text(v, outside, columns) for v in value)
    return HIDDEN if outside else "stated in the plan, see the end of this page"


def _names(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(str(v) for v in given)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
