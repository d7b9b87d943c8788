"""The original data and the data with noise: their risk and utility when the user wants a mean.

Notation: X_1..X_n records with mean mu and variance s2 = sigma^2; Y_i = X_i + e_i; l2 = noise_sd^2, in print lambda^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from confide.core.errors import raise_all
from confide.theory.base import (
    ONE_RECORD,
    USER,
    TheoryRelease,
    count_problems,
    sigma_problems,
    spread_problems,
)
from confide.theory.simulation import Draws, Errors


@dataclass(frozen=True)
class OriginalRelease(TheoryRelease):
    """The records as they are; the user estimates their mean mu by the sample mean.

        U = n / sigma^2
        R = n / ((n-1) sigma^2)  by the mean;   n / ((n+1) sigma^2)  if the target is not among the n
        R infinite               "linked": the target's record is known

    >>> release = OriginalRelease(n=5, sigma=1.0)
    >>> release.utility(), release.risk("mean"), release.worst_risk()
    (5.0, 1.25, inf)
    """

    n: int
    sigma: float

    name: ClassVar[str] = "original"
    parameter: ClassVar[str | None] = None
    snoopers: ClassVar[tuple[str, ...]] = ("mean", "linked")
    linking: ClassVar[frozenset[str]] = frozenset({"linked"})

    def __post_init__(self) -> None:
        raise_all([*count_problems("n", self.n, 2, ONE_RECORD), *sigma_problems(self.sigma)])

    def original_utility(self) -> float:
        return self.utility()

    def _user_mse(self) -> float:
        return self.sigma**2 / self.n

    def _snooper_mse(self, snooper: str, member: bool) -> float:
        return 0.0 if snooper == "linked" else self.sigma**2 * (self.n + (-1 if member else 1)) / self.n

    def _values_per_draw(self) -> int:
        return self.n + 1

    def _errors(self, draws: Draws, count: int) -> Errors:
        x = self.sigma * draws.unit(count, self.n)
        mean, outside = x.mean(axis=1), self.sigma * draws.unit(count)
        return {
            USER: mean, ("risk", "mean", True): x[:, 0] - mean, ("risk", "mean", False): outside - mean,
            ("risk", "linked", True): x[:, 0] - x[:, 0],
        }  # fmt: skip


@dataclass(frozen=True)
class NoiseRelease(TheoryRelease):
    """Each record with independent noise, Y_i = X_i + e_i, of standard deviation `noise_sd` (lambda).

        U = n / (sigma^2 + lambda^2)
        R = n / ((n-1) sigma^2 + lambda^2)              "mean", target among the n
        R = 1 / (sigma^2 + (sigma^2 + lambda^2)/n)      "mean", target not among the n
        R = 1 / lambda^2                                "linked": uses Y_i
        R = 1/lambda^2 + 1/sigma^2                      "shrink_known": linked, shrinks Y_i towards the known mu
        R = (sigma^2 + lambda^2) / (lambda^2 sigma^2 + lambda^4/n)    "shrink_sample": towards the mean of the Y

    Shrinking, with weight sigma^2 / (sigma^2 + lambda^2) for Y_i, is beyond print; it needs both variances.

    >>> release = NoiseRelease(n=100, sigma=1.0, noise_sd=2.0)
    >>> release.utility(), release.risk("linked"), round(release.risk("mean"), 4), release.risk("shrink_known")
    (20.0, 0.25, 0.9709, 1.25)
    """

    n: int
    sigma: float
    noise_sd: float

    name: ClassVar[str] = "noise"
    parameter: ClassVar[str | None] = "noise_sd"
    snoopers: ClassVar[tuple[str, ...]] = ("mean", "linked", "shrink_known", "shrink_sample")
    linking: ClassVar[frozenset[str]] = frozenset({"linked", "shrink_known", "shrink_sample"})

    def __post_init__(self) -> None:
        noise = spread_problems("noise_sd", self.noise_sd, "the standard deviation of the noise", zero=True)
        raise_all([*count_problems("n", self.n, 2, ONE_RECORD), *sigma_problems(self.sigma), *noise])

    def prefers_mean(self) -> bool:
        """A linked snooper does no worse with the mean of all than with the target's own noisy value:
        lambda^2 >= sigma^2. One who shrinks never does.

        >>> NoiseRelease(100, 1.0, 1.5).prefers_mean(), NoiseRelease(100, 1.0, 0.5).prefers_mean()
        (True, False)
        """
        return self.noise_sd >= self.sigma

    def original_utility(self) -> float:
        return self.n / self.sigma**2

    def _user_mse(self) -> float:
        return (self.sigma**2 + self.noise_sd**2) / self.n

    def _snooper_mse(self, snooper: str, member: bool) -> float:
        n, s2, l2 = self.n, self.sigma**2, self.noise_sd**2
        if snooper == "linked":
            return l2
        if snooper == "shrink_known":
            return s2 * (l2 / (s2 + l2))
        if snooper == "shrink_sample":
            return (s2 + l2 / n) * (l2 / (s2 + l2))
        return ((n - 1) * s2 + l2) / n if member else s2 + (s2 + l2) / n

    def _values_per_draw(self) -> int:
        return 2 * self.n + 1

    def _errors(self, draws: Draws, count: int) -> Errors:
        x = self.sigma * draws.unit(count, self.n)
        y = x + self.noise_sd * draws.unit(count, self.n)
        mean, target, own = y.mean(axis=1), x[:, 0], y[:, 0]
        shrunk = self.noise_sd**2 / (self.sigma**2 + self.noise_sd**2)  # 1 - weight of the own value
        return {
            USER: mean, ("risk", "mean", True): target - mean,
            ("risk", "mean", False): self.sigma * draws.unit(count) - mean, ("risk", "linked", True): target - own,
            ("risk", "shrink_known", True): target - own + shrunk * own,  # mu = 0 here
            ("risk", "shrink_sample", True): target - own + shrunk * (own - mean),
        }  # fmt: skip
