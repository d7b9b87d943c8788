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
from numpy.typing import NDArray

from confide.core.run.compile import unfused
from confide.frames.columns import F64, I64, Bools

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
    ordered, here, total = np.ascontiguousarray(x[order]), np.ones(n, dtype=np.bool_), np.cumsum(x, axis=0)[-1]
    work, left, made = _work(x.shape[1], k), n, 0
    while left >= 2 * k:
        centre = total / left
        left, made = _group(
            ordered, order, tree, k, group, here, total, centre, *_shell(ordered, here, centre), work, left, made
        )
    group[order[here]] = made
    return group


def _built(x: F64) -> tuple[I64, tuple[NDArray[Any], ...]]:
    """The order of points in the tree, and its arrays: the widest side of each box is halved until leaves are small.

    A level at a time, since its nodes follow each other; equal values stay in the order of rows.
    """
    order, leaf_of, levels = np.arange(len(x)), np.empty(len(x), dtype=np.int64), []
    first, last, parent, made = np.array([0]), np.array([len(x)]), np.array([-1]), 0
    while len(first):
        size = last - first
        start, node = np.cumsum(size) - size, np.repeat(np.arange(len(first)), size)
        where = np.arange(len(node)) + np.repeat(first - start, size)
        mine, points = order[where], x[order[where]]
        low, high = np.minimum.reduceat(points, start), np.maximum.reduceat(points, start)
        split, child = np.flatnonzero(size > LEAF), np.full(len(first), -1)
        child[split] = made + len(first) + 2 * np.arange(len(split))
        levels.append((first, last, child, parent, size, np.minimum.reduceat(mine, start), low, high))
        parted = child[node] >= 0
        leaf_of[where[~parted]] = made + node[~parted]
        key = np.take_along_axis(points, np.argmax(high - low, axis=1)[node][:, None], axis=1)[:, 0]
        order[where[parted]] = mine[parted][np.lexsort((key[parted], node[parted]))]
        middle = (first + last)[split] // 2
        first, last = (np.column_stack(two).reshape(-1) for two in ((first[split], middle), (middle, last[split])))
        parent, made = np.repeat(made + split, 2), made + len(size)
    return order, (leaf_of, *(np.concatenate(arrays) for arrays in zip(*levels, strict=True)))


def _work(p: int, k: int) -> tuple[NDArray[Any], ...]:
    """Arrays that grouping works in, made here since what allocates is slow to compile."""
    stack, near = np.empty(128, dtype=np.int64), np.empty(k, dtype=np.int64)
    return np.empty(p), stack, np.empty(128), near, np.empty(k)


def _shell(x: F64, here: Bools, c: F64) -> tuple[I64, F64]:
    """The points left, the farthest from c first, and their distances from it."""
    left = np.flatnonzero(here)
    square = np.zeros(len(left))
    for v in range(len(c)):
        gap = x[left, v] - c[v]
        square += gap * gap
    radius = np.sqrt(square)
    order = np.argsort(-radius, kind="stable")
    return left[order], radius[order]


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
        below, above = low[at, v] - c[v], c[v] - high[at, v]
        gap = below if below > above else above
        if gap > 0.0:
            total += gap * gap
    return total


@unfused(inner=True)
def _farthest_of_box(low, high, at, c):  # type: ignore[no-untyped-def]
    """No point of the box is farther."""
    total = 0.0
    for v in range(len(c)):
        up, down = c[v] - low[at, v], high[at, v] - c[v]
        gap = up if up > down else down
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
def _outermost(x, row, here, c, centre, shell, radius):  # type: ignore[no-untyped-def]
    """The point left that is farthest from c, from distances to a centre near it; and how many were looked at."""
    moved = 0.0
    for v in range(len(c)):
        moved += (c[v] - centre[v]) * (c[v] - centre[v])
    moved = np.sqrt(moved)
    best, best_row, found, looked = -1.0, len(row), -1, 0
    for j in range(len(shell)):
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
    return have + 1 if have < k else k


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
            least[at] = row[j] if row[j] < least[at] else least[at]
            for v in range(p):
                low[at, v] = x[j, v] if x[j, v] < low[at, v] else low[at, v]
                high[at, v] = x[j, v] if x[j, v] > high[at, v] else high[at, v]
    at = parent[at]
    while at >= 0:
        one, two = child[at], child[at] + 1
        left[at] -= 1
        least[at] = least[one] if least[one] < least[two] else least[two]
        for v in range(p):
            low[at, v] = low[one, v] if low[one, v] < low[two, v] else low[two, v]
            high[at, v] = high[one, v] if high[one, v] > high[two, v] else high[two, v]
        at = parent[at]


@unfused
def _group(  # type: ignore[no-untyped-def]
    x, row, tree, k, group, here, total, centre, shell, radius, work, left, made
):
    """Number groups until distances from the centre serve no longer; returns how many records are left, and groups.

    The sum of those left is kept up record by record.
    """
    c, stack, bound, near, far = work
    p, spent = x.shape[1], REUSED * left
    while left >= 2 * k and spent > 0:
        for v in range(p):
            c[v] = total[v] / left
        at, looked = _outermost(x, row, here, c, centre, shell, radius)
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
    return left, made
