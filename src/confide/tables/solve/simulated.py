"""The recovery probability by simulation, for releases that are too large to factor.

People become known one after the other, in random order; the first n at which a target is recovered is found by
halving. One run of draws serves all n, so the estimate never falls as n grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.tables.layout import Ints
from confide.tables.schemes.scheme import Floats
from confide.tables.solve.factoring import Oracle

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Simulated:
    """For n = 0..most: the share of draws with a recovery, its standard error, and its 95 percent interval."""

    share: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    draws: int


def hitting_times(oracle: Oracle, counts: Ints, most: int, draws: int, rng: np.random.Generator) -> Ints:
    """For each draw the smallest n with a recovery; most + 1 where there is none up to `most`."""
    place = np.full(len(counts), -1, dtype=np.int64)
    place[oracle.relevant] = np.arange(len(oracle.relevant))
    ends = np.cumsum(counts)
    known = oracle.weights == 0
    if not len(oracle.relevant):
        return np.full(draws, most + 1, dtype=np.int64)
    if oracle.some(known):
        return np.zeros(draws, dtype=np.int64)
    out = np.full(draws, most + 1, dtype=np.int64)
    for d in range(draws):
        people = rng.choice(int(ends[-1]), size=most, replace=False)
        cells = place[np.searchsorted(ends, people, side="right")]
        when, which = _exhausted(cells, oracle.weights)
        out[d] = _first(oracle, known, when, which, most)
    return out


def _exhausted(cells: Ints, weights: Ints) -> tuple[Ints, Ints]:
    """The relevant cells that become known in full, in order, and after how many people."""
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-2))
    last = np.append(first[1:], len(ordered)) - 1
    cell, size = ordered[first], last - first + 1
    full = (cell >= 0) & (size == weights[cell])
    when = order[last[full]] + 1
    by_time = np.argsort(when)
    return when[by_time].astype(np.int64), cell[full][by_time]


def _first(oracle: Oracle, known: np.ndarray, when: Ints, which: Ints, most: int) -> int:
    def enough(k: int) -> bool:
        now = known.copy()
        now[which[:k]] = True
        return oracle.some(now)

    if not len(which) or not enough(len(which)):
        return most + 1
    low, high = 0, len(which)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return int(when[high - 1])


def simulated(times: Ints, most: int) -> Simulated:
    """From hitting times to shares, with Clopper and Pearson's intervals."""
    from scipy.stats import beta

    draws = len(times)
    hits = np.cumsum(np.bincount(times, minlength=most + 2)[: most + 1])
    share = hits / draws
    tail = (1 - LEVEL) / 2
    with np.errstate(invalid="ignore"):
        lower = np.where(hits > 0, beta.ppf(tail, hits, draws - hits + 1), 0.0)
        upper = np.where(hits < draws, beta.ppf(1 - tail, hits + 1, draws - hits), 1.0)
    return Simulated(share, np.sqrt(share * (1 - share) / draws), lower, upper, draws)
