"""How numbers are shown: as they are inside the agency, coarsened in what goes outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from confide.measure.utility.traces import FEWEST
from confide.study.outside_people import count_outside

FEWEST_INSIDE = 3
"""Groups of fewer people are not named."""
BASE = FEWEST
"""Outside, numbers of people are multiples of this, unless another number is asked for."""
EXACT_BELOW = 10
"""Inside, numbers of people below this have two decimals."""
UNKNOWN, WITHHELD = "unknown", "withheld"


@dataclass(frozen=True)
class Treatment:
    """Numbers as text and as places on an axis; `outside` coarsens them, so that a page holds no exact count: numbers
    of people are multiples of `base`, which is also the smallest group that is named.

    >>> inside, outside = Treatment(False), Treatment(True)
    >>> inside.people(3.25), outside.people(3.25), outside.people(1234)
    ('3.25', 'fewer than 10', '1,230')
    >>> outside.count(3.25), outside.share(3, 200), outside.share_text(3, 200), outside.share_text(55, 200)
    (5.0, 0.025, 'fewer than 10 people', '30%')
    """

    outside: bool = False
    base: int = BASE

    @property
    def fewest(self) -> int:
        """The smallest group that is named."""
        return self.base if self.outside else FEWEST_INSIDE

    def people(self, x: float | None) -> str:
        """A number of people, or of matches, as text."""
        if x is None or math.isnan(x):
            return UNKNOWN
        if self.outside:
            return f"fewer than {self.base}" if x < self.base else f"{count_outside(x, self.base):,.0f}"
        return f"{x:,.0f}" if x >= 1000 else _trimmed(f"{x:,.1f}" if x >= EXACT_BELOW else f"{x:,.2f}")

    def whole(self, x: float) -> str:
        """The same without decimals, where there is little room."""
        return self.people(x) if self.outside or x < 1 else f"{x:,.0f}"

    def count(self, x: float | None) -> float | None:
        """The same as a place on an axis."""
        if x is None or math.isnan(x):
            return None
        if self.outside:
            return count_outside(x, self.base)
        return float(f"{x:.6g}")

    def interval(self, mean: float | None, low: float | None, high: float | None) -> str:
        """A number of people with its interval."""
        return _with_ends(*(UNKNOWN if v is None else self.people(v) for v in (mean, low, high)))

    def rated(self, mean: float | None, low: float | None, high: float | None, whole: float | None) -> str:
        """A number of people with its interval, and its share of all."""
        text = self.interval(mean, low, high)
        if mean is None or not whole or (self.outside and mean < self.base):
            return text
        share = self.share_text(mean, whole)
        return f"{text}, {share}" if "(" in text else f"{text} ({share})"

    def share(self, part: float, whole: float) -> float | None:
        """A part of a group, as a place on an axis from 0 to 1."""
        a, b = self.count(part), self.count(whole)
        return None if a is None or not b else min(1.0, float(f"{a / b:.4g}"))

    def share_text(self, part: float, whole: float) -> str:
        """The same as text."""
        if self.outside and part < self.base:
            return f"fewer than {self.base} people"
        share = self.share(part, whole)
        if share is None:
            return UNKNOWN
        return f"{share:.0%}" if self.outside else _trimmed(f"{100 * share:.1f}") + "%"

    def value(self, x: float | None) -> float | None:
        """A measure of utility as a place on an axis; nothing where it has none."""
        if x is None or not math.isfinite(x):
            return None
        return float(f"{x:.3g}" if self.outside else f"{x:.6g}")

    def measure(self, x: float | None) -> str:
        """A measure of utility as text."""
        if x is None or math.isnan(x):
            return UNKNOWN
        if math.isinf(x):
            return "infinite"
        return f"{x:.3g}" if self.outside else f"{x:.4g}"

    def measure_interval(self, mean: float | None, low: float | None, high: float | None) -> str:
        """A measure of utility with its interval."""
        return _with_ends(*(self.measure(v) for v in (mean, low, high)))


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_ends(mean: str, low: str, high: str) -> str:
    if low == high == mean or mean == UNKNOWN:
        return mean
    return f"{mean} (no interval: one repeat)" if UNKNOWN in (low, high) else f"{mean} ({low} to {high})"
