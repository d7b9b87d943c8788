"""Shares of right answers with their intervals, and what is above a baseline.

Wilson's interval of a share; the difference of two by Newcombe's square-and-add of both; the part of what was left to
gain, (attack - control) / (1 - control) = 1 - (1 - attack) / (1 - control), by the same for ratios (Donner and Zou).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist

from confide.core.checks import fraction
from confide.core.errors import InputError

Interval = tuple[float, float, float]
"""A number with the ends of its interval."""


@dataclass(frozen=True)
class Rate:
    """`right` of `tries`; where ties share, `right` need not be whole.

    >>> rate = Rate(5, 10)
    >>> rate.value, [round(x, 4) for x in rate.interval()]
    (0.5, [0.2366, 0.7634])
    """

    right: float
    tries: int

    @property
    def value(self) -> float:
        """The share."""
        return self.right / self.tries if self.tries else 0.0

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Wilson's interval; all of 0 to 1 where nothing was tried."""
        if not self.tries:
            return 0.0, 1.0
        z2, n, p = quantile(confidence) ** 2, self.tries, min(max(self.value, 0.0), 1.0)
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = sqrt(z2) / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(middle - half, 0.0), min(middle + half, 1.0)


def quantile(confidence: float) -> float:
    """The normal quantile of a two-sided interval."""
    level = fraction(confidence, "confidence")
    if level in (0, 1):
        raise InputError("confidence lies between 0 and 1, such as 0.95.")
    return NormalDist().inv_cdf(0.5 + level / 2)


def excess(attack: Rate, control: Rate, confidence: float = 0.95) -> Interval:
    """How much higher one share is than another, independent one.

    >>> [round(x, 4) for x in excess(Rate(56, 70), Rate(48, 80))]
    [0.2, 0.0524, 0.3339]
    """
    (l1, u1), (l2, u2) = attack.interval(confidence), control.interval(confidence)
    p1, p2 = attack.value, control.value
    low = p1 - p2 - sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2)
    return p1 - p2, low, p1 - p2 + sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)


def part_of_the_rest(attack: Rate, control: Rate, confidence: float = 0.95) -> Interval | None:
    """(attack - control) / (1 - control): below 0 where the control does better; None where it is always right.

    >>> [round(x, 3) for x in part_of_the_rest(Rate(60, 100), Rate(20, 100))]
    [0.5, 0.358, 0.618]
    """
    a, c = 1 - attack.value, 1 - control.value
    if c < 1e-12 or not attack.tries or not control.tries:
        return None
    (l1, u1), (l2, u2) = (_rest(attack, confidence), _rest(control, confidence))
    lower, upper = l1 * (2 * a - l1), u1 * (2 * a - u1)
    least = lower / (a * c + sqrt(max((a * c) ** 2 - lower * u2 * (2 * c - u2), 0.0))) if a > 0 else 0.0
    beside = l2 * (2 * c - l2)
    most = (a * c + sqrt(max((a * c) ** 2 - upper * beside, 0.0))) / beside if beside > 0 else inf
    return 1 - a / c, 1 - most, 1 - least


def _rest(rate: Rate, confidence: float) -> tuple[float, float]:
    """The interval of the share that is not right."""
    low, high = rate.interval(confidence)
    return 1 - high, 1 - low
