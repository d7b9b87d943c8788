"""The releases of the theory made many times over, to try their formulas."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import did_you_mean, raise_all

if TYPE_CHECKING:
    from confide.theory.base import TheoryRelease

Array = np.ndarray[Any, np.dtype[np.float64]]
Errors = dict[tuple[str, str, bool | None], Array]
"""Errors of the user ("utility", "", None) and of snoopers ("risk", snooper, member), one per simulated release; of
snooper "identity", 1 where the link is right."""

SHAPES = ("normal", "uniform", "exponential")
AT_ONCE, MOST_VALUES, FEWEST_DRAWS = 2_000_000, 2 * 10**9, 100


@dataclass(frozen=True)
class Draws:
    """Random numbers with mean 0 and variance 1 of a named shape, and uniform ones for events.

    >>> draws = Draws(np.random.default_rng(1), "uniform")
    >>> draws.unit(2, 3).shape, draws.uniform(4).shape
    ((2, 3), (4,))
    """

    rng: np.random.Generator
    shape: str

    def unit(self, *size: int) -> Array:
        """E = 0, E^2 = 1.

        >>> x = Draws(np.random.default_rng(1), "exponential").unit(100_000)
        >>> bool(abs(x.mean()) < 0.02 and abs(x.var() - 1) < 0.05)
        True
        """
        if self.shape == "normal":
            return self.rng.standard_normal(size)
        if self.shape == "uniform":
            return self.rng.uniform(-math.sqrt(3), math.sqrt(3), size)
        return self.rng.standard_exponential(size) - 1

    def uniform(self, count: int) -> Array:
        """Uniform on 0 to 1, whatever the shape.

        >>> bool((Draws(np.random.default_rng(1), "normal").uniform(9) < 1).all())
        True
        """
        return self.rng.random(count)


def simulated(release: TheoryRelease, draws: int, seed: int, shape: str) -> pl.DataFrame:
    """Risk and utility of a release beside their simulated values: see `TheoryRelease.simulate`.

    >>> from confide.theory import SwapRelease
    >>> simulated(SwapRelease(sigma=1.0, difference=1.0, rate=0.5), 200, 1, "normal")["quantity"].to_list()
    ['utility', 'risk', 'risk', 'risk', 'risk']
    """
    _check(release, draws, seed, shape)
    source = Draws(np.random.default_rng(int(seed)), shape)
    most = max(1, AT_ONCE // release._values_per_draw())
    counts = [most] * (draws // most) + ([draws % most] if draws % most else [])
    parts = [release._errors(source, count) for count in counts]
    rows = [_row(release, key, np.concatenate([p[key] for p in parts])) for key in parts[0]]
    schema = {
        "quantity": pl.String, "snooper": pl.String, "member": pl.Boolean, "theory": pl.Float64,
        "simulated": pl.Float64, "standard_error": pl.Float64, "z": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(release: TheoryRelease, key: tuple[str, str, bool | None], errors: Array) -> tuple[Any, ...]:
    """One quantity: what theory says, what was found, its standard error and z."""
    quantity, snooper, member = key
    theory = release.utility() if quantity == "utility" else release.risk(snooper, bool(member))
    if snooper == "identity":
        mean, error = _mean(errors)
        return (quantity, snooper, member, theory, mean, error, _z(mean - theory, error))
    mean, error = _mean(errors**2)
    z = _z(mean - 1 / theory, error)
    if mean == 0:
        return (quantity, snooper, member, theory, math.inf, 0.0, z)
    return (quantity, snooper or None, member, theory, 1 / mean, error / mean**2, z)


def _mean(x: Array) -> tuple[float, float]:
    return float(x.mean()), float(x.std(ddof=1) / math.sqrt(len(x)))


def _z(difference: float, error: float) -> float:
    if error == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / error


def _check(release: TheoryRelease, draws: Any, seed: Any, shape: Any) -> None:
    problems = []
    if not isinstance(draws, Integral) or isinstance(draws, bool) or draws < FEWEST_DRAWS:
        problems.append(f"draws is a whole number from {FEWEST_DRAWS} upwards: fewer give no usable standard error.")
    elif int(draws) * release._values_per_draw() > MOST_VALUES:
        most = MOST_VALUES // release._values_per_draw()
        problems.append(f"So many draws of so large a release take too long: ask for at most {most:,} draws.")
    problems += seed_problems(seed)
    if not isinstance(shape, str) or shape not in SHAPES:
        hint = did_you_mean(shape, SHAPES) if isinstance(shape, str) else ""
        names = ", ".join(f'"{s}"' for s in SHAPES)
        problems.append(f"shape must be one of {names}.{hint if 'Did' in hint else ''}")
    raise_all(problems)


def seed_problems(seed: Any) -> list[str]:
    """What is wrong with a seed, if anything.

    >>> seed_problems(-1), seed_problems(1)
    (['seed is a whole number from 0 upwards.'], [])
    """
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    return [] if whole and seed >= 0 else ["seed is a whole number from 0 upwards."]
