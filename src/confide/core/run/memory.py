"""Results that are asked for again and again with the same numbers: kept, a few, by the content of what they came from.

Repeats of a study, several intruders and questions to one attack fit the same models. The key is a digest of every
array, so a result is never taken for that of something else; results are read-only.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.core.run.threads import idle

KEPT = 1000
"""Results that are kept."""
LARGEST = 200_000_000
"""Bytes of one result, and of all small ones and all bulky ones together, that are kept."""

BULKY = 4_000_000
"""Bytes from which on a result makes room among others like it: none of them takes the place of a few coefficients
that were dear to fit."""


class _Making:
    """A result that one thread is making: others who ask for it wait, and none makes it again."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.found: NDArray[Any] | None = None


_LOCK = threading.Lock()
_SMALL: OrderedDict[bytes, NDArray[Any]] = OrderedDict()
_LARGE: OrderedDict[bytes, NDArray[Any]] = OrderedDict()
_MAKING: dict[bytes, _Making] = {}


def remembered(
    function: Callable[..., NDArray[Any]], *given: Any, by: Sequence[Any] | None = None, bulky: bool = False
) -> NDArray[Any]:
    """What a pure function makes of arrays, sparse matrices and plain values; `by`: those that all of it follows from,
    where they are fewer; `bulky`: whatever its size, it was cheap to make, and takes no place of what was dear."""
    key = _digest(function.__qualname__, *(given if by is None else by))
    while True:
        with _LOCK:
            for kept in (_SMALL, _LARGE):
                if key in kept:
                    kept.move_to_end(key)
                    return kept[key]
            making = _MAKING.get(key)
            if making is None:
                mine = _MAKING[key] = _Making()
                break
        with idle():
            making.done.wait()
        if making.found is not None:  # else it failed, and fails here too
            return making.found
    try:
        found = mine.found = function(*given)
        found.flags.writeable = False
        with _LOCK:
            kept = _SMALL if found.nbytes < BULKY and not bulky else _LARGE
            kept[key] = found
            while len(kept) > KEPT or sum(a.nbytes for a in kept.values()) > LARGEST:
                kept.popitem(last=False)
    finally:
        with _LOCK:
            del _MAKING[key]
        mine.done.set()
    return found


def forget() -> None:
    """Drop all that is kept."""
    with _LOCK:
        _SMALL.clear()
        _LARGE.clear()


def _digest(*given: Any) -> bytes:
    out = hashlib.sha256()  # which processors have instructions for
    for part in given:
        arrays = [part.indptr, part.indices, part.data, np.array(part.shape)] if hasattr(part, "indptr") else [part]
        for a in arrays:
            held = isinstance(a, np.ndarray)
            out.update(f"{a.dtype} {a.shape};".encode() if held else f"{a!r};".encode())
            out.update(np.ascontiguousarray(a).data if held else b"")
    return out.digest()
