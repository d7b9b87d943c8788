"""What the releases of the theory share: risk and utility as reciprocals of mean squared errors, and their checks."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.theory.simulation import Draws, Errors, simulated

SMALLEST, LARGEST = 1e-50, 1e50
"""Standard deviations beyond these would overflow when squared twice."""
MOST_RECORDS = 10**9
ONE_RECORD = "the mean of one record is that record"
USER = ("utility", "", None)
"""The user's place among simulated errors."""


class TheoryRelease:
    """A release whose risk and utility are known in closed form (Duncan and Keller-McNulty 2000, section 6).

    With T the quantity that the user estimates and X the value of the snooper's target,

        U = 1 / E(user's estimate - T)^2,        R = 1 / E(snooper's guess - X)^2.

    A guess that is always right has an infinite R. Values need two moments, no normal distribution.

    >>> from confide.theory import NoiseRelease
    >>> release = NoiseRelease(n=100, sigma=2.0, noise_sd=1.0)
    >>> release.utility(), release.risk("linked"), release.best_snooper()
    (20.0, 1.0, 'shrink_known')
    """

    name: ClassVar[str]
    parameter: ClassVar[str | None]
    """The field that a curve varies unless told otherwise."""
    snoopers: ClassVar[tuple[str, ...]]
    linking: ClassVar[frozenset[str]] = frozenset()
    """Snoopers who must know which released record is the target's."""
    sigma: float

    def utility(self) -> float:
        """U = 1 / mean squared error of the user's estimate.

        >>> from confide.theory import OriginalRelease
        >>> OriginalRelease(n=50, sigma=5.0).utility()
        2.0
        """
        return 1 / self._user_mse()

    def original_utility(self) -> float:
        """U of the same estimate from unprotected data.

        >>> from confide.theory import NoiseRelease
        >>> NoiseRelease(n=50, sigma=5.0, noise_sd=5.0).original_utility()
        2.0
        """
        raise NotImplementedError

    def risk(self, snooper: str, member: bool = True) -> float:
        """R = 1 / mean squared error of the snooper's guess at the target's value; infinite if it is always right.

        `member`: the target is one of the n records (as in print, the cautious reading), or one more draw from the
        same population. Snooper "identity" of a swap has the probability of a right link instead.

        >>> from confide.theory import OriginalRelease
        >>> release = OriginalRelease(n=5, sigma=1.0)
        >>> release.risk("mean"), round(release.risk("mean", member=False), 4), release.risk("linked")
        (1.25, 0.8333, inf)
        """
        self.check_snooper(snooper, member)
        mse = self._snooper_mse(snooper, member)
        return math.inf if mse == 0 else 1 / mse

    def best_snooper(self, member: bool = True, linked: bool = True) -> str:
        """The snooper with the largest R; `linked=False` leaves out those who must know the target's record.

        >>> from confide.theory import NoiseRelease
        >>> release = NoiseRelease(n=100, sigma=1.0, noise_sd=0.5)
        >>> release.best_snooper(), release.best_snooper(linked=False)
        ('shrink_known', 'mean')
        """
        rivals = self.rivals(member, linked)
        return max(rivals, key=lambda s: self.risk(s, member))

    def worst_risk(self, member: bool = True, linked: bool = True) -> float:
        """The largest R of any snooper: max over s of R(s). See `best_snooper`.

        >>> from confide.theory import NoiseRelease
        >>> NoiseRelease(n=100, sigma=1.0, noise_sd=0.5).worst_risk()
        5.0
        """
        return self.risk(self.best_snooper(member, linked), member)

    def simulate(self, draws: int = 20_000, seed: int = 0, shape: str = "normal") -> pl.DataFrame:
        """Every R and U of the release by Monte Carlo: the mean of `draws` squared errors, inverted.

        One row per quantity: quantity, snooper, member, theory, simulated, standard_error (that of the mean squared
        error s^2 carried over, se / s^4), and z = (simulated - theoretical mean squared error) / se. `shape` of the
        values: "normal", "uniform" or "exponential", each with the stated mean and variance.

        >>> from confide.theory import OriginalRelease
        >>> found = OriginalRelease(n=5, sigma=1.0).simulate(draws=20_000, seed=1)
        >>> found.columns
        ['quantity', 'snooper', 'member', 'theory', 'simulated', 'standard_error', 'z']
        >>> bool((found["z"].abs() < 4).all())
        True
        """
        return simulated(self, draws, seed, shape)

    def rivals(self, member: bool = True, linked: bool = True) -> list[str]:
        """The snoopers whose R is 1/MSE: of a target who is a member or not, with a link or not.

        >>> from confide.theory import SwapRelease
        >>> SwapRelease(sigma=1.0, difference=1.0, rate=0.2).rivals()
        ['attribute', 'mean']
        """
        _check_flag("member", member)
        _check_flag("linked", linked)
        usable = linked and member
        return [s for s in self.snoopers if s != "identity" and (usable or s not in self.linking)]

    def check_snooper(self, snooper: str, member: bool) -> None:
        """Refuse a snooper whom the release does not have, or who is linked to a target that is not in the file.

        >>> from confide.theory import OriginalRelease
        >>> OriginalRelease(n=5, sigma=1.0).check_snooper("linked", member=False)
        Traceback (most recent call last):
        confide.InputError: Snooper "linked" is linked to a record of the target, so member must be True.
        """
        _check_flag("member", member)
        if snooper not in self.snoopers:
            hint = did_you_mean(snooper, self.snoopers) if isinstance(snooper, str) else ""
            names = ", ".join(f'"{s}"' for s in self.snoopers)
            raise InputError(
                f"snooper of the {self.name} release must be one of {names}.{hint if 'Did' in hint else ''}"
            )
        if snooper in self.linking and not member:
            raise InputError(f'Snooper "{snooper}" is linked to a record of the target, so member must be True.')

    def _user_mse(self) -> float:
        raise NotImplementedError

    def _snooper_mse(self, snooper: str, member: bool) -> float:
        raise NotImplementedError

    def _values_per_draw(self) -> int:
        raise NotImplementedError

    def _errors(self, draws: Draws, count: int) -> Errors:
        """Errors of `count` simulated releases, by (quantity, snooper, member)."""
        raise NotImplementedError


def _check_flag(name: str, given: Any) -> None:
    if not isinstance(given, bool):
        raise InputError(f"{name} must be True or False.")


def is_number(given: Any) -> bool:
    """A number that is not a truth value and not NaN.

    >>> is_number(0.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(given, Real) and type(given).__name__ not in ("bool", "bool_") and not math.isnan(float(given))


def spread_problems(name: str, given: Any, what: str, zero: bool = False) -> list[str]:
    """What is wrong with a standard deviation, if anything.

    >>> spread_problems("sigma", -1.0, "a standard deviation")
    ['sigma is a standard deviation, a finite number above 0.']
    """
    if zero and is_number(given) and given == 0:
        return []
    if not is_number(given) or not 0 < given < math.inf:
        return [f"{name} is {what}, a finite number {'from 0 upwards' if zero else 'above 0'}."]
    if not SMALLEST <= given <= LARGEST:
        return [f"{name} must lie between {SMALLEST:g} and {LARGEST:g}: express the variable in another unit."]
    return []


def sigma_problems(given: Any) -> list[str]:
    """What is wrong with the standard deviation of the records, if anything.

    >>> sigma_problems(0)
    ['sigma is the standard deviation of the records, a finite number above 0.']
    """
    return spread_problems("sigma", given, "the standard deviation of the records")


def count_problems(name: str, given: Any, least: int, why: str) -> list[str]:
    """What is wrong with a whole number, if anything.

    >>> count_problems("n", 1, 2, "a mean of fewer tells the value itself")
    ['n is a whole number from 2 upwards: a mean of fewer tells the value itself.']
    """
    if not isinstance(given, Integral) or isinstance(given, bool) or int(given) < least:
        return [f"{name} is a whole number from {least} upwards: {why}."]
    return [f"{name} must be at most {MOST_RECORDS:,}."] if int(given) > MOST_RECORDS else []


def rate_problems(name: str, given: Any) -> list[str]:
    """What is wrong with a fraction, if anything.

    >>> rate_problems("rate", 30)
    ['rate is a fraction from 0 to 1: for 30 percent write 0.3.']
    """
    if is_number(given) and 0 <= given <= 1:
        return []
    percent = is_number(given) and 1 < given <= 100
    return [
        f"{name} is a fraction from 0 to 1" + (f": for {given:g} percent write {given / 100:g}." if percent else ".")
    ]
