"""Blocks: the records that share all certain labels with a target."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.frames.columns import I64, combine


def blocks(records: Sequence[I64], targets: Sequence[I64], r: int, n: int) -> tuple[I64, I64, int]:
    """Block numbers of records (0..B-1) and of targets (-1 where no record shares all labels)."""
    if not records:
        return np.zeros(r, dtype=np.int64), np.zeros(n, dtype=np.int64) if r else np.full(n, -1), 1 if r else 0
    sizes = [int(max(a.max(initial=-1), b.max(initial=-1))) + 1 for a, b in zip(records, targets, strict=True)]
    whole = combine([np.concatenate([a, b]) for a, b in zip(records, targets, strict=True)], sizes)
    known, of = np.unique(whole[:r], return_inverse=True)
    at = np.clip(np.searchsorted(known, whole[r:]), 0, max(len(known) - 1, 0))
    hit = known[at] == whole[r:] if len(known) else np.zeros(n, dtype=bool)
    for b in targets:
        hit = hit & (b >= 0)
    return of.astype(np.int64), np.where(hit, at, -1).astype(np.int64), len(known)


def starts(codes: I64, size: int) -> I64:
    """Offsets of sorted codes 0..size-1: rows of code c lie in [starts[c], starts[c+1])."""
    return np.searchsorted(codes, np.arange(size + 1)).astype(np.int64)
