"""What happens to confide in a process that was forked from one in which polars had worked.

A fork copies one thread. The threads of polars are not in the copy, and whatever waits for them waits for ever; polars
has no way to start them anew. So in such a process every public call of confide says this in a sentence instead
(`confide.core.arguments` asks here). Before polars has worked, and with the start methods "spawn" and "forkserver",
everything works; compiled loops and BLAS do after a fork as well.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from confide.core.errors import InputError

_STATE = {"started": False, "lost": False}


def check() -> None:
    """Refuse to go on where polars cannot work."""
    if _STATE["lost"]:
        raise InputError(
            "this process was forked after confide (or polars) had been used, and polars cannot work in it; "
            'start processes by multiprocessing.get_context("spawn") or "forkserver".'
        )


def watch() -> None:
    """From now on, notice a fork from a process whose polars had threads."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_child=_after)


def _before() -> None:
    _STATE["started"] = "polars" in sys.modules and _polars_has_threads()


def _after() -> None:
    _STATE["lost"] = _STATE["lost"] or _STATE["started"]


def _polars_has_threads() -> bool:
    """By the names of this process's threads; where they cannot be read, as if it had."""
    try:
        names = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
    except OSError:
        return True
    return any(name.startswith("polars-") and name[7:].strip().isdigit() for name in names)
