"""The transportation problem as it is worked on: what is given, and what has been placed so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.learning.one_to_one.paths import augment
from confide.frames.columns import F64, I64

NEVER = 1e7
"""What it costs not to place somebody who must be placed, in nats: more than any chain of worse matches."""


@dataclass(frozen=True, eq=False)
class Tree:
    """What has been placed so far: `x`, duals `u` and `price`; per node how many are there, and lists of its edges."""

    x: I64
    u: F64
    price: F64
    links: I64
    used: I64
    head: I64

    def copy(self) -> Tree:
        return Tree(*(v.copy() for v in (self.x, self.u, self.price, self.links, self.used, self.head)))


@dataclass(frozen=True, eq=False)
class Problem:
    """Edges, records and pools, as `solve` takes them."""

    start: I64
    col: I64
    cost: F64
    capacity: I64
    pool_of: I64
    ends: I64
    h: F64
    order: I64

    @cached_property
    def rows(self) -> I64:
        return np.repeat(np.arange(len(self.pool_of)), np.diff(self.start))

    @cached_property
    def first(self) -> F64:
        """What the first one costs who is not placed, by pool."""
        out = np.full(len(self.ends) - 1, NEVER)
        some = self.ends[1:] > self.ends[:-1]
        out[some] = self.h[self.ends[:-1][some]]
        return out

    def begin(self, given: F64 | None) -> Tree:
        """Nobody is placed."""
        a, nodes = len(self.pool_of), len(self.capacity) + len(self.first)
        price = np.concatenate([np.zeros(len(self.capacity)) if given is None else given, self.first])
        u = self.first[self.pool_of].copy() if a else np.zeros(0)
        np.minimum.at(u, self.rows, self.cost + price[self.col])
        flow, links = np.zeros(len(self.col) + a, dtype=np.int64), np.full(len(self.col) + a, -2, dtype=np.int64)
        return Tree(flow, u, price, links, np.zeros(nodes, dtype=np.int64), np.full(nodes, -1, dtype=np.int64))

    def place(self, tree: Tree, todo: I64, level: F64 | None = None) -> None:
        """So many targets more of each type; `level`: at constant costs of pools, instead of the true ones."""
        ends, h, beyond = self.ends, self.h, np.full(len(self.first), NEVER)
        if level is not None:
            ends, h, beyond = np.zeros_like(ends), np.zeros(0), level
        nodes, a = len(tree.price), len(todo)
        augment(
            self.start, self.col, self.cost, self.rows, self.capacity, self.pool_of, ends, h, beyond,
            self.order, todo, tree.u, tree.price, tree.x, tree.links, tree.used, tree.head, np.zeros(nodes),
            np.zeros(a), np.zeros((4, nodes), dtype=np.int64), np.zeros((3, a), dtype=np.int64),
        )  # fmt: skip
