"""Equal things computed once: dense codes, distinct rows, and what lies in which block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, I64, combine


def dense(values: NDArray[Any]) -> tuple[I64, int]:
    """Order-preserving codes 0..size-1 of an array's distinct values, or of the rows of a matrix."""
    if values.ndim == 2:
        known, code = np.unique(values, axis=0, return_inverse=True)
        return code.reshape(-1).astype(np.int64), len(known)
    if values.dtype == bool:
        return values.astype(np.int64), 2
    if np.issubdtype(values.dtype, np.integer) and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + 1024:
            return values.astype(np.int64) - low, high - low + 1
    known, code = np.unique(values, return_inverse=True)
    return code.astype(np.int64), len(known)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct rows in rising order of their key arrays, the first key most significant.

    `first`: a row of each; `of`: each row's distinct row; `count`: how many rows each stands for.
    """

    first: I64
    of: I64
    count: F64

    @classmethod
    def rows(cls, keys: Sequence[NDArray[Any]], n: int) -> Distinct:
        if not keys:
            return cls(np.zeros(min(n, 1), dtype=np.int64), np.zeros(n, dtype=np.int64), np.full(min(n, 1), float(n)))
        coded = [dense(k) for k in keys]
        whole = combine([c for c, _ in coded], [s for _, s in coded])
        _, first, of, count = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
        return cls(first.astype(np.int64), of.astype(np.int64), count.astype(np.float64))

    def __len__(self) -> int:
        return len(self.first)


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
