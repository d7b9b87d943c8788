"""What happens to confide in a process that was forked from one in which polars had worked.

A fork copies one thread. The threads of polars are not in the copy, and whatever waits for them waits for ever; polars
has no way to start them anew. So in such a process every public door of confide says this in a sentence instead. Before
polars has worked, and with the start methods "spawn" and "forkserver", everything works; compiled loops and BLAS do
after a fork as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from confide.errors import InputError

_STATE = {"started": False, "lost": False}


def refuse(*_: Any, **__: Any) -> Any:
    """Raise the sentence; its code takes the place of that of the public doors."""
    from confide.errors import InputError

    raise InputError(
        "this process was forked after confide (or polars) had been used, and polars cannot work in it; "
        'start processes by multiprocessing.get_context("spawn") or "forkserver".'
    )


def lost() -> bool:
    """Whether polars cannot work in this process."""
    return _STATE["lost"]


def watch(doors: Callable[[], Iterable[Any]]) -> None:
    """From now on, close the `doors` (classes and functions) in a child whose parent's polars had threads."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=lambda: _after(doors))


def _before() -> None:
    _STATE["started"] = "polars" in sys.modules and _polars_has_threads()


def _after(doors: Callable[[], Iterable[Any]]) -> None:
    if _STATE["started"] and not _STATE["lost"]:
        _STATE["lost"] = True
        for door in doors():
            for function in _functions(door):
                function.__code__ = _refusal(function)


def _polars_has_threads() -> bool:
    """By the names of this process's threads; where they cannot be read, as if it had."""
    try:
        names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return True
    return any(name.startswith("polars-") and name[7:].strip().isdigit() for name in names)


def _functions(door: Any) -> Iterator[FunctionType]:
    """The function itself, or the public methods and properties of a class that its users call."""
    if isinstance(door, FunctionType):
        yield door
    if not isinstance(door, type) or issubclass(door, InputError):
        return
    for base in door.__mro__:
        for name, member in vars(base).items():
            inside = getattr(member, "fget", getattr(member, "__func__", member))
            inside = member.func if isinstance(member, cached_property) else inside
            if isinstance(inside, FunctionType) and not name.startswith("_") and base.__module__.startswith("confide."):
                yield inside


def _refusal(function: FunctionType) -> CodeType:
    """The code that refuses, in a form that fits a function with free variables too."""
    return refuse.__code__.replace(co_freevars=function.__code__.co_freevars)
