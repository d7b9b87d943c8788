"""Arguments of a wrong type, met at the public door.

Each class and function judges its own arguments, and says what is wrong with them. What none of them foresaw (a list
where a table must be, a date for a name) would end in an error of Python's from somewhere inside. So public calls are
guarded: if one fails otherwise than by a sentence, and an argument is not what its annotation asks for, then that is
the sentence. A failure with fitting arguments is a bug and stays what it is. In a forked process that cannot work,
every public call says so (`confide.core.run.forked`).
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Set
from importlib import import_module
from typing import Any, get_origin, get_type_hints

from confide.core.documents.hints import describe, fits, kind_of, options
from confide.core.errors import ConfideError, did_you_mean, is_text, raise_all
from confide.core.run import forked


def guarded(public: Any) -> Any:
    """A public function that tells of arguments that do not fit; of a class its constructor and methods.

    >>> def double(size: float) -> float:
    ...     return len(size)
    >>> guarded(double)("twelve"), guarded(double)(None)
    Traceback (most recent call last):
    confide.InputError: double: size must be a number, not nothing.
    """
    if inspect.isfunction(public):
        return _guarded_function(public)
    if inspect.isclass(public) and not issubclass(public, BaseException) and not getattr(public, "_is_protocol", False):
        for kind in public.__mro__:
            if kind.__module__.startswith("confide.") and not getattr(kind, "_is_protocol", False):
                _guard_class(kind)
    return public


def guard_room(module: str) -> None:
    """Guard all that a module offers to users."""
    room = sys.modules[module]
    for name, member in list(vars(room).items()):
        if not name.startswith("_") and str(getattr(member, "__module__", "")).startswith("confide."):
            setattr(room, name, guarded(member))


def _guard_class(kind: type[Any]) -> None:
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if inspect.isfunction(member):
            setattr(kind, name, _guarded_function(member))
        elif isinstance(member, (classmethod, staticmethod)):
            setattr(kind, name, type(member)(_guarded_function(member.__func__)))
        elif isinstance(member, property) and member.fget is not None:
            setattr(kind, name, property(_guarded_function(member.fget), doc=member.__doc__))
        elif isinstance(member, functools.cached_property):
            member.func = _guarded_function(member.func)


def _guarded_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if hasattr(function, "__guarded__"):
        return function
    tell, guard = tell_misfits, _guard_result
    may_go_on = bool if function.__name__ == "__init__" else forked.check  # what is only stated needs no polars

    def call(*args: Any, **kwargs: Any) -> Any:
        may_go_on()
        try:
            return guard(function(*args, **kwargs))
        except Exception as error:
            tell(function, args, kwargs, error)
            raise

    # With the globals of the function, so that whoever looks for the examples of its module finds this one.
    made = types.FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    made.__guarded__ = True  # type: ignore[attr-defined]
    return functools.wraps(function)(made)


def _guard_result(result: Any) -> Any:
    """What a public call gives has public methods too."""
    kind = type(result)
    if kind.__module__.startswith("confide.") and "__guarded__" not in vars(kind):
        kind.__guarded__ = True
        guarded(kind)
    return result


def tell_misfits(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], error: Exception
) -> None:
    """Raise the sentence about arguments that do not fit; nothing where all do, or where the error is a sentence
    or was raised by a function of the user's own that was told of progress."""
    if isinstance(error, (ConfideError, MemoryError, OSError)) or hasattr(error, "by_progress"):
        return
    renamed = getattr(function, "__renamed__", {})
    try:
        bound = inspect.signature(function).bind(*args, **{renamed.get(k, k): v for k, v in kwargs.items()})
    except TypeError:
        _tell_misspelt(function, {renamed.get(k, k): k for k in kwargs})
        _tell_missing(function, args, {renamed.get(k, k): v for k, v in kwargs.items()})
        return  # too many arguments: Python's own sentence says so
    hints = _hints(function)
    name = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")
    owner, _, method = name.rpartition(".")
    if args and owner in (kind.__qualname__ for kind in type(args[0]).__mro__):  # as the user knows it, not its base
        name = f"{type(args[0]).__qualname__}.{method}"
    problems = []
    for parameter, value in bound.arguments.items():
        kind = inspect.signature(function).parameters[parameter].kind
        hint = hints.get(parameter, Any)
        if kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL) and not fits(value, hint):
            problems.append(f"{name}: {parameter} must be {in_words(hint)}, not {_given(value)}.")
    try:
        raise_all(problems)
    except ConfideError as sentence:
        raise sentence from None


def _tell_misspelt(function: Callable[..., Any], given: Mapping[str, str]) -> None:
    """Python's own error about an argument that is not there, with the name that was meant.

    >>> def double(size: float) -> float: ...
    >>> guarded(double)(sise=3)
    Traceback (most recent call last):
    TypeError: double() got an unexpected keyword argument "sise". Did you mean "size"?
    """
    known = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
        return
    lost = [word for name, word in given.items() if name not in known]
    name = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")
    if lost:
        hint = did_you_mean(lost[0], [n for n in known if n not in ("self", "cls")])
        raise TypeError(f'{name}() got an unexpected keyword argument "{lost[0]}".{hint}') from None


def _tell_missing(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Python's own error about arguments that are not given, with what to write, and why numbers have no default.

    >>> def declare(limit: float, *, cost: float) -> float: ...
    >>> guarded(declare)(limit=3)
    Traceback (most recent call last):
    TypeError: declare() is missing 1 required keyword-only argument: give cost=... No number would be right for every \
file, so there is no default: it is for you to decide.
    """
    signature = inspect.signature(function)
    try:
        there = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return
    of_many = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    lost = [
        p for n, p in signature.parameters.items() if n not in there and p.default is p.empty and p.kind not in of_many
    ]
    if not lost or lost[0].name in ("self", "cls"):
        return
    name = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")
    kind = "keyword-only" if all(p.kind is p.KEYWORD_ONLY for p in lost) else "positional"
    said = " and ".join([", ".join(f"{p.name}=..." for p in lost[:-1])] * (len(lost) > 1) + [f"{lost[-1].name}=..."])
    hints = _hints(function)
    numbers = all(float in options(hints.get(p.name, Any)) for p in lost)
    why = " No number would be right for every file, so there is no default: it is for you to decide." * numbers
    plural = "s" * (len(lost) > 1)
    raise TypeError(f"{name}() is missing {len(lost)} required {kind} argument{plural}: give {said}{why}") from None


def _given(value: Any) -> str:
    odd = isinstance(value, str) and ("\0" in value or not is_text(value))
    return "text that no file could have as its name" if odd else kind_of(value)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a function, also those that only a type checker imports; what cannot be found may be anything."""
    public = import_module("confide")
    names = {n: getattr(public, n) for n in public.__all__}
    while True:
        try:
            return get_type_hints(function, localns=names)
        except NameError as unknown:
            names[str(unknown.name)] = Any
        except TypeError:
            return {}


def in_words(hint: Any) -> str:
    """What would be right.

    >>> in_words(str | os.PathLike[str]), in_words(Mapping[str, float])
    ('text or a path', 'a table (of numbers)')
    """
    parts = []
    for option in options(hint):
        if option is type(None):
            continue
        origin = get_origin(option) or option
        if origin is os.PathLike:
            parts.append("a path")
        elif origin is Callable:
            parts.append("a function")
        elif origin is Iterable or (isinstance(origin, type) and issubclass(origin, Set)):
            parts.append("a list")
        elif isinstance(origin, type) and origin.__module__.startswith(("confide", "polars")):
            parts.append(f"of type {origin.__name__}")
        else:
            parts.append(describe(option).replace("(of number)", "(of numbers)"))
    return " or ".join(dict.fromkeys(parts)) or "left out"
