"""Nearest donors for hot deck imputation: exact search, ties broken at random, whole files or inside cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from confide.core.random.draws import Draws
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

TIE = 1e-12
"""Distances tie whose difference is below this, relative to the size of the coordinates."""

FLAT = 1e-10
"""Directions with less than this share of the largest variance (of standardised columns) count as constant."""

DEEP = 8
"""Up to so many dimensions a tree is searched, above all distances are computed."""

PAIRS = 1 << 20
"""Distances held in memory at a time."""


@dataclass(frozen=True, eq=False)
class Whitening:
    """Coordinates (x - mean) axes, in which Euclidean distance is Mahalanobis distance. `axes`: (d, rank).

    >>> x = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    >>> Whitening.of(x).points(x).tolist()
    [[-1.0], [0.0], [1.0]]
    """

    mean: F64
    axes: F64

    @classmethod
    def of(cls, x: F64) -> Whitening:
        """From the covariance of the rows; directions without variance are left out, so there may be no axis at all."""
        n, d = x.shape
        mean = x.mean(axis=0) if n else np.zeros(d)
        centred = x - mean
        sd = np.sqrt((centred**2).sum(axis=0) / max(n - 1, 1))
        # A constant column's mean is off by rounding.
        varies = sd > TIE * np.abs(x).max(axis=0, initial=0.0)
        if not varies.any():
            return cls(mean, np.zeros((d, 0)))
        z = centred[:, varies] / sd[varies]
        with one_blas_thread():
            variance, vectors = np.linalg.eigh(z.T @ z / (n - 1))
        keep = np.flatnonzero(variance > FLAT * variance[-1])[::-1]
        vectors = vectors[:, keep]
        main = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(keep))]
        axes = np.zeros((d, len(keep)))
        axes[varies] = vectors * (np.sign(main) / np.sqrt(variance[keep])) / sd[varies, None]
        return cls(mean, axes)

    def points(self, x: F64) -> F64:
        """The coordinates of each row. Shape: (n, rank). Equal rows have equal coordinates."""
        out = np.zeros((len(x), self.axes.shape[1]))
        # Column by column rather than by BLAS, whose rounding can differ between the rows of one matrix.
        for column, axis in zip((x - self.mean).T, self.axes, strict=True):
            out += column[:, None] * axis
        return out


def cell_donors(points: F64, pool: F64, cells: I64, pool_cells: I64, draws: Draws, rows: I64) -> I64:
    """For each point a row of the pool in its cell at the smallest distance; -1 where the cell has none.

    It is drawn uniformly among all rows at that distance; `rows`: numbers of the points.
    """
    out = np.full(len(points), -1, dtype=np.int64)
    codes, there = np.unique(pool_cells, return_inverse=True)
    here = np.searchsorted(codes, cells)
    served = np.flatnonzero(here < len(codes))
    served = served[codes[here[served]] == cells[served]]
    if not len(served):
        return out
    asked, order, at = _distinct(points[served], here[served])
    asker = np.empty(len(served), dtype=np.int64)
    asker[order] = np.repeat(np.arange(len(asked.cell)), np.diff(at))
    offered, order, at = _distinct(pool, there)
    owner, donor = (_by_tree if points.shape[1] <= DEEP else _by_distance)(asked, offered)
    # The rows of all ties, one after another: `after` is where those of a tie end, `ends` where those of an owner do.
    after = np.cumsum(np.diff(at)[donor])
    ends = np.append(0, after[np.searchsorted(owner, np.arange(len(asked.cell)), side="right") - 1])
    drawn = draws.integers(rows[served], ends[asker], ends[asker + 1] - 1)
    tie = np.searchsorted(after, drawn, side="right")
    out[served] = order[at[donor[tie] + 1] - (after[tie] - drawn)]
    return out


class _Points(NamedTuple):
    """Distinct points with their cells, sorted by cell."""

    x: F64
    cell: I64


def _distinct(x: F64, cell: I64) -> tuple[_Points, I64, I64]:
    """The distinct points of each cell, the rows sorted by them, and where those of each start and the last end."""
    order = np.lexsort((*x.T, cell))
    x, cell = x[order], cell[order]
    new = np.append(True, (cell[1:] != cell[:-1]) | (x[1:] != x[:-1]).any(axis=1))
    return _Points(x[new], cell[new]), order, np.append(np.flatnonzero(new), len(x))


def _slack(x: F64, distance: F64) -> F64:
    """How much farther than the nearest a row may be and tie, for each point: rounding of the coordinates involved."""
    return np.asarray(TIE * (np.abs(x).max(axis=1, initial=0.0) + distance))


def _by_tree(asked: _Points, offered: _Points) -> tuple[I64, I64]:
    """All pairs (point, nearest row offered), by point; a point asks for more rows as long as the last one ties.

    One tree serves all cells: these are a coordinate more, so far apart that no search leaves its cell.
    """
    from scipy.spatial import cKDTree

    reach = 1.0 + sum(2 * np.abs(points.x).max(axis=0, initial=0.0).sum() for points in (asked, offered))
    x, pool = (np.column_stack([points.x, 4.0 * reach * points.cell]) for points in (asked, offered))
    tree = cKDTree(pool)
    owners, donors = [], []
    asking, k = np.arange(len(x)), 2
    while len(asking):
        k = min(k, len(pool))
        more = []
        size = max(PAIRS // k, 1)
        for first in range(0, len(asking), size):
            at = asking[first : first + size]
            distance, row = tree.query(x[at], k=np.arange(1, k + 1), distance_upper_bound=2.0 * reach)
            near = distance[:, 0]
            ties = distance <= (near + _slack(asked.x[at], near))[:, None]
            done = ~ties[:, -1] if k < len(pool) else np.ones(len(at), dtype=bool)
            i, j = np.nonzero(ties & done[:, None])
            owners.append(at[i])
            donors.append(row[i, j])
            more.append(at[~done])
        asking, k = np.concatenate(more), 4 * k
    owner, donor = np.concatenate(owners), np.concatenate(donors).astype(np.int64)
    by = np.argsort(owner, kind="stable")
    return owner[by], donor[by]


def _by_distance(asked: _Points, offered: _Points) -> tuple[I64, I64]:
    """The same from all distances inside each cell."""
    owners, donors = [], []
    cells, first = np.unique(asked.cell, return_index=True)
    last = np.append(first[1:], len(asked.cell))
    start, stop = (np.searchsorted(offered.cell, cells, side=side) for side in ("left", "right"))
    with one_blas_thread():
        for a, b, c, e in zip(first, last, start, stop, strict=True):
            size = max(PAIRS // int(e - c), 1)
            for f in range(a, b, size):
                i, j = _nearest_pairs(asked.x[f : min(f + size, b)], offered.x[c:e])
                owners.append(f + i)
                donors.append(c + j)
    return np.concatenate(owners), np.concatenate(donors)


def _nearest_pairs(points: F64, pool: F64) -> tuple[I64, I64]:
    """The same for some points and one cell: |p|^2 - 2 x p for all, then the exact distance of what is near by that."""
    middle = pool.mean(axis=0)
    x, p = points - middle, pool - middle
    # What rounding can do to a squared distance is below `off` (|x|^2 + |p|^2).
    off = 8 * (points.shape[1] + 4) * np.finfo(np.float64).eps
    least = (-2 * x) @ p.T
    least += (1 - off) * (p**2).sum(axis=1)
    best = _distances(points, pool[least.argmin(axis=1)])
    bound = (best + 2 * _slack(points, best)) ** 2 - (1 - off) * (x**2).sum(axis=1)
    i, j = np.nonzero(least <= bound[:, None])
    step = PAIRS // points.shape[1] + 1
    distance = np.concatenate(
        [_distances(points[i[s : s + step]], pool[j[s : s + step]]) for s in range(0, len(i), step)]
    )
    near = np.minimum.reduceat(distance, np.searchsorted(i, np.arange(len(points))))
    ties = distance <= (near + _slack(points, near))[i]
    return i[ties], j[ties]


def _distances(x: F64, y: F64) -> F64:
    """The distance between each row of x and of y."""
    return np.asarray(np.sqrt(((x - y) ** 2).sum(axis=1)))
