"""A first pattern for large tables: publish one quantity after the other, the largest first, unless that tells too much.

What is published spans a space of sums. A small count is told by linear equations if it lies in that space, so a
quantity that would bring one into it is hidden (Langsrud 2024). The cells are eliminated one by one, which keeps what
is left of each quantity once what is published is known. More is told where some cells can move one way only, as a 1
can that everybody knows to be 1 or more: a sum of such cells alone must not be published, or none of them can move. A
sum in which they come with either sign may be, if one move of all one-way cells at once can be mended to keep it. The
more it must be mended, the longer moves become; long moves meet the ends of what is possible.

Then moves in whole numbers are looked for that prove the pattern: what elimination leaves says how every hidden count
changes with a few free cells, so no sum needs to be minded, only how far each count may go (`walk_kernel`). Small counts
for which none is found are left to programmes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.tables.layout import Bools, Ints, Layout
from confide.tables.schemes.suppress.elimination_kernel import APART, ONEWAY, eliminated
from confide.tables.schemes.suppress.moves import Things
from confide.tables.schemes.suppress.walk_kernel import walked

BUMP = 1
"""How far a sum of one-way cells may be from 0 in their joint move, before this is mended."""

STEPS, TRIES = 100, 60
"""Steps in search of a move, and free cells that are looked at for each."""


def started(layout: Layout, things: Things, people: Ints, order: Ints) -> tuple[Bools, Ints]:
    """What to hide beside the small counts (n), and moves (moves x n) that change many of these.

    `people` (n): the true count of each thing; `order`: small counts, those looked at first at first.

    Where no move is found for a small count, it and the count that stood in the way are to move apart from others, and
    all is eliminated again; what moves at hand need is then published last.
    """
    it = _Elimination(layout, things, people)
    moves = np.zeros((0, things.size), dtype=np.int64)
    hidden = np.zeros(things.size, dtype=bool)
    left = order
    for _ in range(ROUNDS):
        hide, found, blocked = it.round(hidden, left)
        moves = np.concatenate([moves, found])
        hidden = moves.any(axis=0) & ~things.primary
        ok = moves.any(axis=0)[left]
        it.apart(np.concatenate([left[~ok], blocked[~ok]]))
        left = left[~ok]
        LOG.append((hide.sum(), people[hide].sum(), hidden.sum(), people[hidden].sum(), len(left)))
        if not len(left):
            break
    return hidden, moves


LOG = []
ROUNDS = 6


class _Elimination:
    """Rows and columns of one table, for several rounds."""

    def __init__(self, layout: Layout, things: Things, people: Ints) -> None:
        cells = len(things.cells)
        self.things, self.people = things, people
        self.known = np.flatnonzero(things.quantity >= 0)
        self.place = np.full(things.size, -1, dtype=np.int64)
        self.place[self.known] = np.arange(len(self.known))
        self.live = np.flatnonzero((things.up[:cells] > 0) | (things.down[:cells] > 0))
        self.rows = layout.matrix[things.quantity[self.known]][:, things.cells[self.live]].tocsr()
        self.rows.sort_indices()
        self.oneway = (things.up[self.live] == 0) | (things.down[self.live] == 0)
        self.kind = np.where(self.oneway, ONEWAY, 0)
        self.rows.data = self.rows.data * np.where(things.up[self.live] == 0, -1, 1)[self.rows.indices]  # all rise

    def apart(self, which: Ints) -> None:
        self.kind[np.isin(self.live, which)] = APART

    def round(self, hidden: Bools, targets: Ints) -> tuple[Bools, Ints, Ints]:
        """What to hide (n), moves for `targets`, and what stood in the way of each. `hidden`: published last."""
        from scipy.sparse import csr_matrix

        known, primary = self.known, self.things.primary[self.known]
        may = np.flatnonzero(~primary)
        size = np.diff(self.rows.indptr)
        turn = may[np.lexsort((-size[may], -self.people[known][may], hidden[known][may]))]
        hide, *left = eliminated(*_arrays(self.rows), turn, primary, self.kind, BUMP)
        matrix = csr_matrix((left[2], left[1], left[0]), shape=self.rows.shape)
        ends = self.things.up[known], self.things.down[known]
        moves, blocked = walked(*_arrays(matrix), *_arrays(matrix.tocsc()), *ends, self.oneway, self.place[targets],
                                STEPS, TRIES)  # fmt: skip
        found, out = np.zeros((len(moves), self.things.size), dtype=np.int64), np.zeros(self.things.size, dtype=bool)
        found[:, known] = moves
        out[known[hide]] = True
        found = found[[self.things.fits(move) for move in found]]
        return out, found, np.where(blocked >= 0, known[np.maximum(blocked, 0)], -1)


def _arrays(matrix: Any) -> tuple[Ints, Ints, Ints]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.int64)
