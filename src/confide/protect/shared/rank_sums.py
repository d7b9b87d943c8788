"""Compiled sums over ranks: the chance that one value is released as another, for one pair after the other.

Notation as in `rank_shares`; ranges q_lo..q_hi and p_lo..p_hi hold the ranks of the two values.
"""

from __future__ import annotations

import math

import numpy as np

from confide.core.run.compile import compiled

SMALL = 64
"""Sums of fractions that start below it are tabulated, above it an expansion is right to 1e-15."""


@compiled(inner=True)
def moments(twice, count, small):  # type: ignore[no-untyped-def]
    """Sums of y^r / (x + y) over y = 1/2, 3/2, ..., count - 1/2, for r = 0, 1, 2, with x = twice / 2.

    r = 0 is psi(x + count + 1/2) - psi(x + 1/2), from its expansion log x + 1 / (24 x^2) - ...; in the other two the
    leading terms of the logarithm are taken out by hand, so that they are right to the last digits as well. `small`:
    the sums for x below SMALL and up to SMALL terms, shape (3, 2 SMALL, SMALL + 1).
    """
    if count <= 0:
        return 0.0, 0.0, 0.0
    near = min(count, SMALL) if twice < 2 * SMALL else 0
    at = min(twice, 2 * SMALL - 1)
    rest = count - near
    if rest == 0:
        return small[0, at, near], small[1, at, near], small[2, at, near]
    x = max(0.5 * twice + near, float(SMALL))
    u = rest / x
    log = math.log1p(u)
    second, third = u - log, log - u + 0.5 * u * u  # u - log(1 + u), log(1 + u) - u + u^2 / 2
    if u < 0.5:
        z = u / (2.0 + u)
        tail = 0.0  # log(1 + u) = 2 z + tail
        for r in range(27, 1, -2):
            tail = tail * (z * z) + 2.0 / r
        tail *= z * z * z
        second, third = z * u - tail, 0.5 * z * u * u + tail
    end = x + rest
    s, t = 1.0 / (x * x), 1.0 / (end * end)
    gap = rest * (x + end) * s * t
    gap *= 1 / 24 - 7 / 960 * (s + t) + 31 / 8064 * (s * s + s * t + t * t) - 127 / 30720 * (s + t) * (s * s + t * t)
    m0, m1, m2 = log - gap, x * (second + gap), x * x * (third - gap)
    head = small[0, at, near], small[1, at, near], small[2, at, near]
    return head[0] + m0, head[1] + near * m0 + m1, head[2] + near * (near * m0 + 2.0 * m1) + m2


@compiled(inner=True)
def copy_end(q_lo, q_hi, p_lo, p_hi, d, small):  # type: ignore[no-untyped-def]
    """Sum over q of the end zone, whose window is [0, s), s = q + d + 1; every term is positive: nothing cancels."""
    low, high = q_lo + d, q_hi + d + 1
    start = max(low, p_lo)
    m0, m1, _ = moments(2 * start + 1, min(high, p_hi + 1) - start, small)
    out = m1 + (start - p_lo + 0.5) * m0
    start = max(low, p_hi + 1)
    m0, _, _ = moments(2 * start + 1, high - start, small)
    return out + (p_hi + 1 - p_lo) * m0


@compiled(inner=True)
def ramp(a, b, shift):  # type: ignore[no-untyped-def]
    """Sum of max(q + shift, 0) over q = a..b."""
    top, below = max(b + shift, 0), max(a - 1 + shift, 0)
    return (top * (top + 1) - below * (below + 1)) // 2


@compiled(inner=True)
def copy_sum(q_lo, q_hi, p_lo, p_hi, n, d, small):  # type: ignore[no-untyped-def]
    """Sum over q of the share of its window that P takes: whole windows in exact integers, then both ends."""
    end = min(d, n - 1 - d)
    a = max(q_lo, end)
    b = max(min(q_hi, n - 1 - end), a - 1)
    # |W_q and P| as ramps in q.
    whole = ramp(a, b, d + 1 - p_lo) - ramp(a, b, d - p_hi) - ramp(a, b, -d - p_lo) + ramp(a, b, -d - 1 - p_hi)
    out = whole / min(2 * d + 1, n)
    for _ in range(2):
        if q_lo < end and p_lo <= min(q_hi, end - 1) + d:
            out += copy_end(q_lo, min(q_hi, end - 1), p_lo, p_hi, d, small)
        q_lo, q_hi, p_lo, p_hi = n - 1 - q_hi, n - 1 - q_lo, n - 1 - p_hi, n - 1 - p_lo  # from the other end
    return out


@compiled(inner=True)
def in_block(lo, hi, b, w):  # type: ignore[no-untyped-def]
    """How many of the ranks lo..hi are in b..b+w-1, and how many more are from one b to the next."""
    last = b + w - 1
    return min(hi, last) - max(lo, b) + 1, (1 if last < hi else 0) - (1 if b >= lo else 0)


@compiled(inner=True)
def whole_blocks(q_lo, q_hi, p_lo, p_hi, n, w):  # type: ignore[no-untyped-def]
    """Sum over blocks b..b+w-1 of |Q and B| |P and B|, for even w less |Q and P and B|: pieces linear in b."""
    i_lo, i_hi = max(q_lo, p_lo), min(q_hi, p_hi)
    b = max(i_lo - w + 1, 0)
    high = max(min(n - w, i_hi) + 1, b)
    total = 0
    while b < high:
        after = high  # the next place where a slope changes
        for bend in (q_hi + 1 - w, q_lo, p_hi + 1 - w, p_lo):
            after = bend if b < bend < after else after
        size = after - b
        once = size * (size - 1) // 2
        q, q_step = in_block(q_lo, q_hi, b, w)
        p, p_step = in_block(p_lo, p_hi, b, w)
        total += size * q * p + once * (q * p_step + p * q_step) + q_step * p_step * (once * (2 * size - 1) // 3)
        if w % 2 == 0 and i_lo <= i_hi:
            same, step = in_block(i_lo, i_hi, b, w)
            total -= size * same + once * step
        b = after
    return total


@compiled(inner=True)
def cut_blocks(q_lo, q_hi, p_lo, p_hi, w, small):  # type: ignore[no-untyped-def]
    """The same over the blocks [0, s), s = 1..w-1, each divided by c_s."""
    start, one, both = max(q_lo, p_lo), min(q_hi, p_hi) + 1, max(q_hi, p_hi) + 1
    out = 0.0
    k = min(start, w - 1)
    for part in range(3):
        until = one if part == 0 else (both if part == 1 else w - 1)
        m = min(max(until, k), w - 1)
        q, p = min(max(k - q_lo, 0), q_hi - q_lo + 1), min(max(k - p_lo, 0), p_hi - p_lo + 1)
        q_step, p_step = 1 if k <= q_hi else 0, 1 if k <= p_hi else 0
        # Even sizes s first, then odd ones: c_s = 2 (x + y) and s - k = 2 y + odd, with y = 1/2, 3/2, ...
        for parity in range(2):
            half = (k + parity) // 2
            odd = 2 * half + 1 - k if parity == 0 else 2 * half - k
            m0, m1, m2 = moments(2 * half, (m + parity) // 2 - half, small)
            s0, s1, s2 = 0.5 * m0, m1 + 0.5 * odd * m0, 2.0 * m2 + odd * (2.0 * m1 + 0.5 * m0)
            out += q * p * s0 + (q * p_step + p * q_step) * s1 + q_step * p_step * s2
            if parity == 0:
                out -= (s1 if start < one else 0.0) if part == 0 else max(one - start, 0) * s0
        k = m
    return out


@compiled(inner=True)
def exchange_sum(q_lo, q_hi, p_lo, p_hi, n, d, small):  # type: ignore[no-untyped-def]
    """Sum over q and p of the chance to release p: whole blocks in exact integers, then cut ones at both ends."""
    w = d + 1
    out = whole_blocks(q_lo, q_hi, p_lo, p_hi, n, w) / (w if w % 2 else w - 1)
    for _ in range(2):
        if max(q_lo, p_lo) < w - 1:
            out += cut_blocks(q_lo, q_hi, p_lo, p_hi, w, small)
        q_lo, q_hi, p_lo, p_hi = n - 1 - q_hi, n - 1 - q_lo, n - 1 - p_hi, n - 1 - p_lo  # from the other end
    return out / w


@compiled(inner=True)
def chance(exchanged, q_lo, q_hi, p_lo, p_hi, n, d, small):  # type: ignore[no-untyped-def]
    """The mean over q of these sums, 0 for a pair out of each other's reach or with an empty range."""
    if q_lo > q_hi or p_lo > p_hi or p_lo - d > q_hi or q_lo > p_hi + d:
        return 0.0
    if exchanged:
        return exchange_sum(q_lo, q_hi, p_lo, p_hi, n, d, small) / (q_hi - q_lo + 1)
    return copy_sum(q_lo, q_hi, p_lo, p_hi, n, d, small) / (q_hi - q_lo + 1)


@compiled
def shares(exchanged, q_lo, q_hi, p_lo, p_hi, n, d, small, out):  # type: ignore[no-untyped-def]
    """Chances of aligned ranges."""
    for i in range(len(out)):
        out[i] = chance(exchanged, q_lo[i], q_hi[i], p_lo[i], p_hi[i], n, d, small)


@compiled
def log_shares(exchanged, t, who, z, which, n, d, small, out):  # type: ignore[no-untyped-def]
    """log of the chances of the ranges t at `who` beside z at `which`, each (lo, hi, moved): 0 where neither was moved,
    -inf where one of them was."""
    q_lo, q_hi, moved_t = t
    p_lo, p_hi, moved_z = z
    end = n if exchanged else min(d, n - 1 - d)
    each = 1.0 / min(2 * d + 1, n)
    for i in range(len(out)):
        a, b = who[i], which[i]
        if not (moved_t[a] and moved_z[b]):
            out[i] = -np.inf if moved_t[a] or moved_z[b] else 0.0
            continue
        first, last, low, high = q_lo[a], q_hi[a], p_lo[b], p_hi[b]
        if end <= first <= last < n - end and last - d <= low <= high <= first + d:
            x = (high - low + 1) * each  # whole windows, of which each holds all of z
        else:
            x = chance(exchanged, first, last, low, high, n, d, small)
        out[i] = math.log(x) if x > 0.0 else -np.inf
