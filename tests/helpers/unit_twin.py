"""Posteriors of units by loops, straight from the formula, for one category that was altered record by record."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]


def at_home(y: list[int], unit: list[int], pi: list[F64]) -> float:
    """kappa, from all pairs of rows of one unit; `pi`: what is believed of each row."""
    pairs = [(a, b) for a, b in combinations(range(len(y)), 2) if unit[a] == unit[b]]
    agree = sum(y[a] == y[b] for a, b in pairs) / len(pairs)
    chance = sum(float(pi[a] @ pi[b]) for a, b in pairs) / len(pairs)
    return float(np.sqrt((agree - chance) / (1 - chance)))


def unit_weights(
    t: int, block: list[bool], unit: list[int], like: F64, pi: list[F64], kappa: float
) -> dict[int, float]:
    """w_u of every unit for a target of category t.

    Of released records: `block`, whether they agree with all that is certain, their `unit`, `like[c, j]` = Pr(z_j
    given c), and `pi`, what is believed of categories in their cell.
    """
    k = len(like)

    def row_says(i: int, h: int) -> float:
        """Pr(z_i given the home)."""
        return float(sum((kappa * (c == h) + (1 - kappa) * pi[i][c]) * like[c, i] for c in range(k)))

    def rows_say(rows: list[int], home: F64) -> float:
        """Pr(z of some rows), homes being distributed as given."""
        return float(sum(home[h] * np.prod([row_says(i, h) for i in rows]) for h in range(k)))

    out: dict[int, float] = {}
    for j in range(len(unit)):
        if block[j]:
            others = [i for i in range(len(unit)) if unit[i] == unit[j] and i != j]
            home_t = np.array([pi[j][h] * (kappa * (t == h) + (1 - kappa) * pi[j][t]) for h in range(k)])
            ratio = rows_say(others, home_t / home_t.sum()) / (rows_say([j, *others], pi[j]) / rows_say([j], pi[j]))
            single = like[t, j] / float(pi[j] @ like[:, j])
            out[unit[j]] = out.get(unit[j], 0.0) + single * ratio
    return out
