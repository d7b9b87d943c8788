"""What is registered: methods, measures of utility, schemes for tables, risks of files, each by a short name.

A class adds itself with `@registered`, in this package or in a module of one's own. Plan files, study files, the
command line, the JSON Schemas and the lists in the docs all come from here.
"""

from __future__ import annotations

import functools
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from importlib import import_module
from typing import Any, TypeVar

from confide.core.errors import InputError
from confide.core.upward import ROOMS

T = TypeVar("T")


@dataclass(frozen=True)
class Kind:
    """One kind of things that are registered.

    `attribute`: where a class says its short name. `annotations`: what stands for "any of this kind" in the annotation
    of a field, such as `Mechanism`. `prepare`: what is done to each class.
    """

    attribute: str
    classes: dict[str, type[Any]] = field(default_factory=dict)
    annotations: list[object] = field(default_factory=list)
    prepare: list[Callable[[type[Any]], None]] = field(default_factory=list)


KINDS = {"method": Kind("method"), "measure": Kind("key"), "scheme": Kind("scheme"), "risk": Kind("risk")}
"""By the word that names one in a file: `method = "swap"`, `measure = "means"`, `scheme = "round"`, `risk = "suda"`."""


def registered(cls: type[T]) -> type[T]:
    """Make a class known under its short name, stated as `method`, `key` (a measure), `scheme` or `risk` (of a file).

    >>> @registered
    ... @dataclass(frozen=True)
    ... class Swap:
    ...     method = "swap"
    Traceback (most recent call last):
    confide.InputError: There is a method named "swap" already; choose another name for the class Swap.
    """
    if not is_dataclass(cls):
        raise InputError(f"{cls.__name__} cannot be registered: what is stated is a dataclass, with @dataclass below.")
    settings = [f.name for f in fields(cls)]
    for word, kind in KINDS.items():
        name = getattr(cls, kind.attribute, None)
        if kind.attribute not in settings and isinstance(name, str):
            there = (kind.classes if shipped(cls) else known(word)).get(name)
            if there is not None and _place(there) != _place(cls):
                raise InputError(
                    f'There is a {word} named "{name}" already; choose another name for the class {cls.__name__}.'
                )
            kind.classes[name] = cls
            for prepare in kind.prepare:
                prepare(cls)
            return cls
    names = ", ".join(k.attribute for k in KINDS.values())
    raise InputError(f"{cls.__name__} cannot be registered: it has no short name; give the class one of {names}.")


def shipped(cls: type[Any]) -> bool:
    """Whether a class is of this package, and not one of somebody's own.

    >>> import confide as cf
    >>> shipped(cf.Means), shipped(int)
    (True, False)
    """
    return cls.__module__.startswith(tuple(f"{room}." for room in ROOMS.values()))


def _place(cls: type[Any]) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def any_of(word: str, *annotations: object, prepare: Callable[[type[Any]], None] | None = None) -> None:
    """Let annotations stand for whatever is registered of a kind; `prepare` is done to each class from now on."""
    KINDS[word].annotations.extend(annotations)
    KINDS[word].prepare.extend([] if prepare is None else [prepare])


def known(word: str) -> dict[str, type[Any]]:
    """Every class of a kind by its short name, sorted; the files of its room are imported, so that all are there.

    >>> known("scheme")["round"].__name__, known("method")["swap"].__name__
    ('RoundCells', 'Swap')
    """
    _import_room(ROOMS[word])
    return dict(sorted(KINDS[word].classes.items()))


@functools.cache
def _import_room(name: str) -> None:
    room = import_module(name)
    for module in pkgutil.walk_packages(room.__path__, f"{name}."):
        import_module(module.name)


def word_for(annotations: Iterable[object]) -> str | None:
    """The kind that one of several annotations stands for; None where none does."""
    asked = list(annotations)
    return next((word for word, kind in KINDS.items() if any(a in asked for a in kind.annotations)), None)


def name_of(statement: object) -> tuple[str, str] | None:
    """The kind of a statement and its short name; None where its class is not registered.

    >>> import confide as cf
    >>> name_of(cf.Swap("race", rate=0.3)), name_of("race")
    (('method', 'swap'), None)
    """
    for word, kind in KINDS.items():
        name = getattr(type(statement), kind.attribute, None)
        if isinstance(name, str) and kind.classes.get(name) is type(statement):
            return word, name
    return None


ENDS = r"(?<!et al)\. "
"""Where a sentence ends."""


def first_sentence(cls: type[Any]) -> str:
    """What a class says of itself at the head of its documentation.

    >>> import confide as cf
    >>> first_sentence(cf.Topcode)
    'Release values at or above a limit as that limit, at.'
    """
    told = inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("\n", " ").replace("`", "")
    made_by_python = told.startswith(f"{cls.__name__}(")
    return "" if made_by_python or not told else f"{re.split(ENDS, told, maxsplit=1)[0].rstrip('.')}."
