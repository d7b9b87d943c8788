"""Statements as plain data: a frozen dataclass as a table of text, numbers and lists, and back.

Keys are a dataclass's fields and types come from its annotations, so a new method needs nothing here. A field
whose metadata says ``{"private": True}`` is left out of what is meant for the public.
"""

from __future__ import annotations

import functools
import math
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any, get_type_hints

import numpy as np

from confide.core.documents.hints import describe, fits, kind_of, one_of, options
from confide.core.errors import InputError, did_you_mean
from confide.protect.seam.mechanism import REGISTRY, Mechanism

SUBJECT = ("variable", "variables", "what")
"""Spellings of the field that says which columns a step changes; a document may use any of them."""


LEFT_OUT = object()
"""Stands for a value of which nothing is told."""


def methods() -> dict[str, type[Any]]:
    """Every method by its name in documents; the files of this room are imported so that all are known."""
    _import_room()
    return REGISTRY


@functools.cache
def _import_room() -> None:
    import confide.protect.methods as room

    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)


def _hints(cls: type[Any]) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except NameError:  # annotations that only a type checker can resolve: let the class judge its values
        return {}


def _fields(cls: type[Any]) -> dict[str, Field[Any]]:
    return {f.name: f for f in fields(cls) if f.init}


def _subject(cls: type[Any]) -> str | None:
    return next((n for n in SUBJECT if n in _fields(cls)), None)


@dataclass
class Writer:
    """Turns statements into plain data. `public` leaves private fields out and lists them in `withheld`.

    `trim`, given a statement, a field, its value, its place and `withheld`, gives the value as it may be told.
    """

    public: bool = False
    withheld: list[str] = field(default_factory=list)
    trim: Callable[[Any, str, Any, str, list[str]], Any] | None = None

    def table(self, statement: Any, where: str = "") -> dict[str, Any]:
        """The fields that differ from their defaults."""
        cls, out = type(statement), {}
        hints = _hints(cls)
        for name, f in _fields(cls).items():
            path, hint = f"{where}.{name}".lstrip("."), hints.get(name, Any)
            value = self.plain(getattr(statement, name), hint, path)
            required = f.default is MISSING and f.default_factory is MISSING
            if not required and value == self.plain(_default(f), hint, path):
                continue
            if self.public and f.metadata.get("private"):
                self.withheld.append(path)
                continue
            if self.trim is not None:
                given = getattr(statement, name)
                told = self.trim(statement, name, given, path, self.withheld)
                if told is LEFT_OUT:
                    continue
                value = value if told is given else self.plain(told, hint, path)
            if name == _subject(cls):
                name, value = _named_subject(value)
            out[name] = value
        return out

    def plain(self, value: Any, hint: Any, where: str) -> Any:
        """A value as text, number, true or false, list or table."""
        if isinstance(value, (np.generic, np.ndarray)):
            value = value.tolist()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if type(value) in REGISTRY.values():
            return {"method": value.method, **self.table(value, f"{where} ({value.method})")}
        if is_dataclass(value) and not isinstance(value, type):
            return self._nested(value, hint, where)
        if isinstance(value, Mapping):
            return self._mapping(value, hint, where)
        if isinstance(value, (list, tuple)):
            inner = one_of(hint, "list") or Any
            return [self.plain(v, inner, f"{where}[{i}]") for i, v in enumerate(value)]
        raise InputError(f"{where} holds {kind_of(value)}, which a document has no place for.")

    def _nested(self, value: Any, hint: Any, where: str) -> dict[str, Any]:
        classes = [o for o in options(hint) if is_dataclass(o)]
        if type(value) not in classes:
            raise InputError(f"{where} holds {kind_of(value)}, which a document has no place for.")
        inside = self.table(value, where)
        return inside if len(classes) == 1 else {type(value).__name__.lower(): inside}

    def _mapping(self, value: Mapping[Any, Any], hint: Any, where: str) -> Any:
        inner = one_of(hint, "table") or Any
        rows = [(k, self.plain(v, inner, where)) for k, v in value.items()]
        if all(isinstance(k, str) for k, _ in rows):
            return dict(rows)
        if not pairs_allowed(hint):
            raise InputError(f"{where} holds a table with keys that are not text; a document cannot.")
        return [[self.plain(k, Any, where), v] for k, v in rows]


def _default(f: Field[Any]) -> Any:
    if f.default_factory is not MISSING:
        return f.default_factory()
    return None if f.default is MISSING else f.default


def _named_subject(value: Any) -> tuple[str, Any]:
    """One column as `variable = "race"`, several as `variables = [...]`."""
    if isinstance(value, str):
        return "variable", value
    return ("variable", value[0]) if len(value) == 1 else ("variables", value)


def pairs_allowed(hint: Any) -> bool:
    """Whether a list of [key, value] pairs can only mean a table here."""
    return one_of(hint, "table") is not None and one_of(hint, "list") is None and Any not in options(hint)


def _no_limit(value: Any) -> Any:
    """TOML has no null: in a list an infinite number, as in `bounds = [-inf, 600000]`, means "no limit"."""
    return None if isinstance(value, float) and math.isinf(value) else value


@dataclass
class Reader:
    """Turns plain data into statements, collecting what is wrong in `problems`."""

    problems: list[str] = field(default_factory=list)

    def blame(self, where: str, what: str) -> None:
        """Note one problem."""
        self.problems.append(f"{where}: {what}" if where else what)

    def build(self, cls: type[Any], table: Any, where: str = "", also: tuple[str, ...] = ()) -> Any:
        """A dataclass from a table; None, and problems, where that cannot be. `also`: keys to pass over."""
        if not isinstance(table, Mapping):
            self.blame(where, f"must be a table of keys and values, not {kind_of(table)}.")
            return None
        before = len(self.problems)
        values = dict(self._values(cls, table, where, also))
        for name, f in _fields(cls).items():
            if f.default is MISSING and f.default_factory is MISSING and name not in values:
                shown = "variable" if name == _subject(cls) else name
                self.blame(where, f'"{shown}" is missing.')
        if len(self.problems) > before:
            return None
        try:
            return cls(**values)
        except InputError as e:
            self.blame(where, str(e))
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            self.blame(where, f"these values do not make a {cls.__name__}; see its documentation.")
        return None

    def _values(
        self, cls: type[Any], table: Mapping[str, Any], where: str, also: tuple[str, ...]
    ) -> Iterator[tuple[str, Any]]:
        subject, known, hints, seen = _subject(cls), _fields(cls), _hints(cls), set()
        for key, given in table.items():
            name = subject if key in SUBJECT and subject is not None else key
            if name not in known:
                if key not in also:
                    shown = ["variable" if n == subject else n for n in known]
                    self.blame(where, f'unknown key "{key}".{did_you_mean(key, shown)}')
                continue
            hint = hints.get(name, Any)
            if name in seen:
                self.blame(where, f'"{key}" names the variables again; keep one of the two keys.')
            seen.add(name)
            if name == subject and isinstance(given, list) and len(given) == 1 and options(hint) == (str,):
                given = given[0]
            yield name, self.value(given, hint, where, key)

    def value(self, given: Any, hint: Any, where: str, key: str) -> Any:
        """A plain value as the annotation wants it."""
        before = len(self.problems)
        value = self._convert(given, hint, f"{where}.{key}".lstrip("."))
        if len(self.problems) == before and not fits(value, hint):
            self.blame(where, f'"{key}" must be {describe(hint)}, not {kind_of(value)}.')
        return value

    def _convert(self, given: Any, hint: Any, path: str) -> Any:
        choices = options(hint)
        if Mechanism in choices:
            return self.step(given, path)
        if isinstance(given, Mapping):
            if Any in choices and isinstance(given.get("method"), str):
                return self.step(given, path)
            classes = {c.__name__.lower(): c for c in choices if isinstance(c, type) and is_dataclass(c)}
            tag = next(iter(given), "")
            if len(given) == 1 and tag in classes and isinstance(given[tag], Mapping):
                return self.build(classes[tag], given[tag], path)
            if len(classes) == 1 and one_of(hint, "table") is None:
                return self.build(next(iter(classes.values())), given, path)
            inner = one_of(hint, "table") or Any
            return {k: self._convert(v, inner, f"{path}.{k}") for k, v in given.items()}
        if isinstance(given, (list, tuple)):
            if pairs_allowed(hint):
                return self._from_pairs(given, hint, path)
            inner = one_of(hint, "list") or Any
            items = (self._convert(v, inner, f"{path}[{i}]") for i, v in enumerate(given))
            return tuple(map(_no_limit, items))
        return given

    def _from_pairs(self, given: Any, hint: Any, path: str) -> dict[Any, Any]:
        inner = one_of(hint, "table") or Any
        if not all(isinstance(p, (list, tuple)) and len(p) == 2 for p in given):
            self.blame(path, "must be a table, or a list of [old, new] pairs.")
            return {}
        if any(isinstance(k, (list, dict)) for k, _ in given):
            self.blame(path, "the first of each pair must be one value.")
            return {}
        made = {k: self._convert(v, inner, path) for k, v in given}
        if len(made) < len(given):
            self.blame(path, f"{len(given) - len(made)} of {len(given)} pairs repeat an old value.")
        return made

    def step(self, table: Any, where: str) -> Any:
        """One step of a plan: `method` names its class, the other keys are its fields."""
        name = table.get("method") if isinstance(table, Mapping) else None
        if not isinstance(name, str):
            self.blame(where, f'must be a table with a "method": {", ".join(sorted(methods()))}.')
            return None
        if name not in methods():
            self.blame(where, f'unknown method "{name}".{did_you_mean(name, sorted(methods()))}')
            return None
        inside = {k: v for k, v in table.items() if k != "method"}
        return self.build(methods()[name], inside, f"{where} ({name})")
