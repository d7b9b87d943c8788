"""A tree over released rows: boxes of coordinates, so that few rows are visited for each target.

Every comparison is one coordinate. A coordinate that is not a number (NaN) says nothing: it agrees with everything.

Notation: m distinct points of d coordinates; node q holds the points start[q] to stop[q], which lie in the box from
low[q] to high[q]; left[q] is its first child, the next node its second, -1 for a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.run.compile import unfused
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct

LEAF = 12
"""Points of a leaf."""


@dataclass(frozen=True, eq=False)
class Tree:
    """`points`: distinct rows in the order of the tree, shape (m, d); `rows`: released rows, those of a point together;
    `first`: where the rows of each point begin, shape (m + 1,); `place`: each released row's position in `rows`;
    `low`, `high`, `start`, `stop`, `left`: the nodes."""

    points: F64
    rows: I64
    first: I64
    place: I64
    low: F64
    high: F64
    start: I64
    stop: I64
    left: I64

    @property
    def parts(self) -> tuple[F64, F64, I64, I64, I64, F64, I64]:
        """What every search reads."""
        return self.low, self.high, self.start, self.stop, self.left, self.points, self.first


def plant(coordinates: F64, categories: Bools, unit: F64) -> Tree:
    """The tree over rows with these coordinates, shape (r, d); `unit` times a coordinate is its part in a distance.

    >>> tree = plant(np.array([[1.0], [3.0], [1.0]]), np.array([False]), np.array([1.0]))
    >>> tree.points.ravel().tolist(), tree.first.tolist(), tree.rows.tolist()
    ([1.0, 3.0], [0, 2, 3], [0, 2, 1])
    """
    r, d = coordinates.shape
    found = Distinct.rows([coordinates[:, k] for k in range(d)], r)
    points = np.ascontiguousarray(coordinates[found.first])
    m = len(points)
    order = np.arange(m, dtype=np.int64)
    low, high = np.empty((2 * m, d)), np.empty((2 * m, d))
    start, stop, left = (np.empty(2 * m, dtype=np.int64) for _ in range(3))
    n = _split(points, categories, unit, order, low, high, start, stop, left)
    spot = np.empty(m, dtype=np.int64)
    spot[order] = np.arange(m)
    at = spot[found.of]
    rows = np.argsort(at, kind="stable").astype(np.int64)
    place = np.empty(r, dtype=np.int64)
    place[rows] = np.arange(r)
    first = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=m))]).astype(np.int64)
    nodes = (low[:n].copy(), high[:n].copy(), start[:n].copy(), stop[:n].copy(), left[:n].copy())
    return Tree(np.ascontiguousarray(points[order]), rows, first, place, *nodes)


@unfused
def _split(points, categories, unit, order, low, high, start, stop, left):  # type: ignore[no-untyped-def]
    """Split points again and again where they lie widest apart; returns the number of nodes."""
    m, d = points.shape
    stack = np.empty(m + 2, dtype=np.int64)
    start[0], stop[0], left[0] = 0, m, -1
    stack[0] = 0
    top, n = 1, 1
    while top > 0:
        top -= 1
        q = stack[top]
        a, b = start[q], stop[q]
        widest, along = 0.0, -1
        for k in range(d):
            lowest, highest, silent = np.inf, -np.inf, False
            for i in range(a, b):
                x = points[order[i], k]
                if np.isnan(x):
                    silent = True
                else:
                    lowest, highest = min(lowest, x), max(highest, x)
            apart = 0.0
            if lowest < highest:
                apart = unit[k] if categories[k] else unit[k] * (highest - lowest)
            elif silent and lowest == highest:
                apart = unit[k]
            if apart > widest:
                widest, along = apart, k
            low[q, k] = -np.inf if silent else lowest
            high[q, k] = np.inf if silent else highest
        if b - a <= LEAF or along < 0:
            continue
        mid = _cut(points, categories[along], along, order, a, b)
        left[q] = n
        start[n], stop[n], left[n] = a, mid, -1
        start[n + 1], stop[n + 1], left[n + 1] = mid, b, -1
        stack[top], stack[top + 1] = n + 1, n
        top += 2
        n += 2
    return n


@unfused(inner=True)
def _cut(points, category, along, order, a, b):  # type: ignore[no-untyped-def]
    """Sort a stretch along one coordinate and say where to cut: in the middle, for categories between two of them."""
    keys = np.empty(b - a)
    for i in range(a, b):
        x = points[order[i], along]
        keys[i - a] = np.inf if np.isnan(x) else x
    by = np.argsort(keys, kind="mergesort")
    moved = order[a:b].copy()
    for i in range(b - a):
        order[a + i] = moved[by[i]]
    half = (b - a) // 2
    if not category:
        return a + half
    for step in range(b - a):
        for at in (half - step, half + step):
            if 0 < at < b - a and keys[by[at]] != keys[by[at - 1]]:
                return a + at
    return a + half
