"""How much memory a search may take."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from contextlib import suppress
from typing import Any

from confide.core.errors import InputError
from confide.core.run.memory import forget

UNITS = {"mb": 10**6, "mib": 2**20, "gb": 10**9, "gib": 2**30}
TIGHT = 0.6
"""Of what may be taken: above it evaluations run one after another."""
USUAL = "2 GB"
"""Where nobody says."""
SAID = 'memory is what the process may take, as "2 GB" or "800 MB", or a number of bytes from 100 million upwards.'


def stated_memory(memory: Any) -> int | None:
    """Bytes that may be taken; None where nobody says.

    >>> stated_memory("2 GB"), stated_memory(None)
    (2000000000, None)
    """
    if memory is None:
        return None
    found: float = -1.0
    if isinstance(memory, int) and not isinstance(memory, bool):
        found = memory
    elif isinstance(memory, str) and (m := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", memory.lower())):
        found = float(m[1]) * UNITS.get(m[2], -1)
    if found < 10**8:
        raise InputError(SAID)
    return int(found)


def taken() -> int:
    """Bytes that the process has now; where the system does not tell, the most it had."""
    try:
        with open("/proc/self/statm", encoding="ascii") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return most_taken()


def most_taken() -> int:
    """Bytes that the process had at most; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most) if sys.platform == "darwin" else int(most) * 1024


def tight(limit: int | None) -> bool:
    """Whether memory is scarce, also after what was freed went back to the system and what is remembered for speed was
    dropped."""
    if limit is None or taken() < TIGHT * limit:
        return False
    _give_back()
    if taken() < TIGHT * limit:
        return False
    forget()
    _give_back()
    return taken() >= TIGHT * limit


def _give_back() -> None:
    """Memory that is free inside the process goes back to the system, where that can be asked for."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
