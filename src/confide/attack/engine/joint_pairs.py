"""Part A of several numbers together for likelihoods without a compiled loop: only combinations in a record's reach.

Reach is a box: in each of two numbers, the true values that can have led to the released one. Records with many tied
values reach far in one number, and seldom far in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.joint_numbers import FARTHEST, JointBelief
from confide.attack.engine.boxes import Boxes
from confide.attack.engine.node_sums import PAIRS, as_targets, pieces
from confide.core.run.threads import run_pieces, thread_count
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Columns, Likelihood, take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene

STEP = 4_096
"""Records whose combinations are one piece of work."""
FAR = 9.0
"""Standard deviations of normal noise beyond which a combination does not matter."""
BLURS = (-1.0, 0.25, 1.0, FARTHEST)
"""Combinations blurred about alike are worked on together: how far they reach decides how many there are."""


@dataclass(frozen=True, eq=False)
class Side:
    """One number: its likelihood, the combinations' side of it, and the records'."""

    like: Likelihood
    t: Columns
    z: Columns


def sides(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> list[Side]:
    """Both sides of every number's own likelihood."""
    likes: list[Any] = [n.like_a for n in which]
    return [
        Side(like, as_targets(scene, n, like, y), take(like.record, scene.rows[rows]))
        for n, like, y in zip(which, likes, belief.nodes, strict=True)
    ]


def log_sums_plainly(each: Sequence[Side], belief: JointBelief, cell: I64) -> F64:
    """log of sums over combinations g of Pr(g given cell, k) times all likelihoods, shape (len(cell), K)."""
    out = np.full((len(cell), belief.mu.shape[3]), -np.inf)
    for a, b in pairwise(BLURS):
        some = np.flatnonzero((belief.blur > a) & (belief.blur <= b) & np.isfinite(belief.log_n))
        if len(some):
            out = np.logaddexp(out, _log_sums_of(each, belief, some, cell))
    return out


def _log_sums_of(each: Sequence[Side], belief: JointBelief, some: I64, cell: I64) -> F64:
    """The part of those sums that is due to combinations that are blurred about alike."""
    blur = belief.blur[some]
    boxes, spans = _reach([Side(s.like, take(s.t, some), s.z) for s in each], float(blur.max()))
    t = [s.like.blurred(take(s.t, some), blur) for s in each]
    out = np.full((len(cell), belief.mu.shape[3]), -np.inf)

    def work(first: int, last: int) -> None:
        ends = [(low[first:last], high[first:last]) for low, high in spans]
        box, level, start, stop = boxes.ranges(*ends)
        for a, b in pieces(stop - start, max(PAIRS // out.shape[1], 1)):
            g = boxes.points(level[a:b], start[a:b], stop[a:b])
            j = first + np.repeat(box[a:b], (stop - start)[a:b])
            value = belief.log_masses(some[g], cell[j])
            for s, of_node in zip(each, t, strict=True):
                value += s.like.log(take(of_node, g), take(s.z, j))[:, None]
            _add_by_record(out, value, j)

    parts = [(at, min(at + STEP, len(cell))) for at in range(0, len(cell), STEP)]
    run_pieces(work, parts, thread_count(None), lambda _: None)
    return out


def _reach(each: Sequence[Side], blur: float) -> tuple[Boxes, list[tuple[I64, I64]]]:
    """Combinations by their places along the two numbers that reach least far, and each record's range of both."""
    orders = [np.argsort(next(iter(s.t.values())), kind="stable") for s in each]
    spans = [_band(s.like, take(s.t, order), s.z, blur) for s, order in zip(each, orders, strict=True)]
    a, b = np.argsort([float((high - low).mean()) for low, high in spans], kind="stable")[:2]
    place = np.empty(len(orders[b]), dtype=np.int64)
    place[orders[b]] = np.arange(len(place))
    return Boxes.of(orders[a], place), [spans[a], spans[b]]


def _band(like: Likelihood, t: Columns, z: Columns, blur: float) -> tuple[I64, I64]:
    """True values in reach of each record; of normal noise all that can matter, and all where none is so near."""
    if not isinstance(like, Normal):
        return like.band(t, z, blur)
    reach = FAR * float(like.sd_at(t["y"]).max()) * np.hypot(1.0, blur)
    first = np.searchsorted(t["y"], z["low"] - reach, side="left")
    last = np.searchsorted(t["y"], z["high"] + reach, side="right")
    none = first >= last
    return np.where(none, 0, first), np.where(none, len(t["y"]), last)


def _add_by_record(out: F64, value: F64, j: I64) -> None:
    """Add the exponentials of entries, which lie together by record, to the sums whose logs are in `out`."""
    first = np.flatnonzero(np.concatenate([[True], j[1:] != j[:-1]]))
    top = np.maximum.reduceat(value, first, axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    many = np.diff(np.append(first, len(j)))
    with np.errstate(divide="ignore"):
        found = safe + np.log(np.add.reduceat(np.exp(value - np.repeat(safe, many, axis=0)), first, axis=0))
    out[j[first]] = np.logaddexp(out[j[first]], found)
