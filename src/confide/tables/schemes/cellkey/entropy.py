"""The noise of largest entropy: mean 0, a given variance, as spread out as possible.

Notation as in `ptable`: v the noise, p(v) its probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.core.errors import InputError, raise_all
from confide.tables.schemes.cellkey.reading import is_whole

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]

MOST_NOISE = 100
"""The largest noise that `PTable.of` works out; tables in use have 2 to 15."""


def largest_entropy(v: I64, variance: float) -> F64:
    """p(v) of largest entropy with mean 0 and this variance, which `v` can attain."""
    low, high = _attainable(v)
    if high - variance <= 1e-12 * high:
        return _two_points(v, int(v[0]), int(v[-1]))
    below, above = int(v[v <= 0].max()), int(v[v >= 0].min())
    if variance - low <= 1e-12 * low:
        return _two_points(v, below, above)
    # In place of v² what is 0 on the two values that are left at the nearer end, so that nothing cancels there.
    if variance - low <= high - variance:
        square, mean = (v - below) * (v - above), variance - low
    else:
        square, mean = (v - v[0]) * (v[-1] - v), high - variance
    t = np.stack([v / np.abs(v).max(), square / (high - low)])
    return _exponential_family(t, np.array([0.0, mean / (high - low)]))


def _exponential_family(t: F64, mean: F64) -> F64:
    """p ∝ exp(theta · t) with E t = `mean`, an inner point: Newton on the convex log Σ exp(theta · (t - mean)).

    A step is halved until it gains a quarter of what the slope promises, so that it cannot run off to where one
    value has all the probability. The mean is met to 1e-13, then as closely as rounding lets it.
    """
    t = t - mean[:, None]
    theta, step = np.zeros(2), np.zeros(2)
    value, promised = math.inf, 0.0
    best, closest = np.empty(0), math.inf
    for _ in range(1000):
        score = (theta + step) @ t
        peak = float(score.max())
        weight = np.exp(score - peak)
        now = peak + math.log(float(weight.sum()))
        if now > value - promised / 4 + 1e-14 * max(1.0, abs(value)):
            step, promised = step / 2, promised / 2
            continue
        theta, value, p = theta + step, now, weight / weight.sum()
        gap = t @ p
        off = float(np.abs(gap).max())
        if off >= closest and closest < 1e-13:
            break
        if off < closest:
            best, closest = p, off
        spread = t - gap[:, None]
        step = -np.linalg.solve((spread * p) @ spread.T, gap)
        promised = -float(step @ gap)
    if closest > 1e-12:
        raise RuntimeError("The perturbation table did not converge; this is a fault of confide.")
    return best


def _two_points(v: I64, low: int, high: int) -> F64:
    """Mean 0 on two values only: the one distribution at either end of what can be attained."""
    p = np.zeros(len(v))
    p[v == low], p[v == high] = high / (high - low), -low / (high - low)
    return p


def _attainable(v: I64) -> tuple[float, float]:
    """The smallest and the largest variance of noise with mean 0 on these values."""
    return -float(v[v <= 0].max() * v[v >= 0].min()), -float(v[0] * v[-1])


def check_settings(largest: Any, variance: Any, smallest: Any) -> None:
    found = []
    if not is_whole(largest) or not 1 <= largest <= MOST_NOISE:
        found.append(
            f"largest, the most that noise may add or take away, must be a whole number from 1 to {MOST_NOISE}."
        )
    elif not is_whole(smallest) or not 0 <= smallest < largest:
        found.append(
            "smallest, the largest positive count that is never published, must be a whole number from 0 and less than "
            "largest."
        )
    number = isinstance(variance, (int, float, np.integer, np.floating)) and not isinstance(variance, bool)
    if not number or not 1e-300 <= float(variance) <= 1e300:
        found.append("variance, that of the noise in counts squared, must be a number above 0.")
    raise_all(found)


def check_variance(noise: Sequence[I64], variance: float) -> None:
    """Refuse what some count cannot have. `noise`: what may be added to the counts 1, 2, ..."""
    low, high = (list(ends) for ends in zip(*map(_attainable, noise), strict=True))
    least, most = max(low), min(high)
    if least <= variance <= most:
        return
    if least > most:
        suited = "No variance suits every count: take a larger largest or a smaller smallest."
    elif least == most:
        suited = f"Only a variance of {most:g} suits every count."
    else:
        suited = f"Every count can have a variance {f'from {least:g}' if least else 'above 0 and up'} to {most:g}."
    c = high.index(most) if variance > most else low.index(least)
    end = f"at most {most:g}" if variance > most else f"at least {least:g}"
    raise InputError(
        f"A variance of {variance:g} is not attainable for a true count of {c + 1}: noise from {noise[c][0]} to "
        f"{noise[c][-1]} with mean 0 has a variance of {end}. {suited}"
    )
