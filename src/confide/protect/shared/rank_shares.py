"""Rank swapping: how it draws, and the chance that one value is released as another, in closed form.

Notation
--------
n : number of values; ranks are 0..n-1, and a value holds the ranks lo..hi of its ties
q, p : rank of a record, rank of the value that it releases
d : how far apart the two can be
w : d + 1, the ranks of a whole block of an exchange
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64, Bools
from confide.protect.shared.rank_sums import SMALL, log_shares, shares

Ranks = tuple[I64, I64, Bools]
"""The ranks lo..hi of each value, and whether it is one that may have been moved."""


@dataclass(frozen=True, eq=False)
class RankScale:
    """The distinct values of a file, sorted, and the ranks lo..hi that each of them holds.

    >>> scale = RankScale.of(np.array([3.0, 1.0, 3.0, 8.0]))
    >>> scale.lo.tolist(), scale.hi.tolist()
    ([0, 1, 3], [0, 2, 3])
    """

    values: F64 = field(repr=False)
    lo: I64 = field(repr=False)
    hi: I64 = field(repr=False)
    n: int

    @classmethod
    def of(cls, values: F64, count: F64 | None = None) -> RankScale:
        """The scale of a file's values, all finite; `count`: how many records have each, None for one each."""
        distinct, of = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        counts = np.bincount(of, weights=count).astype(np.int64)
        after = np.cumsum(counts, dtype=np.int64)
        return cls(distinct, after - counts, after - 1, int(counts.sum()))

    def at(self, ranks: I64) -> F64:
        """The values that hold these ranks."""
        return np.asarray(self.values[self.number(ranks)])

    def number(self, ranks: I64) -> I64:
        """The places among the distinct values of those that hold these ranks."""
        return np.asarray(np.searchsorted(self.lo, ranks, side="right") - 1)

    def place(self, y: F64) -> tuple[I64, I64]:
        """Ranks lo..hi of each value; of one that is not in the file the one rank next to it, on the nearer side."""
        y = np.asarray(y, dtype=np.float64)
        last = len(self.values) - 1
        at = np.searchsorted(self.values, y, side="left")
        above, below = np.minimum(at, last), np.maximum(at - 1, 0)
        found = self.values[above] == y
        # Halves, so that the distance of two large numbers is finite.
        down = (at > last) | ((at > 0) & (y / 2 - self.values[below] / 2 <= self.values[above] / 2 - y / 2))
        near = np.where(down, self.hi[below], self.lo[above])
        return np.where(found, self.lo[above], near), np.where(found, self.hi[above], near)

    def cover(self, low: F64, high: F64) -> tuple[I64, I64]:
        """Ranks lo..hi of all values of the file in the half-open interval [low, high); hi < lo for none."""
        starts = np.append(self.lo, self.n)
        first = starts[np.searchsorted(self.values, low, side="left")]
        return first, starts[np.searchsorted(self.values, high, side="left")] - 1

    def ranks_of(self, values: F64, draws: Draws) -> I64:
        """A rank for each value, ties in random order: no rank is used twice as long as there are enough."""
        lo, hi = self.place(values)
        shuffled = draws.order(np.arange(self.n))
        tie = np.repeat(np.arange(len(self.values)), self.hi - self.lo + 1)
        shuffled = shuffled[np.argsort(tie[shuffled], kind="stable")]
        order = np.flatnonzero(lo < hi)
        order = order[np.argsort(lo[order], kind="stable")]
        start = lo[order]
        turn = np.arange(len(order)) - np.searchsorted(start, start)
        out = lo.copy()
        out[order] = shuffled[start + turn % (hi[order] - start + 1)]
        return out


def draw_copy(rank: I64, n: int, d: int, draws: Draws, rows: I64) -> I64:
    """For each rank q one drawn uniformly from the ranks q-d..q+d that exist; `rows`: numbers of the records."""
    d = min(d, n)
    return draws.integers(rows, np.maximum(rank - d, 0), np.minimum(rank + d, n - 1))


def draw_exchange(n: int, d: int, draws: Draws) -> I64:
    """The partner of each rank (itself for a record that stays), in blocks of d + 1 ranks with a random phase."""
    if n == 0:
        return np.empty(0, dtype=np.int64)
    block = exchange_blocks(n, d, draws)(np.arange(n))
    order = draws.of("pairs").order(np.arange(n))
    order = order[np.argsort(block[order], kind="stable")]
    # Inside a block, at the places of its ranks: the first with the second, the third with the fourth, ...
    start = np.searchsorted(block, block, side="left")
    other = np.minimum(start + ((np.arange(n) - start) ^ 1), np.searchsorted(block, block, side="right") - 1)
    partner = np.empty(n, dtype=np.int64)
    partner[order] = order[other]
    return partner


def exchange_blocks(n: int, d: int, draws: Draws) -> Callable[[I64], I64]:
    """The block of each rank, when blocks of d + 1 ranks begin at a random phase."""
    w = min(d + 1, n)
    shift = w - draws.of("phase").whole(w) if n else 0
    return lambda ranks: np.asarray((ranks + shift) // w)


def copy_share(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    r"""Chance that a record whose value holds ranks q_lo..q_hi releases one that holds p_lo..p_hi, when it copies.

    .. math:: \frac{1}{|Q|} \sum_{q \in Q} \frac{|W_q \cap P|}{|W_q|}

    with :math:`W_q` those of the ranks q-d..q+d that exist. 0 where a range is empty.

    >>> copy_share(np.array([0, 0]), np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), n=10, d=1).tolist()
    [0.5, 0.5]
    """
    d = min(d, n - 1)
    return _over_pairs(False, q_lo, q_hi, p_lo, p_hi, n, d)


def exchange_share(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    r"""The same when values are exchanged: in a block of s ranks two are paired with chance 1/c_s.

    .. math:: \frac{1}{w |Q|} \sum_B \frac{|Q \cap B| |P \cap B| - 1[s_B \text{ even}] |Q \cap P \cap B|}{c_{s_B}}

    over all blocks B of all w phases; :math:`c_s` is s - 1 for even s and s for odd s (where one stays: chance 1/s).

    >>> exchange_share(np.array([4, 4]), np.array([4, 4]), np.array([4, 5]), np.array([4, 5]), n=10, d=1).tolist()
    [0.0, 0.5]
    """
    d = min(d, n - 1)
    return _over_pairs(True, q_lo, q_hi, p_lo, p_hi, n, d)


@dataclass(frozen=True)
class RankMoves:
    """One of these chances, of `n` ranks and moves of `d` at most: of aligned ranges, or of pairs.

    >>> moves, one = RankMoves(False, n=10, d=1), np.array([0])
    >>> moves(one, one, one, one).tolist() == copy_share(one, one, one, one, n=10, d=1).tolist()
    True
    """

    exchange: bool
    n: int
    d: int

    def __call__(self, q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64) -> F64:
        return (exchange_share if self.exchange else copy_share)(q_lo, q_hi, p_lo, p_hi, self.n, self.d)

    def log_pairs(self, t: Ranks, who: I64, z: Ranks, which: I64) -> F64:
        """log of the chance that t at `who` releases z at `which`: 0 where neither was moved, -inf where one was."""
        out = np.empty(len(who))
        log_shares(self.exchange, _ready(t), who, _ready(z), which, self.n, min(self.d, self.n - 1), _small(), out)
        return out


def _ready(ranks: Ranks) -> Ranks:
    low, high, moved = ranks
    return np.ascontiguousarray(low), np.ascontiguousarray(high), np.ascontiguousarray(moved)


def _over_pairs(exchanged: bool, q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    """Means over q of sums over q, for the pairs within reach of each other; all others are 0."""
    pairs = np.broadcast_arrays(*(np.asarray(x, dtype=np.int64) for x in (q_lo, q_hi, p_lo, p_hi)))
    each = [np.ascontiguousarray(x).reshape(-1) for x in pairs]
    out = np.empty(len(each[0]))
    shares(exchanged, *each, n, d, _small(), out)
    return out.reshape(pairs[0].shape)


@lru_cache(maxsize=1)
def _small() -> F64:
    """Moments for x below SMALL and up to SMALL terms, added up one by one. Shape: (3, 2 SMALL, SMALL + 1)."""
    y = np.arange(SMALL) + 0.5
    terms = np.array([y**r / (np.arange(2 * SMALL)[:, None] / 2 + y) for r in range(3)])
    return np.concatenate([np.zeros((3, 2 * SMALL, 1)), np.cumsum(terms, axis=2)], axis=2)
