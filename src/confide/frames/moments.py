"""Means and spreads from distinct values with counts: the same numbers whatever the order of records, and in parts."""

from __future__ import annotations

import numpy as np

from confide.frames.columns import F64


def spread(values: F64, count: F64 | None = None) -> float:
    """The standard deviation of numbers, by n - 1; 0 for one alone. `count`: how many records have each.

    >>> spread(np.array([1.0, 2.0, 4.0, 2.0])) == spread(np.array([4.0, 2.0, 1.0]), np.array([1.0, 2.0, 1.0]))
    True
    """
    known, of = np.unique(values, return_inverse=True)
    n = np.bincount(of, weights=count)
    total = float(n.sum())
    if total < 2:
        return 0.0
    mean = float((n * known).sum()) / total
    return float(np.sqrt((n * (known - mean) ** 2).sum() / (total - 1)))
