"""Losses that are about limits: near enough to the true value, and above a stated one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.attack.learning.attributes.loss import NEAR_TIE, TIE, Guessed, Loss
from confide.core.checks import finite, fraction, positive
from confide.core.errors import InputError, Problems
from confide.frames.columns import F64


@dataclass(frozen=True)
class Within(Loss):
    """1 unless the guess is within a share of the true value: abs(g - y) <= max(share * abs(y), floor), closed.

    Zero is hit by zero alone unless there is a floor; negative values are understood.

    >>> import confide as cf
    >>> cf.Within(share=0.1, floor=500)
    Within(share=0.1, floor=500)
    """

    share: float
    floor: float = 0.0
    declares: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = Problems()
        with problems:
            if finite(self.share, "Within: share") < 0:
                raise InputError("Within: share is a share of the true value, not below zero; 0.1 for 10 percent.")
            fraction(self.share, "Within: share")
        with problems:
            if finite(self.floor, "Within: floor") < 0:
                raise InputError("Within: floor is a distance in the variable's own unit, not below zero.")
        problems.tell()

    @property
    def words(self) -> str:
        floor = f", or within {self.floor:,g}" if self.floor else ""
        return f"1 unless the guess is within {100 * self.share:g}% of the true value{floor}"

    def reach(self, y: F64) -> F64:
        """How far a guess may be off."""
        return np.maximum(self.share * np.abs(y), self.floor)

    def best(self, values: F64, p: F64) -> Guessed:
        low, high = values - self.reach(values), values + self.reach(values)
        by_low, by_high = np.argsort(low, kind="stable"), np.argsort(high, kind="stable")
        ends = np.unique(low)
        # Hits at a point: all intervals that begin there or before, less those that ended before.
        begun = np.concatenate([np.zeros((len(p), 1)), np.cumsum(p[:, by_low], axis=1)], axis=1)
        ended = np.concatenate([np.zeros((len(p), 1)), np.cumsum(p[:, by_high], axis=1)], axis=1)
        slack = 1e-12 * np.maximum(np.abs(ends), 1.0)
        hits = (
            begun[:, np.searchsorted(low[by_low], ends + slack, side="right")]
            - ended[:, np.searchsorted(high[by_high], ends - slack, side="left")]
        )
        top = hits.max(axis=1)
        at = (hits >= (top - TIE)[:, None]).argmax(axis=1)
        # As good up to where the next interval ends, and the next begins.
        upto = high[by_high][np.minimum(np.searchsorted(high[by_high], ends - slack), len(high) - 1)]
        middle = 0.5 * (ends + np.maximum(upto, ends))
        return Guessed(middle[at], np.clip(1 - top, 0.0, 1.0))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        slack = 1e-9 * np.maximum(np.abs(y), 1e-300)
        return np.where(np.abs(found.guess - y) <= self.reach(y) + slack, 0.0, 1.0)


@dataclass(frozen=True)
class Exceeds(Loss):
    """Whether the value lies above a limit: who declares it loses `cost` if wrong and gains `gain` if right.

    It is declared where Pr(y > limit) > cost / (cost + gain); whoever declares nothing loses nothing.

    >>> import confide as cf
    >>> cf.Exceeds(limit=100_000, cost=1, gain=1)
    Exceeds(limit=100000, cost=1, gain=1)
    """

    limit: float
    cost: float
    gain: float
    declares: ClassVar[bool] = True
    tips: ClassVar[bool] = True

    def __post_init__(self) -> None:
        problems = Problems()
        for name, judge in (("limit", finite), ("cost", positive), ("gain", positive)):
            with problems:
                judge(getattr(self, name), f"Exceeds: {name}")
        problems.tell()

    @property
    def words(self) -> str:
        return f"declared above {self.limit:,g}: a wrong one costs {self.cost:g}, a right one gains {self.gain:g}"

    def check(self, low: float, high: float) -> None:
        if not low <= self.limit < high:
            raise InputError(
                "Exceeds: the limit lies outside the values of the variable, so that everybody is on one side of it; "
                "give a limit that some exceed and others do not."
            )

    def less(
        self, values: F64, p: F64, of: NDArray[np.int64], at: NDArray[np.int64], share: F64, near: F64 | None = None
    ) -> Guessed:
        over = values > self.limit
        above = (p[:, over].sum(axis=1)[of] - share * over[at]) / np.maximum(p.sum(axis=1)[of] - share, 1e-300)
        return self._declared(above, near)

    def best(self, values: F64, p: F64) -> Guessed:
        return self._declared(p[:, values > self.limit].sum(axis=1))

    def best_near(self, values: F64, p: F64, near: F64) -> Guessed:
        """Declared half where the record that was left out could have tipped it."""
        return self._declared(p[:, values > self.limit].sum(axis=1), near)

    def _declared(self, above: F64, near: F64 | None = None) -> Guessed:
        bar = self.cost / (self.cost + self.gain)
        declared = (above > bar * (1 + TIE)).astype(float)
        if near is not None:  # a record less moves the share above by at most this
            off = near * np.where(above > bar, bar, 1 - bar)
            declared = np.where((near > 0) & (np.abs(above - bar) <= off * (1 + NEAR_TIE)), 0.5, declared)
        return Guessed(declared, declared * ((1 - above) * self.cost - above * self.gain))

    def true(self, found: Guessed, y: F64, place: NDArray[np.int64]) -> F64:  # noqa: ARG002 - values tell
        paid = np.where(y > self.limit, -self.gain, self.cost)
        return np.asarray(found.guess * paid)
