r"""The recovery probability of any release by factoring on minimal certificates.

A release recovers a target given the set E of cells that are known in full, and more knowledge never loses a recovery.
With Rel(y) the sum over recovering E of :math:`\prod_{k \in E} y^{c_k} \prod_{k \notin E} (1 - y^{c_k})`, the
probability is Rel with y^t replaced by phi_n(t). Only certificates of at most n people are explored: small n is cheap
on any table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from confide.tables.layout import Bools, Ints
from confide.tables.solve.nested import times_power


class Oracle(Protocol):
    """Says whether knowing some cells in full recovers a target; see `FlowOracle` for the fields."""

    @property
    def relevant(self) -> Ints: ...
    @property
    def weights(self) -> Ints: ...
    @property
    def alone(self) -> Bools: ...
    def some(self, known: Bools) -> bool: ...
    def minimal(self, known: Bools, order: Ints) -> Ints: ...
    @property
    def price(self) -> int: ...


class TooMuch(Exception):
    """The budget is used up."""


@dataclass(frozen=True, eq=False)
class Factored:
    """`poly`: Rel(y) up to y^most, whole numbers. `smallest`: people in the cheapest certificate met, or None."""

    poly: list[int]
    smallest: int | None
    certificate: Ints


BUDGET = 300_000_000
"""Nodes and arcs of graphs that may be looked at before giving up: some ten seconds."""


def factor(oracle: Oracle, most: int, budget: int = BUDGET) -> Factored:
    """Rel(y) up to degree `most`. Raises TooMuch when the budget is used up: never by the clock, so results repeat."""
    weights = oracle.weights
    known = weights == 0
    alone = np.flatnonzero(oracle.alone & ~known & (weights <= most))
    first = [1] + [0] * most  # nothing recovered by itself: split off in closed form
    for c, times in zip(*np.unique(weights[alone], return_counts=True), strict=True):
        times_power(first, 1, -1, int(c), int(times))
    out = [int(t == 0) - p for t, p in enumerate(first)]
    best, best_cells = None, alone[:0]
    if len(alone):
        best_cells = alone[[int(np.argmin(weights[alone]))]]
        best = int(weights[best_cells[0]])
    rest = np.flatnonzero(~known & ~oracle.alone & (weights <= most))
    rest = rest[np.argsort(-weights[rest], kind="stable")]
    stack = [(known, rest, first)]
    while stack:
        known, rest, poly = stack.pop()
        budget -= oracle.price + most
        if budget < 0:
            raise TooMuch
        if oracle.some(known):
            out = [a + b for a, b in zip(out, poly, strict=True)]
            people = int(weights[known].sum())
            if best is None or people < best:
                best, best_cells = people, np.flatnonzero(known)
            continue
        lowest = next((t for t, p in enumerate(poly) if p), most + 1)
        rest = rest[weights[rest] <= most - lowest]
        everything = known.copy()
        everything[rest] = True
        if not len(rest) or not oracle.some(everything):
            continue
        chosen = oracle.minimal(known, rest)
        budget -= oracle.price * (1 + len(rest)) + 4 * most * len(chosen)
        left = rest[~np.isin(rest, chosen)]
        for at, k in enumerate(chosen):
            c = int(weights[k])
            without = [p - (poly[t - c] if t >= c else 0) for t, p in enumerate(poly)]
            stack.append((known, rest[~np.isin(rest, chosen[: at + 1])], without))
            known = known.copy()
            known[k] = True
            poly = [0] * min(c, most + 1) + poly[: max(most + 1 - c, 0)]
        stack.append((known, left, poly))
    return Factored(out, best, best_cells)
