"""Statements as plain data: a frozen dataclass as a table of text, numbers and lists, and back.

Keys are a dataclass's fields and types come from its annotations, so a new method needs nothing here. A field
whose metadata says ``{"private": True}`` is left out of what is meant for the public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from confide.core.customary import hint as meant
from confide.core.documents.hints import describe, fits, kind_of, one_of, options
from confide.core.documents.settings import (
    SUBJECT,
    Setting,
    classes_in,
    maker_of,
    pairs_allowed,
    settings_of,
    sole_table,
    subject_of,
)
from confide.core.errors import InputError, did_you_mean
from confide.core.registry import known, name_of, word_for

T = TypeVar("T")
Document: TypeAlias = dict[str, Any]
"""Plain data: text, numbers, true or false, lists and tables, by their keys."""

LEFT_OUT = object()
"""Stands for a value of which nothing is told."""


@dataclass
class Writer:
    """Turns statements into plain data. `public` leaves private fields out and lists them in `withheld`.

    `trim`, given a statement, a field, its value, its place and `withheld`, gives the value as it may be told.
    """

    public: bool = False
    withheld: list[str] = field(default_factory=list)
    trim: Callable[[object, str, object, str, list[str]], object] | None = None

    def table(self, statement: object, where: str = "") -> Document:
        """The fields that differ from their defaults."""
        cls, out = type(statement), {}
        for f in (f for f in fields(cls) if f.init):  # type: ignore[arg-type]
            name, path, hint = f.name, f"{where}.{f.name}".lstrip("."), settings_of(cls).get(f.name, Setting()).hint
            given = getattr(statement, name)
            value = self.plain(given, hint, path)
            if not _required(f) and value == self.plain(_default(f), hint, path):
                continue
            if self.public and f.metadata.get("private"):
                self.withheld.append(path)
                continue
            told = given if self.trim is None else self.trim(statement, name, given, path, self.withheld)
            if told is LEFT_OUT:
                continue
            value = value if told is given else self.plain(told, hint, path)
            if name == subject_of(cls):
                name, value = _named_subject(value)
            out[name] = value
        return out

    def plain(self, value: object, hint: object, where: str) -> Any:
        """A value as text, number, true or false, list or table."""
        if isinstance(value, (np.generic, np.ndarray)):
            value = value.tolist()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        named = name_of(value)
        if named is not None:
            word, name = named
            return {word: name, **self.table(value, f"{where} ({name})")}
        if is_dataclass(value) and not isinstance(value, type):
            return self._nested(value, hint, where)
        if isinstance(value, Mapping):
            return self._mapping(value, hint, where)
        if isinstance(value, (list, tuple)):
            inner = one_of(hint, "list") or Any
            return [self.plain(v, inner, f"{where}[{i}]") for i, v in enumerate(value)]
        raise _no_place(value, where)

    def _nested(self, value: object, hint: object, where: str) -> Document:
        cls, classes = type(value), classes_in(hint)
        if cls not in classes.values():
            raise _no_place(value, where)
        inside, sole = self.table(value, where), sole_table(cls)
        if sole is not None:
            return {cls.__name__.lower(): inside.get(sole, {})}
        return inside if len(classes) == 1 else {cls.__name__.lower(): inside}

    def _mapping(self, value: Mapping[Any, object], hint: object, where: str) -> Any:
        inner = one_of(hint, "table") or Any
        rows = [(k, self.plain(v, inner, where)) for k, v in value.items()]
        if all(isinstance(k, str) for k, _ in rows):
            return dict(rows)
        if not pairs_allowed(hint):
            raise InputError(f"{where} holds a table with keys that are not text; a document cannot.")
        return [[self.plain(k, Any, where), v] for k, v in rows]


def _no_place(value: object, where: str) -> InputError:
    return InputError(f"{where} holds {kind_of(value)}, which a document has no place for.")


def _required(f: Field[Any]) -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def _default(f: Field[Any]) -> object:
    return f.default if f.default_factory is MISSING else f.default_factory()


def _named_subject(value: Any) -> tuple[str, Any]:
    """One column as `variable = "race"`, several as `variables = [...]`."""
    if isinstance(value, str):
        return "variable", value
    return ("variable", value[0]) if len(value) == 1 else ("variables", value)


def _no_limit(value: object) -> object:
    """TOML has no null: in a list an infinite number, as in `bounds = [-inf, 600000]`, means "no limit"."""
    return None if isinstance(value, float) and math.isinf(value) else value


@dataclass
class Reader:
    """Turns plain data into statements, collecting what is wrong in `problems`."""

    problems: list[str] = field(default_factory=list)

    def blame(self, where: str, what: str) -> None:
        """Note one problem."""
        self.problems.append(f"{where}: {what}" if where else what)

    def build(self, cls: type[T], table: object, where: str = "", also: tuple[str, ...] = ()) -> T | None:
        """A statement from a table; None, and problems, where that cannot be. `also`: keys to pass over."""
        if not isinstance(table, Mapping):
            self.blame(where, f"must be a table of keys and values, not {kind_of(table)}.")
            return None
        before = len(self.problems)
        values = dict(self._values(cls, {k: v for k, v in table.items() if k not in also}, where))
        for name, setting in settings_of(cls).items():
            if setting.required and name not in values:
                self.blame(where, f'"{"variable" if name == subject_of(cls) else name}" is missing.')
        if len(self.problems) > before:
            return None
        try:
            return maker_of(cls)(**values)
        except InputError as e:
            for problem in e.problems:
                self.blame(where, problem)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            self.blame(where, f"these values do not make a {cls.__name__}; see its documentation.")
        return None

    def _values(self, cls: type[Any], table: Mapping[str, object], where: str) -> Iterator[tuple[str, object]]:
        subject, settings, seen = subject_of(cls), settings_of(cls), set()
        for key, given in table.items():
            name = subject if key in SUBJECT and subject is not None else key
            if name not in settings:
                shown = ["variable" if n == subject else n for n in settings]
                self.blame(where, f'unknown key "{key}".{did_you_mean(key, shown)}')
                continue
            hint = settings[name].hint
            if name in seen:
                self.blame(where, f'"{key}" names the variables again; keep one of the two keys.')
            seen.add(name)
            if name == subject and isinstance(given, list) and len(given) == 1 and options(hint) == (str,):
                given = given[0]
            yield name, self.value(given, hint, where, key)

    def value(self, given: object, hint: object, where: str, key: str) -> object:
        """A plain value as the annotation wants it."""
        before = len(self.problems)
        value = self._convert(given, hint, f"{where}.{key}".lstrip("."))
        if len(self.problems) == before and not fits(value, hint):
            self.blame(where, f'"{key}" must be {describe(hint)}, not {kind_of(value)}.')
        return value

    def _convert(self, given: object, hint: object, path: str) -> object:
        word = word_for(options(hint))
        if word is not None:
            return self.registered(word, given, path)
        if isinstance(given, Mapping):
            return self._from_table(given, hint, path)
        if isinstance(given, (list, tuple)):
            if pairs_allowed(hint):
                return self._from_pairs(given, hint, path)
            inner = one_of(hint, "list") or Any
            items = (self._convert(v, inner, f"{path}[{i}]") for i, v in enumerate(given))
            return tuple(map(_no_limit, items))
        return given

    def _from_table(self, given: Mapping[str, object], hint: object, path: str) -> object:
        if Any in options(hint) and isinstance(given.get("method"), str):
            return self.registered("method", given, path)
        classes, tag = classes_in(hint), next(iter(given), "")
        if len(given) == 1 and tag in classes and isinstance(given[tag], Mapping):
            sole = sole_table(classes[tag])
            return self.build(classes[tag], given[tag] if sole is None else {sole: given[tag]}, path)
        if len(classes) == 1 and one_of(hint, "table") is None:
            return self.build(next(iter(classes.values())), given, path)
        inner = one_of(hint, "table") or Any
        return {k: self._convert(v, inner, f"{path}.{k}") for k, v in given.items()}

    def _from_pairs(self, given: Sequence[Any], hint: object, path: str) -> dict[Any, object]:
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

    def registered(self, word: str, table: object, where: str) -> Any:
        """A method, a measure or a scheme: the key `word` names its class, the other keys are its settings."""
        name = table.get(word) if isinstance(table, Mapping) else None
        if not isinstance(table, Mapping) or not isinstance(name, str):
            self.blame(where, f'must be a table with a "{word}": {", ".join(known(word))}.')
            return None
        if name not in known(word):
            self.blame(where, f'unknown {word} "{name}".{meant(name, known(word))}')
            return None
        return self.build(known(word)[name], table, f"{where} ({name})".lstrip(), also=(word,))
