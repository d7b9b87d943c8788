"""Swapped data: risk and utility when the user wants the difference of two areas.

Notation: areas of a and b people with means mu_1 and mu_2, d = mu_1 - mu_2, s2 = sigma^2 within each; pi the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.errors import raise_all
from confide.theory.base import (
    USER,
    TheoryRelease,
    count_problems,
    is_number,
    rate_problems,
    sigma_problems,
    spread_problems,
)
from confide.theory.simulation import Array, Draws, Errors


@dataclass(frozen=True)
class SwapRelease(TheoryRelease):
    """Somebody unique in an area of a people swaps with one of an area of b people, with probability `rate` (pi).

    The user estimates the `difference` d = mu_1 - mu_2 of the areas by that of their means; h = 1/a + 1/b, in print
    1/3 + 1/2 = 5/6.

        U = 1 / (h sigma^2 + h^2 pi d^2)
        R = 1 / (pi (2 sigma^2 + d^2))          "attribute": the value now at the target's place; infinite at rate 0
        R = 1 - pi                              "identity": the probability that the link is right, not a 1/MSE
        R = 1 / ((1-1/a) sigma^2 + pi (2 sigma^2/a + d^2/a^2))      "mean" of the target's area, beyond print
        R = 1 / ((1+1/a) sigma^2 + pi d^2/a^2)                      the same, target one more person of the area

    >>> release = SwapRelease(sigma=1.0, difference=1.0, rate=0.2)
    >>> round(release.utility(), 3), round(release.risk("attribute"), 3), release.risk("identity")
    (1.029, 1.667, 0.8)
    >>> release.prefers_mean(), round(release.mean_from(), 9)
    (False, 0.3)
    """

    sigma: float
    difference: float
    rate: float
    sizes: tuple[int, int] = (3, 2)

    name: ClassVar[str] = "swapping"
    parameter: ClassVar[str | None] = "rate"
    snoopers: ClassVar[tuple[str, ...]] = ("attribute", "identity", "mean")
    linking: ClassVar[frozenset[str]] = frozenset({"attribute", "identity"})

    def __post_init__(self) -> None:
        problems = [*sigma_problems(self.sigma), *rate_problems("rate", self.rate)]
        if not is_number(self.difference) or spread_problems("", abs(self.difference), "", zero=True):
            problems.append("difference is that of the two areas' means, a finite number.")
        if not isinstance(self.sizes, tuple) or len(self.sizes) != 2:
            problems.append(
                "sizes are two whole numbers, people of the target's area and of the other, such as (3, 2)."
            )
        else:
            problems += [p for s in self.sizes for p in count_problems("Each of sizes", s, 1, "somebody must be there")]
        raise_all(dict.fromkeys(problems))

    def prefers_mean(self) -> bool:
        """The mean of the area is no worse a guess than the value at the target's place: rate >= `mean_from()`.

        >>> SwapRelease(1.0, 1.0, rate=0.5).prefers_mean()
        True
        """
        return self.rate >= self.mean_from()

    def mean_from(self) -> float:
        """The rate from which the area's mean is the better guess: sigma^2 / (2 sigma^2 + (1 + 1/a) d^2).

        >>> SwapRelease(1.0, difference=0.0, rate=0.5).mean_from()
        0.5
        """
        a, s2, d2 = self.sizes[0], self.sigma**2, self.difference**2
        return s2 / (2 * s2 + (1 + 1 / a) * d2) if a > 1 else 0.0

    def original_utility(self) -> float:
        return 1 / (self._h() * self.sigma**2)

    def _h(self) -> float:
        return 1 / self.sizes[0] + 1 / self.sizes[1]

    def _user_mse(self) -> float:
        return self._h() * self.sigma**2 + self._h() ** 2 * self.rate * self.difference**2

    def risk(self, snooper: str, member: bool = True) -> float:
        if snooper == "identity":
            self.check_snooper(snooper, member)
            return 1 - self.rate
        return super().risk(snooper, member)

    def _snooper_mse(self, snooper: str, member: bool) -> float:
        a, s2, d2, pi = self.sizes[0], self.sigma**2, self.difference**2, self.rate
        if snooper == "attribute":
            return pi * (2 * s2 + d2)
        if member:
            return (1 - 1 / a) * s2 + pi * (2 * s2 / a + d2 / a**2)
        return (1 + 1 / a) * s2 + pi * d2 / a**2

    def _values_per_draw(self) -> int:
        return sum(self.sizes) + 2

    def _errors(self, draws: Draws, count: int) -> Errors:
        here = self.difference + self.sigma * draws.unit(count, self.sizes[0])  # mu_2 = 0
        there = self.sigma * draws.unit(count, self.sizes[1])
        target, partner = here[:, 0].copy(), there[:, 0].copy()
        swapped = draws.uniform(count) < self.rate
        here[:, 0], there[:, 0] = np.where(swapped, partner, target), np.where(swapped, target, partner)
        mean, outside = here.mean(axis=1), self.difference + self.sigma * draws.unit(count)
        right: Array = (~swapped).astype(np.float64)
        return {
            USER: mean - there.mean(axis=1) - self.difference, ("risk", "attribute", True): target - here[:, 0],
            ("risk", "identity", True): right, ("risk", "mean", True): target - mean,
            ("risk", "mean", False): outside - mean,
        }  # fmt: skip
