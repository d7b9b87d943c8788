"""How strongly two variables hang together, whatever their kinds: for choosing predictors and groups."""

from __future__ import annotations

import numpy as np

from confide.frames.columns import I64, Column

BINS = 8
"""Ranges into which numbers are put, and commonest categories that are told apart."""
ROWS = 20_000
"""Rows that are looked at, spread evenly over the file."""


def binned(column: Column) -> I64:
    """Each value in one of a few bins, missing values and answer codes in bins of their own; of a large file some rows.

    Numbers are put into ranges with about as many records each; of categories the commonest are told apart.
    """
    values = column.values[:: max(1, -(-len(column) // ROWS))]
    if column.kind == "categorical":
        codes, count = np.unique(values, return_counts=True)
        kept = np.sort(codes[np.argsort(-count, kind="stable")[:BINS]])
        at = np.clip(np.searchsorted(kept, values), 0, len(kept) - 1)
        return np.where(kept[at] == values, at, len(kept)).astype(np.int64)
    usable = ~np.isnan(values) & ~np.isin(values, column.special)
    cuts = np.unique(np.quantile(values[usable], np.arange(1, BINS) / BINS)) if usable.any() else np.zeros(0)
    inside = np.searchsorted(cuts, values, side="right")
    return np.where(usable, inside, BINS + np.isnan(values)).astype(np.int64)


def association(a: I64, b: I64) -> float:
    r"""Cramér's V of two lists of bins, with what chance alone gives taken off (Bergsma 2013); 0 for none, 1 at most.

    .. math:: \tilde V = \sqrt{\tilde\varphi^2 / \min(\tilde r - 1, \tilde c - 1)}, \qquad
        \tilde\varphi^2 = \max\left(0, \tfrac{\chi^2}{n} - \tfrac{(r-1)(c-1)}{n-1}\right)

    >>> association(np.array([0, 0, 1, 1] * 50), np.array([0, 0, 1, 1] * 50)) > 0.99
    True
    """
    n, r, c = len(a), int(a.max(initial=0)) + 1, int(b.max(initial=0)) + 1
    seen = np.bincount(a * c + b, minlength=r * c).reshape(r, c)
    seen = seen[seen.any(axis=1)][:, seen.any(axis=0)]  # bins that somebody is in
    r, c = seen.shape
    if n < 2 or r < 2 or c < 2:
        return 0.0
    expected = seen.sum(axis=1, keepdims=True) * seen.sum(axis=0) / n
    phi2 = max(0.0, float(((seen - expected) ** 2 / expected).sum()) / n - (r - 1) * (c - 1) / (n - 1))
    rows, columns = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    least = min(rows, columns) - 1
    return float(np.sqrt(min(1.0, phi2 / least))) if least > 0 else 0.0
