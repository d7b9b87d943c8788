"""Scales and shapes of the map."""

from __future__ import annotations

import math
from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""


def meet(a: Box, b: Box) -> bool:
    """Whether two boxes overlap."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def heights(values: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest of a scale with some room around its values."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.12, 0.01)
    return max(low - room, -0.02), min(high + room, 1.02)


def steps(low: float, high: float) -> list[float]:
    """Where a scale of shares has its lines."""
    size = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0) if (high - low) / s <= 7)
    first = math.ceil(low / size - 1e-9)
    return [k * size for k in range(first, math.floor(high / size + 1e-9) + 1) if 0 <= k * size <= 1 + 1e-9]


def ticks(low: float, top: float, most: int) -> list[float]:
    """Where a scale in powers of ten has its numbers, at most so many."""
    for each in ((1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9), (1, 1.4, 2, 3, 5, 7), (1, 2, 5), (1,)):
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(top)) + 1)
        found = [n * 10.0**k for k in powers for n in each if low <= n * 10.0**k <= top and n * 10.0**k >= 1]
        if len(found) <= most:
            break
    return found


def cut(name: str, most: int) -> str:
    """A name that is not longer than so many letters."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    """A straight line."""
    return f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" class="f-empty {kind}" stroke-width="1"/>'


def rect(x: float, y: float, wide: float, high: float, kind: str) -> str:
    """A filled rectangle."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" class="{kind}"/>'
