"""The two axes of the R-U map. Both are fixed by the anchors and the measure, so no candidate can move another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from confide.measure.utility.measure import Measure
from confide.show.names import said

SCALES = ("linear", "sqrt", "symlog")
KNEE = 0.01
"""The share from which a symlog axis turns from linear to logarithmic."""
PAD = 0.05
"""Of an axis, free on both sides."""
OUTSIDE = 1 + PAD / 2
"""Where a number beyond an axis is drawn."""

Tick = tuple[float, str]


def stretched(share: float, scale: str) -> float:
    """The place of a share of an axis: 0 stays 0 and 1 stays 1, small shares get more room.

    >>> [round(stretched(0.04, s), 3) for s in SCALES]
    [0.04, 0.2, 0.349]
    """
    if scale == "sqrt":
        return math.sqrt(share)
    if scale == "symlog":
        return math.log1p(share / KNEE) / math.log1p(1 / KNEE)
    return share


def unstretched(place: float, scale: str) -> float:
    """The share that is drawn at a place.

    >>> [round(unstretched(stretched(0.3, s), s), 9) for s in SCALES]
    [0.3, 0.3, 0.3]
    """
    if scale == "sqrt":
        return place**2
    if scale == "symlog":
        return KNEE * math.expm1(place * math.log1p(1 / KNEE))
    return place


@dataclass(frozen=True)
class RiskAxis:
    """From 0 ("release nothing") to `top`, the risk of "release everything"."""

    top: float
    scale: str = "linear"

    def at(self, risk: float) -> float:
        """The place of a risk; one above that of "release everything" is drawn at the edge."""
        share = risk / self.top if self.top > 0 else float(risk > 0) * 2
        return OUTSIDE if share > 1 + 1e-9 else stretched(min(max(share, 0.0), 1.0), self.scale)

    def ticks(self) -> list[Tick]:
        """Round numbers, and where they are; the end of the axis where none of them is near it."""
        if not self.top > 0:
            return [(0.0, "0")]
        values = even(self.top) if self.scale == "linear" else [0.0, *rounds(self.top * 1e-4, self.top)]
        return thinned([*((self.at(v), _said(v)) for v in values), (1.0, _said(float(f"{self.top:.4g}")))], 0.08)


@dataclass(frozen=True)
class UtilityAxis:
    """From the worse end of a measure's range (0) to its best value (1); what is better is higher.

    A value is placed by the share it loses. Between two finite ends that is |best - u| / |best - worst|. Where the
    worse end is infinite it is l / (1 + l), with l = |best - u|; where the best is, 1 / (1 + g), with g = |u - worst|.
    """

    measure: Measure
    scale: str = "linear"

    @property
    def worst(self) -> float:
        low, high = self.measure.range
        return low if self.measure.direction == "higher" else high

    def lost(self, value: float) -> float:
        """The share of utility that is lost, between 0 and 1."""
        best, worst = float(self.measure.best), float(self.worst)
        if math.isinf(best):
            return 0.0 if math.isinf(value) else 1 / (1 + abs(value - worst))
        loss = abs(best - value)
        if math.isinf(worst):
            return 1.0 if math.isinf(loss) else loss / (1 + loss)
        return min(loss / abs(best - worst), 1.0)

    def at(self, value: float) -> float:
        """The height of a value. One beyond the best (chance can do that) is drawn as the best."""
        sign = 1.0 if self.measure.direction == "higher" else -1.0
        beyond = sign * value > sign * float(self.measure.best)
        return 1.0 if beyond else 1 - stretched(self.lost(value), self.scale)

    @property
    def title(self) -> str:
        """What the axis shows, and how."""
        best, worst = float(self.measure.best), float(self.worst)
        how = ""
        if math.isinf(best):
            how = ", drawn as g / (1 + g)" if not worst else ", drawn as g / (1 + g) of the distance g from the worst"
        elif math.isinf(worst):
            how = ", drawn as 1 / (1 + loss)"
        return f"Utility: {said(self.measure.name)} ({self.measure.direction} is better{how})"

    def ticks(self) -> list[Tick]:
        """Round values, and where they are; the two ends always."""
        best, worst = float(self.measure.best), float(self.worst)
        ends = [(1.0, _said(best)), (0.0, _said(worst))]
        sign = 1.0 if self.measure.direction == "higher" else -1.0
        if math.isinf(best):
            values = [worst + sign * v for v in rounds(1e-3, 1e4)]
        elif math.isinf(worst):
            values = [best - sign * v for v in rounds(1e-3, 1e4)]
        elif self.scale == "linear":
            values = [best - sign * v for v in even(abs(best - worst))]
        else:
            values = [best - sign * v for v in rounds(1e-4 * abs(best - worst), abs(best - worst))]
        return thinned([*ends, *((self.at(v), _said(float(f"{v:.10g}"))) for v in values)], 0.07)


def even(top: float) -> list[float]:
    """Round numbers in even steps from 0 to `top`, four to eight of them.

    >>> even(2543)
    [0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0]
    """
    rough = top / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.7)
    return [float(f"{k * step:.10g}") for k in range(int(top / step * (1 + 1e-9)) + 1)]


def rounds(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers, the largest first.

    >>> rounds(0.1, 2)
    [2.0, 1.0, 0.5, 0.2, 0.1]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = [float(f"{m}e{k}") for k in powers for m in (1, 2, 5)]
    return [v for v in reversed(every) if low <= v <= high]


def thinned(ticks: list[Tick], gap: float) -> list[Tick]:
    """Ticks that leave each other room; those named first stay."""
    out: list[Tick] = []
    for at, words in ticks:
        if all(abs(at - other) >= gap for other, _ in out):
            out.append((at, words))
    return sorted(out)


def _said(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"


def usual_scale(utility: Measure, scale: str) -> str:
    """Losses crowd near 0 and get the room that risks get; a share that is kept is read off a plain axis."""
    share = utility.direction == "higher" and all(math.isfinite(end) for end in utility.range)
    return "linear" if share else scale


def ticked(ticks: list[Tick]) -> Any:
    """An axis of places with these words."""
    import altair as alt

    said = " : ".join(f"abs(datum.value - {at:.9g}) < 1e-7 ? '{words}'" for at, words in ticks) + " : ''"
    return alt.Axis(values=[round(at, 9) for at, _ in ticks], labelExpr=said, labelFlush=False, labelOverlap=False)
