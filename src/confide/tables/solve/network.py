"""Releases whose sums nest in two families (rows and columns): the table as a flow.

One family's sums are arcs from the root down to its smallest sets, the other's arcs from its smallest sets back to the
root; a cell is an arc from its set in the one to its set in the other. The true table is a feasible flow. The
constraints are totally unimodular, so what holds for flows holds for whole numbers, and the residual graph at the
true table answers every question: a cell whose people are all known can be raised just if its ends lie on a cycle of
open arcs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints
from confide.tables.published import Published

LIMIT = 2**50
"""More than any flow; room is cut to it, so that sums do not overflow."""


@dataclass(frozen=True, eq=False)
class Network:
    """Arcs of the table's flow: first the cells, then the sums. `flow`, `lower`, `upper`: one per arc."""

    nodes: int
    tail: Ints
    head: Ints
    flow: Ints
    lower: Ints
    upper: Ints
    cells: int

    @cached_property
    def rise(self) -> Ints:
        return np.asarray(np.minimum(self.upper - self.flow, LIMIT), dtype=np.int64)

    @cached_property
    def fall(self) -> Ints:
        return np.asarray(self.flow - self.lower, dtype=np.int64)

    @cached_property
    def graph(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Every arc in both directions, sorted by tail: start, head, twin, and the place of each forward arc."""
        ends = np.concatenate([self.tail, self.head])
        tips = np.concatenate([self.head, self.tail])
        order = np.argsort(ends, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        count = len(self.tail)
        twin = np.empty_like(order)
        twin[place[:count]], twin[place[count:]] = place[count:], place[:count]
        start = np.searchsorted(ends[order], np.arange(self.nodes + 1))
        return start.astype(np.int64), tips[order], twin, place[:count]

    def room(self, rise: Ints, fall: Ints) -> Ints:
        """Capacities in the order of `graph`."""
        _, _, twin, place = self.graph
        room = np.zeros(len(twin), dtype=np.int64)
        room[place], room[twin[place]] = rise, fall
        return room


def network_of(published: Published, counts: Ints | None = None) -> Network:
    """The flow of a release with one or two families of nested sums."""
    families = published.layout.families
    assert families is not None
    counts = published.table.counts.ravel() if counts is None else counts
    lower, upper = published.cell_bounds
    root, nodes = 0, 1
    tails, heads, quantities, ends = [], [], [], []
    for side, tree in enumerate(families):
        own = nodes + np.arange(tree.size)
        above = np.where(tree.parent < 0, root, nodes + tree.parent)
        tails.append(above if side == 0 else own)
        heads.append(own if side == 0 else above)
        quantities.append(tree.quantity)
        ends.append(np.where(tree.of_cell < 0, root, nodes + tree.of_cell))
        nodes += tree.size
    if len(families) == 1:
        ends.append(np.zeros(len(counts), dtype=np.int64))
    q = np.concatenate(quantities)
    return Network(
        nodes,
        np.concatenate([ends[0], *tails]),
        np.concatenate([ends[1], *heads]),
        np.concatenate([counts, published.truth[q]]),
        np.concatenate([lower, published.lower[q]]),
        np.concatenate([upper, np.minimum(published.upper[q], UNBOUNDED)]),
        len(counts),
    )


@dataclass(frozen=True, eq=False)
class FlowOracle:
    """Answers: with these cells known in full, is a target recovered? Cells are positions in `relevant`.

    `relevant`: cells of the table that can be known in full and matter; `weights`: their counts; `alone`: targets that
    are recovered as soon as they are known in full, whatever else is. `arguments`: the graph, and the targets, each a
    set of relevant cells, of which all must be recovered.
    """

    relevant: Ints
    weights: Ints
    alone: Bools
    arguments: tuple[Any, ...]

    @property
    def price(self) -> int:
        """What one question costs: the size of the graph, and something for asking."""
        return 50 + len(self.arguments[0]) + len(self.arguments[1])

    def some(self, known: Bools) -> bool:
        from confide.tables.solve.flow_kernels import some_recovered

        return bool(some_recovered(*self.arguments[:3], known, *self.arguments[3:]))

    def minimal(self, known: Bools, order: Ints) -> Ints:
        """A minimal part of `order` that recovers a target beside `known`; the first are given up first."""
        from confide.tables.solve.flow_kernels import smallest_set

        found = smallest_set(*self.arguments[:3], known.copy(), *self.arguments[3:], order)
        return np.asarray(found, dtype=np.int64)


def flow_oracle(network: Network, targets: list[Ints], most: int) -> FlowOracle:
    """The residual graph, shrunk to what matters when at most `most` people are known."""
    from confide.tables.solve.flow_kernels import components

    m = network.cells
    counts = network.flow[:m]
    open_up, open_down = network.rise > 0, network.fall > 0
    can = counts <= most
    gated = np.zeros(len(network.tail), dtype=bool)
    gated[:m] = can & open_down[:m]
    tails = np.concatenate([network.tail[open_up], network.head[open_down & ~gated]])
    heads = np.concatenate([network.head[open_up], network.tail[open_down & ~gated]])
    none = np.zeros(1, dtype=bool)
    start, head, _ = _csr(tails, heads, np.full(len(tails), -1), network.nodes)
    label = components(start, head, np.full(len(head), -1, dtype=np.int64), none)
    tail_of, head_of = label[network.tail[:m]], label[network.head[:m]]
    tight = ~open_up[:m]
    is_target = np.zeros(m, dtype=bool)
    is_target[np.concatenate([*targets, np.zeros(0, dtype=np.int64)])] = True
    moves = gated[:m] & (tail_of != head_of)
    hopeful = can & is_target & (tight | (tail_of != head_of))
    relevant = np.flatnonzero(moves | hopeful)
    place = np.full(m, -1, dtype=np.int64)
    place[relevant] = np.arange(len(relevant))
    tails, heads = label[tails], label[heads]
    fixed = np.unique(np.stack([tails, heads])[:, tails != heads], axis=1)
    mover = np.flatnonzero(moves)
    tails = np.concatenate([fixed[0], head_of[mover]])
    heads = np.concatenate([fixed[1], tail_of[mover]])
    gates = np.concatenate([np.full(fixed.shape[1], -1, dtype=np.int64), place[mover]])
    start, head, gate = _csr(tails, heads, gates, int(label.max(initial=0)) + 1)
    group_start, group = _reachable(targets, hopeful, place)
    arguments = (start, head, gate, tail_of[relevant], head_of[relevant], tight[relevant], group_start, group)
    alone = np.zeros(len(relevant), dtype=bool)
    alone[group[group_start[:-1][np.diff(group_start) == 1]]] = True
    return FlowOracle(relevant, counts[relevant], alone & tight[relevant], arguments)


def _reachable(targets: list[Ints], hopeful: Bools, place: Ints) -> tuple[Ints, Ints]:
    """Targets of which every cell can be recovered, as positions among the relevant cells."""
    if not targets:
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    sizes = np.array([len(g) for g in targets])
    cells = np.concatenate(targets)
    whole = np.ones(len(sizes), dtype=bool)
    whole[np.repeat(np.arange(len(sizes)), sizes)[~hopeful[cells]]] = False
    kept = sizes[whole & (sizes > 0)]
    group = place[cells[np.repeat(whole, sizes)]]
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64), group.astype(np.int64)


def _csr(tails: Ints, heads: Ints, gates: Ints, nodes: int) -> tuple[Ints, Ints, Ints]:
    order = np.argsort(tails, kind="stable")
    start = np.searchsorted(tails[order], np.arange(nodes + 1)).astype(np.int64)
    return start, heads[order].astype(np.int64), gates[order].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cheapest certificates by smallest cuts: open arcs cannot be cut, but a cell's way down can, at the price of
    knowing everybody in it."""

    network: Network

    @cached_property
    def room(self) -> Ints:
        counts = self.network.flow[: self.network.cells]
        fall = np.where(self.network.fall > 0, LIMIT, 0)
        fall[: self.network.cells] = np.where(self.network.fall[: self.network.cells] > 0, counts, 0)
        return self.network.room(np.where(self.network.rise > 0, LIMIT, 0), fall)

    @cached_property
    def apart(self) -> Bools:
        """Cells whose ends are not joined by arcs that cannot be cut: only these and tight ones have one."""
        from confide.tables.solve.flow_kernels import components

        net, m = self.network, self.network.cells
        up, down = net.rise > 0, net.fall > 0
        down[:m] = False
        tails = np.concatenate([net.tail[up], net.head[down]])
        heads = np.concatenate([net.head[up], net.tail[down]])
        start, head, gate = _csr(tails, heads, np.full(len(tails), -1), net.nodes)
        label = components(start, head, gate, np.zeros(1, dtype=bool))
        return np.asarray(label[net.tail[:m]] != label[net.head[:m]])

    def size(self, cell: int, limit: int = LIMIT) -> int:
        """The fewest people that must be known for `cell` to be recovered; `limit` where it takes that many or more."""
        return self._cut(cell, limit)[0]

    def certificate(self, cell: int) -> Ints | None:
        """The cells that must be known in full; None where nothing suffices."""
        from confide.tables.solve.flow_kernels import reach

        size, room = self._cut(cell, LIMIT)
        if size >= LIMIT:
            return None
        if room is None:
            return np.array([cell])
        start, head, twin, place = self.network.graph
        m = self.network.cells
        seen = reach(start, head, room, int(self.network.head[cell]))
        cut = (self.room[twin[place[:m]]] > 0) & seen[self.network.head[:m]] & ~seen[self.network.tail[:m]]
        return np.union1d(np.flatnonzero(cut), [cell]).astype(np.int64)

    def _cut(self, cell: int, limit: int) -> tuple[int, Ints | None]:
        from confide.tables.solve.flow_kernels import largest_flow

        own = int(self.network.flow[cell])
        if own >= limit or self.network.rise[cell] == 0:
            return min(own, limit), None
        if not self.apart[cell]:
            return limit, None
        start, head, twin, place = self.network.graph
        room = self.room.copy()
        room[place[cell]] = room[twin[place[cell]]] = 0
        source, sink = int(self.network.head[cell]), int(self.network.tail[cell])
        return own + int(largest_flow(start, head, twin, room, source, sink, limit - own)), room
