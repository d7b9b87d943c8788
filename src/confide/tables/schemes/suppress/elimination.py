"""Patterns of large tables: publish one quantity after the other, the largest first, unless that tells too much.

What is published spans a space of sums. A small count is told by linear equations if it lies in that space, so a
quantity that would bring one into it is hidden (Langsrud 2024). The cells are eliminated one by one, which keeps what
is left of each quantity once what is published is known. More is told where some cells can move one way only, as a 1
can that everybody knows to be 1 or more: a sum of such cells alone must not be published, or none of them can move. A
sum in which they come with either sign may be, if one move of all one-way cells at once can be mended to keep it.

This is no proof. What elimination leaves says how each hidden count changes with a few free cells, so that no sum needs
to be minded, only how far counts may go: moves in whole numbers are looked for there (`walk_kernel`). Where none is
found for a small count, it and the count that stood in the way are to move apart from others, and all is eliminated
again. In the end each secondary is shown again if moves are found without it (`spare_kernel`). Small counts
without a move are left to programmes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.tables.layout import Bools, Ints, Layout
from confide.tables.schemes.suppress.elimination_kernel import APART, ONEWAY, eliminated
from confide.tables.schemes.suppress.moves import Things
from confide.tables.schemes.suppress.spare_kernel import spared
from confide.tables.schemes.suppress.walk_kernel import walked

BUMP = 4
"""How far a sum of one-way cells may be from 0 in their joint move, before this is mended."""

STEPS, TRIES = 100, 60
"""Steps in search of a move, and free cells that are looked at for each."""

ROUNDS = 8
"""Eliminations at most."""

SPARED = 2
"""How often all secondaries are tried, and the small counts that may be without a move meanwhile."""
BARE = 100


def started(layout: Layout, things: Things, people: Ints, order: Ints) -> Ints:
    """Moves (moves x n) that change as many of the small counts `order` as are found to, and hide little for it.

    `people` (n): the true count of each thing; those first in `order` are looked at first.
    """
    table = _Eliminated(layout, things, people)
    moves = np.zeros((0, things.size), dtype=np.int64)
    left = order
    for _ in range(ROUNDS):
        found, blocked = table.moved(_changed(moves), left)
        moves = np.concatenate([moves, found])
        bare = ~_changed(moves)[left]
        table.apart(np.concatenate([left[bare], blocked[bare]]))
        left = left[bare]
        if not len(left):
            break
    for _ in range(SPARED):
        moves = table.spared(moves, order)
    return moves


class _Eliminated:
    """One table: its quantities as sums of the cells that can change (`rows`), each turned so that it can rise."""

    def __init__(self, layout: Layout, things: Things, people: Ints) -> None:
        cells = len(things.cells)
        self.things, self.people = things, people
        self.known = np.flatnonzero(things.quantity >= 0)
        self.place = np.full(things.size, -1, dtype=np.int64)
        self.place[self.known] = np.arange(len(self.known))
        self.live = np.flatnonzero((things.up[:cells] > 0) | (things.down[:cells] > 0))
        self.rows = layout.matrix[things.quantity[self.known]][:, things.cells[self.live]].tocsr()
        self.rows.sort_indices()
        up, down = things.up[self.live], things.down[self.live]
        self.oneway = (up == 0) | (down == 0)
        self.kind = np.where(self.oneway, ONEWAY, 0)
        self.rows.data = self.rows.data * np.where(up == 0, -1, 1)[self.rows.indices]

    def apart(self, which: Ints) -> None:
        """These things, where they are cells, are to move without others from now on."""
        self.kind[np.isin(self.live, which)] = APART

    def moved(self, last: Bools, targets: Ints) -> tuple[Ints, Ints]:
        """Moves for `targets` (moves x n), and what stood in the way of each, -1: nothing; `last` is published last."""
        arrays, targets = self._reduced(last, False), self.place[targets]
        moves, blocked = walked(*arrays, *self._ends(), self.oneway, targets, STEPS, TRIES)
        return self._whole(moves), np.where(blocked >= 0, self.known[np.maximum(blocked, 0)], -1)

    def spared(self, moves: Ints, targets: Ints) -> Ints:
        """Moves for the same of `targets` with which less is hidden."""
        used = _changed(moves)
        tried = np.flatnonzero(used & ~self.things.primary)
        tried = self.place[tried[np.argsort(-self.people[tried], kind="stable")]]
        arrays = self._reduced(used, True)
        targets = self.place[targets[used[targets]]]
        own = moves[:, self.known].astype(np.int32)
        found = spared(*arrays, *self._ends(), self.oneway, targets, tried[tried >= 0], own, STEPS, TRIES, BARE)
        whole = self._whole(found)
        return whole if bool(np.all(_changed(whole)[self.known[targets]])) else moves

    def _reduced(self, last: Bools, sure: bool) -> tuple[Ints, ...]:
        """What elimination leaves, by rows and by columns. `last`: tried last, or never (`sure`)."""
        from scipy.sparse import csr_matrix

        primary, last = self.things.primary[self.known], last[self.known]
        may = np.flatnonzero(~primary & ~(last & sure))
        turn = may[np.lexsort((-np.diff(self.rows.indptr)[may], -self.people[self.known][may], last[may]))]
        kind = np.where(self.oneway, ONEWAY, 0) if sure else self.kind
        start, at, by = eliminated(*_arrays(self.rows), turn, primary, kind, BUMP, sure)
        matrix = csr_matrix((by, at, start), shape=self.rows.shape)
        return *_arrays(matrix), *_arrays(matrix.tocsc())

    def _ends(self) -> tuple[Ints, Ints]:
        return self.things.up[self.known], self.things.down[self.known]

    def _whole(self, moves: Ints) -> Ints:
        """Those that are moves of the things, checked in whole numbers."""
        found = np.zeros((len(moves), self.things.size), dtype=np.int64)
        found[:, self.known] = moves
        return np.asarray(found[np.array([self.things.fits(move) for move in found], dtype=bool)])


def _changed(moves: Ints) -> Bools:
    return np.asarray(moves.any(axis=0))


def _arrays(matrix: Any) -> tuple[Ints, Ints, Ints]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.int64)
