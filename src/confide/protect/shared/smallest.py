"""A simple random sample of a file that is read in parts: the records with the smallest random words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.random.draws import Counter, Draws
from confide.core.random.philox import U64
from confide.frames.columns import I64, Bools, Records
from confide.protect.seam.fitted import Applied
from confide.protect.seam.gathering import Gathering, joined
from confide.protect.seam.learning import surely_below


@dataclass(frozen=True, eq=False)
class Below:
    """Records whose two words are at most those of the last one in a sample."""

    draws: Counter
    limit: tuple[int, int]

    def keeps(self, rows: I64) -> Bools:
        """Which records are in the sample."""
        one, two = self.draws.words(rows), self.draws.words(rows, word=1)
        first, second = (np.uint64(x) for x in self.limit)
        return np.asarray((one < first) | ((one == first) & (two <= second)))

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002 - of `ByRow`
        return Applied(rows=np.flatnonzero(self.keeps(current.rows)))


class Smallest(Gathering):
    """Finds the `size`-th smallest words of all records: words near it are kept, those below are counted."""

    def __init__(self, draws: Draws, rows: int, size: int) -> None:
        assert isinstance(draws, Counter)
        self.draws, self.size, self.left = draws, size, size
        share = size / rows
        high = float(surely_below(share, rows))
        low = 1.0 - float(surely_below(1.0 - share, rows))
        self.low, self.high = (int(min(max(x, 0.0), 1.0) * (2**64 - 2**11)) for x in (low, high))
        self.below = 0
        self.one: list[U64] = []
        self.two: list[U64] = []

    def picked(self, original: Records, current: Records) -> tuple[int, U64, U64]:  # noqa: ARG002 - of `Gathering`
        words = self.draws.words(current.rows)
        near = (words >= np.uint64(self.low)) & (words <= np.uint64(self.high))
        below = int((words < np.uint64(self.low)).sum())
        return below, words[near], self.draws.words(current.rows[near], word=1)

    def add(self, picked: tuple[int, U64, U64]) -> None:
        below, one, two = picked
        self.below += below
        self.one.append(one)
        self.two.append(two)

    def done(self) -> Below:
        one, two = joined(self.one, np.uint64), joined(self.two, np.uint64)
        at = self.size - self.below - 1
        assert 0 <= at < len(one), "too few records were kept"
        last = np.lexsort((two, one))[at]
        return Below(self.draws, (int(one[last]), int(two[last])))
