r"""Two-way tables of which only exact margins are published: the recovery probability in closed form.

A zero is recovered just if some row or some column is known in full: otherwise every cell can rise by a step that goes
round over cells not known in full. With rows on the shorter side, inclusion and exclusion over sets A of rows gives

.. math:: P(\text{nothing recovered}) = \sum_A (-1)^{|A|} \prod_j (y^{c_{Aj}} - y^{c_{+j}}),

y^t standing for phi_n(t). Only sets of rows with at most n people matter.
"""

from __future__ import annotations

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints
from confide.tables.published import Published


def crossed_counts(published: Published, target: Bools) -> Ints | None:
    """The table, shorter side first, where all that is published are exact rows and columns (and the total)."""
    lower, upper = published.cell_bounds
    counts = published.table.counts
    if counts.ndim != 2 or min(counts.shape) < 2 or not target.all():
        return None
    if lower.any() or np.any(upper < UNBOUNDED) or np.any(published.lower != published.upper):
        return None
    names = {p.name for p in published.layout.parts}
    rows, columns = ((n,) for n in published.table.names)
    if not {rows, columns} <= names <= {rows, columns, ()}:
        return None
    return counts if counts.shape[0] <= counts.shape[1] else counts.T


def crossed_poly(counts: Ints, most: int) -> list[int]:
    """Rel(y) up to y^most: the probability of a recovery is its expectation."""
    people, columns = counts.sum(axis=1), counts.sum(axis=0)
    order = np.argsort(people, kind="stable")
    survival = [0] * (most + 1)
    stack: list[tuple[int, Ints, int]] = [(0, np.zeros(counts.shape[1], dtype=np.int64), 1)]
    while stack:
        at, chosen, sign = stack.pop()
        _add_product(survival, chosen, columns, sign)
        for k in range(at, len(order)):
            more = chosen + counts[order[k]]
            if more.sum() > most:
                break  # rows come by size
            stack.append((k + 1, more, -sign))
    return [int(t == 0) - s for t, s in enumerate(survival)]


def _add_product(survival: list[int], chosen: Ints, columns: Ints, sign: int) -> None:
    """Add sign times the product over columns of y^chosen - y^column, up to the degree of `survival`."""
    most, first = len(survival) - 1, int(chosen.sum())
    rest = sorted(int(d) for d in columns - chosen)
    if rest and rest[0] == 0:
        return  # a whole column is chosen: its factor is 0
    poly = [sign] + [0] * (most - first)
    for d in rest:
        if d > most - first:
            break
        for t in range(most - first, d - 1, -1):
            poly[t] -= poly[t - d]
    for t, p in enumerate(poly):
        survival[first + t] += p
