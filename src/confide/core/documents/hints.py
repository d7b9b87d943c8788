"""What an annotation allows, asked of values that were read from a document."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

_WORDS = {float: "a number", int: "a whole number", bool: "true or false", str: "text", type(None): "nothing"}
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
    """Whether a value may stand for the annotation. Classes that are not known here judge for themselves.

    >>> fits(5, float | None), fits(True, float), fits(("a", 1), Sequence[str])
    (True, False, False)
    """
    return any(_fits(value, o) for o in options(hint))


def _fits(value: object, option: Any) -> bool:
    if option is Any:
        return True
    if get_origin(option) is Literal:
        return value in get_args(option)
    if option in (int, float):
        return isinstance(value, (int, option)) and not isinstance(value, bool)
    if option in _WORDS:
        return isinstance(value, option)
    if _is(option, "list"):
        return isinstance(value, tuple) and all(fits(v, one_of(option, "list")) for v in value)
    if _is(option, "table"):
        return isinstance(value, Mapping) and all(fits(v, one_of(option, "table")) for v in value.values())
    if isinstance(option, type) and is_dataclass(option):
        return isinstance(value, option)
    return value is not None


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
