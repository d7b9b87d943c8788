"""Names beside curves, in pixels: near their own curve, off all curves and off each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl

from confide.show.charts.drawing import WORDS
from confide.show.charts.label_places import LETTER, LINE, SLACK, Box, Spot

STEP = 4.0
"""Pixels between the points of a curve that labels keep off."""
AWAY, DOT = 4.0, 12.0
"""Pixels between a name and its curve; pixels of a dot."""
BESIDE = 240.0
"""Pixels that the name of a dot may reach out to the right of the drawing."""
Array = np.ndarray[Any, np.dtype[np.float64]]
Label = tuple[str, float, float]
"""Words and their middle."""


def curve_labels(
    curves: Sequence[Sequence[Spot]], names: Sequence[str], width: float, height: float, walls: Sequence[Box] = ()
) -> list[Label]:
    """The middle of each curve's name: beside its curve, off curves, walls and other names where there is room.

    A curve of one point is a dot. Of all places along a curve the one is taken that covers least and has no other curve
    nearer; those in the middle of the curve come first. Dots, which have the fewest places, choose first.

    >>> flat = [(0.0, 50.0), (300.0, 50.0)]
    >>> [(name, round(y)) for name, _, y in curve_labels([flat], ["noise"], 300, 100)]
    [('noise', 38)]
    """
    drawn = [np.array(dense(c)) for c in curves]
    dots = [len(d) == 1 for d in drawn]
    covers = [*walls, *((p, q, *(2 * [DOT if dot else 3.0])) for d, dot in zip(drawn, dots, strict=True) for p, q in d)]
    names_at: list[Box] = []
    out: dict[int, Label] = {}
    for k in sorted(range(len(names)), key=lambda k: not dots[k]):
        w = LETTER * len(names[k])
        beyond = BESIDE if dots[k] else 0.0
        tries = np.array([t for t in _places(drawn[k], w) if _inside(t, w, width + beyond, height)] or [drawn[k][0]])
        cost = _touching(tries, w, np.array(covers)) + 100 * _touching(tries, w, np.array(names_at).reshape(-1, 4))
        if not dots[k]:
            cost = cost + _misleading(tries, w, drawn, k)
        p, q = (float(v) for v in tries[np.argmin(cost)])
        out[k] = (names[k], p, q)
        names_at.append((p, q, w, LINE))
    return [out[k] for k in range(len(names))]


def dense(curve: Sequence[Spot]) -> list[Spot]:
    """Points of a curve at most `STEP` pixels apart.

    >>> dense([(0.0, 0.0), (8.0, 0.0)])
    [(0.0, 0.0), (4.0, 0.0), (8.0, 0.0)]
    """
    out = [(float(curve[0][0]), float(curve[0][1]))]
    for (a, b), (c, d) in pairwise(curve):
        parts = max(1, math.ceil(math.hypot(c - a, d - b) / STEP))
        out += [(a + (c - a) * t / parts, b + (d - b) * t / parts) for t in range(1, parts + 1)]
    return out


def text_layer(labels: Sequence[Label], colours: Sequence[str], width: float, height: float) -> Any:
    """Words at these pixels, each in its colour, darkened where that is pale.

    >>> text_layer([("noise", 20.0, 30.0)], ["#222222"], 100, 100).to_dict()["mark"]["type"]
    'text'
    """
    import altair as alt

    rows = [(*label, WORDS.get(colour, colour)) for label, colour in zip(labels, colours, strict=True)]
    data = pl.DataFrame(rows, schema=["label", "tx", "ty", "ink"], orient="row")
    across, down = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False)
    return alt.Chart(data).mark_text(fontSize=12, baseline="middle").encode(
        x=alt.X("tx:Q", scale=across, axis=None), y=alt.Y("ty:Q", scale=down, axis=None), text="label:N",
        color=alt.Color("ink:N", scale=None),
    )  # fmt: skip


def _places(curve: Array, w: float) -> list[Spot]:
    """Places beside the points of a curve, from its middle outwards; around a dot, from near to far."""
    sides = [(0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (-1, 1), (1, 1), (-1, -1)]
    if len(curve) == 1:
        p, q = curve[0]
        away = sorted(product(range(0, 56, 8), range(0, 56, 8)), key=sum)
        sides = [(1, 0), (-1, 0), *sides]
        return [
            (p + sx * (w / 2 + AWAY + DOT / 2 + rx), q + sy * (LINE / 2 + ry)) for rx, ry in away for sx, sy in sides
        ]
    last = len(curve) - 1
    order = sorted(range(0, last + 1, max(1, last // 40)), key=lambda k: abs(k - last / 2))
    return [
        (p + sx * (w / 2 + (2.0 if sy else r)), q + sy * (LINE / 2 + r))
        for r in (AWAY, AWAY + 6)
        for p, q in curve[order]
        for sx, sy in sides
    ]


def _inside(t: Spot, w: float, width: float, height: float) -> bool:
    across, down = w / 2 - SLACK, LINE / 2 + 3
    return across <= t[0] <= width - across and down <= t[1] <= height - down


def _touching(tries: Array, w: float, boxes: Array) -> Array:
    """How many of the boxes a name of this width would cover, at each place."""
    across = np.abs(tries[:, None, 0] - boxes[None, :, 0]) * 2 < w + boxes[:, 2]
    down = np.abs(tries[:, None, 1] - boxes[None, :, 1]) * 2 < LINE + boxes[:, 3]
    found: Array = (across & down).sum(axis=1).astype(np.float64)
    return found


def _misleading(tries: Array, w: float, drawn: Sequence[Array], own: int) -> Array:
    """3 where another curve is nearer to the name than its own, 1 where one is nearly as near."""
    away = np.array([_distances(tries, w, curve) for curve in drawn if len(curve) > 1 or curve is drawn[own]])
    mine = _distances(tries, w, drawn[own])
    # One curve may lie on another: then none is nearer.
    nearer, near = (away < mine - 0.5).any(axis=0), ((away > mine + 0.5) & (away < mine + 8)).any(axis=0)
    found: Array = np.where(nearer, 3.0, 0.0) + np.where(near, 1.0, 0.0)
    return found


def _distances(tries: Array, w: float, curve: Array) -> Array:
    """From each place of a name to the curve."""
    across = np.maximum(0, np.abs(tries[:, None, 0] - curve[None, :, 0]) - w / 2)
    down = np.maximum(0, np.abs(tries[:, None, 1] - curve[None, :, 1]) - LINE / 2)
    found: Array = np.hypot(across, down).min(axis=1)
    return found


def together(a: Sequence[Spot], b: Sequence[Spot]) -> bool:
    """One curve lies on another for most of its length, so that it would hide it.

    >>> together([(0.0, 0.0), (90.0, 0.0)], [(0.0, 1.0), (100.0, 1.0)])
    True
    """
    if len(a) < 2 or len(b) < 2:
        return False
    p, q = np.array(dense(a)), np.array(dense(b))
    near = np.hypot(*(p[:, None] - q[None]).transpose(2, 0, 1)).min(axis=1) < STEP
    return bool(near.mean() > 0.5)
