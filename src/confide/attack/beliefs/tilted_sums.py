r"""Sums of exponentials of many points, tilted many ways: :math:`\log \sum_g \exp(b_g + \theta_c \cdot s_g)` for all c.

Points go into boxes so small that within one of them tilts differ by at most a factor e from its middle. There
:math:`\exp(\theta \cdot (s - m))` is its series up to degree 16, of which one more term would be below 1/17!. So a box
is known to all tilts by its moments, and sums agree with those over points to about 1e-14 of each. With G points, C
tilts and B boxes the work is G + B C instead of G C.

Notation
--------
b : (G,) logs of weights; s : (d, G) points; theta : (d, C) tilts, less their common middle
u : place of a point in its box, between -1 and 1 in each direction; v : tilts per unit of u, at most 1/2
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64

DEGREE = 16
TERMS = (DEGREE + 1) * (DEGREE + 2) // 2
LEAST = 64
"""Tilts from which boxes are made at all."""
SIDE = 2.0**20
"""Boxes along one direction, fewer than."""
WORTH = 20
"""Points for each box, at least, on average: a box of few costs more than its points."""


def log_tilted_sums(base: F64, s: F64, theta: F64, at_once: int = 1_000_000) -> F64:
    """The log of the sum for every tilt, shape (C,)."""
    if len(s) <= 2 and theta.shape[1] >= LEAST:
        found = _by_boxes(base, s, theta, at_once)
        if found is not None:
            return found
    return plain(base, s, theta, at_once)


def plain(base: F64, s: F64, theta: F64, at_once: int = 1_000_000) -> F64:
    """The same, point by point."""
    out = np.empty(theta.shape[1])
    step = max(at_once // max(len(base), 1), 1)
    for at in range(0, len(out), step):
        each = theta[:, at : at + step].T @ s + base
        top = each.max(axis=1)
        out[at : at + step] = top + np.log(np.exp(each - top[:, None]).sum(axis=1))
    return out


def _by_boxes(base: F64, s: F64, theta: F64, at_once: int) -> F64 | None:
    """By moments of boxes; None where there are nearly as many boxes as points."""
    wide = np.zeros((2, theta.shape[1]))
    wide[: len(s)] = theta
    points = np.zeros((2, len(base)))
    points[: len(s)] = s
    middle = 0.5 * (wide.max(axis=1) + wide.min(axis=1))
    wide, base = wide - middle[:, None], base + middle @ points
    half = np.abs(wide).max(axis=1)
    half[half == 0] = 1e-300
    place = (points - points.min(axis=1)[:, None]) * half[:, None]  # boxes have sides of 1
    if not (place < SIDE).all():
        return None
    at = np.floor(place)
    boxes, of = np.unique(at[0] * SIDE + at[1], return_inverse=True)
    if len(boxes) * WORTH > len(base):
        return None
    centre = np.array([np.floor(boxes / SIDE), boxes % SIDE]) + 0.5
    top, moments = _moments(base, 2.0 * (place - centre[:, of]), of, len(boxes))
    v = 0.5 * wide / half[:, None]
    return np.asarray(_of_moments(top, moments, 2.0 * centre, v, at_once) + points.min(axis=1) @ wide)


def _moments(base: F64, u: F64, of: I64, many: int) -> tuple[F64, F64]:
    """The largest log weight of each box, and its moments over that, shape (boxes, TERMS)."""
    top = np.full(many, -np.inf)
    np.maximum.at(top, of, base)
    out = np.zeros((many, TERMS))
    add_moments(np.exp(base - top[of]), u[0], u[1], of, out)
    return top, out


def _of_moments(top: F64, moments: F64, centre: F64, v: F64, at_once: int) -> F64:
    """Sums over boxes, for tilts per unit of u."""
    out = np.empty(v.shape[1])
    step = max(at_once // len(top), 1)
    for i in range(0, len(out), step):
        some = v[:, i : i + step]
        powers = np.array([some[0] ** a * some[1] ** b for a in range(DEGREE + 1) for b in range(DEGREE + 1 - a)])
        with one_blas_thread():
            each, inside = centre.T @ some + top[:, None], moments @ powers
        most = each.max(axis=0)
        out[i : i + step] = most + np.log((np.exp(each - most) * inside).sum(axis=0))
    return out


@compiled
def add_moments(weight, x, y, of, out):  # type: ignore[no-untyped-def]
    """Add weight x^a y^b / (a! b!) of every point to those of its box, for all a + b up to the degree."""
    for g in range(len(weight)):
        at, across = 0, weight[g]
        for a in range(DEGREE + 1):
            if a:
                across *= x[g] / a
            both = across
            for b in range(DEGREE + 1 - a):
                if b:
                    both *= y[g] / b
                out[of[g], at] += both
                at += 1
