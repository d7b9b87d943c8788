"""Known synthetic numbers of some targets, and what the records of their blocks say of them.

Records say something of every bin in every class. Only what targets ask about is made: the bin of a target's value in
the classes that it may have, for the records of its block; and so many targets at a time that it fits in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from confide.attack.beliefs import shares
from confide.attack.beliefs.synthetic import scored
from confide.attack.engine.kernels.arguments import Synthetic
from confide.attack.engine.ranges import Part
from confide.attack.engine.scene import Number
from confide.attack.engine.target_side import met_value
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct

ROOM = 4_000_000
"""Log probabilities that are held at a time, about."""


def in_turn(part: Part, start: I64, which: I64) -> Iterator[tuple[int, int, Synthetic]]:
    """Targets a..b-1 of a part, and what is said of their synthetic numbers. `start`, `which`: where the classes begin
    that each target may have, and these."""
    s, many = part.plan.scene, len(part.first)
    numbers = [n for n in s.numbers if n.binned is not None]
    values = np.array([met_value(s, n, part.first) for n in numbers]).reshape(len(numbers), many)
    copulas = _copulas(s.fit.believed.correlation, ~np.isnan(values), many)
    nothing = np.zeros(0)
    if not numbers:
        yield 0, many, Synthetic(np.zeros((len(which), 0), dtype=np.int64), nothing, nothing, *copulas)
        return
    pairs = part.pairs(nothing)
    owner = np.repeat(np.arange(many), np.diff(start))
    bins = np.array([_bins(n, y) for n, y in zip(numbers, values, strict=True)])[:, owner]
    asked = _Asked(part, numbers, pairs.block_of[owner], pairs.offsets, which, bins, len(numbers) > 1)
    for a, b in _spans(asked, start):
        yield a, b, Synthetic(*asked.of(slice(int(start[a]), int(start[b]))), *copulas)


def _bins(n: Number, y: F64) -> I64:
    """The bin of each value, one more than there are for a missing one; -1 where nothing is said of who has none."""
    assert n.binned is not None
    return np.where(np.isnan(y), -1 if n.fit.log_there is None else n.binned.bins, n.binned.of(y))


class _Asked:
    """What targets ask about: for every target and class that it may have, its block, the class, and bins (V, entries).
    `together`: whether scores are asked for too."""

    def __init__(
        self, part: Part, numbers: list[Number], block: I64, offsets: I64, which: I64, bins: I64, together: bool
    ) -> None:
        self.numbers, self.block, self.offsets, self.which, self.bins = numbers, block, offsets, which, bins
        self.together = together
        self.cell = part.plan.scene.cell_r[part.rows]
        self.of_cells = [n.binned.of_cells[:, self.cell] for n in numbers if n.binned is not None]

    @property
    def size(self) -> I64:
        """Records that each entry is about."""
        return np.asarray(self.offsets[self.block + 1] - self.offsets[self.block])

    def of(self, some: slice) -> tuple[I64, F64, F64]:
        """Where each of some entries finds its own, in all rows of `at`; and log probabilities and scores, flat."""
        at = np.full((len(self.which), len(self.numbers)), -1, dtype=np.int64)
        block, which = self.block[some], self.which[some]
        asked = [(v, np.flatnonzero(self.bins[v, some] >= 0)) for v in range(len(self.numbers))]
        each = [(v, mine, Distinct.rows([block[mine], which[mine], self.bins[v, some][mine]], len(mine)))
                for v, mine in asked]  # fmt: skip
        sizes = [self.size[some][mine[d.first]] for _, mine, d in each]
        begin = np.cumsum([0, *(int(size.sum()) for size in sizes)])
        log_p, middle = np.ones(int(begin[-1])), np.full(int(begin[-1]), 0.5)
        for (v, mine, d), size, first in zip(each, sizes, begin, strict=False):
            place = first + np.cumsum(size) - size
            at[some.start + mine, v] = place[d.of]
            who = mine[d.first]
            self._fill(v, block[who], which[who], self.bins[v, some][who], place, log_p, middle)
        np.log(log_p, out=log_p)
        for (v, mine, d), first in zip(each, begin, strict=False):
            who = mine[d.first]
            self._add_there(v, block[who], which[who], self.bins[v, some][who], int(first), log_p)
        return at, log_p, scored(middle) if self.together else np.zeros(0)

    def _fill(self, v: int, block: I64, which: I64, bins: I64, place: I64, p: F64, middle: F64) -> None:
        """Of one number: blocks, classes and bins in rising order, each with its place."""
        belief = self.numbers[v].binned
        assert belief is not None
        mine = np.flatnonzero(bins < belief.bins)
        lo, hi = self.offsets[block[mine]], self.offsets[block[mine] + 1]
        total = np.empty(int((hi - lo).max(initial=0)))
        given = lo, hi, which[mine], bins[mine], place[mine]
        shares.of_blocks(self.of_cells[v], belief.of_classes, *given, total, p, middle)

    def _add_there(self, v: int, block: I64, which: I64, bins: I64, first: int, log_p: F64) -> None:
        """Who has a value at all, where that is not certain."""
        n = self.numbers[v]
        if n.fit.log_there is None or n.binned is None:
            return
        for b, k, missing in zip(block, which, bins == n.binned.bins, strict=True):
            lo, hi = int(self.offsets[b]), int(self.offsets[b + 1])
            log_p[first : first + hi - lo] += n.fit.log_there[int(missing), self.cell[lo:hi], k]
            first += hi - lo


def _spans(asked: _Asked, start: I64) -> list[tuple[int, int]]:
    """Ranges of targets whose entries are about so many records that these fit."""
    many = len(start) - 1
    if not many:
        return []
    new = np.zeros(len(asked.which))
    for bins in asked.bins:
        keys = Distinct.rows([asked.block, asked.which, bins], len(bins))
        new[keys.first] += np.where(bins[keys.first] >= 0, asked.size[keys.first], 0)
    until = np.concatenate([[0.0], np.cumsum(new)])[start[1:]]
    part = (until // ROOM).astype(np.int64)
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), many]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _copulas(r: F64 | None, there: Bools, n: int) -> tuple[I64, F64, F64]:
    """Which values each target has, and by that the excess of the inverse correlation and half the log determinant."""
    patterns = Distinct.rows(list(there), n)
    excess, half = np.zeros((max(len(patterns), 1), len(there), len(there))), np.zeros(max(len(patterns), 1))
    for i, row in enumerate(patterns.first):
        which = np.flatnonzero(there[:, row])
        if r is not None and len(which):
            own = r[np.ix_(which, which)]
            excess[i][np.ix_(which, which)] = np.linalg.inv(own) - np.eye(len(which))
            half[i] = 0.5 * np.linalg.slogdet(own)[1]
    return patterns.of, excess, half
