"""Who counts among the rows of a file, and who is released: one bit per row, so that it can be sent to workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import I64, Bools

Words = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Who:
    """`there`: rows that count; `own`: rows that are released; None for all. `before`: how many count before each word.

    >>> who = Who.of(np.array([True, False, True, True]), np.array([True, True, True, True]))
    >>> rows = np.array([0, 2, 3])
    >>> who.counts(rows).tolist(), who.released(rows).tolist(), who.numbers(rows).tolist()
    ([True, True, True], [True, True, True], [0, 1, 2])
    """

    there: Words | None
    own: Words | None
    before: I64

    @classmethod
    def of(cls, there: Bools, own: Bools) -> Who:
        """From one truth value per row."""
        words = _words(there)
        before = np.concatenate([[0], np.cumsum(np.bitwise_count(words), dtype=np.int64)])
        return cls(None if there.all() else words, None if own.all() else _words(own), before)

    def counts(self, rows: I64) -> Bools:
        """Whether rows count."""
        return _bits(self.there, rows)

    def released(self, rows: I64) -> Bools:
        """Whether rows are released."""
        return _bits(self.own, rows)

    def numbers(self, rows: I64) -> I64:
        """The number of each row among those that count."""
        if self.there is None:
            return rows
        within = (rows % 64).astype(np.uint64)
        earlier = np.where(within > 0, self.there[rows // 64] >> (np.uint64(64) - np.maximum(within, 1)), np.uint64(0))
        return self.before[rows // 64] + np.bitwise_count(earlier).astype(np.int64)


def _words(truth: Bools) -> Words:
    """The first row is the highest bit of the first word."""
    packed = np.packbits(np.pad(truth, (0, -len(truth) % 64)))
    return packed.view(">u8").astype(np.uint64)


def _bits(words: Words | None, rows: I64) -> Bools:
    if words is None:
        return np.ones(len(rows), dtype=bool)
    return np.asarray(words[rows // 64] >> (np.uint64(63) - (rows % 64).astype(np.uint64)) & np.uint64(1) == 1)
