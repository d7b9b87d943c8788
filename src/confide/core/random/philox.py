"""Philox4x64-10: random words from a key and a counter, in any order and in any parts.

Salmon, Moraes, Dror and Shaw (2011). Four words of 64 bits belong to each counter; no draw depends on another, so a
file cut into batches gets the same numbers as the whole. Equal to NumPy's generator of that name, which adds one to its
counter before each block.

Notation
--------
k0, k1 : the key, two words
c0..c3 : the counter, four words: the row, the attempt, the part (words beyond the first four), 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]

MULTIPLIERS = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS, WORDS = 10, 4
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
MASK = 2**64 - 1

MANY = 20_000
"""Rows from which loops are compiled."""
SPARSE = 16
"""Rows are computed one by one where they are fewer than one in this many of the range they span."""


def words(key: tuple[int, int], rows: I64, attempt: int = 0, word: int = 0) -> U64:
    """The random word of each row, shape (n,); `word` counts from 0, and there is no last one.

    >>> words((1, 2), np.array([5, 0, 5])).tolist() == words((1, 2), np.arange(6))[[5, 0, 5]].tolist()
    True
    """
    if not len(rows):
        return np.zeros(0, dtype=np.uint64)
    part, place = divmod(word, WORDS)
    if len(rows) >= MANY:
        return _of_many(key, rows, attempt, part, place)
    first, last = int(rows.min()), int(rows.max())
    span = last - first + 1
    if span > SPARSE * len(rows):
        return _by_row(key, rows, attempt, part)[place]
    block = _range(key, first, span, attempt, part)[:, place]
    return np.asarray(block if span == len(rows) and _in_order(rows) else block[rows - first])


def _of_many(key: tuple[int, int], rows: I64, attempt: int, part: int, place: int) -> U64:
    from confide.core.random.philox_loops import fill_words

    out = np.empty(len(rows), dtype=np.uint64)
    rows = np.ascontiguousarray(rows)
    fill_words(np.uint64(key[0]), np.uint64(key[1]), rows, np.uint64(attempt), np.uint64(part), place, out)
    return out


def _in_order(rows: I64) -> bool:
    return bool((np.diff(rows) == 1).all())


def _range(key: tuple[int, int], first: int, n: int, attempt: int, part: int) -> U64:
    """All words of n rows that follow one another, shape (n, 4), by NumPy's own generator."""
    counter = (first + (attempt << 64) + (part << 128) - 1) % 2**256
    generator = np.random.Philox(key=key[0] + (key[1] << 64), counter=counter)
    return np.asarray(generator.random_raw(WORDS * n)).reshape(n, WORDS)


def _by_row(key: tuple[int, int], rows: I64, attempt: int, part: int) -> tuple[U64, U64, U64, U64]:
    """The four words of each row, whatever the rows."""
    k0, k1 = key
    c0 = rows.astype(np.uint64)
    c1, c2, c3 = np.full_like(c0, attempt), np.full_like(c0, part), np.zeros_like(c0)
    for _ in range(ROUNDS):
        high0, low0 = _product(MULTIPLIERS[0], c0)
        high1, low1 = _product(MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ np.uint64(k0), low1, high0 ^ c3 ^ np.uint64(k1), low0
        k0, k1 = (k0 + WEYL[0]) & MASK, (k1 + WEYL[1]) & MASK
    return c0, c1, c2, c3


def _product(a: np.uint64, b: U64) -> tuple[U64, U64]:
    """The upper and the lower 64 bits of a product, by halves of 32 bits."""
    a0, a1 = a & LOW, a >> HALF
    b0, b1 = b & LOW, b >> HALF
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    cross = a0 * b1 + (middle & LOW)
    return a1 * b1 + (middle >> HALF) + (cross >> HALF), a * b
