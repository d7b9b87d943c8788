"""Parameters of a plan that a document lets vary: `rate = {from = 0, to = 0.5, steps = 11}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from confide.core.documents.hints import kind_of
from confide.core.documents.plain import Reader
from confide.core.errors import InputError, did_you_mean
from confide.protect.plan import Plan
from confide.study.statement.sweep import Range, Sweep

KEYS = ("from", "to", "steps", "log", "values", "as")


@dataclass(frozen=True)
class _Slot:
    """Where a document has a range instead of a value: the way to it, its parameter's name if given, its values."""

    path: tuple[str | int, ...]
    name: str | None
    values: Range | list[Any]


def swept(reader: Reader, table: Mapping[str, Any], where: str) -> Plan | Sweep | None:
    """The plan that a table describes, or the sweep, where a value of it is a range; None, and problems, if neither.

    A range is `{from, to, steps}` (`log = true` for equal ratios) or `{values = [...]}`. Ranges with the same `as`
    move together, as one parameter; others make a grid.

    >>> steps = [{"method": "swap", "variable": "race", "rate": {"from": 0, "to": 0.5, "steps": 3}}]
    >>> swept(Reader(), {"steps": steps}, "plan").values()
    {'rate': [0.0, 0.25, 0.5]}
    """
    before = len(reader.problems)
    slots = list(_slots(reader, table, (), where))
    if len(reader.problems) > before:
        return None
    if not slots:
        return reader.build(Plan, table, where)
    names = _names(slots, table)
    parameters = _parameters(reader, slots, names, where)
    if parameters is None:
        return None

    def make(**setting: Any) -> Plan:
        inner = Reader()
        plan = inner.build(Plan, _at(table, slots, [setting[n] for n in names]))
        if plan is None:
            raise InputError(inner.problems[0] if len(inner.problems) == 1 else "\n  - ".join(inner.problems))
        return plan

    first = {name: (v.values() if isinstance(v, Range) else v)[0] for name, v in parameters.items()}
    if reader.build(Plan, _at(table, slots, [first[n] for n in names]), where) is None:
        return None
    sweep = Sweep(make, **parameters)
    object.__setattr__(sweep, "document", table)
    return sweep


def _slots(reader: Reader, part: Any, path: tuple[str | int, ...], where: str) -> Any:
    """Every range in a table, however deep."""
    if isinstance(part, Mapping):
        if _is_range(part):
            slot = _slot(reader, part, path, f"{where}{_spelled(path)}")
            if slot is not None:
                yield slot
            return
        for key, value in part.items():
            yield from _slots(reader, value, (*path, key), where)
    elif isinstance(part, list):
        for i, value in enumerate(part):
            yield from _slots(reader, value, (*path, i), where)


def _is_range(table: Mapping[str, Any]) -> bool:
    if "values" in table:
        return isinstance(table["values"], list) and set(table) <= {"values", "as"}
    return {"from", "to"} <= set(table) or {"from", "steps"} <= set(table) or {"to", "steps"} <= set(table)


def _slot(reader: Reader, table: Mapping[str, Any], path: tuple[str | int, ...], where: str) -> _Slot | None:
    for key in (k for k in table if k not in KEYS):
        reader.blame(where, f'unknown key "{key}" of a range.{did_you_mean(key, KEYS)}')
        return None
    name = table.get("as")
    if name is not None and (not isinstance(name, str) or not name.isidentifier()):
        reader.blame(where, '"as" names the parameter: a word of letters, digits and underscores.')
        return None
    if "values" in table:
        if not table["values"]:
            reader.blame(where, '"values" is an empty list.')
            return None
        return _Slot(path, name, list(table["values"]))
    lost = [k for k in ("from", "to", "steps") if k not in table]
    if lost:
        reader.blame(where, f'a range needs "from", "to" and "steps"; "{lost[0]}" is missing.')
        return None
    strange = [k for k in ("from", "to") if isinstance(table[k], bool) or not isinstance(table[k], (int, float))]
    if strange:
        reader.blame(where, f'"{strange[0]}" must be a number, not {kind_of(table[strange[0]])}.')
        return None
    try:
        return _Slot(path, name, Range(table["from"], table["to"], table["steps"], table.get("log", False)))
    except InputError as e:
        reader.blame(where, str(e))
        return None


def _spelled(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)


def _names(slots: list[_Slot], table: Mapping[str, Any]) -> list[str]:
    """Names of the parameters: as given, else the key, with the step's variable before it where keys repeat."""
    keys = [str(s.path[-1]) for s in slots]
    out: list[str] = []
    for slot, key in zip(slots, keys, strict=True):
        if slot.name is not None:
            out.append(slot.name)
            continue
        alone = sum(k == key and s.name is None for s, k in zip(slots, keys, strict=True)) == 1
        name = key if alone else f"{_variable(slot.path, table)}_{key}"
        while name in out:
            name += "_"
        out.append(name)
    return out


def _variable(path: tuple[str | int, ...], table: Mapping[str, Any]) -> str:
    """The variable of the step that a range is in, else the step's number."""
    if len(path) > 1 and path[0] == "steps" and isinstance(path[1], int):
        step = table["steps"][path[1]]
        given = step.get("variable", step.get("variables", step.get("what")))
        text = given if isinstance(given, str) else "_".join(given) if isinstance(given, list) else f"step{path[1]}"
        return "".join(c if c.isalnum() else "_" for c in text)
    return "_".join(str(p) for p in path[:-1])


def _parameters(
    reader: Reader, slots: list[_Slot], names: list[str], where: str
) -> dict[str, Range | list[Any]] | None:
    out: dict[str, Range | list[Any]] = {}
    for slot, name in zip(slots, names, strict=True):
        if name in out and out[name] != slot.values:
            reader.blame(where, f'two ranges are called "{name}" but differ; what moves together has one range.')
            return None
        out[name] = slot.values
    return out


def _at(table: Mapping[str, Any], slots: list[_Slot], values: list[Any]) -> Any:
    """The table with one value in the place of each range."""
    filled: Any = table
    for slot, value in zip(slots, values, strict=True):
        filled = _filled(filled, slot.path, value)
    return filled


def _filled(part: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """The same table with one value in the place of a range."""
    if not path:
        return value
    if isinstance(part, Mapping):
        return {k: _filled(v, path[1:], value) if k == path[0] else v for k, v in part.items()}
    return [_filled(v, path[1:], value) if i == path[0] else v for i, v in enumerate(part)]
