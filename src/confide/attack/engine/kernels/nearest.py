"""A naive intruder's choice among numbers, searched: records near a target in one number, until the others are farther.

Notation as in `common`, arguments as in `arguments`.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import TOLERANCE
from confide.attack.engine.kernels.common import finish
from confide.core.run.compile import compiled


@compiled(inner=True)
def first_from(key, lo, hi, y):  # type: ignore[no-untyped-def]
    """The first of the sorted values key[lo]..key[hi-1] that is no smaller than y; hi if there is none."""
    while lo < hi:
        middle = (lo + hi) // 2
        if key[middle] < y:
            lo = middle + 1
        else:
            hi = middle
    return lo


@compiled(inner=True)
def spread_search(lo, hi, y, unit, t, near, w):  # type: ignore[no-untyped-def]
    """Squared distances to `w` of the records that could be nearest; where they begin and end, and the smallest.

    From the target's value outwards, always to the nearer side, until both sides are farther than the nearest so far
    in this one number: no sum of squares is smaller. A little farther, since the two are rounded differently.
    """
    key = near.key
    a = first_from(key, lo, hi, y) - 1
    e = a + 1
    left = abs(key[a] - y) / unit if a >= lo else np.inf
    right = abs(key[e] - y) / unit if e < hi else np.inf
    best, reach = np.inf, np.inf
    while e - a - 1 < hi - lo and (left if left < right else right) <= reach:
        if e >= hi or (a >= lo and left <= right):
            at = a
            a -= 1
            left = abs(key[a] - y) / unit if a >= lo else np.inf
        else:
            at = e
            e += 1
            right = abs(key[e] - y) / unit if e < hi else np.inf
        gap = 0.0
        for v in range(near.z.shape[0]):
            x = (near.z[v, at] - near.y[t, v]) / near.scale[v]
            gap += x * x if x == x else 0.0  # both missing
        w[at - lo] = gap
        if gap < best:
            best = gap
            reach = math.sqrt(gap) * (1.0 + 2.0 * TOLERANCE)
    return a + 1, e, best


@compiled
def attack_nearest(first, last, pairs, near, own, into, room, places, visited):  # type: ignore[no-untyped-def]
    """Targets first..last-1 of a naive intruder: the nearest records share all."""
    block_of, _, _, counts, _ = pairs
    true_start, true_at = own
    tops, out, truth = into
    w, each, scratch = room[0], room[1], room[2]
    for t in range(first, last):
        g = near.group[t]
        ties, found = 0, 0.0
        if g >= 0:
            lo, hi, by = near.start[g], near.start[g + 1], near.by[g]
            y, unit = (near.y[t, by], near.scale[by]) if by >= 0 else (0.0, 1.0)
            a, e, best = spread_search(lo, hi, y, unit, t, near, w)
            visited[0] += e - a
            limit = math.sqrt(best) * (1.0 + TOLERANCE)
            for j in range(a, e):
                if w[j - lo] <= best * (1.0 + 4.0 * TOLERANCE) and math.sqrt(w[j - lo]) <= limit:
                    put_in_order(places, ties, near.order[j])
                    ties += 1
        for k in range(ties):
            w[k] = 0.0
            each[k] = counts[places[k]]
            found += each[k]
        finish(w[:ties], each[:ties], 0, places[:0], scratch[:ties], tops, out[t], truth[:0])
        for k in range(4 + (out.shape[1] - 4) // 2, out.shape[1]):
            if out[t, k] >= 0.0:
                out[t, k] = places[int(out[t, k])]
        for k in range(true_start[t], true_start[t + 1]):
            if true_at[k] < 0:
                continue
            inside = first_place(places, ties, true_at[k]) >= 0
            truth[k, 0] = 0.0 if inside else -np.inf
            truth[k, 1] = 0.0 if inside else found
            truth[k, 2] = (found if inside else near.total[block_of[t]]) - 1.0


@compiled(inner=True)
def put_in_order(places, n, at):  # type: ignore[no-untyped-def]
    """Put one more number among n that rise. Few records tie."""
    while n > 0 and places[n - 1] > at:
        places[n] = places[n - 1]
        n -= 1
    places[n] = at


@compiled(inner=True)
def first_place(places, n, at):  # type: ignore[no-untyped-def]
    """Where a number stands among the first n; -1 if it is not there."""
    for k in range(n):
        if places[k] == at:
            return k
    return -1
