"""The transportation problem as it is worked on: what is given, and what has been placed so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.learning.one_to_one.paths import augment
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64

NEVER = 1e7
"""What it costs not to place somebody who must be placed, in nats: more than any chain of worse matches."""


PARTS = 8
"""Parts of a problem that are worked on at the same time, at most."""
TIGHT = 1e-11
"""Nats by which a pair may seem worse than a target's best one, from rounding."""


@dataclass(frozen=True, eq=False)
class Given:
    """What to begin with: `x`: (E,) targets per edge, `price`: (B,)."""

    x: I64
    price: F64


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
        lists = self.links.copy(), self.used.copy(), self.head.copy()
        return Tree(self.x.copy(), self.u.copy(), self.price.copy(), *lists)


@dataclass(frozen=True, eq=False)
class Problem:
    """Edges, records and pools, as `solve` takes them; no record is a candidate in two pools."""

    start: I64
    col: I64
    cost: F64
    capacity: I64
    pool_of: I64
    ends: I64
    h: F64
    order: I64
    threads: int = 1

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

    def begin(self, given: Given | None) -> tuple[Tree, I64]:
        """Nobody is placed, or what is given as far as its prices bear it; and how many that are of each type."""
        a, nodes = len(self.pool_of), len(self.capacity) + len(self.first)
        price = np.concatenate([np.zeros(len(self.capacity)) if given is None else given.price, self.first])
        u = self.first[self.pool_of].copy() if a else np.zeros(0)
        np.minimum.at(u, self.rows, self.cost + price[self.col])
        x, links = np.zeros(len(self.col) + a, dtype=np.int64), np.full(len(self.col) + a, -2, dtype=np.int64)
        used, head = np.zeros(nodes, dtype=np.int64), np.full(nodes, -1, dtype=np.int64)
        if given is None:
            return Tree(x, u, price, links, used, head), np.zeros(a, dtype=np.int64)
        tight = self.cost + price[self.col] - u[self.rows] <= TIGHT
        kept = np.flatnonzero((given.x > 0) & tight)
        x[kept] = given.x[kept]
        by = kept[np.argsort(self.col[kept], kind="stable")]
        to = self.col[by]
        first = np.concatenate([[True], to[1:] != to[:-1]]) if len(by) else np.zeros(0, dtype=bool)
        links[by] = np.where(np.concatenate([first[1:], [True]]), -1, np.concatenate([by[1:], [-1]]))[: len(by)]
        head[to[first]] = by[first]
        used[:] = np.bincount(to, weights=x[by], minlength=nodes)
        placed = np.bincount(self.rows[kept], weights=x[kept], minlength=a).astype(np.int64)
        return Tree(x, u, price, links, used, head), placed

    def place(self, tree: Tree, todo: I64, level: F64 | None = None) -> None:
        """So many targets more of each type; `level`: at constant costs of pools, instead of the true ones."""
        ends, h, beyond = self.ends, self.h, np.full(len(self.first), NEVER)
        if level is not None:
            ends, h, beyond = np.zeros_like(ends), np.zeros(0), level
        nodes, a, parts = len(tree.price), len(todo), self.parts

        def work(first: int, last: int) -> None:
            augment(
                self.start, self.col, self.cost, self.rows, self.capacity, self.pool_of, ends, h, beyond,
                np.concatenate(parts[first:last]), todo, tree.u, tree.price, tree.x, tree.links, tree.used, tree.head,
                np.zeros(nodes), np.zeros(a), np.zeros((4, nodes), dtype=np.int64), np.zeros((3, a), dtype=np.int64),
            )  # fmt: skip

        run_pieces(work, [(k, k + 1) for k in range(len(parts))], self.threads, lambda _: None)

    @cached_property
    def parts(self) -> list[I64]:
        """Types in their order, in parts of whole pools, the largest first: what is done in one concerns no other."""
        if self.threads == 1 or not len(self.order):
            return [self.order]
        edges = np.bincount(self.pool_of, weights=np.diff(self.start) + 1, minlength=len(self.first))
        of, held = np.zeros(len(edges), dtype=np.int64), np.zeros(PARTS)
        for pool in np.argsort(-edges, kind="stable").tolist():
            of[pool] = int(held.argmin())
            held[of[pool]] += edges[pool]
        mine = of[self.pool_of[self.order]]
        return [self.order[mine == k] for k in np.argsort(-held, kind="stable") if held[k]]
