"""The slow twin of one-to-one matching: all partial matchings of a small matrix, one by one, with their prior."""

from __future__ import annotations

from collections.abc import Iterator
from math import perm
from typing import Any

import numpy as np

from confide.attack.engine.blocks import starts
from confide.attack.learning.one_to_one.assign import Assignment, assign
from confide.attack.learning.one_to_one.candidates import Graph
from confide.attack.learning.one_to_one.components import components
from confide.attack.learning.one_to_one.marginals import Posterior, marginals
from confide.attack.learning.one_to_one.types import Types


def matchings(t: int, r: int) -> Iterator[tuple[int, ...]]:
    """Each target's record, -1 for none; no record twice."""

    def grow(done: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(done) == t:
            yield done
            return
        for j in range(-1, r):
            if j < 0 or j not in done:
                yield from grow((*done, j))

    return grow(())


def weighed(R: Any, people: int | None = None) -> dict[tuple[int, ...], float]:
    """The weight of every matching: (N - T)_(r - s) times the product of R; all are placed if nobody may be absent."""
    t, r = R.shape
    n = max(t, r) if people is None else people
    out = {}
    for s in matchings(t, r):
        pairs = [(i, j) for i, j in enumerate(s) if j >= 0]
        left = r - len(pairs)
        if left <= n - t:
            w = float(perm(n - t, left)) * float(np.prod([R[p] for p in pairs]))
            if w > 0:
                out[s] = w
    return out


def brute(R: Any, people: int | None = None) -> tuple[Any, float]:
    """Marginals of all pairs, and the weight of the likeliest matching."""
    found = weighed(R, people)
    p, total = np.zeros(R.shape), sum(found.values())
    for s, w in found.items():
        for i, j in enumerate(s):
            if j >= 0:
                p[i, j] += w / total
    return p, max(found.values(), default=0.0)


def problem(R: Any, n: Any = None, m: Any = None, people: int | None = None) -> tuple[Types, Graph]:
    """A matrix of types as a problem without an attack; n, m: how many there are of each."""
    a, b = R.shape
    n = np.ones(a, dtype=np.int64) if n is None else np.asarray(n)
    m = np.ones(b, dtype=np.int64) if m is None else np.asarray(m)
    size = np.array([m.sum()])
    types = Types(
        (), n, m, np.repeat(np.arange(a), n), np.repeat(np.arange(b), m), np.zeros(a, dtype=np.int64),
        None if people is None else np.array([people]), size,
    )  # fmt: skip
    row, col = np.nonzero(R)
    graph = Graph(starts(row, a), col, np.log(R[row, col]), np.log(R.max(axis=1)), np.ones(a, dtype=bool))
    return types, graph


def solved(R: Any, n: Any = None, m: Any = None, people: int | None = None, sweeps: int | None = None) -> Posterior:
    """Best assignment and marginals of a matrix."""
    types, graph = problem(R, n, m, people)
    return marginals(components(types, assign(types, graph, 1)), sweeps, 1, 1)


def matrix(found: Posterior, shape: tuple[int, int], values: Any = None) -> Any:
    """Marginals, or other values by edge, as a matrix."""
    out = np.zeros(shape)
    graph = found.parts.best.graph
    out[graph.row, graph.col] = found.p if values is None else values
    return out


def weight_of(best: Assignment, R: Any, people: int | None) -> float:
    """The weight of the matching that an assignment of single targets and records describes."""
    t, r = R.shape
    used = np.flatnonzero(best.x)
    pairs = list(zip(best.graph.row[used], best.graph.col[used], strict=True))
    n = max(t, r) if people is None else people
    assert len(pairs) + int(best.away.sum()) == t
    return float(perm(n - t, r - len(pairs))) * float(np.prod([R[p] for p in pairs]))
