"""Compiled loops of baselines: medians of a cell mixed with the margin, and the best of some guesses within a share.

`first`: where each cell begins among `y`, sorted within cells; `every`: all values sorted; `mine`, `truth`, `inside`:
of people, who are left out of their cell and of the margin where they are inside; `prior`: the margin's weight, in
records."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.adopted.losses import WITHIN, how_wrong
from confide.core.run.compile import unfused


@unfused(inner=True)
def _below(y, a, b, x):  # type: ignore[no-untyped-def]
    """How many of the sorted y[a:b] are at most x."""
    while a < b:
        half = (a + b) // 2
        if y[half] <= x:
            a = half + 1
        else:
            b = half
    return a


@unfused
def medians(first, y, every, mine, truth, inside, prior, guess, loss, expected):  # type: ignore[no-untyped-def]
    """The median of (n_c - 1) values of the cell and `prior` records' worth of the margin, and its losses."""
    sums = np.concatenate((np.zeros(1), np.cumsum(y)))
    margin = np.concatenate((np.zeros(1), np.cumsum(every)))
    n = len(every)
    for i in range(len(mine)):
        a, b, own = first[mine[i]], first[mine[i] + 1], 1 if inside[i] else 0
        if n - own < 1:
            continue
        rest = prior / (n - own)
        half = (b - a - own + prior) / 2
        left, right = 0, n - 1
        while left < right:
            at = (left + right) // 2
            x = every[at]
            out = 1 if own and truth[i] <= x else 0
            mass = _below(y, a, b, x) - a - out + rest * (_below(every, 0, n, x) - out)
            if mass >= half * (1 - 1e-12):
                right = at
            else:
                left = at + 1
        best = every[left]
        guess[i], loss[i] = best, abs(best - truth[i])
        far = _away(sums, y, a, b, best) + rest * _away(margin, every, 0, n, best) - own * (1 + rest) * loss[i]
        expected[i] = max(far, 0.0) / (b - a - own + prior)


@unfused(inner=True)
def _away(sums, y, a, b, x):  # type: ignore[no-untyped-def]
    """The sum of |y - x| over the sorted y[a:b]; `sums`: cumulated y, with a zero before."""
    at = _below(y, a, b, x)
    return x * (at - a) - (sums[at] - sums[a]) + (sums[b] - sums[at]) - x * (b - at)


@unfused(inner=True)
def _ends(x, share):  # type: ignore[no-untyped-def]
    """Between which values a guess x is within a share of the truth."""
    near, far = x / (1 + share), (x / (1 - share) if share < 1 else np.inf * (1 if x > 0 else -1 if x < 0 else 0))
    if x == 0:
        return (0.0, 0.0) if share < 1 else (-np.inf, np.inf)
    low, high = min(near, far), max(near, far)
    return low - 1e-9 * abs(low), high + 1e-9 * abs(high)


@unfused
def grid_guesses(first, y, every, tried, mine, truth, inside, prior, share, guess, loss, expected):  # type: ignore[no-untyped-def]
    """The best of the guesses tried, by how much of cell and margin it is within a share of."""
    n, g = len(every), len(tried)
    cells = np.zeros((len(first) - 1, g))
    margin = np.zeros(g)
    for k in range(g):
        low, high = _ends(tried[k], share)
        under = np.nextafter(low, -np.inf)
        margin[k] = _below(every, 0, n, high) - _below(every, 0, n, under)
        for c in range(len(first) - 1):
            cells[c, k] = _below(y, first[c], first[c + 1], high) - _below(y, first[c], first[c + 1], under)
    for i in range(len(mine)):
        c, own = mine[i], 1 if inside[i] else 0
        total = first[c + 1] - first[c] - own + prior
        best, most = np.nan, -1.0
        for k in range(g):
            out = own * (1.0 - how_wrong(tried[k], truth[i], WITHIN, share))
            mass = cells[c, k] - out + prior * (margin[k] - out) / max(n - own, 1)
            if mass > most * (1 + 1e-12):
                best, most = tried[k], mass
        guess[i], loss[i] = best, how_wrong(best, truth[i], WITHIN, share)
        expected[i] = 1.0 - most / total
