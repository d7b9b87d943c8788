"""Which points of a plane lie in each of many boxes, without looking at the others.

Points are known by their places along two orders. Along the first, blocks of 1, 2, 4, ... neighbours are each sorted
by the second: any range of the first is made of at most two blocks of every size, and inside a block the range of the
second is found by halving. With n points and r boxes that takes n log n and r log^2 n steps, and one per point found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.frames.columns import I64, Bools


@dataclass(frozen=True, eq=False)
class Boxes:
    """`order`: point at each place along the first order; `second`: place of each point along the second.

    `keys`: per size of block, block number times n plus second place, sorted; `at`: the points in that order, one size
    after another.
    """

    order: I64
    second: I64
    keys: tuple[I64, ...]
    at: I64

    @classmethod
    def of(cls, order: I64, second: I64) -> Boxes:
        """Sort all blocks."""
        n = len(order)
        keys, at = [], []
        for level in range(max(n, 1).bit_length()):
            key = (np.arange(n) >> level) * n + second[order]
            by = np.argsort(key, kind="stable")
            keys.append(key[by])
            at.append(order[by])
        return cls(order, second, tuple(keys), np.concatenate(at) if at else order)

    def ranges(self, first: tuple[I64, I64], second: tuple[I64, I64]) -> tuple[I64, I64, I64, I64]:
        """Ranges of points that make up each box: box, size of block, from, up to (not included), sorted by box.

        `first`, `second`: places from, up to (not included), along both orders.
        """
        n, found = len(self.order), []
        low, high = first[0].copy(), np.maximum(first[1], first[0])
        for level, key in enumerate(self.keys):
            open_ = low < high
            if not open_.any():
                break
            odd = open_ & (low % 2 == 1)
            found.append(_within(key, n, level, odd, low, second))
            low = low + odd
            odd = (low < high) & (high % 2 == 1)
            high = high - odd
            found.append(_within(key, n, level, odd, high, second))
            low, high = low // 2, high // 2
        if not found:
            none = np.zeros(0, dtype=np.int64)
            return none, none, none, none
        box, level_of, start, stop = (np.concatenate(part) for part in zip(*found, strict=True))
        by = np.argsort(box, kind="stable")
        return box[by], level_of[by], start[by], stop[by]

    def points(self, level: I64, start: I64, stop: I64) -> I64:
        """The points of such ranges, one range after another."""
        many = stop - start
        base = (level * len(self.order) + start) - (np.cumsum(many) - many)
        return np.asarray(self.at[np.arange(int(many.sum())) + np.repeat(base, many)])


def _within(key: I64, n: int, level: int, which: Bools, block: I64, second: tuple[I64, I64]) -> tuple[I64, ...]:
    """The part of one block per chosen box that lies in the box's range of the second order, empty ones left out."""
    box = np.flatnonzero(which)
    base = block[box] * n
    start = np.searchsorted(key, base + second[0][box], side="left")
    stop = np.searchsorted(key, base + second[1][box], side="left")
    some = stop > start
    return box[some], np.full(int(some.sum()), level, dtype=np.int64), start[some], stop[some]
