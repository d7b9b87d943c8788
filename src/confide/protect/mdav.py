"""MDAV: groups of k or k + a few records that are near each other, by farthest and nearest neighbours in a k-d tree.

Maximum distance to average (Domingo-Ferrer and Mateo-Sanz, 2002; the generic form of 2005). While 3k or more records
are left: r is the farthest from the centroid of those left and takes its k - 1 nearest; then s, the farthest from r,
does the same. Of 2k to 3k - 1 left, the farthest from the centroid takes its k - 1 nearest and the others are a group;
fewer are one group. Of equally distant records the lowest row comes first.

The definition asks n / k times for a distance to everybody. Here the records left are kept in a tree whose boxes shrink
as records leave, and a box is opened only where it may hold the answer; the farthest from a centroid is looked for
among those that were far from an earlier one. Pruning is exact: the distance to a box is computed by the operations, in
the order, in which that to a record is, and rounding is monotone. Sums and products are never fused, so groups are the
same on every machine.

Notation
--------
x : points in the order of the tree, shape (n, p); row : their rows, shape (n,)
a, b : a node's points are a..b-1; child : its first child (the second follows), -1 for a leaf
low, high : box of the points left in a node, shape (nodes, p); left, least : how many are left, and their lowest row
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.engine.compile import unfused
from confide.frames.columns import F64, I64

LEAF = 8
"""Points in a leaf: fewer cost memory, more cost distances."""
REUSED = 4
"""Distances from one centroid serve the next ones until this many times the points left were looked at."""


def mdav(points: F64, k: int) -> I64:
    """Each record's group, numbered in the order in which groups are made; points of shape (n, p), n >= k.

    >>> import numpy as np
    >>> mdav(np.array([[1.0], [9.0], [2.0], [8.0], [1.5], [9.5]]), 3)
    array([1, 0, 1, 0, 1, 0])
    """
    n = len(points)
    x = np.ascontiguousarray(points, dtype=np.float64)
    group = np.full(n, -1, dtype=np.int64)
    if n < 2 * k:
        group[:] = 0
        return group
    order, tree = _built(x)
    _group(np.ascontiguousarray(x[order]), order, tree, k, group, _work(n, x.shape[1], k))
    return group


def _built(x: F64) -> tuple[I64, tuple[Any, ...]]:
    """The order of points in the tree, and its arrays."""
    n, most = len(x), 4 * (len(x) // LEAF + 2)
    a, b, child, parent, left, least = (np.full(most, -1, dtype=np.int64) for _ in range(6))
    low, high = np.empty((most, x.shape[1])), np.empty((most, x.shape[1]))
    order, leaf_of = np.arange(n), np.empty(n, dtype=np.int64)
    spare = np.empty(n), np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    _build(x, order, leaf_of, a, b, child, parent, left, least, low, high, *spare)
    return order, (leaf_of, a, b, child, parent, left, least, low, high)


def _work(n: int, p: int, k: int) -> tuple[Any, ...]:
    """Arrays that grouping works in, made here since what allocates is slow to compile."""
    place, stack, near, shell, spare = (np.empty(m, dtype=np.int64) for m in (n, 128, k, n, n))
    c, bound, far, radius, spare_radius, centre = (np.empty(m) for m in (p, 128, k, n, n, p))
    here, total = np.ones(n, dtype=np.bool_), np.zeros(p)
    return here, total, c, place, stack, bound, near, far, shell, radius, spare, spare_radius, centre


@unfused(inner=True)
def _sort(key, what, n, spare_key, spare):  # type: ignore[no-untyped-def]
    """The first n keys in rising order, and `what` along with them; equal ones stay as they are."""
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            middle, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j = lo, middle
            for place in range(lo, hi):
                if i < middle and (j >= hi or key[i] <= key[j]):
                    spare_key[place], spare[place] = key[i], what[i]
                    i += 1
                else:
                    spare_key[place], spare[place] = key[j], what[j]
                    j += 1
        for i in range(n):
            key[i], what[i] = spare_key[i], spare[i]
        width *= 2


@unfused
def _build(x, order, leaf_of, a, b, child, parent, left, least, low, high, key, spare_key, mine, spare):  # type: ignore[no-untyped-def]
    """Halve the widest side of each box until leaves are small; equal values stay in the order of rows."""
    p = x.shape[1]
    a[0], b[0], made, at = 0, len(x), 1, 0
    while at < made:
        first, last = a[at], b[at]
        left[at], least[at] = last - first, order[first]
        for i in range(first, last):
            least[at] = min(least[at], order[i])
        widest, side = -1.0, 0
        for v in range(p):
            lo, hi = np.inf, -np.inf
            for i in range(first, last):
                lo, hi = min(lo, x[order[i], v]), max(hi, x[order[i], v])
            low[at, v], high[at, v] = lo, hi
            if hi - lo > widest:
                widest, side = hi - lo, v
        if last - first <= LEAF:
            for i in range(first, last):
                leaf_of[i] = at
        else:
            for i in range(first, last):
                mine[i - first], key[i - first] = order[i], x[order[i], side]
            _sort(key, mine, last - first, spare_key, spare)
            for i in range(first, last):
                order[i] = mine[i - first]
            middle = (first + last) // 2
            child[at] = made
            a[made], b[made], parent[made] = first, middle, at
            a[made + 1], b[made + 1], parent[made + 1] = middle, last, at
            made += 2
        at += 1


@unfused(inner=True)
def _distance(x, i, c):  # type: ignore[no-untyped-def]
    """Squared distance of point i from c."""
    total = 0.0
    for v in range(len(c)):
        gap = x[i, v] - c[v]
        total += gap * gap
    return total


@unfused(inner=True)
def _nearest_of_box(low, high, at, c):  # type: ignore[no-untyped-def]
    """No point of the box is nearer."""
    total = 0.0
    for v in range(len(c)):
        gap = max(low[at, v] - c[v], c[v] - high[at, v], 0.0)
        total += gap * gap
    return total


@unfused(inner=True)
def _farthest_of_box(low, high, at, c):  # type: ignore[no-untyped-def]
    """No point of the box is farther."""
    total = 0.0
    for v in range(len(c)):
        gap = max(c[v] - low[at, v], high[at, v] - c[v])
        total += gap * gap
    return total


@unfused(inner=True)
def _farthest(x, row, here, c, tree, stack, bound):  # type: ignore[no-untyped-def]
    """The point left that is farthest from c; the lowest row of several."""
    _, a, b, child, _, left, least, low, high = tree
    best, best_row, found, top = -1.0, len(row), -1, 1
    stack[0], bound[0] = 0, np.inf
    while top:
        top -= 1
        at = stack[top]
        if bound[top] < best or (bound[top] == best and least[at] > best_row):
            continue
        if child[at] < 0:
            for i in range(a[at], b[at]):
                if here[i]:
                    d = _distance(x, i, c)
                    if d > best or (d == best and row[i] < best_row):
                        best, best_row, found = d, row[i], i
            continue
        one, two = child[at], child[at] + 1
        d1 = _farthest_of_box(low, high, one, c) if left[one] else -1.0
        d2 = _farthest_of_box(low, high, two, c) if left[two] else -1.0
        if d1 > d2 or (d1 == d2 and least[one] < least[two]):  # the better one on top
            one, two, d1, d2 = two, one, d2, d1
        if left[one]:
            stack[top], bound[top] = one, d1
            top += 1
        if left[two]:
            stack[top], bound[top] = two, d2
            top += 1
    return found


@unfused(inner=True)
def _shell(x, here, c, shell, radius, spare, spare_radius):  # type: ignore[no-untyped-def]
    """The points left into `shell`, the farthest from c first, and their distances from it; returns how many."""
    m = 0
    for i in range(len(here)):
        if here[i]:
            shell[m], radius[m] = i, -np.sqrt(_distance(x, i, c))
            m += 1
    _sort(radius, shell, m, spare_radius, spare)
    for j in range(m):
        radius[j] = -radius[j]
    return m


@unfused(inner=True)
def _outermost(x, row, here, c, centre, shell, radius, m):  # type: ignore[no-untyped-def]
    """The point left that is farthest from c, from distances to a centre near it; and how many were looked at."""
    moved = 0.0
    for v in range(len(c)):
        moved += (c[v] - centre[v]) * (c[v] - centre[v])
    moved = np.sqrt(moved)
    best, best_row, found, looked = -1.0, len(row), -1, 0
    for j in range(m):
        looked += 1
        reach = (radius[j] + moved) * (1 + 1e-9)  # by the triangle inequality, and far more than rounding
        if reach * reach < best:
            break
        i = shell[j]
        if here[i]:
            d = _distance(x, i, c)
            if d > best or (d == best and row[i] < best_row):
                best, best_row, found = d, row[i], i
    return found, looked


@unfused(inner=True)
def _nearest(x, row, here, c, k, tree, stack, bound, near, far):  # type: ignore[no-untyped-def]
    """The k points left that are nearest to c into `near`, nearest first, lower rows before higher ones."""
    _, a, b, child, _, left, least, low, high = tree
    have, top = 0, 1
    stack[0], bound[0] = 0, 0.0
    while top:
        top -= 1
        at = stack[top]
        if have == k and (bound[top] > far[k - 1] or (bound[top] == far[k - 1] and least[at] > row[near[k - 1]])):
            continue
        if child[at] < 0:
            for i in range(a[at], b[at]):
                if here[i]:
                    have = _insert(i, _distance(x, i, c), row, have, k, near, far)
            continue
        one, two = child[at], child[at] + 1
        d1 = _nearest_of_box(low, high, one, c) if left[one] else np.inf
        d2 = _nearest_of_box(low, high, two, c) if left[two] else np.inf
        if d1 < d2 or (d1 == d2 and least[one] < least[two]):
            one, two, d1, d2 = two, one, d2, d1
        if left[one]:
            stack[top], bound[top] = one, d1
            top += 1
        if left[two]:
            stack[top], bound[top] = two, d2
            top += 1


@unfused(inner=True)
def _insert(i, d, row, have, k, near, far):  # type: ignore[no-untyped-def]
    """Put a point into its place among the nearest; returns how many there are."""
    if have == k and (d > far[k - 1] or (d == far[k - 1] and row[i] > row[near[k - 1]])):
        return have
    place = have if have < k else k - 1
    while place and (d < far[place - 1] or (d == far[place - 1] and row[i] < row[near[place - 1]])):
        near[place], far[place] = near[place - 1], far[place - 1]
        place -= 1
    near[place], far[place] = i, d
    return min(have + 1, k)


@unfused(inner=True)
def _remove(x, row, here, i, tree):  # type: ignore[no-untyped-def]
    """Take a point out and shrink the boxes it was in."""
    leaf_of, a, b, child, parent, left, least, low, high = tree
    p = x.shape[1]
    here[i] = False
    at = leaf_of[i]
    left[at] -= 1
    least[at] = len(row)
    for v in range(p):
        low[at, v], high[at, v] = np.inf, -np.inf
    for j in range(a[at], b[at]):
        if here[j]:
            least[at] = min(least[at], row[j])
            for v in range(p):
                low[at, v], high[at, v] = min(low[at, v], x[j, v]), max(high[at, v], x[j, v])
    at = parent[at]
    while at >= 0:
        one, two = child[at], child[at] + 1
        left[at] -= 1
        least[at] = min(least[one], least[two])
        for v in range(p):
            low[at, v], high[at, v] = min(low[one, v], low[two, v]), max(high[one, v], high[two, v])
        at = parent[at]


@unfused
def _group(x, row, tree, k, group, work):  # type: ignore[no-untyped-def]
    """Number the groups; the sum of those left is kept up record by record, in the order of rows at first."""
    here, total, c, place, stack, bound, near, far, shell, radius, spare, spare_radius, centre = work
    n, p = x.shape
    for i in range(n):
        place[row[i]] = i
    for i in range(n):
        for v in range(p):
            total[v] += x[place[i], v]
    left, made, m, spent = n, 0, 0, 0
    while left >= 2 * k:
        for v in range(p):
            c[v] = total[v] / left
        if spent <= 0:
            m = _shell(x, here, c, shell, radius, spare, spare_radius)
            spent = REUSED * left
            for v in range(p):
                centre[v] = c[v]
        at, looked = _outermost(x, row, here, c, centre, shell, radius, m)
        spent -= looked
        for turn in range(2 if left >= 3 * k else 1):
            if turn:
                at = _farthest(x, row, here, c, tree, stack, bound)
            for v in range(p):
                c[v] = x[at, v]
            _nearest(x, row, here, c, k, tree, stack, bound, near, far)
            for j in range(k):
                group[row[near[j]]] = made
                for v in range(p):
                    total[v] -= x[near[j], v]
                _remove(x, row, here, near[j], tree)
            made, left = made + 1, left - k
    for i in range(n):
        if here[i]:
            group[row[i]] = made
