"""What an annotation allows, asked of values that were given as arguments or read from a document."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from confide.core.errors import is_text

_WORDS = {float: "a number", int: "a whole number", bool: "true or false", str: "text", type(None): "nothing"}
_NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.integer, np.floating),
    int: (int, np.integer),
    bool: (bool, np.bool_),
}
_SORTS = {"list": Sequence, "table": Mapping}


def options(hint: object) -> tuple[Any, ...]:
    """The alternatives of an annotation.

    >>> options(float | None)
    (<class 'float'>, <class 'NoneType'>)
    """
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(o for part in get_args(hint) for o in options(part))
    return (hint,)


def one_of(hint: object, sort: str) -> object:
    """What the items of the "list" (or "table") among the alternatives may be; None where there is none.

    >>> one_of(str | Sequence[str], "list"), one_of(float, "table")
    (<class 'str'>, None)
    """
    for option in options(hint):
        if _is(option, sort):
            inner = get_args(option)
            return (inner[1] if sort == "table" else inner[0]) if inner else Any
    return None


def _is(option: object, sort: str) -> bool:
    origin = get_origin(option) or option
    return isinstance(origin, type) and origin is not str and issubclass(origin, _SORTS[sort])


def fits(value: object, hint: object) -> bool:
    """Whether a value may stand for an annotation; what is not known here may.

    >>> fits([1, 2], Sequence[float]), fits("ab", Sequence[float]), fits(True, int), fits(np.int64(3), float | None)
    (True, False, False, True)
    """
    choices = options(hint)
    if isinstance(value, str) and any(get_origin(o) is os.PathLike for o in choices):
        return "\0" not in value and is_text(value)
    return any(_fits(value, o) for o in choices)


def _fits(value: Any, option: Any) -> bool:
    origin, inner = get_origin(option) or option, get_args(option)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin in _NUMBERS:
        return isinstance(value, _NUMBERS[origin]) and (origin is bool or not isinstance(value, (bool, np.bool_)))
    if origin is str:
        return isinstance(value, str) and (not value or is_text(value))
    if origin is os.PathLike:
        return isinstance(value, os.PathLike)
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        return isinstance(value, (tuple, list)) and len(value) == len(inner) and all(map(fits, value, inner))
    if origin in (Sequence, list, tuple, Iterable):
        return _is_list(value, origin) and all(fits(v, inner[0] if inner else Any) for v in value)
    if origin is Mapping or origin is dict:
        values = value.values() if isinstance(value, Mapping) else ()
        return isinstance(value, Mapping) and all(fits(v, inner[1] if inner else Any) for v in values)
    if origin is Callable:
        return callable(value)
    if isinstance(origin, TypeVar) or not isinstance(origin, type) or origin is object:
        return True
    try:
        return isinstance(value, origin)
    except TypeError:
        return True


def _is_list(value: Any, origin: Any) -> bool:
    if isinstance(value, (str, bytes, Mapping)):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    if origin is Iterable:
        return isinstance(value, Iterable)
    return isinstance(value, Sequence) or (hasattr(value, "__len__") and hasattr(value, "dtype"))


def describe(hint: object) -> str:
    """What would be right, in words.

    >>> describe(str | Sequence[str]), describe(float | None)
    ('text or a list (of text)', 'a number')
    """
    found = [_described(o) for o in options(hint) if o is not type(None)]
    return " or ".join(dict.fromkeys(found))


def _described(option: Any) -> str:
    if get_origin(option) is Literal:
        return "one of " + ", ".join(f'"{v}"' for v in get_args(option))
    for sort in _SORTS:
        if _is(option, sort):
            inner = one_of(option, sort)
            return f"a {sort}" + (f" (of {describe(inner).removeprefix('a ')})" if inner in _WORDS else "")
    return _WORDS.get(option, "a table" if is_dataclass(option) else "something else")


def kind_of(value: object) -> str:
    """What was given, in words and never the value itself.

    >>> kind_of([1]), kind_of(True), kind_of(2.5)
    ('a list', 'true or false', 'a number')
    """
    for sort, word in ((bool, "true or false"), ((int, float), "a number"), (str, "text")):
        if isinstance(value, sort):
            return word
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "a table"
    return "nothing" if value is None else f"a value of type {type(value).__name__}"
