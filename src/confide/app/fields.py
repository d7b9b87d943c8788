"""Settings of a step as fields of a form, made from the schema that methods state of themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from confide.app import reading
from confide.app.state import Table
from confide.app.web import Form, Wrong

SHARES = ("rate", "fraction", "retention", "relative", "alpha")
"""Settings that are shares of 1 and shown in percent."""

NOT_SHOWN = ("force", "candidates", "simulate", "keys", "risk")
"""Settings for single people, whom no page names, and what belongs to them."""

USUAL = ("width", "breaks", "mapping", "within", "given", "match", "sd", "relative", "retention", "k", "leaf", "level")
"""Settings that are shown at once; others, unless somebody stated them, are a click away."""

NAMES = ("within", "given", "match", "plus", "minus", "keys")
"""Settings that name variables."""

WHERE = re.compile(r"^(?:steps\[\d+\] \(\w+\): )?(?:\w+\(.*?\): )?")
"""How a sentence of confide says where it is wrong; a form shows it at the field."""

OWN = ("method", "variable", "variables", "what", "name")
GROUPING = ("width", "breaks", "mapping", "start", "labels")
"""Ways of grouping that a hierarchy stands for already."""

LABELS = {
    "rate": "Share of people swapped", "fraction": "Share of rows released", "retention": "Share of values kept",
    "relative": "Noise, in percent of the variable's spread", "width": "Width of a class", "start": "Classes begin at",
    "breaks": "Limits between classes", "mapping": "Groups", "at": "Limit", "base": "Multiples of",
    "k": "People in a group, at least", "window": "Ranks away, at most", "sd": "Standard deviation of the noise",
    "within": "Only inside the same", "given": "Predicted from", "match": "Matched by", "plus": "Sum of",
    "minus": "Less", "leaf": "Rows in a leaf, at least", "donors": "Nearest rows to draw from", "draw": "Draw anew",
    "keep_zeros": "Leave zeros alone", "jointly": "Move variables together", "per": "Applied to",
    "exchange": "Exchange pairs", "unbiased": "Keep means", "standardise": "Weigh variables alike",
    "quantiles": "Quantiles", "bounds": "Values stay between", "level": "How coarse", "zeros": "Treat zeros apart",
    "keys": "Rare by", "bias_sd": "Standard deviation of the shared shift", "how": "Search", "above": "Only above",
    "sequential": "One after the other", "labels": "Names of classes", "alpha": "Noise share",
}  # fmt: skip
HELP = {
    "mapping": "One per line: old = new. What is not named stays as it is.", "breaks": "Numbers, with commas between.",
    "bounds": "Lowest, highest; leave one out for no limit.", "labels": "One per line.",
}  # fmt: skip
WORDS = {"record": "each row", "unit": "each unit", "own": "equal values", "wildcard": "a hidden value fits all"}


@dataclass(frozen=True)
class Field:
    """One setting: `kind` is percent, number, whole, yes, maybe, choice, names, lines, numbers or text."""

    name: str
    label: str
    kind: str
    value: Any
    options: Sequence[tuple[str, str]] = ()
    help: str = ""
    needed: bool = False
    shown: str = ""
    names: Sequence[str] = field(default_factory=tuple)
    more: bool = False


@lru_cache(maxsize=1)
def methods() -> dict[str, Mapping[str, Any]]:
    """Schemas of all methods by name."""
    found: dict[str, Mapping[str, Any]] = reading.read("schemas")
    return found


def fields_of(step: Table, columns: Sequence[str], units: bool = True) -> list[Field]:
    """The settings of a step that a form can hold. `units`: whether rows belong to units."""
    schema = methods().get(str(step["method"]))
    if schema is None:
        return []
    out = []
    for name, stated in schema["properties"].items():
        if name in (*OWN, *NOT_SHOWN) or name in (GROUPING if step.get("hierarchy") else ("level",)):
            continue
        if (name == "per" and not units) or (name == "jointly" and isinstance(step.get("variable"), str)):
            continue
        kind = "choice" if name == "level" else _kind(name, stated)
        if kind:
            out.append(_field(name, kind, stated, step, columns, name in schema.get("required", ())))
    return out


def held(step: Table, columns: Sequence[str]) -> list[str]:
    """Settings of a step that no form holds; they stay as they are."""
    shown = {f.name for f in fields_of(step, columns)}
    return [k for k in step if k not in shown and k not in OWN and k != "hierarchy"]


def _kind(name: str, stated: Mapping[str, Any]) -> str:
    """How a setting is shown; empty for what a form cannot hold."""
    types = [t.get("type") for t in stated.get("anyOf", [stated])]
    if name in ("mapping", "labels"):
        return "lines"
    if name in ("breaks", "bounds"):
        return "numbers"
    if name in NAMES:
        return "names"
    if "enum" in stated:
        return "choice"
    if "boolean" in types:
        return "maybe" if "null" in types else "yes"
    if "number" in types:
        return "percent" if name in SHARES else "number"
    return "whole" if types in (["integer"], ["integer", "null"]) else "text" if types == ["string"] else ""


def _field(name: str, kind: str, stated: Mapping[str, Any], step: Table, columns: Sequence[str], needed: bool) -> Field:
    value = step.get(name, stated.get("default"))
    options: Sequence[tuple[str, str]] = ()
    if kind == "choice":
        options = levels(step["hierarchy"]) if name == "level" else [(e, WORDS.get(e, e)) for e in stated["enum"]]
    names = tuple(columns) if kind == "names" else ()
    label = LABELS.get(name, name.replace("_", " ").capitalize())
    more = not (needed or name in USUAL or name in step)
    return Field(name, label, kind, value, options, HELP.get(name, ""), needed, shown(kind, value), names, more)


def levels(hierarchy: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The levels of a hierarchy, from 1, in words."""
    if named := hierarchy.get("names"):
        return [(str(k), str(n)) for k, n in enumerate(named, 1)]
    if widths := hierarchy.get("widths"):
        return [(str(k), f"in classes of {w:,g}") for k, w in enumerate(widths, 1)]
    table = hierarchy.get("table") or {}
    rows = list(table.values()) if isinstance(table, Mapping) else [r[1] for r in table]
    many = max((len(v) for v in hierarchy.values() if isinstance(v, list)), default=0)
    deep = max((len(r) for r in rows if isinstance(r, (list, tuple))), default=many)
    return [(str(k), f"level {k}" + (" (finest)" if k == 1 else "")) for k in range(1, max(deep, 1) + 1)]


def shown(kind: str, value: Any) -> str:
    """A value as its field shows it."""
    if value is None or kind in ("names", "yes"):
        return ""
    if kind == "percent":
        return f"{100 * value:.6g}"
    if kind == "numbers":
        return ", ".join("" if v is None else f"{v:.12g}" for v in value) if isinstance(value, (list, tuple)) else ""
    if kind == "lines":
        pairs = value.items() if isinstance(value, Mapping) else value
        return "\n".join(p if isinstance(p, str) else f"{p[0]} = {p[1]}" for p in pairs)
    if kind == "maybe":
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def read(step: Table, columns: Sequence[str], form: Form) -> dict[str, Any]:
    """The step with its settings as a form states them; what is wrong is said at its field."""
    made = dict(step)
    for one in fields_of(step, columns):
        value = _read(one, form)
        default = methods()[str(step["method"])]["properties"][one.name].get("default")
        if value in (None, [], {}) or (value == default and one.name not in step):
            made.pop(one.name, None)
        else:
            made[one.name] = value
    check(made)
    return made


def check(step: Table) -> None:
    """Refuse a step that no plan may have, at the field that is wrong."""
    wrong: dict[str, str] = {}
    for text in reading.read("problems", {"steps": [dict(step)]}):
        told = WHERE.sub("", text)
        at = next(
            (n for n in methods()[str(step["method"])]["properties"] if n in told.split() or f'"{n}"' in told), "step"
        )
        wrong.setdefault(at if at not in OWN else "variables", told)
    if wrong:
        made = Wrong()
        made.fields = wrong
        raise made


def _read(one: Field, form: Form) -> Any:
    text = form.text(f"set-{one.name}")
    if one.kind == "names":
        return [v for v in form.all(f"set-{one.name}") if v in one.names]
    if one.kind == "yes":
        return form.has(f"set-{one.name}")
    if one.kind == "maybe":
        return {"yes": True, "no": False}.get(text)
    if not text:
        return None
    if one.kind == "lines":
        return _lines(one.name, text)
    if one.kind == "numbers":
        return [None if not t.strip() else number(one.name, t) for t in text.split(",")]
    if one.kind == "percent":
        share = round(number(one.name, text.rstrip("% ")) / 100, 12)
        if share < 0 or (share > 1 and one.name != "relative"):
            raise Wrong.at(one.name, "Give a percentage between 0 and 100.")
        return share
    if one.kind in ("number", "whole"):
        return number(one.name, text)
    return number(one.name, text) if one.name == "level" else text


def number(name: str, text: str) -> float | int:
    """A number as people write it."""
    try:
        value = float(text.strip().replace(",", "").replace(" ", ""))
    except ValueError:
        raise Wrong.at(name, "Give a number.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise Wrong.at(name, "Give a number.")
    return int(value) if value == int(value) else value


def _lines(name: str, text: str) -> Any:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if name != "mapping":
        return lines
    pairs = [line.split("=", 1) for line in lines]
    if any(len(p) != 2 or not p[0].strip() or not p[1].strip() for p in pairs):
        raise Wrong.at(name, "Each line has the form old = new.")
    return {old.strip(): new.strip() for old, new in pairs}
