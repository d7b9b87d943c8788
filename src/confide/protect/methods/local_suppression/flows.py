r"""Whose values a release hides, where another tool made it: as the counts of the file and of the release allow.

Of the :math:`n_y` people with values y so many as are seen are shown whole. The others are among the rows with hidden
values that fit them; :math:`n_{yz}` of y are taken to be among the :math:`n_z` rows that show z so that sums over z
give the people left of y, sums over y the rows of z, and nothing else is assumed (iterative proportional fitting from
equal chances for all people that a row fits).
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import unfused
from confide.frames.columns import F64, I64

ROUNDS = 60


@unfused
def _fitting(y, left, z, whole, pairs):  # type: ignore[no-untyped-def]
    """Pairs (cell, combination) that fit, of cells with people left and combinations not shown whole; how many. With
    no room in `pairs` they are only counted."""
    many = 0
    for b in range(len(z)):
        if whole[b]:
            continue
        for a in range(len(y)):
            if left[a] <= 0:
                continue
            fits = True
            for v in range(y.shape[1]):
                if z[b, v] >= 0 and z[b, v] != y[a, v]:
                    fits = False
                    break
            if fits:
                if len(pairs):
                    pairs[many, 0], pairs[many, 1] = a, b
                many += 1
    return many


def allotted(y: I64, n_y: F64, z: I64, n_z: F64) -> tuple[I64, I64, F64]:
    """True values, what is shown of them, and how many people, for a release of which only counts are known.

    `y`, `n_y`: the file's joint values; `z`, `n_z`: those of the release, `MISSING` where hidden.
    """
    place = {row: i for i, row in enumerate(map(tuple, y.tolist()))}
    same = np.array([place.get(row, -1) for row in map(tuple, z.tolist())], dtype=np.int64)
    same = np.where((z >= 0).all(axis=1), same, -1)  # what lacks a value may be hidden, or missing in the file
    seen = np.zeros(len(y))
    seen[same[same >= 0]] = np.minimum(n_z[same >= 0], n_y[same[same >= 0]])
    left, room = n_y - seen, np.zeros((0, 2), dtype=np.int64)
    whole = same >= 0
    pairs = np.zeros((int(_fitting(y, left, z, whole, room)), 2), dtype=np.int64)
    if len(pairs):
        _fitting(y, left, z, whole, pairs)
    a, b = pairs.T
    n = left[a].copy()
    for _ in range(ROUNDS):
        for of, wanted in ((b, n_z), (a, left)):
            total = np.bincount(of, weights=n, minlength=len(wanted))
            n *= np.where(total[of] > 0, wanted[of] / np.where(total[of] > 0, total[of], 1.0), 0.0)
    at = np.flatnonzero(whole & (seen[np.maximum(same, 0)] > 0))
    cells, shown = np.concatenate([same[at], a]), np.concatenate([at, b])
    return y[cells], z[shown], np.concatenate([seen[same[at]], n])
