"""The loops of keyed draws, for many rows; `philox.py` and `draws.py` have the same in NumPy, for few.

Notation
--------
k0, k1 : the key, two words; c0..c3 : the counter, four words, as in `philox`
x : a random word of each row, shape (n,)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from confide.core.run.compile import compiled

MOST = 64
"""Words of one bucket that are sorted by insertion; random words are about two in each."""

FIRST, SECOND = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
STEP0, STEP1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)


def _code_of_upper(context: Any, a: Any, b: Any) -> Any:  # noqa: ARG001
    """The upper 64 bits of a product, one instruction on most machines."""

    def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(given[0], wide), builder.zext(given[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), code


_upper: Any = intrinsic(_code_of_upper)


@compiled
def fill_words(key0, key1, rows, attempt, part, place, out):  # type: ignore[no-untyped-def]
    """One of the four words of each row."""
    for i in range(len(rows)):
        c0, c1, c2, c3 = np.uint64(rows[i]), attempt, part, np.uint64(0)
        k0, k1 = key0, key1
        for _ in range(10):
            high0, low0 = _upper(FIRST, c0), FIRST * c0
            high1, low1 = _upper(SECOND, c2), SECOND * c2
            c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
            k0 += STEP0
            k1 += STEP1
        out[i] = c0 if place == 0 else c1 if place == 1 else c2 if place == 2 else c3


@compiled
def sort_words(x, shift, ends, keys, order):  # type: ignore[no-untyped-def]
    """Positions in the order of random words, into `order`; False where words tie or crowd, and nothing is promised.

    Words go into buckets by their upper bits and are sorted there by insertion. `ends`: zeros, one more than buckets.
    """
    for i in range(len(x)):
        ends[(x[i] >> shift) + np.uint64(1)] += 1
    for b in range(len(ends) - 1):
        if ends[b + 1] > MOST:
            return False
        ends[b + 1] += ends[b]
    for i in range(len(x)):
        place = ends[x[i] >> shift]
        ends[x[i] >> shift] = place + 1
        keys[place], order[place] = x[i], i
    begin = 0
    for b in range(len(ends) - 1):
        if not _insert(keys, order, begin, ends[b]):
            return False
        begin = ends[b]
    return True


@compiled(inner=True)
def _insert(keys, order, begin, end):  # type: ignore[no-untyped-def]
    """Sort one bucket; False where two words are equal."""
    for i in range(begin + 1, end):
        key, row, j = keys[i], order[i], i - 1
        while j >= begin and keys[j] > key:
            keys[j + 1], order[j + 1] = keys[j], order[j]
            j -= 1
        keys[j + 1], order[j + 1] = key, row
        if j >= begin and keys[j] == key:
            return False
    return True
