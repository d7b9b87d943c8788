r"""Releases whose sums nest in one tree: the recovery probability in closed form, for all n at once.

With `y` standing for "a named person is in the sample", a set of cells with t people in it is exhausted with
probability

.. math:: \varphi_n(t) = \binom{N-t}{n-t} \Big/ \binom Nn = \frac{n (n-1) \cdots}{N (N-1) \cdots} \ (t \text{ factors}).

A cell can rise unseen only if, inside the smallest sum above it that is tight from above, something else can fall. So a
cell has one certificate: itself and the cells that could fall there. The union over cells goes up the tree, with three
states a subtree (see `nested_kernels`). Probabilities of tight bounds in place of 0 and 1 give the expectation over a
scheme's own draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from confide.tables.layout import Bools, Ints, Tree
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.expectation import BELOW_ONE, expectation

NEVER = 2**62
"""The size of a certificate that does not exist."""


@dataclass(frozen=True, eq=False)
class Nest:
    """A tree of sums over cells, and where it is tight.

    `low`, `up` (m): whether (or with which probability) a cell's lower, upper bound is its true count; `node_low`,
    `node_up`: the same for the nodes of `tree`. `target` (m): the cells whose zeros count.
    """

    tree: Tree
    counts: Ints
    low: Any
    up: Any
    node_low: Any
    node_up: Any
    target: Bools

    @property
    def people(self) -> int:
        return int(self.counts.sum())


def nested_risk(nest: Nest, most: int) -> Floats:
    """The recovery probability for n = 0..most, in floating point."""
    from confide.tables.solve.nested_kernels import nested_risk as run

    start, alike, times = _groups(nest)
    shares = run(
        start,
        nest.counts[alike],
        times,
        np.asarray(nest.low, dtype=np.float64)[alike],
        np.asarray(nest.up, dtype=np.float64)[alike],
        nest.target[alike],
        np.append(np.where(nest.tree.parent < 0, nest.tree.size, nest.tree.parent), -1),
        np.append(np.asarray(nest.node_low, dtype=np.float64), 0.0),
        np.append(np.asarray(nest.node_up, dtype=np.float64), 0.0),
        most,
    )
    safe, hit = shares[:3].sum(axis=0), shares[3]
    return np.where(safe > 0, np.minimum(hit / (safe + hit), BELOW_ONE), 1.0)


def _groups(nest: Nest) -> tuple[Ints, Ints, Ints]:
    """Alike cells under one node: where each node's groups start, a cell of each group, how many are like it.

    The root comes last; cells that no sum holds hang on it.
    """
    home = np.where(nest.tree.of_cell < 0, nest.tree.size, nest.tree.of_cell)
    columns = [home, nest.counts, nest.target, np.asarray(nest.low, np.float64), np.asarray(nest.up, np.float64)]
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    first = np.flatnonzero(new)
    times = np.diff(np.append(first, len(order)))
    alike = order[first]
    start = np.searchsorted(home[alike], np.arange(nest.tree.size + 2))
    return start.astype(np.int64), alike.astype(np.int64), times.astype(np.int64)


def nested_fractions(nest: Nest, most: int) -> list[Fraction]:
    """The recovery probability for n = 0..most as exact fractions."""
    start, alike, times = _groups(nest)
    low, up = np.asarray(nest.low, dtype=object), np.asarray(nest.up, dtype=object)
    node_low, node_up = [*nest.node_low, 0], [*nest.node_up, 0]
    parent = np.append(np.where(nest.tree.parent < 0, nest.tree.size, nest.tree.parent), -1)
    products = [[_one(most) for _ in range(3)] for _ in range(nest.tree.size + 1)]
    total: list[Any] = _one(most)
    for v in range(nest.tree.size + 1):
        a, b, c = products[v]
        for g in range(start[v], start[v + 1]):
            i = int(alike[g])
            for poly, (constant, slope) in zip((a, b, c), _leaf(low[i], up[i], nest.target[i]), strict=True):
                times_power(poly, constant, slope, int(nest.counts[i]), int(times[g]))
        drop, pinned, rest = _minus(a, b), _minus(b, c), c
        tight_low, tight_up = _exact(node_low[v]), _exact(node_up[v])
        rest = [z + d * tight_low for z, d in zip(rest, drop, strict=True)]
        drop = [d * (1 - tight_low) for d in drop]
        pinned = [p * (1 - tight_up) for p in pinned]
        total = _plus(_plus(drop, pinned), rest)
        if parent[v] >= 0:
            above = products[parent[v]]
            for k, poly in enumerate((total, _plus(pinned, rest), rest)):
                above[k] = _convolve(above[k], poly, most)
    return [1 - p for p in expectation(total, nest.people, most)]


def _leaf(low: Any, up: Any, target: bool) -> tuple[tuple[Any, Any], ...]:
    """D+P+Z, P+Z and Z of one cell, each as constant + slope y^count."""
    low, up = _exact(low), _exact(up)
    pinned = (1 - up) if target else 1
    return (1, pinned - 1), (low, pinned - low), (low, (0 if target else 1) - low)


def _exact(p: Any) -> Any:
    """Booleans and whole numbers stay whole, so that products of thousands of cells stay quick."""
    if isinstance(p, (Fraction, int)) and not isinstance(p, bool):
        return p.numerator if isinstance(p, Fraction) and p.denominator == 1 else p
    if isinstance(p, (bool, np.bool_)):
        return int(p)
    return Fraction(float(p)) if float(p) not in (0.0, 1.0) else int(p)


def _one(most: int) -> list[Any]:
    return [1] + [0] * most


def _minus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x - y for x, y in zip(a, b, strict=True)]


def _plus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _convolve(a: Sequence[Any], b: Sequence[Any], most: int) -> list[Any]:
    out: list[Any] = [0] * (most + 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b[: most + 1 - i]):
                if y:
                    out[i + j] += x * y
    return out


def times_power(poly: list[Any], constant: Any, slope: Any, degree: int, times: int) -> None:
    """Multiply by (constant + slope y^degree)^times, cut after the length of poly; in place."""
    if degree == 0:
        factor = (constant + slope) ** times
        poly[:] = [p * factor for p in poly]
        return
    most = len(poly) - 1
    terms = [
        (k * degree, comb(times, k) * constant ** (times - k) * slope**k) for k in range(min(times, most // degree) + 1)
    ]
    terms = [(d, w) for d, w in terms if w]
    for t in range(most, -1, -1):
        poly[t] = sum((poly[t - d] * w for d, w in terms if d <= t), 0)


def chance_known(totals: Ints, people: int, most: int) -> Floats:
    """phi_n(t) for n = 0..most (rows) and each t of `totals` (columns)."""
    top = int(min(most, totals[totals <= most].max(initial=0)))
    n = np.arange(most + 1, dtype=np.float64)[:, None]
    t = np.arange(top, dtype=np.float64)[None, :]
    steps = np.maximum(n - t, 0.0) / np.maximum(people - t, 1.0)
    table = np.cumprod(np.concatenate([np.ones((most + 1, 1)), steps], axis=1), axis=1)
    out: Floats = np.where(totals <= top, table[:, np.minimum(totals, top)], 0.0)
    return out


def certificate_sizes(nest: Nest) -> Ints:
    """For each cell, how many people must be known for it to be recovered; NEVER where nothing suffices.

    Only for bounds that are what they are (no probabilities).
    """
    falls, ways = _falls(nest)
    low, up = np.asarray(nest.low, dtype=bool), np.asarray(nest.up, dtype=bool)
    rest = np.full(nest.tree.size + 1, NEVER, dtype=np.int64)  # what else must be known from a node upwards
    for v in range(nest.tree.size - 1, -1, -1):
        w = nest.tree.parent[v]
        if nest.node_up[v]:
            rest[v] = 0
        elif w >= 0 and rest[w] < NEVER:
            rest[v] = rest[w] + falls[w] - ways[v]
    home = nest.tree.of_cell
    own = np.where(low, 0, nest.counts)
    there = np.append(falls, 0)[home] - own
    beyond = rest[home]
    beyond = np.where((home < 0) | (beyond >= NEVER), NEVER, beyond)
    found = np.where(beyond >= NEVER, NEVER, nest.counts + np.where(beyond >= NEVER, 0, there + beyond))
    found = np.where(up, nest.counts, found)
    return np.where(nest.target, found, NEVER).astype(np.int64)


def _falls(nest: Nest) -> tuple[Ints, Ints]:
    """For each node, the people in cells that can fall inside it, and that let its own sum fall."""
    falls = np.zeros(nest.tree.size, dtype=np.int64)
    ways = np.zeros(nest.tree.size, dtype=np.int64)
    movable = (nest.tree.of_cell >= 0) & ~np.asarray(nest.low, dtype=bool)
    np.add.at(falls, nest.tree.of_cell[movable], nest.counts[movable])
    for v in range(nest.tree.size):
        ways[v] = 0 if nest.node_low[v] else falls[v]
        if nest.tree.parent[v] >= 0:
            falls[nest.tree.parent[v]] += ways[v]
    return falls, ways


def certificate(nest: Nest, cell: int) -> Ints:
    """The cells that must be known in full for `cell` to be recovered, itself among them."""
    chosen = [cell]
    if not nest.up[cell]:
        blocked = np.asarray(nest.low, dtype=bool)
        below, v = -1, int(nest.tree.of_cell[cell])
        while True:
            chosen += [i for i in _movers(nest, v, below) if i != cell and not blocked[i]]
            if nest.node_up[v]:
                break
            below, v = v, int(nest.tree.parent[v])
    return np.array(sorted(set(chosen)), dtype=np.int64)


def _movers(nest: Nest, node: int, without: int) -> list[int]:
    """Cells under a node whose sums can fall all the way up to it, leaving one child out."""
    reached = np.zeros(nest.tree.size, dtype=bool)
    reached[node] = True
    for v in range(nest.tree.size - 1, -1, -1):
        w = nest.tree.parent[v]
        if w >= 0 and reached[w] and v != without and not nest.node_low[v]:
            reached[v] = True
    home = nest.tree.of_cell
    return [int(i) for i in np.flatnonzero((home >= 0) & reached[home])]
