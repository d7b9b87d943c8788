"""Searches in a tree of released rows: all rows in a box, and the nearest rows with all that tie.

Distances: the sum over coordinates of (unit |t - z|)^power for numbers, and of `unit` for categories that differ; with
power 2 it is the square of the distance; `measure` is (categories, unit, power). What is NaN on either side adds
nothing. Loops are over the targets a to b; what they find are stretches of `Tree.rows`, counted when `write` is false,
and written from ptr[t - a] on when it is true."""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import unfused

TIE = 1e-9
"""What is this near to the best, relative to it or in units, counts as equal."""
DEEP = 4096
"""Nodes that may wait while a tree is walked."""


@unfused
def in_boxes(tree, lows, highs, a, b, ptr, begins, ends, rows, write):  # type: ignore[no-untyped-def]
    """Rows whose coordinates lie between lows[t] and highs[t], both ends included; NaN lies everywhere."""
    low, high, start, stop, left, points, first = tree
    d = points.shape[1]
    stack = np.empty(DEEP, dtype=np.int64)
    for t in range(a, b):
        stack[0] = 0
        top, count, last, total = 1, 0, -1, 0
        while top > 0:
            top -= 1
            q = stack[top]
            apart, inside = False, True
            for k in range(d):
                if low[q, k] > highs[t, k] or high[q, k] < lows[t, k]:
                    apart = True
                    break
                inside = inside and low[q, k] >= lows[t, k] and high[q, k] <= highs[t, k]
            if apart:
                continue
            if left[q] >= 0 and not inside:
                stack[top], stack[top + 1] = left[q] + 1, left[q]
                top += 2
                continue
            for i in range(start[q], stop[q]):
                end = first[i + 1]
                if inside:
                    end = first[stop[q]]
                elif not _within(points, i, lows, highs, t):
                    continue
                if last != first[i]:
                    count += 1
                    if write:
                        begins[ptr[t - a] + count - 1] = first[i]
                last = end
                total += end - first[i]
                if write:
                    ends[ptr[t - a] + count - 1] = end
                if inside:
                    break
        rows[t - a] = total
        if not write:
            ptr[t - a + 1] = count


@unfused(inner=True)
def _within(points, i, lows, highs, t):  # type: ignore[no-untyped-def]
    for k in range(points.shape[1]):
        x = points[i, k]
        if x < lows[t, k] or x > highs[t, k]:
            return False
    return True


@unfused(inner=True)
def apart(points, i, target, categories, unit, power):  # type: ignore[no-untyped-def]
    """The distance of a target from a point."""
    total = 0.0
    for k in range(len(target)):
        x, y = points[i, k], target[k]
        if np.isnan(x) or np.isnan(y):
            continue
        if categories[k]:
            total += 0.0 if x == y else unit[k]
        else:
            gap = abs(x - y) * unit[k]
            total += gap * gap if power == 2 else gap
    return total


@unfused(inner=True)
def _least(low, high, q, target, categories, unit, power):  # type: ignore[no-untyped-def]
    """The least distance that a point of a node can have."""
    total = 0.0
    for k in range(len(target)):
        y = target[k]
        if np.isnan(y) or (low[q, k] <= y <= high[q, k]):
            continue
        if categories[k]:
            total += unit[k]
        else:
            gap = (low[q, k] - y if y < low[q, k] else y - high[q, k]) * unit[k]
            total += gap * gap if power == 2 else gap
    return total


@unfused
def nearest_distances(tree, targets, measure, nearest, skip, a, b, out):  # type: ignore[no-untyped-def]
    """out[t]: the distance of the k-th nearest row, k = nearest; its own row, at skip[t] in the tree, is left out."""
    low, high, start, stop, left, points, first = tree
    categories, unit, power = measure
    stack, bound = np.empty(DEEP, dtype=np.int64), np.empty(DEEP)
    gaps, held = np.empty(nearest + 1), np.empty(nearest + 1, dtype=np.int64)
    for t in range(a, b):
        y = targets[t]
        stack[0], bound[0] = 0, 0.0
        top, n, limit = 1, 0, np.inf
        while top > 0:
            top -= 1
            if bound[top] >= limit:
                continue
            q = stack[top]
            if left[q] >= 0:
                one, two = left[q], left[q] + 1
                d1 = _least(low, high, one, y, categories, unit, power)
                d2 = _least(low, high, two, y, categories, unit, power)
                if d1 > d2:
                    one, two, d1, d2 = two, one, d2, d1
                stack[top], bound[top] = two, d2
                stack[top + 1], bound[top + 1] = one, d1
                top += 2
                continue
            for i in range(start[q], stop[q]):
                rows = first[i + 1] - first[i]
                if first[i] <= skip[t] < first[i + 1]:
                    rows -= 1
                gap = apart(points, i, y, categories, unit, power)
                if rows and gap < limit:
                    n = _kept(gaps, held, n, gap, rows, nearest)
                    limit = _limit(gaps, held, n, nearest)
        out[t] = limit


@unfused(inner=True)
def _kept(gaps, held, n, gap, rows, nearest):  # type: ignore[no-untyped-def]
    """Put a point among the nearest so far, in rising order; no more of them than are needed."""
    at = n
    while at > 0 and gaps[at - 1] > gap:
        gaps[at], held[at] = gaps[at - 1], held[at - 1]
        at -= 1
    gaps[at], held[at] = gap, rows
    return min(n + 1, nearest)


@unfused(inner=True)
def _limit(gaps, held, n, nearest):  # type: ignore[no-untyped-def]
    """The distance of the k-th nearest row so far."""
    seen = 0
    for i in range(n):
        seen += held[i]
        if seen >= nearest:
            return gaps[i]
    return np.inf


@unfused
def in_balls(tree, targets, measure, limits, a, b, ptr, begins, ends, rows, write):  # type: ignore[no-untyped-def]
    """Rows whose distance is at most limits[t]."""
    low, high, start, stop, left, points, first = tree
    categories, unit, power = measure
    stack = np.empty(DEEP, dtype=np.int64)
    for t in range(a, b):
        y = targets[t]
        stack[0] = 0
        top, count, last, total = 1, 0, -1, 0
        while top > 0:
            top -= 1
            q = stack[top]
            if _least(low, high, q, y, categories, unit, power) > limits[t]:
                continue
            if left[q] >= 0:
                stack[top], stack[top + 1] = left[q] + 1, left[q]
                top += 2
                continue
            for i in range(start[q], stop[q]):
                if apart(points, i, y, categories, unit, power) > limits[t]:
                    continue
                if last != first[i]:
                    count += 1
                    if write:
                        begins[ptr[t - a] + count - 1] = first[i]
                last = first[i + 1]
                total += first[i + 1] - first[i]
                if write:
                    ends[ptr[t - a] + count - 1] = last
        rows[t - a] = total
        if not write:
            ptr[t - a + 1] = count


@unfused
def pair_distances(points, which, targets, measure, out):  # type: ignore[no-untyped-def]
    """out[t]: the distance of target t from the point which[t]; infinite where that is below 0."""
    categories, unit, power = measure
    for t in range(len(targets)):
        out[t] = np.inf if which[t] < 0 else apart(points, which[t], targets[t], categories, unit, power)
