"""What chains are given: components that are sampled as rows to draw from, and the best assignment to start at."""

from __future__ import annotations

import numpy as np

from confide.attack.engine.blocks import starts
from confide.attack.learning.one_to_one.balance import balance
from confide.attack.learning.one_to_one.chains import Parts, Rows, State, aliases
from confide.attack.learning.one_to_one.components import Components
from confide.attack.learning.one_to_one.sampled import Sampled, sample, sweeps_for
from confide.frames.columns import F64, I64, Bools

STOP, CLOSED = 0.25, 0.1
"""The chance that a walk stops anywhere; the same where everybody has a record, and every record an owner."""
WIDE = 1_000
"""Targets of a window, from which walks begin one after another."""
LONGEST = 4_096
"""Targets of the longest walk."""
ROUNDS = 20
"""Rounds in which rows and columns are brought to their sums."""


def walks(parts: Components, which: I64, many: int | None, seed: int, threads: int) -> tuple[I64, I64, Sampled]:
    """Components that are sampled: their types of targets, their edges, and what was found."""
    types, best = parts.types, parts.best
    members = [parts.members(int(c)) for c in which]
    a, b, e = (np.concatenate([m[k] for m in members]) for k in range(3))
    place_a, place_b = _place(a, len(types.supply)), _place(b, len(types.capacity))
    row, col = place_a[best.graph.row[e]], place_b[best.graph.col[e]]
    order = np.lexsort((col, row))
    e, row, col = e[order], row[order], col[order]
    sizes = supply, capacity = types.supply[a], types.capacity[b]
    of_type = np.repeat(np.arange(len(which)), [len(m[0]) for m in members])
    closed = parts.sure[which] & (parts.targets[which] == parts.records[which])
    rows, w0 = _rows(parts, which, of_type, starts(row, len(a)), col, best.graph.log_r[e], sizes, closed)
    begin = np.concatenate([[0], np.cumsum(capacity)]).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(np.bincount(of_type, weights=supply))]).astype(np.int64)
    peak = np.zeros(len(b))
    np.maximum.at(peak, col, rows.share)
    peak[~closed[np.repeat(np.arange(len(which)), [len(m[1]) for m in members])]] = np.inf
    structure = Parts(
        first, np.repeat(np.arange(len(a)), supply), begin, parts.base[which].astype(float), parts.least[which], w0,
        np.where(closed, CLOSED, STOP), peak, WIDE,
    )  # fmt: skip
    state = _start(best.x[e], row, col, supply, begin, of_type, len(which))
    right = best.x[e] / (supply[row] * capacity[col])
    some = many or sweeps_for(int(supply.sum()), len(e), bool(closed.all()))
    return a, e, sample(rows, structure, state, right, sizes, some, seed, threads)


def _place(some: I64, n: int) -> I64:
    out = np.full(n, -1, dtype=np.int64)
    out[some] = np.arange(len(some))
    return out


def _rows(
    parts: Components, which: I64, of_type: I64, start: I64, col: I64, log_r: F64, sizes: tuple[I64, I64], closed: Bools
) -> tuple[Rows, F64]:
    """What is drawn from, and the weight with which absence is drawn, by component.

    Where everybody has a record, rows are divided by their sums, and columns too where all records have owners. Where
    some must be absent, absence may be drawn with any weight.
    """
    supply, capacity = sizes
    row = np.repeat(np.arange(len(supply)), np.diff(start))
    price = np.zeros(len(capacity))
    balance(start, col, log_r, supply, capacity, price, np.empty(len(price)), np.empty(len(price)), ROUNDS)
    log_r = log_r - np.where(closed[of_type[row]], price[col], 0.0)
    log_sum = _log_sums(log_r + np.log(capacity[col]), row, len(supply))
    all_placed = parts.sure[which] & (parts.targets[which] <= parts.least[which])
    shift = np.where(all_placed[of_type], log_sum, 0.0)
    log_r, log_sum = log_r - shift[row], log_sum - shift
    middle = np.array([np.median(log_sum[of_type == c]) for c in range(len(which))])
    w0 = np.where(all_placed, 0.0, np.exp(np.clip(middle, -600, 600)))
    if parts.types.people is not None:
        room = (parts.types.people - parts.types.size)[which].astype(float)
        w0 = np.where(room > 0, room, w0)
    with np.errstate(divide="ignore"):
        log_all = np.logaddexp(log_sum, np.log(w0)[of_type])
    mass, cut, other = np.exp(log_r + np.log(capacity[col]) - log_sum[row]), np.empty(len(col)), np.empty_like(col)
    aliases(start, mass, cut, other, np.empty((2, int(np.diff(start).max(initial=0))), dtype=np.int64))
    return Rows(start, col, log_r, np.exp(log_r - log_all[row]), np.exp(-log_all), cut, other), w0


def _log_sums(values: F64, row: I64, n: int) -> F64:
    top = np.full(n, -np.inf)
    np.maximum.at(top, row, values)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.bincount(row, weights=np.exp(values - top[row]), minlength=n)) + top)


def _start(x: I64, row: I64, col: I64, supply: I64, begin: I64, of_type: I64, n: int) -> State:
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
    pairs = np.bincount(of_type[row], weights=x, minlength=n).astype(np.int64)
    path = np.zeros((3, LONGEST), dtype=np.int64)
    return State(edge, record, owner, pairs, np.zeros(1, dtype=np.uint64), path)


def _within(of: I64) -> I64:
    """The place of each item in its run of equal ones; `of` is sorted."""
    return np.arange(len(of)) - np.searchsorted(of, of)
