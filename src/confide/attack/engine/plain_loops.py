"""Loops over pairs outside of compiled kernels: for any likelihood, several targets at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from confide.attack.beliefs.sums import pieces
from confide.attack.engine import kernels
from confide.attack.engine.posterior import log_block, log_pairs
from confide.attack.engine.record_side import log_unknown
from confide.attack.engine.room import tops
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.window import Window
from confide.protect.seam.likelihood import take

if TYPE_CHECKING:
    from confide.attack.engine.compute import Run

PLAIN = 500_000
"""Pairs times classes that are worked on together."""
MIXED = 4_000_000
"""Entries of the largest class-by-record table held at once."""


def plain_loops(run: Run) -> Callable[[int, int], None]:
    """What does the work for targets first..last-1."""
    near = in_reach(run)
    return partial(plainly, run) if near is None else near


def plainly(run: Run, first: int, last: int) -> None:
    """The formula itself, several distinct targets of a block together."""
    s, t = run.scene, first
    while t < last:
        b = int(run.block_t[t])
        place, end = int(run.offsets[b]), int(run.offsets[b + 1])
        rows = run.records.first[place:end]
        many = max(PLAIN // max(len(rows) * s.classes.size, 1), 1)
        upto = min(int(np.searchsorted(run.block_t, b, side="right")), last, t + many)
        parts = log_block(s, run.first[t:upto], rows) if len(rows) else {}
        weights = np.zeros((upto - t, len(rows)))
        for part in parts.values():
            weights += part
        scratch, space = np.empty(len(rows)), tops(run.top)
        for i in range(t, upto):
            mine = slice(run.true_start[i], run.true_start[i + 1])
            kernels.finish(
                weights[i - t], run.records.count[place:end], place, run.true_at[mine], scratch, space,
                run.out[i], run.truth[mine],
            )  # fmt: skip
        run.visited += len(rows) * (upto - t)
        t = upto


def in_reach(run: Run) -> Callable[[int, int], None] | None:
    """Where a known number was moved by ranks, only records within its reach; None where that does not apply."""
    s = run.scene
    windows = [(i, u.like) for i, u in enumerate(s.uncertain) if isinstance(u.like, Window) and all(u.known)]
    others = [u for u in s.uncertain if isinstance(u.like, Normal) and all(u.known)]
    if not windows or windows[0][1].tells is not None or run.spreads or others or s.knowledge.nearest:
        return None
    if s.mixture and len(run.records) * s.classes.size > MIXED:
        return None
    at, like = windows[0]
    rows, t = s.rows[run.records.first], s.known_t[at]
    assert t is not None
    # One rising scale for all blocks; records that were not moved are reached by all.
    moved, span = like.inside[rows], like.n + 2 * like.reach + 2
    low = run.block_r * span + np.where(moved, like.low[rows], 0)
    high = run.block_r * span + np.where(moved, like.high[rows], like.n)
    own, base = take(t, run.first), run.block_t * span
    start = np.searchsorted(np.maximum.accumulate(high), base + own["low"] - like.reach, side="left")
    stop = np.searchsorted(low, base + own["high"] + like.reach, side="right")
    begin, end = run.offsets[run.block_t], run.offsets[run.block_t + 1]
    start = np.where(own["inside"], np.maximum(start, begin), begin)
    stop = np.maximum(np.where(own["inside"], np.minimum(stop, end), end), start)
    unknown = log_unknown(s, run.records.first) if s.mixture else None

    def work(first: int, last: int) -> None:
        for a, b in pieces((stop - start)[first:last], max(PLAIN // s.classes.size, 1)):
            _of_pairs(run, first + a, first + b, start, stop, unknown)

    return work


def _of_pairs(run: Run, first: int, last: int, start: I64, stop: I64, unknown: F64 | None) -> None:
    """Targets first..last-1 with the records start..stop-1 of each."""
    count = (stop - start)[first:last]
    ends = np.cumsum(count)
    which = np.arange(int(ends[-1])) - np.repeat(ends - count - start[first:last], count)
    who = np.repeat(np.arange(last - first), count)
    weights = np.zeros(len(who))
    for part in log_pairs(run.scene, run.first[first:last], run.records.first, who, which, unknown).values():
        weights += part
    scratch, space = np.empty(int(count.max(initial=0))), tops(run.top)
    for i in range(first, last):
        mine = slice(run.true_start[i], run.true_start[i + 1])
        true = run.true_at[mine]
        true = np.where((true >= start[i]) & (true < stop[i]), true, -1)
        w = weights[ends[i - first] - count[i - first] : ends[i - first]]
        kernels.finish(
            w, run.records.count[start[i] : stop[i]], start[i], true, scratch[: len(w)], space, run.out[i],
            run.truth[mine],
        )  # fmt: skip
    run.visited += float(ends[-1])
