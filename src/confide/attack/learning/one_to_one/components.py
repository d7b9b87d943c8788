"""Parts of the candidate graph that do not touch each other: what happens in one says nothing of another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from confide.attack.engine.blocks import starts
from confide.attack.learning.one_to_one.assign import Assignment
from confide.attack.learning.one_to_one.exact import Component
from confide.attack.learning.one_to_one.transport import NEVER
from confide.attack.learning.one_to_one.types import Types
from confide.frames.columns import F64, I64, Bools


@dataclass(frozen=True, eq=False)
class Components:
    """`of_a`, `of_b`: the component of each type; `targets`, `records`: how many each has; `base`: N - T - r of each,
    where r also counts records that are nobody's candidates, and `least` the fewest pairs that the prior allows.

    `possible`: there is a matching at all. `sure`: everybody must be placed as far as there are records.
    """

    types: Types
    best: Assignment
    of_a: I64
    of_b: I64
    targets: I64
    records: I64
    base: I64
    possible: Bools
    sure: Bools

    def __len__(self) -> int:
        return len(self.base)

    def __repr__(self) -> str:
        return f"Components: {len(self):,}, the largest with {self.targets.max(initial=0):,} targets"

    @property
    def least(self) -> I64:
        return np.maximum(-self.base, 0)

    @cached_property
    def _sorted(self) -> tuple[tuple[I64, I64], tuple[I64, I64], tuple[I64, I64]]:
        codes = self.of_a, self.of_b, self.of_a[self.best.graph.row]
        orders = [np.argsort(code, kind="stable").astype(np.int64) for code in codes]
        first, second, third = ((o, starts(c[o], len(self))) for o, c in zip(orders, codes, strict=True))
        return first, second, third

    def members(self, c: int) -> tuple[I64, I64, I64]:
        """Types of targets, types of records and edges of a component."""
        a, b, e = (order[begin[c] : begin[c + 1]] for order, begin in self._sorted)
        return a, b, e

    def dense(self, c: int) -> tuple[Component, F64, tuple[I64, I64, I64]]:
        """A component as a matrix; what a pair counts if the best assignment is declared, and places of the edges: row
        and column in the matrix, number in the graph."""
        a, b, e = self.members(c)
        graph, best = self.best.graph, self.best
        row, col = np.searchsorted(a, graph.row[e]), np.searchsorted(b, graph.col[e])
        log_r, right = np.full((len(a), len(b)), -np.inf), np.zeros((len(a), len(b)))
        log_r[row, col] = graph.log_r[e]
        n, m = self.types.supply[a], self.types.capacity[b]
        right[row, col] = best.x[e] / (n[row] * m[col])
        u, price = (np.where(x > NEVER / 2, x - NEVER, x) for x in (best.u[a], best.price[b]))
        return Component(log_r, n, m, int(self.base[c]), u, price), right, (row, col, e)


def components(types: Types, best: Assignment) -> Components:
    """Where all are known to be there, what no chain of candidates joins; else blocks, which share their absent."""
    graph, a, b = best.graph, len(types.supply), len(types.capacity)
    if types.people is None:
        edges = coo_matrix((np.ones(len(graph.col)), (graph.row, graph.col + a)), shape=(a + b, a + b))
        _, of = connected_components(edges, directed=False)
        of_a, of_b = _numbered(of[:a], of[a:])
    else:
        of_a, of_b = types.block, np.full(b, -1, dtype=np.int64)
        of_b[graph.col] = types.block[graph.row]
    n = int(max(of_a.max(initial=-1), of_b.max(initial=-1))) + 1
    if types.people is not None:
        n = max(n, len(types.people))
    targets, records = _sums(of_a, types.supply, n), _sums(of_b, types.capacity, n)
    away = _sums(of_a, best.away, n)
    if types.people is None:
        base, excess = -np.minimum(targets, records), np.maximum(targets - records, 0)
    else:
        base, excess = types.people - targets - types.size, types.people - types.size
    sure = (base + np.minimum(targets, records) <= 0) | (types.people is None)
    return Components(types, best, of_a, of_b, targets, records, base, away <= excess, sure)


def _numbered(of_a: I64, of_b: I64) -> tuple[I64, I64]:
    """The components of targets, numbered by their first target; records that are nobody's candidate have -1."""
    known, first, at = np.unique(of_a, return_index=True, return_inverse=True)
    rank = np.empty(len(known), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(known))
    place = np.minimum(np.searchsorted(known, of_b), max(len(known) - 1, 0))
    there = known[place] == of_b if len(known) else np.zeros(len(of_b), dtype=bool)
    return rank[at], np.where(there, rank[place] if len(known) else -1, -1)


def _sums(of: I64, values: I64, n: int) -> I64:
    there = of >= 0
    return np.bincount(of[there], weights=values[there], minlength=n).astype(np.int64)
