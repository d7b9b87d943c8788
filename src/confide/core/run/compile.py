"""Compiling loops with numba: the three ways of compiling, what is kept, and what is said. Knows no statistics."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pickle import PickleError
from typing import Any, overload

import numba
from numba.core import event

from confide.core.errors import InputError
from confide.core.run.cache_folder import cache_folder


def _kept() -> tuple[Path | None, str]:
    """The folder in which compiled loops are kept, or why there is none."""
    try:
        return cache_folder(), ""
    except InputError as e:
        return None, str(e)


FOLDER, WHY_NONE = _kept()
_OURS: set[Any] = set()


@contextmanager
def _only(folder: Path) -> Iterator[None]:
    """Within it, numba looks for kept loops in this folder first; its own settings come back afterwards."""
    settings: Any = numba.config
    wanted = {"CACHE_DIR": str(folder), "CACHE_LOCATOR_CLASSES": ""}
    before = {name: getattr(settings, name) for name in wanted if hasattr(settings, name)}
    for name in before:
        setattr(settings, name, wanted[name])
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


class _Lenient:
    """numba's store of one loop, in which a damaged file is a missing one, and a full disk keeps nothing."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def load_overload(self, *what: Any) -> Any:
        try:
            return self._store.load_overload(*what)
        except Exception:
            return None

    def save_overload(self, *what: Any) -> None:
        with suppress(OSError, EOFError, PickleError):
            self._store.save_overload(*what)


def _loop(inner: bool, how: dict[str, Any]) -> Callable[[Any], Any]:
    """The compiled form, kept in our folder or not at all.

    Where numba cannot write there it takes the next place that it can, whoever else writes that; then nothing is kept.
    """
    how = {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": inner, **how}

    def make(function: Any) -> Any:
        _OURS.add(function)
        if FOLDER is not None:
            with _only(FOLDER):
                made = numba.njit(cache=True, **how)(function)
            if FOLDER in Path(made.stats.cache_path).parents:
                made._cache = _Lenient(made._cache)
                return made
        return numba.njit(**how)(function)

    return make


@overload
def compiled(function: Any) -> Any: ...
@overload
def compiled(*, inner: bool) -> Callable[[Any], Any]: ...
def compiled(function: Any = None, *, inner: bool = False) -> Any:
    """Compile without the interpreter's lock, kept where a folder is ours alone; a*b+c may be fused.

    `inner=True`: called by other compiled loops only. Those need no way in from Python, which is slow to compile.
    """
    make = _loop(inner, {"fastmath": {"contract"}})
    return make if function is None else make(function)


def summing(function: Any) -> Any:
    """The same for inner loops that only add up: the order of additions is free, which lets them be vectorised.

    The order is fixed by the length of the array alone, so results depend on neither threads nor machine load.
    """
    return _loop(True, {"fastmath": {"contract", "reassoc"}})(function)


@overload
def unfused(function: Any) -> Any: ...
@overload
def unfused(*, inner: bool) -> Callable[[Any], Any]: ...
def unfused(function: Any = None, *, inner: bool = False) -> Any:
    """The same with every operation rounded by itself: for loops that decide by equal numbers, alike on any machine."""
    make = _loop(inner, {})
    return make if function is None else make(function)


class _Uncollected(event.Listener):
    """Pauses the search for unreachable objects: a compiler makes many that live, and looks at them again and again."""

    def __init__(self) -> None:
        self.depth, self.paused = 0, False

    def on_start(self, e: Any) -> None:  # noqa: ARG002
        self.depth += 1  # numba compiles in one thread at a time
        if self.depth == 1 and gc.isenabled():
            gc.disable()
            self.paused = True

    def on_end(self, e: Any) -> None:  # noqa: ARG002
        self.depth -= 1
        if self.depth == 0 and self.paused:
            self.paused = False
            gc.enable()


class _Spoken(event.Listener):
    """Says what is being compiled: on a terminal each loop that was called, anywhere once that nothing is kept."""

    def __init__(self) -> None:
        self.depth, self.warned = 0, not WHY_NONE

    def on_start(self, e: Any) -> None:
        self.depth += 1
        function = e.data["dispatcher"].py_func
        if self.depth > 1 or function not in _OURS:
            return
        if not self.warned:
            self.warned = True
            print(f"confide: compiled code is not kept for the next run: {WHY_NONE}.", file=sys.stderr)
        elif sys.stderr.isatty():
            once = ", once" if FOLDER else ""
            print(f"confide: compiling{once}: {function.__name__.strip('_')} ...", file=sys.stderr, flush=True)

    def on_end(self, e: Any) -> None:  # noqa: ARG002
        self.depth -= 1


event.register("numba:compile", _Uncollected())  # type: ignore[no-untyped-call]
event.register("numba:compile", _Spoken())  # type: ignore[no-untyped-call]
