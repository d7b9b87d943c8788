"""The tail of the normal distribution from a table: a fifth of the time of `math.erfc`."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from confide.core.run.compile import compiled
from confide.frames.columns import F64

STEPS = 128.0
"""Pieces of the table per unit."""
TOP = 6.0
"""Where the table ends; beyond, the function itself is asked."""


def _pieces() -> F64:
    """Polynomials of degree five on each piece that have its values and two derivatives at both ends, shape (p, 6)."""
    at, h = np.arange(int(TOP * STEPS) + 1) / STEPS, 1 / STEPS
    value = special.erfc(at)
    first = -2 / np.sqrt(np.pi) * np.exp(-at * at) * h
    second = -2 * at * first * h
    gap = value[1:] - value[:-1] - first[:-1] - second[:-1] / 2
    turn, bend = first[1:] - first[:-1] - second[:-1], second[1:] - second[:-1]
    high = (10 * gap - 4 * turn + bend / 2, -15 * gap + 7 * turn - bend, 6 * gap - 3 * turn + bend / 2)
    return np.ascontiguousarray(np.stack([value[:-1], first[:-1], second[:-1] / 2, *high], axis=1))


PIECES = _pieces()


@compiled(inner=True)
def erfc(x):  # type: ignore[no-untyped-def]
    """2 / sqrt(pi) times the integral of exp(-t^2) from x on, to a relative 2e-11 in its tail and 1e-15 elsewhere."""
    y = abs(x)
    if not y < TOP:
        return math.erfc(x)
    at = y * STEPS
    i = int(at)
    t = at - i
    tail = PIECES[i, 0] + t * (
        PIECES[i, 1] + t * (PIECES[i, 2] + t * (PIECES[i, 3] + t * (PIECES[i, 4] + t * PIECES[i, 5])))
    )
    return tail if x >= 0.0 else 2.0 - tail
