"""Losses of single groups as a finished picture: a dot with its interval per group, and a line for all people."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confide.show.charts.svg import LETTER, Picture, circle, line, text, wrapped

WIDE, NARROW = 520.0, 340.0
BOLD = 8.8
"""Pixels that a bold letter takes at most, on average over words."""


@dataclass(frozen=True)
class Loss:
    """A group: its name, its value with the ends of its interval (None where unknown), the words at the end of its row,
    and whether it is worse than all."""

    name: str
    at: float | None
    low: float | None
    high: float | None
    words: str
    worse: bool = False


def losses_picture(rows: Sequence[Loss], whole: float | None, alt: str, narrow: bool = False) -> Picture:
    """One row per group; dashed: the value of the whole file.

    >>> losses_picture([Loss("men", 0.1, 0.05, 0.15, "0.1")], 0.08, "Men.").words()
    ['men', '0.1', 'all']
    """
    width = NARROW if narrow else WIDE
    left = min(max((len(r.name) for r in rows), default=0) * LETTER + 10, 120.0 if narrow else 190.0)
    right = width - (max((len(r.words) for r in rows), default=0) * BOLD + 14)
    numbers = [v for r in rows for v in (r.at, r.low, r.high) if v is not None and math.isfinite(v)]
    if whole is not None and math.isfinite(whole):
        numbers.append(whole)
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + 6 + (min(max(value, low), high) - low) / span * (right - left - 12)

    parts, y = [], 4.0
    for r in rows:
        made, height = _row(r, y, left, right, x)
        parts += made
        y += height + 4
    if whole is not None and math.isfinite(whole):
        parts.insert(0, line([(x(whole), 2), (x(whole), y)], "s-axis dash", 1.4))
        parts.append(text((x(whole), y + 14), "all", "t-soft", "middle"))
    return Picture(width, y + 20, tuple(parts), alt)


def _row(r: Loss, y: float, left: float, right: float, x: Callable[[float], float]) -> tuple[list[str], float]:
    letters = max(int((left - 8) / LETTER), 6)
    names = [w[k : k + letters] for w in wrapped(r.name, letters) for k in range(0, len(w) or 1, letters)]
    height = max(24.0, 15.0 * len(names) + 6)
    middle = y + height / 2
    parts = [text((0, middle + 4.5 + 15 * (k - (len(names) - 1) / 2)), n) for k, n in enumerate(names)]
    stroke, fill = ("s-warn", "s-warn f-none") if r.worse else ("s-strong", "f-strong")
    if r.low is not None and r.high is not None:
        parts.append(line([(x(r.low), middle), (x(r.high), middle)], stroke, 2))
    if r.at is not None:
        parts.append(circle((x(r.at), middle), 4.5, fill, 2.5 if r.worse else 0.0))
    parts.append(text((right + 8, middle + 4.5), r.words, "t-w t-b" if r.worse else "t-soft"))
    return parts, height
