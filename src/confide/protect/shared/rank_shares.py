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
from itertools import pairwise

import numpy as np

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64

SMALL = 64
"""Sums of fractions that start below it are tabulated, above it an expansion is right to 1e-15."""

PIECE = 8192
"""Pairs worked on together, so that the arrays in between stay in the processor's cache."""


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
    return _over_pairs(_copy_sums, q_lo, q_hi, p_lo, p_hi, n, d)


def exchange_share(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    r"""The same when values are exchanged: in a block of s ranks two are paired with chance 1/c_s.

    .. math:: \frac{1}{w |Q|} \sum_B \frac{|Q \cap B| |P \cap B| - 1[s_B \text{ even}] |Q \cap P \cap B|}{c_{s_B}}

    over all blocks B of all w phases; :math:`c_s` is s - 1 for even s and s for odd s (where one stays: chance 1/s).

    >>> exchange_share(np.array([4, 4]), np.array([4, 4]), np.array([4, 5]), np.array([4, 5]), n=10, d=1).tolist()
    [0.0, 0.5]
    """
    d = min(d, n - 1)
    return _over_pairs(_exchange_sums, q_lo, q_hi, p_lo, p_hi, n, d)


def _over_pairs(
    sums: Callable[[I64, I64, I64, I64, int, int], F64], q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int
) -> F64:
    """Means over q from sums over q, for the pairs within reach of each other; all others are 0."""
    pairs = np.broadcast_arrays(*(np.asarray(x, dtype=np.int64) for x in (q_lo, q_hi, p_lo, p_hi)))
    shape = pairs[0].shape
    q_lo, q_hi, p_lo, p_hi = (x.ravel() for x in pairs)
    out = np.zeros(len(q_lo))
    rows = np.flatnonzero((q_lo <= q_hi) & (p_lo <= p_hi) & (p_lo - d <= q_hi) & (q_lo <= p_hi + d))
    for first in range(0, len(rows), PIECE):
        at = rows[first : first + PIECE]
        out[at] = sums(q_lo[at], q_hi[at], p_lo[at], p_hi[at], n, d) / (q_hi[at] - q_lo[at] + 1)
    return out.reshape(shape)


def _copy_sums(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    """Sums over q of the share of its window that P takes: whole windows in exact integers, then both ends."""
    end = min(d, n - 1 - d)
    a = np.maximum(q_lo, end)
    b = np.maximum(np.minimum(q_hi, n - 1 - end), a - 1)
    whole = np.zeros(len(a), dtype=np.int64)
    # |W_q and P| as ramps in q: max(q + shift, 0), summed over q = a..b.
    for sign, shift in ((1, d + 1 - p_lo), (-1, d - p_hi), (-1, -d - p_lo), (1, -d - 1 - p_hi)):
        top, below = np.maximum(b + shift, 0), np.maximum(a - 1 + shift, 0)
        whole += sign * ((top * (top + 1) - below * (below + 1)) // 2)
    out = whole / min(2 * d + 1, n)
    for lo, hi, first, last in ((q_lo, q_hi, p_lo, p_hi), _mirrored(q_lo, q_hi, p_lo, p_hi, n)):
        at = np.flatnonzero((lo < end) & (first <= np.minimum(hi, end - 1) + d))
        if len(at):
            out[at] += _copy_end(lo[at], np.minimum(hi[at], end - 1), first[at], last[at], d)
    return out


def _mirrored(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int) -> tuple[I64, I64, I64, I64]:
    """The same ranges counted from the other end."""
    return n - 1 - q_hi, n - 1 - q_lo, n - 1 - p_hi, n - 1 - p_lo


def _copy_end(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, d: int) -> F64:
    """Sums over q of the end zone, whose window is [0, s), s = q + d + 1; every term is positive: nothing cancels."""
    low, high = q_lo + d, q_hi + d + 1
    start = np.maximum(low, p_lo)
    m0, m1, _ = _moments(2 * start + 1, np.maximum(np.minimum(high, p_hi + 1) - start, 0))
    out = m1 + (start - p_lo + 0.5) * m0
    start = np.maximum(low, p_hi + 1)
    m0, _, _ = _moments(2 * start + 1, np.maximum(high - start, 0))
    return np.asarray(out + (p_hi + 1 - p_lo) * m0)


def _exchange_sums(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, d: int) -> F64:
    """Sums over q and p of the chance to release p: whole blocks in exact integers, then cut ones at both ends."""
    w = d + 1
    out = _whole_blocks(q_lo, q_hi, p_lo, p_hi, n, w) / (w if w % 2 else w - 1)
    for lo, hi, first, last in ((q_lo, q_hi, p_lo, p_hi), _mirrored(q_lo, q_hi, p_lo, p_hi, n)):
        at = np.flatnonzero(np.maximum(lo, first) < w - 1)
        if len(at):
            out[at] += _cut_blocks(lo[at], hi[at], first[at], last[at], w)
    return np.asarray(out / w)


def _whole_blocks(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, n: int, w: int) -> I64:
    """Sum over blocks b..b+w-1 of |Q and B| |P and B|, for even w less |Q and P and B|: pieces linear in b."""
    i_lo, i_hi = np.maximum(q_lo, p_lo), np.minimum(q_hi, p_hi)
    low = np.maximum(i_lo - w + 1, 0)
    high = np.maximum(np.minimum(n - w, i_hi) + 1, low)
    bends = np.sort(np.clip(np.stack([q_hi + 1 - w, q_lo, p_hi + 1 - w, p_lo]), low, high), axis=0)
    edges = np.concatenate([low[None], bends, high[None]])
    total = np.zeros(len(q_lo), dtype=np.int64)
    for b, after in pairwise(edges):
        size = after - b
        once = size * (size - 1) // 2
        q, q_step = _in_block(q_lo, q_hi, b, w)
        p, p_step = _in_block(p_lo, p_hi, b, w)
        total += size * q * p + once * (q * p_step + p * q_step) + q_step * p_step * (once * (2 * size - 1) // 3)
        if w % 2 == 0:
            same, step = _in_block(i_lo, i_hi, b, w)
            total -= np.where(i_lo <= i_hi, size * same + once * step, 0)
    return total


def _in_block(lo: I64, hi: I64, b: I64, w: int) -> tuple[I64, I64]:
    """How many of the ranks lo..hi are in b..b+w-1, and how many more are from one b to the next."""
    last = b + w - 1
    step = (last < hi).astype(np.int64) - (b >= lo)
    return np.minimum(hi, last) - np.maximum(lo, b) + 1, step


def _cut_blocks(q_lo: I64, q_hi: I64, p_lo: I64, p_hi: I64, w: int) -> F64:
    """The same over the blocks [0, s), s = 1..w-1, each divided by c_s."""
    start, one, both = np.maximum(q_lo, p_lo), np.minimum(q_hi, p_hi) + 1, np.maximum(q_hi, p_hi) + 1
    out = np.zeros(len(q_lo))
    k = np.minimum(start, w - 1)
    for part, until in enumerate((one, both, np.full_like(one, w - 1))):
        m = np.clip(until, k, w - 1)
        q, p = np.clip(k - q_lo, 0, q_hi - q_lo + 1), np.clip(k - p_lo, 0, p_hi - p_lo + 1)
        q_step, p_step = k <= q_hi, k <= p_hi
        # Even sizes s first, then odd ones: c_s = 2 (x + y) and s - k = 2 y + odd, with y = 1/2, 3/2, ...
        half = np.stack([k // 2, (k + 1) // 2])
        odd = np.stack([2 * half[0] + 1 - k, 2 * half[1] - k])
        m0, m1, m2 = _moments(2 * half, np.stack([m // 2, (m + 1) // 2]) - half)
        s0, s1, s2 = m0 / 2, m1 + odd * m0 / 2, 2 * m2 + odd * (2 * m1 + m0 / 2)
        out += q * p * s0.sum(0) + (q * p_step + p * q_step) * s1.sum(0) + (q_step & p_step) * s2.sum(0)
        out -= s1[0] * (start < one) if part == 0 else np.maximum(one - start, 0) * s0[0]
        k = m
    return out


@lru_cache(maxsize=1)
def _small() -> F64:
    """The moments for x below SMALL and up to SMALL terms, added up one by one. Shape: (3, 2 SMALL, SMALL + 1)."""
    y = np.arange(SMALL) + 0.5
    terms = np.array([y**r / (np.arange(2 * SMALL)[:, None] / 2 + y) for r in range(3)])
    return np.concatenate([np.zeros((3, 2 * SMALL, 1)), np.cumsum(terms, axis=2)], axis=2)


def _moments(twice: I64, count: I64) -> tuple[F64, F64, F64]:
    """Sums of y^r / (x + y) over y = 1/2, 3/2, ..., count - 1/2, for r = 0, 1, 2, with x = twice / 2.

    r = 0 is psi(x + count + 1/2) - psi(x + 1/2), from its expansion log x + 1 / (24 x^2) - ...; in the other two the
    leading terms of the logarithm are taken out by hand, so that they are right to the last digits as well.
    """
    near = np.where(twice < 2 * SMALL, np.minimum(count, SMALL), 0)
    head = _small()[:, np.minimum(twice, 2 * SMALL - 1), near]
    rest = count - near
    x = np.maximum(0.5 * twice + near, SMALL)
    u = rest / x
    log = np.log1p(u)
    z = u / (2 + u)
    # log(1 + u) = 2 z + tail
    tail = np.zeros_like(z)
    for r in range(27, 1, -2):
        tail = tail * (z * z) + 2 / r
    tail *= z * z * z
    second = np.where(u < 0.5, z * u - tail, u - log)  # u - log(1 + u)
    third = np.where(u < 0.5, 0.5 * z * u * u + tail, log - u + 0.5 * u * u)  # log(1 + u) - u + u^2 / 2
    end = x + rest
    s, t = 1 / (x * x), 1 / (end * end)
    gap = rest * (x + end) * s * t
    gap *= 1 / 24 - 7 / 960 * (s + t) + 31 / 8064 * (s * s + s * t + t * t) - 127 / 30720 * (s + t) * (s * s + t * t)
    m0, m1, m2 = log - gap, x * (second + gap), x * x * (third - gap)
    return head[0] + m0, head[1] + near * m0 + m1, head[2] + near * (near * m0 + 2 * m1) + m2
