"""Equal things computed once: dense codes and distinct rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, I64, combine

LOOK = 100
"""Rows by which two keys are seen to differ, before all are compared."""
SORTED = 48
"""Bits of codes up to which sorting some of them after the other is faster than sorting all at once."""


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
        if high - low < 2**SORTED:
            first, code = _by_sorting(values.astype(np.int64) - low)
            return code, len(first)
    if np.issubdtype(values.dtype, np.floating) and (few := _whole(values)) is not None:
        return few
    known, code = np.unique(values, return_inverse=True)
    return code.astype(np.int64), len(known)


def _whole(values: F64) -> tuple[I64, int] | None:
    """The same for whole numbers, which are sorted as such if at all; None for others. NaN comes last."""
    gaps = np.isnan(values)
    if gaps.all():
        return None
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if not high - low < 2**SORTED - 1 or low != np.floor(low):
        return None
    code = np.where(gaps, high - low + 1, values - low)
    whole = code.astype(np.int64)
    if not np.array_equal(whole, code):
        return None
    if high - low < 4 * len(values) + 1024:
        return whole, int(high - low) + 2
    first, of = _by_sorting(whole)
    return of, len(first)


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct rows in rising order of their key arrays, the first key most significant.

    `first`: a row of each; `of`: each row's distinct row; `count`: how many rows (or how much weight) each stands for.
    """

    first: I64
    of: I64
    count: F64

    @classmethod
    def rows(cls, keys: Sequence[NDArray[Any]], n: int, weight: F64 | None = None) -> Distinct:
        """Of n rows with these keys; `weight`: how much each row counts (None: 1)."""
        if not keys:
            total = float(n) if weight is None else float(weight.sum())
            return cls(np.zeros(min(n, 1), dtype=np.int64), np.zeros(n, dtype=np.int64), np.full(min(n, 1), total))
        coded = [dense(k) for k in _once(keys)]
        whole = combine([c for c, _ in coded], [s for _, s in coded])
        span = math.prod(s + 1 for _, s in coded)
        first, of = by_code(whole, span)
        return cls(first, of, np.bincount(of, weights=weight, minlength=len(first)).astype(np.float64))

    def __len__(self) -> int:
        return len(self.first)


def _once(keys: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Keys without those that say what an earlier one says: both ends of an interval that is a point."""
    found: list[NDArray[Any]] = []
    for key in keys:
        if not any(key.dtype == k.dtype and _same(key, k) for k in found):
            found.append(key)
    return found


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return np.array_equal(a[:LOOK], b[:LOOK]) and np.array_equal(a, b)


def by_code(whole: I64, span: int | None = None) -> tuple[I64, I64]:
    """A row of each distinct code, in rising order, and each row's place among them; codes lie below `span`."""
    if span is not None and span <= 2 * len(whole) + 1024:
        return _by_table(whole, span)
    return _by_sorting(whole)


def _by_table(whole: I64, span: int) -> tuple[I64, I64]:
    last = np.full(span, -1, dtype=np.int64)
    last[whole[::-1]] = np.arange(len(whole) - 1, -1, -1)  # the first row of each code is written last
    there = last >= 0
    place = np.cumsum(there) - 1
    return last[there], place[whole]


def _by_sorting(whole: I64) -> tuple[I64, I64]:
    order = _order(whole)
    code = whole[order]
    new = np.ones(len(whole), dtype=bool)
    np.not_equal(code[1:], code[:-1], out=new[1:])
    of = np.empty(len(whole), dtype=np.int64)
    of[order] = np.cumsum(new) - 1
    return order[new], of


def _order(whole: I64) -> I64:
    """Rows by their codes, equal ones as they stand: 16 bits after the other, which NumPy sorts in linear time."""
    bits = int(whole.max()).bit_length() if len(whole) else 0
    if bits > SORTED or (len(whole) and whole.min() < 0):
        return np.argsort(whole, kind="stable")
    order = np.argsort((whole & 0xFFFF).astype(np.uint16), kind="stable")
    for shift in range(16, bits, 16):
        order = order[np.argsort(((whole >> shift) & 0xFFFF).astype(np.uint16)[order], kind="stable")]
    return order
