"""Where the labels of a chart go, in pixels, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

LETTER, LINE = 7.3, 15.0
"""Pixels that a letter and a line of labels take."""
SLACK = 10.0
"""Letters are narrower than that as a rule, so a label may seem to reach out so far."""

Spot = tuple[float, float]
Box = tuple[float, float, float, float]
"""Middle, width and height."""


def spread(at: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions at least `gap` apart, in the same order, inside low..high where there is room, as near as may be.

    >>> spread([0.0, 1.0, 50.0], 10, 0, 100)
    [0.0, 10.0, 50.0]
    """
    order = sorted(range(len(at)), key=lambda k: at[k])
    out, before = list(at), low - gap
    for k in order:
        out[k] = before = max(at[k], before + gap)
    after = high + gap
    for k in reversed(order):
        out[k] = after = min(out[k], after - gap)
    return out


def placed(
    points: Sequence[Spot], labels: Sequence[str], width: float, height: float, walls: Sequence[Box] = ()
) -> list[Spot]:
    """The middle of each label, in pixels: near its point, off other points, labels and walls, inside the drawing.

    >>> [round(x) for x, y in placed([(100.0, 50.0), (130.0, 50.0)], ["one", "two"], 300, 100)]
    [83, 147]
    """
    out: list[Spot] = []
    taken: list[Box] = [*((px, py, 14.0, 14.0) for px, py in points), *walls]
    for (px, py), label in zip(points, labels, strict=True):
        w = LETTER * len(label)
        sides = [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)]
        tries = [
            (px + sx * (w / 2 + 6 + r), py + sy * (LINE / 2 + 6 + r))
            for r, (sx, sy) in product(range(0, 160, 8), sides)
        ]
        across, down = w / 2 - SLACK, LINE / 2
        tries = [(a, b) for a, b in tries if across <= a <= width - across and down <= b <= height - down]
        own = (px, py, 14.0, 14.0)
        free = (t for t in tries if not any(_touch((*t, w, LINE), box) for box in taken if box != own))
        spot = next(free, tries[0] if tries else (px, py))
        out.append(spot)
        taken.append((*spot, w, LINE))
    return out


def _touch(a: Box, b: Box) -> bool:
    return abs(a[0] - b[0]) * 2 < a[2] + b[2] and abs(a[1] - b[1]) * 2 < a[3] + b[3]


def edge(point: Spot, spot: Spot, label: str) -> Spot:
    """Where a line from a point meets its label."""
    half = LETTER * len(label) / 2
    across = min(max(point[0], spot[0] - half), spot[0] + half)
    return across, min(max(point[1], spot[1] - LINE / 2), spot[1] + LINE / 2)
