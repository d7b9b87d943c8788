r"""Which pairs a log-linear model needs: Skinner and Shlomo's forward search.

For :math:`h(\lambda)`, the chance that a sample unique is alone in the population (1) or its expected 1/F (2),

.. math:: B = \sum \mu e^{-\mu} \{ -h' (f-\mu)/\pi + h'' [(f-\mu)^2 - f]/(2\pi^2) \}

over all cells estimates how far a model overstates the file's sum of h; with its variance under the model,
:math:`\sum a_1^2 \mu + 2 a_2^2 \mu^2` for the two coefficients, :math:`z = B / sd`. Far above 0 the model is too poor,
far below too rich. The search starts at independence and adds the pair that brings z2 nearest to 0.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from confide.attack.population.loglinear import Pair, dense, expected, with_pair
from confide.frames.columns import F64, I64

Z1, Z2 = 2.0, 1.0
"""The search stops where |z1| and |z2| are below these."""
LOW = -3.0
"""With fitted means z leans below 0 for a model that is right: only below this is one too rich."""
TRIED = 3
"""Pairs that are fitted at each step, the best by the first step towards their fits."""
LOOSE = 1e-5
"""How closely margins are fitted during the search, as a share of the total."""
MANTISSA = 45
"""Bits of a mean that are left out when cells are compared: means agree to 1 / 128."""
SMALL = 0.02
"""Below this mean derivatives of (1 - exp(-x)) / x are summed as series."""


def choose(cells: I64, count: F64, sizes: tuple[int, ...], fraction: float) -> F64:
    """z1, z2 and the pairs of the model that the search ends with, as one array of numbers."""
    table = dense(cells, count, sizes)
    occupied = np.flatnonzero(table)
    sample = occupied, table.ravel()[occupied], fraction
    mu, chosen = expected(table, []), list[Pair]()
    z = bias(mu, *sample)
    left = list(combinations(range(table.ndim), 2))
    while left and not (abs(z[0]) < Z1 and abs(z[1]) < Z2):
        pair, fitted, reached = _next(table, mu, chosen, left, sample)
        if abs(reached[1]) >= abs(z[1]):
            break
        mu, z = fitted, reached
        chosen.append(pair)
        left.remove(pair)
    return np.array([*z, *(v for pair in chosen for v in pair)])


def chosen_pairs(found: F64) -> list[Pair]:
    """The pairs in what `choose` gave."""
    return [(int(a), int(b)) for a, b in found[2:].reshape(-1, 2)]


def _next(
    table: F64, mu: F64, chosen: list[Pair], left: list[Pair], sample: tuple[I64, F64, float]
) -> tuple[Pair, F64, tuple[float, float]]:
    """The pair that brings z2 nearest to 0, with its fit and its z."""
    first = [abs(bias(with_pair(mu, table, p), *sample)[1]) for p in left]
    best: tuple[Pair, F64, tuple[float, float]] | None = None
    for at in np.argsort(first, kind="stable")[:TRIED]:
        fitted = expected(table, [*chosen, left[at]], mu, LOOSE)
        z = bias(fitted, *sample)
        if best is None or abs(z[1]) < abs(best[2][1]):
            best = left[at], fitted, z
    assert best is not None
    return best


def bias(mu: F64, occupied: I64, count: F64, fraction: float) -> tuple[float, float]:
    """z1 and z2 of a fit; 0 where nothing can be wrong (the sample is the population)."""
    (b1, sd1), (b2, sd2) = estimated_bias(mu, occupied, count, fraction)
    return b1 / sd1 if sd1 > 0 else 0.0, b2 / sd2 if sd2 > 0 else 0.0


def estimated_bias(mu: F64, occupied: I64, count: F64, fraction: float) -> list[tuple[float, float]]:
    """B and its standard deviation under the model, for both sums.

    Terms of empty cells depend on mu alone: cells whose mu agrees to 1 percent are summed at their mean.
    """
    per = (1 - fraction) / fraction
    cells, mean = _alike(mu)
    own = np.maximum(mu.ravel()[occupied], 1e-300)
    every, mine = _coefficients(mean, per), _coefficients(own, per)
    found = []
    for (a1, a2), (b1, b2) in zip(every, mine, strict=True):
        estimate = float((cells * mean * (a2 * mean - a1)).sum())
        estimate += float((count * (b1 + b2 * (count - 1 - 2 * own))).sum())
        variance = float((cells * mean * (a1 * a1 + 2 * a2 * a2 * mean)).sum())
        found.append((estimate, float(np.sqrt(variance))))
    return found


def _alike(mu: F64) -> tuple[F64, F64]:
    """How many cells have about the same mean, and their mean: by its first bits."""
    flat = mu[mu > 0]
    bits = flat.view(np.int64) >> MANTISSA
    bits = bits - bits.min()
    cells, total = np.bincount(bits), np.bincount(bits, weights=flat)
    there = cells > 0
    return cells[there].astype(float), total[there] / cells[there]


def _coefficients(mu: F64, per: float) -> tuple[tuple[F64, F64], tuple[F64, F64]]:
    """Coefficients of f - mu and of (f - mu)^2 - f, for both h; `per`: people who are not sampled per record."""
    x = mu * per
    e, common = np.exp(-x), mu * np.exp(-mu) * per
    slope, bend = _inverse(x, e)
    return (common * e, common * e * (per / 2)), (common * slope, common * bend * (per / 2))


def _inverse(x: F64, e: F64) -> tuple[F64, F64]:
    """-h' and h'' of h = (1 - exp(-x)) / x, as functions of x; `e` is exp(-x)."""
    big = np.maximum(x, SMALL)
    slope, bend = (1 - e * (1 + big)) / (big * big), (2 - e * (2 + big * (2 + big))) / (big * big * big)
    low = x < SMALL
    s = x[low]
    slope[low] = 1 / 2 - s * (1 / 3 - s * (1 / 8 - s * (1 / 30 - s / 144)))
    bend[low] = 1 / 3 - s * (1 / 4 - s * (1 / 10 - s * (1 / 36 - s / 168)))
    return slope, bend
