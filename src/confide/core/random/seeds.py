"""Seeds that a caller states, and streams of numbers that nobody publishes (simulations, comparisons)."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from confide.core.errors import InputError


def fresh_seed() -> int:
    """A seed from the system's entropy."""
    return secrets.randbits(128)


def checked_seed(seed: int | None) -> int:
    """The caller's seed, or a fresh one."""
    stated = stated_seed(seed)
    return fresh_seed() if stated is None else stated


def stated_seed(seed: int | None) -> int | None:
    """The caller's seed, None where none was stated."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError("seed must be a whole number from 0 upwards, or None for fresh entropy.")
    return int(seed)


def stream(seed: int, key: str, occurrence: int = 0) -> np.random.Generator:
    """The generator of one stream: the same seed, key and occurrence give the same draws on any machine.

    >>> bool(stream(1, "Swap:race").random() == stream(1, "Swap:race").random())
    True
    """
    digest = hashlib.sha256(f"confide|{seed}|{key}|{occurrence}".encode()).digest()
    words = np.frombuffer(digest, dtype=np.uint32)
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(words.tolist())))
