"""Estimates with intervals as one picture, on a logarithmic scale: customary estimators differ by factors."""

from __future__ import annotations

import math
from collections.abc import Sequence

from confide.show.charts.svg import LETTER, Picture, circle, line, text

Estimate = tuple[str, float, float | None, float | None]
"""A name, a number, and the ends of its interval."""
LEAST = 0.5
"""Where the scale begins at the latest; what is below stands at its edge."""


def estimates_picture(rows: Sequence[Estimate], alt: str, narrow: bool = False) -> Picture:
    """One row per estimate: a dot, its interval as a line, its number at the end; the first one stands out.

    >>> estimates_picture([("Poisson", 9.0, 4.0, 14.0), ("SNB", 31.1, None, None)], "Two.").words()[-2:]
    ['SNB', '31.1']
    """
    width, row = (340.0 if narrow else 520.0), 28.0
    left = max(len(r[0]) for r in rows) * LETTER + 10
    values = [v for _, *numbers in rows for v in numbers if v is not None]
    start = math.floor(math.log10(max(min(values), LEAST)))
    end = max(math.ceil(math.log10(max(max(values), 1.0))), start + 1)
    right, bottom = width - 62, row * len(rows) + 6

    def at(value: float) -> float:
        place = (math.log10(max(value, 10.0**start)) - start) / (end - start)
        return left + place * (right - left)

    parts: list[str] = []
    every = max(1, math.ceil((end - start) / (4 if narrow else 7)))
    for k in range(start, end + 1, every):
        parts.append(line([(at(10.0**k), 0), (at(10.0**k), bottom)], "s-line"))
        parts.append(text((at(10.0**k), bottom + 16), _tick(k), "t-soft", "middle"))
    for k, (name, value, low, high) in enumerate(rows):
        y, mark = row * k + row / 2, ("f-accent", "s-accent") if k == 0 else ("f-strong", "s-strong")
        if low is not None and high is not None and high > low:
            parts.append(line([(at(low), y), (at(high), y)], mark[1], 2.5))
        parts += [circle((at(value), y), 5, mark[0]), text((0, y + 4.5), name, "t-b" if k == 0 else "")]
        beyond = max(at(value), at(high) if high is not None else 0.0)
        parts.append(text((beyond + 10, y + 4.5), _said(value), "t-b" if k == 0 else "t-soft"))
    return Picture(width, bottom + 22, tuple(parts), alt)


def _tick(k: int) -> str:
    return f"{10.0**k:g}" if k < 4 else f"{10 ** (k - 3):,}k" if k < 6 else f"{10 ** (k - 6):,}m"


def _said(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
