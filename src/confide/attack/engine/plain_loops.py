"""Loops over pairs outside of compiled kernels: for any likelihood, several targets at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into
from confide.attack.engine.node_sums import pieces
from confide.attack.engine.posterior import log_block, log_pairs, unknown_of
from confide.attack.engine.reach import Reach
from confide.frames.columns import F64

PLAIN = 500_000
"""Pairs times classes that are worked on together."""
MIXED = 4_000_000
"""Entries of the largest class-by-record table held at once."""


def plain_loops(plan: KernelPlan, into: Into) -> Callable[[int, int], float]:
    """What does the work for targets first..last-1."""
    near = in_reach(plan, into)
    return partial(plainly, plan, into) if near is None else near


def plainly(plan: KernelPlan, into: Into, first: int, last: int) -> float:
    """The formula itself, several distinct targets of a block together; the pairs visited."""
    s, t, visited = plan.scene, first, 0.0
    block, rows, unknown = -1, np.zeros(0, dtype=np.int64), None
    while t < last:
        b = int(plan.block_t[t])
        place, end = int(plan.offsets[b]), int(plan.offsets[b + 1])
        if b != block:
            block, rows = b, plan.records.first[place:end]
            unknown = unknown_of(s, rows)
        many = max(PLAIN // max(len(rows) * s.classes.size, 1), 1)
        upto = min(int(np.searchsorted(plan.block_t, b, side="right")), last, t + many)
        parts = log_block(s, plan.first[t:upto], rows, unknown) if len(rows) else {}
        weights = np.zeros((upto - t, len(rows)))
        for part in parts.values():
            weights += part
        for i in range(t, upto):
            _finish(plan, into, i, weights[i - t], place, end)
        visited += len(rows) * (upto - t)
        t = upto
    return visited


def _finish(plan: KernelPlan, into: Into, i: int, weights: F64, start: int, stop: int) -> None:
    """Summaries of distinct target i, given the weights of records start..stop-1."""
    mine = slice(plan.own.start[i], plan.own.start[i + 1])
    true = plan.own.at[mine]
    true = np.where((true >= start) & (true < stop), true, -1)
    kernels.finish(
        weights, plan.records.count[start:stop], start, true, np.empty(len(weights)), np.empty_like(into.tops),
        into.out[i], into.truth[mine],
    )  # fmt: skip


def in_reach(plan: KernelPlan, into: Into) -> Callable[[int, int], float] | None:
    """Where known numbers were moved by ranks, only records within their reach; None where that does not apply."""
    s = plan.scene
    if plan.spreads or s.knowledge.nearest or (s.fit.mixture and len(plan.records) * s.classes.size > MIXED):
        return None
    reach = Reach.of(plan)
    if reach is None:
        return None
    unknown = unknown_of(s, plan.records.first)

    def work(first: int, last: int) -> float:
        return sum(
            _of_pairs(plan, into, first + a, first + b, reach, unknown)
            for a, b in pieces(reach.sizes(first, last), max(PLAIN // s.classes.size, 1))
        )

    return work


def _of_pairs(plan: KernelPlan, into: Into, first: int, last: int, reach: Reach, unknown: F64 | None) -> float:
    """Targets first..last-1 with the records that each can have become; the pairs visited."""
    which, count = reach.pairs(first, last)
    who = np.repeat(np.arange(last - first), count)
    weights = np.zeros(len(who))
    for part in log_pairs(plan.scene, plan.first[first:last], plan.records.first, who, which, unknown).values():
        weights += part
    own = plan.own.start[first : last + 1]
    kernels.finish_each(
        weights, plan.records.count[which], which, np.concatenate([[0], np.cumsum(count)]), own, plan.own.at,
        np.empty(int(count.max(initial=0))), np.empty(int(np.diff(own).max(initial=0)), dtype=np.int64),
        np.empty_like(into.tops), into.out[first:last], into.truth,
    )  # fmt: skip
    return float(len(which))
