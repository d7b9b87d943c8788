"""Loops over pairs outside of compiled kernels: for any likelihood, several targets at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into
from confide.attack.engine.mistaken_noise import Curves
from confide.attack.engine.node_sums import pieces
from confide.attack.engine.posterior import log_block, log_pairs, unknown_of
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.window import Window
from confide.protect.seam.likelihood import take

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
    """Where a known number was moved by ranks, only records within its reach; None where that does not apply."""
    s = plan.scene
    windows = [(i, u.like) for i, u in enumerate(s.uncertain) if isinstance(u.like, Window) and all(u.known)]
    curves = [u.like for u in s.uncertain if isinstance(u.like, Curves)]
    others = [u for u in s.uncertain if isinstance(u.like, Normal) and all(u.known)]
    if not (windows or curves) or plan.spreads or others or s.knowledge.nearest:
        return None
    if (windows and windows[0][1].tells is not None) or (s.fit.mixture and len(plan.records) * s.classes.size > MIXED):
        return None
    start, stop = _reached(plan, *windows[0]) if windows else _near(plan, curves[0])
    unknown = unknown_of(s, plan.records.first)

    def work(first: int, last: int) -> float:
        return sum(
            _of_pairs(plan, into, first + a, first + b, start, stop, unknown)
            for a, b in pieces((stop - start)[first:last], max(PLAIN // s.classes.size, 1))
        )

    return work


def _reached(plan: KernelPlan, at: int, like: Window) -> tuple[I64, I64]:
    """The records start..stop-1 that each distinct target can have become."""
    t = plan.scene.known_t[at]
    assert t is not None
    # One rising scale for all blocks; records that were not moved are reached by all.
    rows, span = plan.record_rows, like.n + 2 * like.reach + 2
    moved = like.inside[rows]
    low = plan.block_r * span + np.where(moved, like.low[rows], 0)
    high = plan.block_r * span + np.where(moved, like.high[rows], like.n)
    own, base = take(t, plan.first), plan.block_t * span
    start = np.searchsorted(np.maximum.accumulate(high), base + own["low"] - like.reach, side="left")
    stop = np.searchsorted(low, base + own["high"] + like.reach, side="right")
    begin, end = plan.offsets[plan.block_t], plan.offsets[plan.block_t + 1]
    start = np.where(own["inside"], np.maximum(start, begin), begin)
    return start, np.maximum(np.where(own["inside"], np.minimum(stop, end), end), start)


def _near(plan: KernelPlan, like: Curves) -> tuple[I64, I64]:
    """The same for numbers that may be mistaken: records around the nearest one."""
    x, inside = like.target(plan.scene.targets)["x"][plan.first], ~np.isnan(like.x[plan.first])
    z, start, stop = like.z[plan.record_rows], plan.offsets[plan.block_t], plan.offsets[plan.block_t + 1]
    begin, end = start.copy(), stop.copy()
    for b in np.unique(plan.block_t[inside]):
        mine = np.flatnonzero((plan.block_t == b) & inside)
        own = z[begin[mine[0]] : end[mine[0]]]
        at = np.clip(np.searchsorted(own, x[mine]), 1, max(len(own) - 1, 1))
        gap = np.minimum(np.abs(own[at - 1] - x[mine]), np.abs(own[np.minimum(at, len(own) - 1)] - x[mine]))
        start[mine] = begin[mine] + np.searchsorted(own, x[mine] - gap - like.reach)
        stop[mine] = begin[mine] + np.searchsorted(own, x[mine] + gap + like.reach, side="right")
    return start, np.maximum(stop, start)


def _of_pairs(plan: KernelPlan, into: Into, first: int, last: int, start: I64, stop: I64, unknown: F64 | None) -> float:
    """Targets first..last-1 with the records start..stop-1 of each; the pairs visited."""
    count = (stop - start)[first:last]
    ends = np.cumsum(count)
    which = np.arange(int(ends[-1])) - np.repeat(ends - count - start[first:last], count)
    who = np.repeat(np.arange(last - first), count)
    weights = np.zeros(len(who))
    for part in log_pairs(plan.scene, plan.first[first:last], plan.records.first, who, which, unknown).values():
        weights += part
    for i in range(first, last):
        w = weights[ends[i - first] - count[i - first] : ends[i - first]]
        _finish(plan, into, i, w, int(start[i]), int(stop[i]))
    return float(ends[-1])
