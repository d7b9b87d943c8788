"""The tightest whole numbers that a release allows for each cell.

One tree of sums: two passes over it are sharp. Two families: the furthest a cell can move from the true table is a
largest flow. Anything else: linear programmes, then integer ones where a linear answer is not whole. An answer that is
not proven is labelled, and is then a bound that holds but may not be the tightest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.errors import ConfideError
from confide.core.run.progress import Progress, progress_bar
from confide.core.run.threads import run_pieces, thread_count
from confide.tables.layout import UNBOUNDED, Bools, Ints, Tree
from confide.tables.published import Published
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.network import LIMIT, network_of
from confide.tables.solve.programme import Answer, Programme, whole


@dataclass(frozen=True, eq=False)
class Bounds:
    """Arrays of length m; `method` is "tree", "flow", "programme" or "propagation"."""

    lower: Ints
    upper: Ints
    proven: Bools
    method: str


def bounds_of(published: Published, sharp: bool = True, progress: Progress = False) -> Bounds:
    """Bounds of every cell; see `Published.bounds`."""
    layout = published.layout
    if layout.laminar or not sharp:
        lower, upper = propagated(published)
        fixed = layout.laminar or lower == upper
        return Bounds(lower, upper, np.broadcast_to(fixed, lower.shape), "tree" if layout.laminar else "propagation")
    if layout.families is not None:
        return _by_flow(published, progress)
    return _by_programme(published, progress)


def propagated(published: Published, rounds: int = 50) -> tuple[Ints, Ints]:
    """Pass bounds up and down every tree of sums until nothing changes. Sharp where there is one tree."""
    low, up = (b.astype(np.float64) for b in published.cell_bounds)
    up[up >= UNBOUNDED] = np.inf
    row_low = published.lower.astype(np.float64)
    row_up = np.where(published.upper >= UNBOUNDED, np.inf, published.upper.astype(np.float64))
    trees = published.layout.chains
    for _ in range(rounds if len(trees) > 1 else 1):
        before = low.sum(), up[np.isfinite(up)].sum(), np.isfinite(up).sum()
        for tree in trees:
            low, up = _through(tree, low, up, row_low[tree.quantity], row_up[tree.quantity])
        if before == (low.sum(), up[np.isfinite(up)].sum(), np.isfinite(up).sum()):
            break
    return low.astype(np.int64), np.where(np.isfinite(up), up, UNBOUNDED).astype(np.int64)


def _through(tree: Tree, low: Floats, up: Floats, node_low: Floats, node_up: Floats) -> tuple[Floats, Floats]:
    """One pass up and one down. A node's slack is shared among its children, sums of others left out."""
    if not tree.size:
        return low, up
    held = np.flatnonzero(tree.of_cell >= 0)
    home = tree.of_cell[held]
    sum_low = np.bincount(home, weights=low[held], minlength=tree.size)
    finite = np.isfinite(up[held])
    sum_up = np.bincount(home[finite], weights=up[held][finite], minlength=tree.size)
    open_up = np.bincount(home[~finite], minlength=tree.size)
    node_low, node_up = node_low.copy(), node_up.copy()
    for v in range(tree.size):
        node_low[v] = max(node_low[v], sum_low[v])
        node_up[v] = min(node_up[v], np.inf if open_up[v] else sum_up[v])
        w = tree.parent[v]
        if w >= 0:
            sum_low[w] += node_low[v]
            if np.isinf(node_up[v]):
                open_up[w] += 1
            else:
                sum_up[w] += node_up[v]
    own_low, own_up = node_low.copy(), node_up.copy()  # as they entered the sums above
    for v in range(tree.size - 1, -1, -1):
        w = tree.parent[v]
        if w >= 0:
            node_up[v] = min(node_up[v], node_up[w] - (sum_low[w] - own_low[v]))
            others_open = open_up[w] - np.isinf(own_up[v])
            if not others_open:
                others = sum_up[w] - (0.0 if np.isinf(own_up[v]) else own_up[v])
                node_low[v] = max(node_low[v], node_low[w] - others)
    new_low, new_up = low.copy(), up.copy()
    new_up[held] = np.minimum(up[held], node_up[home] - (sum_low[home] - low[held]))
    others = sum_up[home] - np.where(finite, up[held], 0.0)
    closed = open_up[home] - ~finite == 0
    new_low[held] = np.where(closed, np.maximum(low[held], node_low[home] - others), low[held])
    return new_low, new_up


def _by_flow(published: Published, progress: Progress) -> Bounds:
    from confide.tables.solve.flow_kernels import largest_changes

    network = network_of(published)
    start, head, twin, place = network.graph
    room = network.room(network.rise, network.fall)
    m = network.cells
    up, down = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)

    def work(first: int, last: int) -> None:
        largest_changes(start, head, twin, room, place, first, last, up, down, LIMIT)

    with progress_bar("cells", m, progress) as done:
        run_pieces(work, [(a, min(a + 64, m)) for a in range(0, m, 64)], thread_count(None), done)
    counts = network.flow[:m]
    upper = np.where(up >= LIMIT, UNBOUNDED, counts + up)
    return Bounds(counts - down, upper, np.ones(m, dtype=bool), "flow")


def _by_programme(published: Published, progress: Progress) -> Bounds:
    search = _Search(published)
    with progress_bar("cells", published.layout.cells, progress) as done:
        for cell in range(published.layout.cells):
            search.settle(cell)
            done(1)
    return Bounds(search.lower, search.upper, search.proven, "programme")


class _Search:
    """Bounds cell by cell. Every whole table that comes up is kept as a witness of the values it has."""

    def __init__(self, published: Published) -> None:
        wide = np.flatnonzero(published.layout.single < 0)
        self.matrix = published.layout.matrix[wide]
        self.rows = published.lower[wide], published.upper[wide]
        self.lower, self.upper = (b.copy() for b in propagated(published))
        self.start = self.lower.copy(), self.upper.copy()
        self.least = published.table.counts.ravel().copy()
        self.most = self.least.copy()
        self.proven = np.ones(published.layout.cells, dtype=bool)
        self.linear = Programme(self.matrix, *self.rows, *self.start)
        self.integer: Programme | None = None

    def settle(self, cell: int) -> None:
        objective = np.zeros(len(self.lower))
        objective[cell] = 1.0
        for up in (True, False):
            if self._done(cell, up):
                continue
            answer = self._solve(self.linear, objective, up)
            self._note(answer)
            if answer.status == "unbounded":
                self.upper[cell] = UNBOUNDED
                continue
            if answer.status == "optimal":
                self._tighten(cell, up, answer.bound)
            if not self._done(cell, up):
                self._prove(cell, up, objective)

    def _prove(self, cell: int, up: bool, objective: Floats) -> None:
        if self.integer is None:
            self.integer = Programme(self.matrix, *self.rows, *self.start, integer=True, seconds=20.0)
        answer = self._solve(self.integer, objective, up)
        self._note(answer)
        if np.isfinite(answer.bound):
            self._tighten(cell, up, answer.bound)
        if not self._done(cell, up):
            self.proven[cell] = False

    @staticmethod
    def _solve(programme: Programme, objective: Floats, up: bool) -> Answer:
        answer = programme.maximise(objective) if up else programme.minimise(objective)
        if answer.status == "infeasible":
            raise ConfideError("The solver found no table that fits the release, though the true one does.")
        return answer

    def _tighten(self, cell: int, up: bool, bound: float) -> None:
        """Whole numbers inside what is proven, with room for the solver's rounding."""
        if up:
            self.upper[cell] = min(self.upper[cell], int(np.floor(bound + 1e-6)))
        else:
            self.lower[cell] = max(self.lower[cell], int(np.ceil(bound - 1e-6)))

    def _done(self, cell: int, up: bool) -> bool:
        return bool(self.upper[cell] == self.most[cell] if up else self.lower[cell] == self.least[cell])

    def _note(self, answer: Answer) -> None:
        """A solution that is a table of whole numbers and fits, checked in whole numbers."""
        x = whole(answer.x) if answer.found else None
        if x is None or np.any(x < self.start[0]) or np.any(x > self.start[1]):
            return
        sums = self.matrix @ x
        if np.all(sums >= self.rows[0]) and np.all(sums <= self.rows[1]):
            self.least, self.most = np.minimum(self.least, x), np.maximum(self.most, x)
