"""Probabilities of pairs where no two targets own the same record: summed where that can be done, else sampled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.engine.blocks import starts
from confide.attack.learning.one_to_one import exact as sums
from confide.attack.learning.one_to_one.chains import Parts, Rows, State
from confide.attack.learning.one_to_one.components import Components
from confide.attack.learning.one_to_one.sampled import Sampled, sample, sweeps_for
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools

WANDERING = 200
"""Targets of a component up to which one more may be unplaced; beyond, chains move by swaps alone."""
IN_ALL = 5e9
"""Sums in all components that are had exactly."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """`p`: (E,) of one target and one record of an edge's types, NaN where no matching is possible; `error`: its
    standard
    error, 0 where exact; `halves`: (2, E) the same from half of all chains each. `absent`: (A,). Per component:
    `exact`, whether it is; `spread`: the variance of how many are right if the best assignment is declared; `r_hat`,
    NaN where nothing was drawn; `held`: the share of sweeps that count. `sweeps` of each chain, 0 where nothing was
    drawn.
    """

    parts: Components
    p: F64
    error: F64
    halves: F64
    absent: F64
    exact: Bools
    spread: F64
    r_hat: F64
    held: F64
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
    r_hat, held = np.full(n, np.nan), np.ones(n)
    many, halves = 0, np.tile(p, (2, 1))
    if len(drawn):
        a, e, found = _drawn(parts, drawn, sweeps, seed, threads)
        p[e], error[e], halves[:, e], absent[a] = found.p, found.error, found.halves, found.absent
        spread[drawn], r_hat[drawn], held[drawn], many = found.spread, found.r_hat, found.held, found.sweeps
    return Posterior(parts, p, error, halves, absent, is_exact, spread, r_hat, held, many)


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


def _drawn(parts: Components, which: I64, many: int | None, seed: int, threads: int) -> tuple[I64, I64, Sampled]:
    """Components that are sampled: their types of targets, their edges, and what was found."""
    types, best = parts.types, parts.best
    members = [parts.members(int(c)) for c in which]
    a, b, e = (np.concatenate([m[k] for m in members]) for k in range(3))
    e = e[np.lexsort((best.graph.col[e], _place(a, len(types.supply))[best.graph.row[e]]))]
    place_a, place_b = _place(a, len(types.supply)), _place(b, len(types.capacity))
    row, col = place_a[best.graph.row[e]], place_b[best.graph.col[e]]
    order = np.lexsort((col, row))
    e, row, col = e[order], row[order], col[order]
    supply, capacity = types.supply[a], types.capacity[b]
    of_type = np.repeat(np.arange(len(which)), [len(m[0]) for m in members])
    log_w = best.graph.log_r[e]
    w0, hole, log_r, log_sum = _scales(
        parts, which, of_type, row, log_w + np.log(capacity[col]), log_w, best.x[e], supply
    )
    start = starts(row, len(a))
    upto = _cumulated(np.exp(log_r + np.log(capacity[col]) - log_sum[row]), start)
    first = np.concatenate([[0], np.cumsum(np.bincount(of_type, weights=supply, minlength=len(which)))]).astype(
        np.int64
    )
    begin = np.concatenate([[0], np.cumsum(capacity)]).astype(np.int64)
    structure = Parts(
        first,
        np.repeat(np.arange(len(a)), supply),
        begin,
        parts.base[which].astype(float),
        parts.least[which],
        w0,
        hole,
    )
    state = _start(best.x[e], row, col, supply, begin, of_type, log_r, structure)
    right = best.x[e] / (supply[row] * capacity[col])
    found = sample(
        Rows(start, col, log_r, upto, np.exp(log_sum)), structure, state, right, (supply, capacity),
        many or sweeps_for(int(supply.sum())), seed, threads,
    )  # fmt: skip
    return a, e, found


def _place(some: I64, n: int) -> I64:
    out = np.full(n, -1, dtype=np.int64)
    out[some] = np.arange(len(some))
    return out


def _scales(
    parts: Components, which: I64, of_type: I64, row: I64, log_mass: F64, log_r: F64, x: I64, supply: I64
) -> tuple[F64, F64, F64, F64]:
    """The weight with which absence is drawn and that of one more unplaced, by component; rows of R as they are used,
    and the logs of their sums.

    In large components nobody more is unplaced: such a gap wanders through all of it before it closes, and no state
    would count meanwhile. Rows are divided by their sums where everybody is placed; then the constant weight is such
    that about every other state counts, judged by the best assignment.
    """
    a, n = len(supply), len(which)
    log_sum = _log_sums(log_mass, row, a)
    sure = parts.sure[which]
    all_placed = sure & (parts.targets[which] <= parts.least[which])
    shift = np.where(all_placed[of_type], log_sum, 0.0)
    log_r, log_sum = log_r - shift[row], log_sum - shift
    broken = np.bincount(of_type[row], weights=x * np.exp(np.clip(-log_r, -600, 600)), minlength=n)
    gaps = (np.bincount(of_type[row], minlength=n) < _pairs(parts, which)) & (parts.targets[which] <= WANDERING)
    hole = np.where(sure & (gaps | ~all_placed), 1 / np.maximum(broken, 1e-300), 0.0)
    hole = np.where(~sure & (parts.least[which] > 0), 1.0, hole)
    w0 = hole.copy()
    if parts.types.people is not None:
        room = (parts.types.people - parts.types.size)[which].astype(float)
        w0 = np.where(room > 0, room, hole)
    return w0, hole, log_r, log_sum


def _pairs(parts: Components, which: I64) -> I64:
    """Pairs of types that a component would have if no weight were 0."""
    n = len(parts)
    many = [np.bincount(of[of >= 0], minlength=n) for of in (parts.of_a, parts.of_b)]
    return np.asarray(many[0][which] * many[1][which])


def _log_sums(values: F64, row: I64, n: int) -> F64:
    top = np.full(n, -np.inf)
    np.maximum.at(top, row, values)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.bincount(row, weights=np.exp(values - top[row]), minlength=n)) + top)


def _cumulated(share: F64, start: I64) -> F64:
    """Cumulated shares of each row."""
    out = np.cumsum(share)
    before = np.concatenate([[0.0], out])[start[:-1]]
    return np.asarray(out - np.repeat(before, np.diff(start)))


def _start(x: I64, row: I64, col: I64, supply: I64, begin: I64, of_type: I64, log_r: F64, structure: Parts) -> State:
    """The best assignment as a state of single targets and records; all that are alike are as good as each other."""
    ends = np.concatenate([[0], np.cumsum(supply)]).astype(np.int64)
    edge, record = np.full(int(ends[-1]), -1, dtype=np.int64), np.full(int(ends[-1]), -1, dtype=np.int64)
    owner = np.full(int(begin[-1]), -1, dtype=np.int64)
    used = np.repeat(np.arange(len(x)), x)
    target = ends[row[used]] + _within(row[used])
    by_record = np.argsort(col[used], kind="stable")
    place = np.empty(len(used), dtype=np.int64)
    place[by_record] = begin[col[used][by_record]] + _within(col[used][by_record])
    edge[target], record[target], owner[place] = used, place, target
    n = len(structure.base)
    pairs = np.bincount(of_type[row], weights=x, minlength=n).astype(np.int64)
    log_w = np.bincount(of_type[row], weights=x * log_r, minlength=n).astype(float)
    return State(edge, record, owner, pairs, log_w, np.zeros(1, dtype=np.uint64))


def _within(of: I64) -> I64:
    """The place of each item in its run of equal ones; `of` is sorted."""
    return np.arange(len(of)) - np.searchsorted(of, of)
