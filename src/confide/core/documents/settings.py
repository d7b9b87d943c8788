"""What a document may state of a class: names and annotations of what it is made from, and how parts are tagged."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, TypeVar, get_type_hints

from confide.core.documents.hints import one_of, options

T = TypeVar("T")

SUBJECT = ("variable", "variables", "what")
"""Spellings of the field that says which columns a step changes; a document may use any of them."""


class Setting(NamedTuple):
    """One thing that a document may state of a class: its annotation, whether it must be there, and the default.

    `choices`: the texts that it may be, where the field's metadata say so.
    """

    hint: object = Any
    required: bool = False
    default: object = None
    choices: tuple[str, ...] = ()


def maker_of(cls: type[T]) -> Callable[..., T]:
    """What makes a statement from its settings: the class, or the method that it names in `stated_by`."""
    made_by: Callable[..., T] = getattr(cls, getattr(cls, "stated_by", ""), cls)
    return made_by


def settings_of(cls: type[Any]) -> dict[str, Setting]:
    """What a document may state of a class, by name.

    >>> from confide import Topcode
    >>> settings_of(Topcode)["at"].hint
    <class 'float'>
    """
    return _settings_of(cls)  # type: ignore[arg-type]


@functools.cache
def _settings_of(cls: type[Any]) -> dict[str, Setting]:
    maker = maker_of(cls)
    try:
        hints = get_type_hints(maker)
    except NameError:  # annotations that only a type checker can resolve: let the class judge its values
        hints = {}
    choices = {f.name: f.metadata.get("choices", ()) for f in fields(cls)}
    return {
        name: Setting(hints.get(name, Any), p.default is p.empty, p.default, choices.get(name, ()))
        for name, p in inspect.signature(maker).parameters.items()
    }


def subject_of(cls: type[Any]) -> str | None:
    """The setting that says which columns a step changes."""
    return next((n for n in SUBJECT if n in settings_of(cls)), None)


def sole_table(cls: type[Any]) -> str | None:
    """The setting of a class that has no other and is a table: a document has that table, under the class's name."""
    (name, setting), *more = settings_of(cls).items()
    return None if more or one_of(setting.hint, "table") is None else name


def classes_in(hint: object) -> dict[str, type[Any]]:
    """The dataclasses that an annotation allows, by their tags in a document: `{gamma = {...}}`."""
    return {c.__name__.lower(): c for c in options(hint) if isinstance(c, type) and is_dataclass(c)}


def pairs_allowed(hint: object) -> bool:
    """Whether a list of [key, value] pairs can only mean a table here."""
    return one_of(hint, "table") is not None and one_of(hint, "list") is None and Any not in options(hint)
