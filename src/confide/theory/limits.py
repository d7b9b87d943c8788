"""The least protection that keeps a risk within a limit: the swapping rate, and the noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.theory.base import LARGEST, is_number
from confide.theory.noise import NoiseRelease
from confide.theory.swap import SwapRelease

LEAST_LIMIT, MOST_LIMIT = 1e-80, 1e80


def best_rate(
    limit: float, *, sigma: float, difference: float, sizes: tuple[int, int] = (3, 2), snooper: str = "attribute"
) -> float:
    """The smallest swapping rate with R <= limit, so the one with the largest utility.

        pi = 1 / (limit (2 sigma^2 + d^2))                                  "attribute", as in print
        pi = 1 - limit                                                      "identity"
        pi = (1/limit - (1-1/a) sigma^2) / (2 sigma^2/a + d^2/a^2)          "mean" of the area, not below 0
        the larger of the first and the third                               "worst": neither may exceed the limit

    A limit below R at rate 1 cannot be met; the sentence says the nearest that can.

    >>> round(best_rate(1.0, sigma=1.0, difference=1.0), 9)
    0.333333333
    >>> best_rate(0.5, sigma=1.0, difference=1.0, snooper="worst")
    Traceback (most recent call last):
    confide.InputError: No swapping rate brings this risk down to 0.5: ask for 0.6924 or more, as at rate 1.
    """
    model = SwapRelease(sigma, difference, 1.0, sizes)
    _check_snooper(snooper, [*model.snoopers, "worst"])
    _check_limit(limit, least=0.0 if snooper == "identity" else LEAST_LIMIT)
    a, s2, d2 = sizes[0], sigma**2, difference**2

    def risk(rate: float) -> float:
        release = SwapRelease(sigma, difference, rate, sizes)
        return release.worst_risk() if snooper == "worst" else release.risk(snooper)

    floor = risk(1.0)
    if limit < floor:
        raise InputError(
            f"No swapping rate brings this risk down to {limit:g}: ask for {_above(floor)} or more, as at rate 1."
        )
    if snooper == "identity":
        rate = 1 - limit
    else:
        by_value = 1 / (limit * (2 * s2 + d2))
        by_mean = (1 / limit - (1 - 1 / a) * s2) / (2 * s2 / a + d2 / a**2)
        rate = {"attribute": by_value, "mean": by_mean, "worst": max(by_value, by_mean)}[snooper]
    return _raised(min(max(rate, 0.0), 1.0), risk, limit, 1.0)


def smallest_noise(limit: float, *, n: int, sigma: float, snooper: str = "linked", member: bool = True) -> float:
    """The standard deviation lambda of the smallest noise with R <= limit.

        lambda^2 = 1/limit                                          "linked"
        lambda^2 = n/limit - (n-1) sigma^2                          "mean", not below 0
        lambda^2 = n (1/limit - sigma^2) - sigma^2                  "mean" with member=False, not below 0
        lambda^2 = 1 / (limit - 1/sigma^2)                          "shrink_known"; limit must exceed 1/sigma^2
        limit/n lambda^4 + (limit sigma^2 - 1) lambda^2 = sigma^2   "shrink_sample", its positive root
        the largest of those that suit `member`                     "worst"

    >>> smallest_noise(4.0, n=100, sigma=1.0), round(smallest_noise(4.0, n=100, sigma=1.0, snooper="worst"), 4)
    (0.5, 0.5774)
    >>> smallest_noise(0.8, n=100, sigma=1.0, snooper="worst")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: No noise brings this risk down to 0.8: somebody who knows the mean has 1 without any record. ...
    """
    model = NoiseRelease(n, sigma, 0.0)
    _check_snooper(snooper, [*model.snoopers, "worst"])
    _check_limit(limit, least=LEAST_LIMIT)
    rivals = model.rivals(member) if snooper == "worst" else [snooper]
    for s in rivals:
        model.check_snooper(s, member)
    if "shrink_known" in rivals and limit * sigma**2 <= 1:
        raise InputError(
            f"No noise brings this risk down to {limit:g}: somebody who knows the mean has {1 / sigma**2:.4g} without "
            "any record. Ask for more than that."
        )
    share = max(_noise_share(s, limit * sigma**2, n, member) for s in rivals)  # lambda^2 / sigma^2
    noise = math.sqrt(share) * sigma

    def risk(noise_sd: float) -> float:
        return max(NoiseRelease(n, sigma, noise_sd).risk(s, member) for s in rivals)

    return _raised(noise, risk, limit, LARGEST)


def _noise_share(snooper: str, limit: float, n: int, member: bool) -> float:
    """lambda^2 in units of sigma^2, for a limit in units of 1/sigma^2."""
    if snooper == "linked":
        return 1 / limit
    if snooper == "shrink_known":
        return 1 / (limit - 1)
    if snooper == "mean":
        return max(0.0, n / limit - (n - 1) if member else n * (1 / limit - 1) - 1)
    b, root = limit - 1, math.hypot(limit - 1, 2 * math.sqrt(limit / n))
    return 2 / (b + root) if b > 0 else n * (root - b) / (2 * limit)


def _raised(value: float, risk: Callable[[float], float], limit: float, most: float) -> float:
    """The value, raised by what rounding cost, so that its risk is within the limit and not only nearly."""
    step = math.ulp(value)
    while not risk(value) <= limit:
        if value >= most:
            raise InputError("The limit is too near to what no protection can go below: ask for a slightly larger one.")
        value, step = min(value + step, most), 2 * step
    return value


def _above(x: float) -> str:
    """Four digits, rounded upwards, so that what the sentence names can be asked for."""
    digits = 3 - math.floor(math.log10(x)) if x > 0 else 0
    return f"{math.ceil(x * 10.0**digits * (1 - 1e-12)) / 10.0**digits:.4g}"


def _check_limit(limit: Any, least: float) -> None:
    if not is_number(limit) or not least <= limit <= MOST_LIMIT:
        what = "from 0 upwards" if least == 0 else "above 0"
        raise InputError(f"limit is the largest tolerable risk, a finite number {what}.")


def _check_snooper(snooper: Any, names: list[str]) -> None:
    if not isinstance(snooper, str) or snooper not in names:
        hint = did_you_mean(snooper, names) if isinstance(snooper, str) else ""
        listed = ", ".join(f'"{s}"' for s in names)
        raise_all([f"snooper must be one of {listed}.{hint if 'Did' in hint else ''}"])
