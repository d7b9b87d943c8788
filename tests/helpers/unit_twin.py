"""Posteriors of units by loops, straight from the formula, for one category that was altered record by record."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def at_home(y: list[int], unit: list[int], pi: F64) -> float:
    """kappa, from all pairs of rows of one unit."""
    pairs = [(a, b) for a, b in combinations(range(len(y)), 2) if unit[a] == unit[b]]
    agree = sum(y[a] == y[b] for a, b in pairs) / len(pairs)
    chance = float((pi**2).sum())
    return float(np.sqrt((agree - chance) / (1 - chance)))


def unit_weights(
    t: int, single: F64, block: list[bool], z: list[int], unit: list[int], like: F64, pi: F64, kappa: float
) -> dict[int, float]:
    """w_u of every unit for a target of category t.

    `single`: the weights of single records, `block`: whether a record agrees with all that is certain, `like[c, j]`: Pr(z_j
    given c).
    """
    k = len(pi)
    given_home = np.array([[kappa * (c == h) + (1 - kappa) * pi[c] for c in range(k)] for h in range(k)])

    def rows_say(rows: list[int], home: F64) -> float:
        """Pr(z of some rows), homes being distributed as given."""
        total = 0.0
        for h in range(k):
            product = home[h]
            for i in rows:
                product *= sum(given_home[h, c] * like[c, i] for c in range(k))
            total += product
        return total

    home_t = np.array([pi[h] * given_home[h, t] for h in range(k)])
    home_t = home_t / home_t.sum()
    out: dict[int, float] = {}
    for j in range(len(z)):
        if block[j]:
            others = [i for i in range(len(z)) if unit[i] == unit[j] and i != j]
            ratio = rows_say(others, home_t) / (rows_say([j, *others], pi) / rows_say([j], pi))
            out[unit[j]] = out.get(unit[j], 0.0) + single[j] * ratio
    return out
