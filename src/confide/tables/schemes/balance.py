"""Roundings of cells, each to the multiple below or above it, whose errors cancel out in the margins.

Notation: `s` cells to round, `P` margins; quantity[k, j]: the sum of margin k that cell j belongs to, -1 for none;
error (Q): published less true. The energy is the sum over all quantities of e^2 + 9 e^4 / (16 base^2), so that one
large error weighs more than many small ones, and of HEAVY (|e| - reach)^2 where an error is beyond its `reach` (Q).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.random.draws import Draws
from confide.core.run.compile import compiled
from confide.tables.layout import UNBOUNDED, Ints, Layout

WORK = 30_000_000
"""Looks at an error that a search may take: some seconds where errors do not fit into the cache."""

ROUNDS = 2_000
"""Rounds of a search at most; and at least 50."""

HEAVY = 100.0


def nearest_sums(layout: Layout, counts: Ints, at: Ints, low: Ints, base: int, reach: Ints, draws: Draws) -> Ints:
    """A table (m): `low` (m), and `base` more in some of the cells `at`, such that sums are near those of `counts`.

    What is random, the order of the cells and the chances of the search, is in `draws`.
    """
    start = layout.sums(low) - layout.sums(counts)
    table = low.copy()
    if not len(at):
        return table
    quantity = np.stack(
        [
            np.where(p.entry[at] >= 0, p.entry[at] + s.start, -1)
            for p, s in zip(layout.parts, layout.slices, strict=True)
        ]
    )
    rounds = int(np.clip(WORK // quantity.size, 50, ROUNDS))
    hot = np.geomspace(20.0, 0.7, rounds) * (base / 3.0) ** 2
    order = draws.of("order").order(np.arange(len(at)))
    chances = draws.of("chances").uniform(np.arange(1 << 18))
    up = balanced(quantity, start, reach, order, base, hot, chances)
    table[at[up]] += base
    return table


def no_reach(quantities: int) -> Ints:
    """Errors of any size are allowed."""
    return np.full(quantities, UNBOUNDED)


@compiled(inner=True)
def _change(quantity: Any, error: Any, reach: Any, j: int, by: int, quartic: float) -> float:
    """What the energy grows by if cell j changes by so much."""
    out = 0.0
    for k in range(quantity.shape[0]):
        q = quantity[k, j]
        if q >= 0:
            old = float(error[q] * error[q])
            new = float((error[q] + by) * (error[q] + by))
            before = max(abs(error[q]) - reach[q], 0)
            after = max(abs(error[q] + by) - reach[q], 0)
            out += new - old + quartic * (new * new - old * old) + HEAVY * (after * after - before * before)
    return out


@compiled(inner=True)
def _set(quantity: Any, error: Any, j: int, by: int) -> None:
    for k in range(quantity.shape[0]):
        q = quantity[k, j]
        if q >= 0:
            error[q] += by


@compiled
def balanced(quantity: Any, error: Any, reach: Any, order: Any, base: int, hot: Any, chances: Any) -> Any:
    """Which cells (s) go up. `error`: with none of them up; it is changed to that of the answer.

    First one cell after another, each to the better side; then rounds in which a change for the worse is accepted with
    probability exp(-worse / temperature), `hot` (rounds) giving the temperatures and `chances` numbers in [0, 1); then
    until no change of one cell is for the better.
    """
    up = np.zeros(len(order), np.bool_)
    quartic = 9.0 / (16.0 * float(base) ** 2)
    for j in order:
        if _change(quantity, error, reach, j, base, quartic) < 0.0:
            up[j] = True
            _set(quantity, error, j, base)
    drawn = 0
    for temperature in hot:
        for j in order:
            by = -base if up[j] else base
            worse = _change(quantity, error, reach, j, by, quartic)
            chance = chances[drawn % len(chances)]
            drawn += 1
            if worse < 0.0 or chance < np.exp(-worse / temperature):
                up[j] = not up[j]
                _set(quantity, error, j, by)
    changed = True
    while changed:
        changed = False
        for j in order:
            by = -base if up[j] else base
            if _change(quantity, error, reach, j, by, quartic) < -1e-9:
                up[j] = not up[j]
                _set(quantity, error, j, by)
                changed = True
    return up
