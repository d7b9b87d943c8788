"""Compiling loops with numba: where its cache lives, and the three ways of compiling. Knows no statistics."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any


def _cache_folder() -> bool:
    """Point numba's cache at a writable folder; False where there is none."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    for folder in (
        base / "confide",
        Path(tempfile.gettempdir()) / f"confide-{os.getuid() if hasattr(os, 'getuid') else 0}",
    ):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".probe"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        return True
    return False


_CACHE = _cache_folder()

import numba  # noqa: E402 - the cache folder must be set first

numba.config.CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR", "")  # type: ignore[attr-defined]


def compiled(function: Any) -> Any:
    """Compile without the interpreter's lock, cached where a folder can be written; a*b+c may be fused."""
    return numba.njit(nogil=True, cache=_CACHE, fastmath={"contract"})(function)


def summing(function: Any) -> Any:
    """The same for loops that only add up: the order of additions is free, which lets them be vectorised.

    The order is fixed by the length of the array alone, so results depend on neither threads nor machine load.
    """
    return numba.njit(nogil=True, cache=_CACHE, fastmath={"contract", "reassoc"})(function)


def unfused(function: Any) -> Any:
    """The same with every operation rounded by itself: for loops that decide by equal numbers, alike on any machine."""
    return numba.njit(nogil=True, cache=_CACHE)(function)
