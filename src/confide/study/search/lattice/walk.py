"""Walks over the lattice of nodes: the best node first, and the minimal nodes that meet a condition.

A condition is *monotone* where every node above one that meets it meets it too. Then whatever lies above a node that
meets it is known to meet it, whatever lies below one that fails is known to fail, and neither is looked at.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64
from confide.study.search.lattice.cells import Node

UNKNOWN, FAILS, MEETS = 0, 1, 2
TOLERANCE = 1e-12
"""Losses that differ by less are tied: they are sums in floating point."""


@dataclass(eq=False)
class Lattice:
    """All nodes, and what is known of them. `visited`: nodes that the condition was computed for, in order."""

    shape: tuple[int, ...]
    holds: Callable[[Node], bool]
    monotone: bool = True
    visited: dict[Node, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tags: NDArray[np.int8] = np.zeros(self.shape, dtype=np.int8)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return int(self.tags.size)

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(k - 1 for k in self.shape)

    def meets(self, node: Node) -> bool:
        """Whether a node meets the condition: known, or computed now."""
        if self.tags[node] == UNKNOWN:
            self._tag(node, self.holds(node))
        return bool(self.tags[node] == MEETS)

    def _tag(self, node: Node, met: bool) -> None:
        self.visited[node] = met
        if not self.monotone:
            self.tags[node] = MEETS if met else FAILS
        elif met:
            self.tags[tuple(slice(k, None) for k in node)] = MEETS
        else:
            self.tags[tuple(slice(k + 1) for k in node)] = FAILS

    def settle(self) -> None:
        """Know every node: along chains of unknown nodes by halving (Flash; OLA) where the condition is monotone."""
        for node in self._by_height():
            if self.monotone:
                while self.tags[node] == UNKNOWN:
                    self._halve(self._chain(node))
            else:
                self.meets(node)

    def _chain(self, node: Node) -> list[Node]:
        """Unknown nodes, each above the one before."""
        chain = [node]
        while True:
            step = next((up for up in above(chain[-1], self.shape) if self.tags[up] == UNKNOWN), None)
            if step is None:
                return chain
            chain.append(step)

    def _halve(self, chain: Sequence[Node]) -> None:
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            low, high = (low, middle - 1) if self.meets(chain[middle]) else (middle + 1, high)

    def _by_height(self) -> Iterator[Node]:
        height = np.indices(self.shape).sum(axis=0)
        for place in np.argsort(height, axis=None, kind="stable"):
            yield tuple(int(k) for k in np.unravel_index(place, self.shape))

    def meeting(self) -> list[Node]:
        """All nodes that are known to meet the condition."""
        return [tuple(map(int, node)) for node in np.argwhere(self.tags == MEETS)]

    def minimal(self) -> list[Node]:
        """Nodes that meet the condition while no node directly below does."""
        met = self.tags == MEETS
        alone = met.copy()
        for axis in range(met.ndim):
            below = np.roll(met, 1, axis=axis)
            below[(slice(None),) * axis + (0,)] = False
            alone &= ~below
        return [tuple(map(int, node)) for node in np.argwhere(alone)]


def above(node: Node, shape: tuple[int, ...]) -> Iterator[Node]:
    """Nodes with one level more."""
    for v, (k, many) in enumerate(zip(node, shape, strict=True)):
        if k + 1 < many:
            yield (*node[:v], k + 1, *node[v + 1 :])


def best_first(lattice: Lattice, losses: Sequence[F64]) -> tuple[list[Node], int]:
    """The nodes of least loss that meet the condition, and how many were visited before the first of them was known.

    `losses`: by variable and level, rising with the level; the loss of a node is their sum. Nodes are taken in the
    order of their loss from the bottom, so the first that meets the condition is optimal, whether the condition is
    monotone or not; the walk goes on through ties.
    """
    start: Node = (0,) * len(lattice.shape)
    queue: list[tuple[float, int, Node]] = [(loss_of(start, losses), 0, start)]
    found: list[Node] = []
    seen, before, best = {start}, 0, np.inf
    while queue and queue[0][0] <= best + TOLERANCE:
        loss, _, node = heapq.heappop(queue)
        if lattice.meets(node):
            before, best = (before, best) if found else (len(lattice.visited), loss)
            found.append(node)
        for up in above(node, lattice.shape):
            if up not in seen:
                seen.add(up)
                heapq.heappush(queue, (loss_of(up, losses), sum(up), up))
    return found, before


def loss_of(node: Node, losses: Sequence[F64]) -> float:
    """The loss of a node."""
    return float(sum(each[k] for each, k in zip(losses, node, strict=True)))
