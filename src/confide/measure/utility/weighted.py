"""Weighted moments and quantiles. Whole-number weights give what repeated rows would give: the divisor is the sum of
weights, so nothing depends on the unit of the weights."""

from __future__ import annotations

import numpy as np

from confide.frames.columns import F64


def mean(x: F64, w: F64) -> float:
    """sum w x / sum w over rows where x is not missing; NaN where there are none.

    >>> import numpy as np
    >>> mean(np.array([1.0, np.nan, 4.0]), np.array([2.0, 1.0, 1.0]))
    2.0
    """
    there = ~np.isnan(x) & (w > 0)
    return float(np.average(x[there], weights=w[there])) if there.any() else float("nan")


def variance(x: F64, w: F64) -> float:
    """sum w (x - mean)^2 / sum w over rows where x is not missing."""
    return mean((x - mean(x, w)) ** 2, w)


def covariance(x: F64, w: F64) -> F64:
    """Covariance matrix of the columns of x, shape (p, p); no value is missing."""
    centred = x - np.average(x, axis=0, weights=w)
    found: F64 = (centred * w[:, None]).T @ centred / w.sum()
    return found


def quantiles(x: F64, w: F64, shares: F64) -> F64:
    """The smallest value with at least each share of the weight at or below it (no interpolation).

    >>> import numpy as np
    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), np.array([0.25, 0.5, 1.0]))
    array([1., 2., 3.])
    """
    there = ~np.isnan(x) & (w > 0)
    x, w = x[there], w[there]
    order = np.argsort(x)
    values, total = x[order], np.cumsum(w[order])
    at = np.searchsorted(total, shares * total[-1] * (1 - 1e-12), side="left")
    return np.asarray(values[np.minimum(at, len(values) - 1)])
