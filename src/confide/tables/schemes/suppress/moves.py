"""Moves of a table: changes of its cells that leave every shown count as it is, as columns of one programme.

Notation: `n` things that can change: the cells that are not known to be 0, then the sums of several of them; column k
of the programme is the rise of thing k, column n + k its fall. A row says that a sum changes as its parts do: the sums
of the coarsest margin that divides it, or cells. Rows of few parts are what makes programmes fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.solve.programme import Floats, Programme, whole

POWER = 1.6
"""Of a count: the price of hiding it."""

MULTIPLE = 12
"""A move in fractions is tried this many times over."""


@dataclass(frozen=True, eq=False)
class Things:
    """What can change: `cells`, then sums. `quantity` (n): the published quantity of each, -1 for a cell without one.

    `rows` (sums x n): each sum's parts, less the sum. `up` and `down` (n): how far each may change, once hidden; 0
    where it must be shown. `price` (n): what hiding it costs; `primary` (n).
    """

    cells: Ints
    quantity: Ints
    rows: Any
    up: Ints
    down: Ints
    price: Floats
    primary: Bools

    @classmethod
    def of(cls, layout: Layout, counts: Ints, free: Bools, primary: Bools, may: Bools, low: Ints, high: Ints) -> Things:
        """Of a table of `counts` (m); the others as `Pattern` takes them."""
        true = layout.sums(counts)
        empty = np.asarray(layout.matrix[(true == 0) & ~may].sum(axis=0)).ravel() > 0  # everybody sees that
        live = np.flatnonzero(free & ~empty)
        own = np.full(layout.cells, -1, dtype=np.int64)
        alone = np.flatnonzero(layout.single >= 0)[::-1]
        own[layout.single[alone]] = alone
        of_cells = own[live]
        matrix = layout.matrix[:, live]
        sums = np.setdiff1d(np.flatnonzero(np.diff(matrix.indptr)), of_cells)
        quantity = np.concatenate([of_cells, sums])
        known = quantity >= 0
        at = np.maximum(quantity, 0)
        held = np.concatenate([counts[live], np.zeros(len(sums), dtype=np.int64)])
        can = may[at] | ~known
        up = np.where(can, np.where(known & (high[at] < UNBOUNDED), high[at] - true[at], UNBOUNDED), 0)
        down = np.where(can, np.where(known, true[at] - low[at], held), 0)
        rows = _parted(layout, live, quantity, len(sums))
        price = np.where(known, np.maximum(true[at], 1.0) ** POWER, 0.0)
        return cls(live, quantity, rows, up, down, price, primary[at] & known)

    @property
    def size(self) -> int:
        return len(self.quantity)

    def programme(self, down: Ints, integer: bool, seconds: float, gap: float, steps: int = 0) -> Programme:
        """Moves that fall by at most `down` (n); the others as `Programme` takes them."""
        from scipy.sparse import csr_matrix, hstack

        none, nothing = np.zeros(self.rows.shape[0]), np.zeros(2 * self.size)
        matrix = csr_matrix(hstack([self.rows, -self.rows]))
        most = np.concatenate([self.up, down])
        return Programme(matrix, none, none, nothing, most, integer, seconds, presolve=not steps, gap=gap, steps=steps)

    def scaled(self, move: Floats) -> Ints | None:
        """The smallest multiple of a move, up to MULTIPLE, that is whole and fits; None where there is none."""
        for by in range(1, MULTIPLE + 1):
            found = whole(by * move)
            if found is not None:
                return found if self.fits(found) else None
        return None

    def fits(self, move: Ints) -> bool:
        """Whether it is a move, in whole numbers."""
        return not bool((self.rows @ move).any()) and bool(np.all((move <= self.up) & (move >= -self.down)))


def _parted(layout: Layout, live: Ints, quantity: Ints, sums: int) -> Any:
    """Each of the last `sums` quantities as the sum of its parts, less itself (sums x n)."""
    from scipy.sparse import csr_matrix

    cells = len(live)
    thing = np.full(layout.quantities, -1, dtype=np.int64)
    thing[quantity[quantity >= 0]] = np.flatnonzero(quantity >= 0)
    row, column = [np.arange(sums)], [cells + np.arange(sums)]
    for part, where, finer in zip(layout.parts, layout.slices, layout.finer, strict=True):
        parent, child = part.entry[live], np.arange(cells)
        if finer >= 0:
            parent, child = part.entry[layout.parts[finer].firsts], thing[layout.slices[finer]]
        of = np.where(parent >= 0, thing[where.start + np.maximum(parent, 0)], -1)
        keep = (of >= cells) & (child >= 0)
        row.append(of[keep] - cells)
        column.append(child[keep])
    sign = np.concatenate([-np.ones(sums, dtype=np.int64), np.ones(sum(map(len, row[1:])), dtype=np.int64)])
    return csr_matrix((sign, (np.concatenate(row), np.concatenate(column))), shape=(sums, len(quantity)))
