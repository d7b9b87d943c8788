"""Records that a target can have become, by numbers that were moved by ranks or may be mistaken: no others are seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.attack.engine.boxes import Boxes
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.mistaken_noise import Curves
from confide.frames.columns import I64
from confide.protect.likelihoods.normal import Normal
from confide.protect.likelihoods.window import Window
from confide.protect.seam.likelihood import take


@dataclass(frozen=True, eq=False)
class Reach:
    """`order`: distinct records by block and ranks of the first number; `spans`: the places from, up to (not included)
    that each distinct target reaches, along that order and along that of the second number. `boxes`: None where one
    number was moved, and every record in the first span is reached.
    """

    order: I64
    spans: tuple[tuple[I64, I64], ...]
    boxes: Boxes | None

    @classmethod
    def of(cls, plan: KernelPlan) -> Reach | None:
        """By the first two known numbers that were moved; None where none was."""
        moved = [
            (i, u.like)
            for i, u in enumerate(plan.scene.uncertain)
            if isinstance(u.like, Window) and all(u.known) and u.like.tells is None
        ][:2]
        if not moved:
            return _around_mistaken(plan)
        orders = [_order(plan, like) for _, like in moved]
        spans = tuple(_span(plan, i, like, order) for (i, like), order in zip(moved, orders, strict=True))
        if len(moved) == 1:
            return cls(orders[0], spans, None)
        place = np.empty(len(plan.records), dtype=np.int64)
        place[orders[1]] = np.arange(len(place))
        return cls(orders[0], spans, Boxes.of(orders[0], place))

    def sizes(self, first: int, last: int) -> I64:
        """No fewer than the records that targets first..last-1 reach, for each."""
        widths = [stop[first:last] - start[first:last] for start, stop in self.spans]
        return np.asarray(np.minimum.reduce(widths))

    def pairs(self, first: int, last: int) -> tuple[I64, I64]:
        """The records of targets first..last-1, one target after another, and how many each has."""
        ends = [(start[first:last], stop[first:last]) for start, stop in self.spans]
        if self.boxes is None:
            start, stop = ends[0]
            many = stop - start
            return self.order[np.arange(int(many.sum())) + np.repeat(start - np.cumsum(many) + many, many)], many
        box, level, start, stop = self.boxes.ranges(*ends)
        many = np.bincount(box, weights=stop - start, minlength=last - first).astype(np.int64)
        return self.boxes.points(level, start, stop), many


def _order(plan: KernelPlan, like: Window) -> I64:
    low = np.where(like.inside[plan.record_rows], like.low[plan.record_rows], 0)
    return np.lexsort((low, plan.block_r)).astype(np.int64)


def _span(plan: KernelPlan, at: int, like: Window, order: I64) -> tuple[I64, I64]:
    """The places start..stop-1 along the order that each distinct target can have become."""
    t = plan.scene.known_t[at]
    assert t is not None
    # One rising scale for all blocks; records that were not moved are reached by all.
    rows, block, span = plan.record_rows[order], plan.block_r[order], like.n + 2 * like.reach + 2
    moved = like.inside[rows]
    low = block * span + np.where(moved, like.low[rows], 0)
    high = block * span + np.where(moved, like.high[rows], like.n)
    own, base = take(t, plan.first), plan.block_t * span
    start = np.searchsorted(np.maximum.accumulate(high), base + own["low"] - like.reach, side="left")
    stop = np.searchsorted(low, base + own["high"] + like.reach, side="right")
    begin, end = plan.offsets[plan.block_t], plan.offsets[plan.block_t + 1]
    start = np.where(own["inside"], np.maximum(start, begin), begin)
    return start, np.maximum(np.where(own["inside"], np.minimum(stop, end), end), start)


def _around_mistaken(plan: KernelPlan) -> Reach | None:
    """The same by a noisy number that may be mistaken; None where another noisy one is known."""
    steps = plan.scene.uncertain
    curves = [u.like for u in steps if isinstance(u.like, Curves)]
    if not curves or any(isinstance(u.like, Normal) and all(u.known) for u in steps):
        return None
    return Reach(np.arange(len(plan.records)), (_near(plan, curves[0]),), None)


def _near(plan: KernelPlan, like: Curves) -> tuple[I64, I64]:
    """The places start..stop-1 of the records around the nearest one, for each distinct target."""
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
