"""Synthetic data from a hierarchical model: risk and utility when the user wants a mean.

Notation: s2 = sigma^2 the variance of a value, a2 = alpha^2 that of mu_i; m copies of k values each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError, raise_all
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
class SyntheticRelease(TheoryRelease):
    """m copies of k synthetic values: mu_i with mean mu and variance alpha^2, Y_ij with mean mu_i and variance sigma^2.

        U = 1 / (alpha^2/m + sigma^2/(m k))                     by the grand mean
        R = 1 / (2 sigma^2 + alpha^2)                           "value": one Y_ij (print has the next line for it)
        R = 1 / (sigma^2 + alpha^2)                             "mu": mu_i, which only an endless copy shows
        R = 1 / (sigma^2 + alpha^2 + sigma^2/k)                 "copy_mean": the mean of one copy
        R = 1 / (sigma^2 + alpha^2/m + sigma^2/(m k))           "grand_mean"

    In print each mu_i scatters about the true mean, independently of the records; so does it here unless `n` is given.
    But an agency knows mu from its n records only. With `n`, mu_i scatters about their mean: sigma^2/n is added to
    the user's mean squared error, and to the snooper's -sigma^2/n if the target is among the n, else sigma^2/n.

    >>> as_printed = SyntheticRelease(sigma=1.0, alpha=0.1, copies=10, size=100)
    >>> round(as_printed.utility()), round(as_printed.risk("value"), 3), round(as_printed.risk("grand_mean"), 3)
    (500, 0.498, 0.998)
    >>> round(SyntheticRelease(sigma=1.0, alpha=0.1, copies=10, size=100, n=100).utility(), 1)  # at most n / sigma^2
    83.3
    """

    sigma: float
    alpha: float
    copies: int
    size: int
    n: int | None = None

    name: ClassVar[str] = "synthetic"
    parameter: ClassVar[str | None] = "alpha"
    snoopers: ClassVar[tuple[str, ...]] = ("value", "mu", "copy_mean", "grand_mean")

    def __post_init__(self) -> None:
        raise_all([
            *sigma_problems(self.sigma),
            *spread_problems("alpha", self.alpha, "the standard deviation of mu_i", zero=True),
            *count_problems("copies", self.copies, 1, "it counts the synthetic samples"),
            *count_problems("size", self.size, 1, "it counts the values of one synthetic sample"),
            *(count_problems("n", self.n, 2, ONE_RECORD) if self.n is not None else []),
        ])  # fmt: skip

    def prefers_mean(self, over: str = "mu") -> bool:
        """The grand mean does no worse than another guess: than "mu" if alpha^2 k (m-1) >= sigma^2, else always.

        >>> SyntheticRelease(1.0, alpha=0.1, copies=10, size=100).prefers_mean()
        True
        >>> SyntheticRelease(1.0, alpha=0.1, copies=1, size=100).prefers_mean()
        False
        """
        self.check_snooper(over, True)
        return over != "mu" or self.alpha**2 * self.size * (self.copies - 1) >= self.sigma**2

    def original_utility(self) -> float:
        if self.n is None:
            raise InputError("The synthetic release does not say how many records there were: give n.")
        return self.n / self.sigma**2

    def _user_mse(self) -> float:
        return self._grand() + (self.sigma**2 / self.n if self.n else 0.0)

    def _grand(self) -> float:
        return self.alpha**2 / self.copies + self.sigma**2 / (self.copies * self.size)

    def _snooper_mse(self, snooper: str, member: bool) -> float:
        s2, a2 = self.sigma**2, self.alpha**2
        about = s2 * (self.n + (-1 if member else 1)) / self.n if self.n else s2
        guess = {"value": s2 + a2, "mu": a2, "copy_mean": a2 + s2 / self.size, "grand_mean": self._grand()}
        return about + guess[snooper]

    def _values_per_draw(self) -> int:
        return self.copies * (self.size + 1) + (self.n or 1) + 1

    def _errors(self, draws: Draws, count: int) -> Errors:
        x = self.sigma * draws.unit(count, self.n or 1)
        centre = x.mean(axis=1) if self.n else np.zeros(count)
        mu = centre[:, None] + self.alpha * draws.unit(count, self.copies)
        y = mu[:, :, None] + self.sigma * draws.unit(count, self.copies, self.size)
        grand = y.mean(axis=(1, 2))
        guesses = {"value": y[:, 0, 0], "mu": mu[:, 0], "copy_mean": y[:, 0].mean(axis=1), "grand_mean": grand}
        targets = {True: x[:, 0], False: self.sigma * draws.unit(count)}
        risks: Errors = {("risk", s, who): x - g for who, x in targets.items() for s, g in guesses.items()}
        return {USER: grand, **risks}
