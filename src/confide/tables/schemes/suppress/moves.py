"""Moves of a table: changes of its cells that leave every shown count as it is, as columns of one programme.

Notation: `n` things that can change: the cells that are not known to be 0, then the sums of several of them; column k
of the programme is the rise of thing k, column n + k its fall. A row says that a sum changes as its cells do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.solve.programme import Floats, Programme


@dataclass(frozen=True, eq=False)
class Things:
    """What can change: `cells`, then sums. `quantity` (n): the published quantity of each, -1 for a cell without one.

    `rows` (sums x n): each sum's cells, less the sum. `up` and `down` (n): how far each may change, once hidden; 0
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
        from scipy.sparse import csr_matrix, hstack, identity

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
        rows = csr_matrix(hstack([matrix[sums], -identity(len(sums), dtype=np.int64, format="csr")]))
        price = np.where(known, np.maximum(true[at], 1.0) ** 1.6, 0.0)
        return cls(live, quantity, rows, up, down, price, primary[at] & known)

    @property
    def size(self) -> int:
        return len(self.quantity)

    def programme(self, down: Ints, integer: bool, seconds: float, gap: float) -> Programme:
        """Moves that fall by at most `down` (n)."""
        from scipy.sparse import csr_matrix, hstack

        none, nothing = np.zeros(self.rows.shape[0]), np.zeros(2 * self.size)
        matrix = csr_matrix(hstack([self.rows, -self.rows]))
        return Programme(matrix, none, none, nothing, np.concatenate([self.up, down]), integer, seconds, gap=gap)

    def fits(self, move: Ints) -> bool:
        """Whether it is a move, in whole numbers."""
        return not bool((self.rows @ move).any()) and bool(np.all((move <= self.up) & (move >= -self.down)))
