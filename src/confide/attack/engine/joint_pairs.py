"""Part A of several numbers together for likelihoods without a compiled loop: only combinations in a record's reach.

Reach is a box: in each of two numbers, the true values that can have led to the released one. Records with many tied
values reach far in one number, and seldom far in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.joint_numbers import FARTHEST, JointBelief
from confide.attack.engine.boxes import Boxes
from confide.attack.engine.node_sums import PAIRS, as_targets, pieces
from confide.frames.columns import F64, I64
from confide.protect.seam.likelihood import Columns, take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene

BLURS = (-1.0, 0.25, 1.0, FARTHEST)
"""Combinations blurred about alike are worked on together: how far they reach decides how many there are."""


def log_sums_plainly(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> F64:
    """log of sums over combinations g of Pr(g given cell, k) times all likelihoods, shape (rows, K)."""
    likes: list[Any] = [n.like_a for n in which]
    t = [as_targets(scene, n, like, y) for n, like, y in zip(which, likes, belief.nodes, strict=True)]
    z = [take(like.record, scene.rows[rows]) for like in likes]
    cell = scene.cell_r[rows]
    out = np.full((len(rows), scene.classes.size), -np.inf)
    for a, b in pairwise(BLURS):
        some = np.flatnonzero((belief.blur > a) & (belief.blur <= b))
        if len(some):
            out = np.logaddexp(out, _log_sums_of(likes, t, z, belief, some, cell))
    return out - belief.log_norm(cell)


def _log_sums_of(
    likes: list[Any], nodes: list[Columns], z: list[Columns], belief: JointBelief, some: I64, cell: I64
) -> F64:
    """The part of those sums, before they are divided by the norm, due to combinations that are blurred about alike."""
    blur = belief.blur[some]
    boxes, spans = _reach(likes, [take(t, some) for t in nodes], z, belief.nodes[:, some], float(blur.max()))
    t = [like.blurred(take(of, some), blur) for like, of in zip(likes, nodes, strict=True)]
    out = np.full((len(cell), belief.mu.shape[2]), -np.inf)
    step = max(PAIRS // 64, 1)
    for at in range(0, len(cell), step):
        ends = [(low[at : at + step], high[at : at + step]) for low, high in spans]
        box, level, start, stop = boxes.ranges(*ends)
        for a, b in pieces(stop - start, max(PAIRS // out.shape[1], 1)):
            g = boxes.points(level[a:b], start[a:b], stop[a:b])
            j = at + np.repeat(box[a:b], (stop - start)[a:b])
            value = belief.log_masses(some[g], cell[j])
            for like, of_node, of_record in zip(likes, t, z, strict=True):
                value += like.log(take(of_node, g), take(of_record, j))[:, None]
            _add_by_record(out, value, j)
    return out


def _reach(
    likes: list[Any], t: list[Columns], z: list[Columns], values: F64, blur: float
) -> tuple[Boxes, list[tuple[I64, I64]]]:
    """Combinations by their places along the two numbers that reach least far, and each record's range of both."""
    orders = [np.argsort(v, kind="stable") for v in values]
    spans = [
        like.band(take(of, order), own, blur) for like, of, own, order in zip(likes, t, z, orders, strict=True)
    ]
    a, b = np.argsort([float((high - low).mean()) for low, high in spans], kind="stable")[:2]
    place = np.empty(values.shape[1], dtype=np.int64)
    place[orders[b]] = np.arange(values.shape[1])
    return Boxes.of(orders[a], place), [spans[a], spans[b]]


def _add_by_record(out: F64, value: F64, j: I64) -> None:
    """Add the exponentials of entries, which lie together by record, to the sums whose logs are in `out`."""
    first = np.flatnonzero(np.concatenate([[True], j[1:] != j[:-1]]))
    top = np.maximum.reduceat(value, first, axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    many = np.diff(np.append(first, len(j)))
    with np.errstate(divide="ignore"):
        found = safe + np.log(np.add.reduceat(np.exp(value - np.repeat(safe, many, axis=0)), first, axis=0))
    out[j[first]] = np.logaddexp(out[j[first]], found)
