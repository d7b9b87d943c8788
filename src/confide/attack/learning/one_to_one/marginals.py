"""Probabilities of pairs where no two targets own the same record: summed where that can be done, else sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.learning.one_to_one import exact as sums
from confide.attack.learning.one_to_one.components import Components
from confide.attack.learning.one_to_one.sampled import MOST, TRUSTED
from confide.attack.learning.one_to_one.walks import walks
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools

IN_ALL = 5e9
"""Sums in all components that are had exactly."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """`p`: (E,) of one target and one record of an edge's types, NaN where no matching is possible; `error`: its
    standard
    error, 0 where exact; `halves`: (2, E) the same from half of all chains each. `absent`: (A,). Per component:
    `exact`, whether it is; `spread`: the variance of how many are right if the best assignment is declared; `r_hat`,
    NaN where nothing was drawn. `sweeps` of each chain, 0 where nothing was drawn; components whose chains were apart
    have more.
    """

    parts: Components
    p: F64
    error: F64
    halves: F64
    absent: F64
    exact: Bools
    spread: F64
    r_hat: F64
    sweeps: int


def marginals(parts: Components, sweeps: int | None, seed: int, threads: int) -> Posterior:
    """The marginals of every pair that is a candidate."""
    graph, n = parts.best.graph, len(parts)
    p, error = np.full(len(graph.col), np.nan), np.zeros(len(graph.col))
    absent, spread = np.full(len(graph.top), np.nan), np.zeros(n)
    summed = _summed(parts)

    def work(first: int, last: int) -> None:
        for c in summed[first:last]:
            _sum(parts, int(c), p, spread)

    run_pieces(work, [(k, min(k + 64, len(summed))) for k in range(0, len(summed), 64)], threads, lambda _: None)
    is_exact = np.zeros(n, dtype=bool)
    is_exact[summed] = True
    mass = np.bincount(graph.row, weights=p * parts.types.capacity[graph.col], minlength=len(absent))
    mine = is_exact[parts.of_a]
    absent[mine] = np.clip(1 - mass[mine], 0.0, 1.0)
    drawn = np.flatnonzero(~is_exact & parts.possible & (parts.targets > 0))
    r_hat, many, halves = np.full(n, np.nan), 0, np.tile(p, (2, 1))
    while len(drawn):
        a, e, found = walks(parts, drawn, sweeps, seed, threads)
        p[e], error[e], halves[:, e], absent[a] = found.p, found.error, found.halves, found.absent
        spread[drawn], r_hat[drawn], many = found.spread, found.r_hat, many or found.sweeps
        apart = drawn[found.r_hat > TRUSTED]  # by themselves, fewer targets get more sweeps
        further = sweeps is None and len(apart) < len(drawn) and found.sweeps < MOST
        drawn = apart if further else apart[:0]
    return Posterior(parts, p, error, halves, absent, is_exact, spread, r_hat, many)


def _summed(parts: Components) -> I64:
    """Components that are had by sums, the easiest first, as long as there is time."""
    effort = np.full(len(parts), np.inf)
    whole = np.ones(len(parts), dtype=bool)
    whole[parts.of_a[~parts.best.graph.whole]] = False
    for c in np.flatnonzero(whole & parts.possible & (parts.targets > 0)):
        a, b, _ = parts.members(int(c))
        if len(a) == 1 and len(b) == 1:
            effort[c] = 1.0
        elif len(a) and len(b) and min(len(a), len(b)) <= np.log2(sums.STATES):
            effort[c] = sums.effort(parts.types.supply[a], parts.types.capacity[b], int(parts.base[c]))
        elif not len(b):
            effort[c] = 0.0
    order = np.argsort(effort, kind="stable")
    order = order[effort[order] <= sums.WORK]
    return np.sort(order[np.cumsum(effort[order]) <= IN_ALL])


def _sum(parts: Components, c: int, p: F64, spread: F64) -> None:
    """One component, into its places."""
    part, right, (row, col, e) = parts.dense(c)
    if len(part.n) == 1 and len(part.m) == 1:
        p[e] = sums.alike(float(part.log_r[0, 0]), int(part.n[0]), int(part.m[0]), part.base)
    elif len(e):
        p[e] = sums.exact(part).p[row, col]
        spread[c] = sums.variance(part, right)
