"""How much noise hides the uniques of a real file from a snooper who links by the nearest record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
from scipy.spatial import KDTree

from confide.core.errors import InputError, raise_all
from confide.core.result import Result
from confide.theory.base import is_number, rate_problems
from confide.theory.simulation import Array, seed_problems

START, MOST_RATIO = 2.0**-12, 2.0**20
"""Noise by standard deviation of the variable: where the search begins, and beyond which it gives up."""


@dataclass(frozen=True, eq=False)
class UniquesNoise(Result):
    """The smallest noise that leaves at most `limit` of the records linkable uniques.

    `ratio` is the noise's standard deviation over each variable's own, `noise_sd` the former, one a variable; `share`
    is the share of linkable uniques with it, a mean over the fixed draws, with its `standard_error`; `tried` has every
    ratio that the search looked at (columns ratio, share, standard_error).

    >>> import numpy as np
    >>> found = smallest_noise_for_uniques(np.arange(100.0), limit=0.2, seed=1)
    >>> found.share <= 0.2, len(found.noise_sd)
    (True, 1)
    """

    limit: float
    ratio: float
    noise_sd: tuple[float, ...]
    share: float
    standard_error: float
    tried: pl.DataFrame

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `tried`."""
        return self.tried

    def summary(self) -> pl.DataFrame:
        """The noise that was found, in one row: limit, ratio, share, standard_error."""
        return pl.DataFrame([{k: getattr(self, k) for k in ("limit", "ratio", "share", "standard_error")}])


def uniques_curve(values: Any, ratios: Iterable[float], *, seed: int = 0, repeats: int = 5) -> pl.DataFrame:
    """The share of linkable uniques by the size of the noise.

    A record is a *unique* if no other has the same values. With noise y_i = x_i + r s e_i in each variable (s its
    standard deviation, r the ratio, e_i standard normal) a unique is *linkable* if, of all noisy records, its own is
    nearest to its true values::

        p(r) = (1/n) # { i unique : |(y_i - x_i)/s| < |(y_j - x_i)/s| for all j other than i }.

    So p(0) is the share of uniques in the file, and p falls to about 1/n, a guess. Records that are equal to others are
    never counted: a right link among equals is luck. The e_i are drawn once from `seed`, `repeats` times, and used
    for every ratio, so the answer is the same each time; the mean over the repeats is given with its standard error.

    `values`: one numeric array, or rows of numbers, one row a record (an array, a frame, a mapping of columns).

    >>> import numpy as np
    >>> uniques_curve([1.0, 2.0, 2.0, 5.0], [0.0])["share"].to_list()
    [0.5]
    """
    data, _ = _columns(values)
    _check_draws(seed, repeats)
    wanted = list(ratios)
    if not all(is_number(r) and 0 <= r <= MOST_RATIO for r in wanted):
        raise InputError("ratios are noise over standard deviation of the variable: numbers from 0 upwards.")
    search = _Search(data, int(seed), int(repeats))
    return search.frame([search.at(float(r)) for r in wanted])


def smallest_noise_for_uniques(
    values: Any, limit: float, *, seed: int = 0, repeats: int = 5, precision: float = 0.01
) -> UniquesNoise:
    """The smallest noise, in proportion to each variable's standard deviation, with p(r) <= limit.

    p is that of `uniques_curve`. The ratio is doubled from 1/4096 until p is within the limit, then the last step is
    halved (geometrically) until both ends agree to `precision`; the upper end is given, so the limit holds for the
    fixed draws. p falls with r but for ripples as small as its standard error. No noise where p(0) is within the limit.

    >>> import numpy as np
    >>> smallest_noise_for_uniques([1.0, 2.0, 2.0, 5.0], limit=0.5).ratio
    0.0
    """
    data, spreads = _columns(values)
    _check_draws(seed, repeats)
    problems = rate_problems("limit", limit)
    if not is_number(precision) or not 0 < precision < 1:
        problems.append("precision is the relative error allowed in the ratio, a fraction such as 0.01.")
    raise_all(problems)
    search = _Search(data, int(seed), int(repeats))
    tried = [search.at(0.0)]
    best = tried[0]
    if best[1] > limit:
        low, high = 0.0, START
        while (best := search.at(high))[1] > limit:
            tried.append(best)
            low, high = high, 2 * high
            if high > MOST_RATIO:
                raise InputError(
                    f"No noise brings the share of uniques down to {limit:g}: with any noise about 1 in "
                    f"{len(data):,} is linked by luck. Ask for {1 / len(data):.4g} or more, or for more repeats."
                )
        tried.append(best)
        while low > 0 and high / low > 1 + precision:
            tried.append(middle := search.at(float(np.sqrt(low * high))))
            low, high, best = (low, middle[0], middle) if middle[1] <= limit else (middle[0], high, best)
    ratio, share, error = best
    sizes = tuple(float(ratio * s) for s in spreads)
    return UniquesNoise(float(limit), ratio, sizes, share, error, search.frame(sorted(tried)))


class _Search:
    """Standardised records and fixed noise; `at` gives (ratio, share, standard error)."""

    def __init__(self, data: Array, seed: int, repeats: int) -> None:
        _, inverse, counts = np.unique(data, axis=0, return_inverse=True, return_counts=True)
        self.data, self.unique = data, np.flatnonzero(counts[inverse.reshape(-1)] == 1)
        self.seed, self.repeats = seed, repeats

    def at(self, ratio: float) -> tuple[float, float, float]:
        if ratio == 0 or not len(self.unique):
            return ratio, len(self.unique) / len(self.data), 0.0
        rng = np.random.default_rng(self.seed)  # the same noise for every ratio
        noise = (rng.standard_normal(self.data.shape) for _ in range(self.repeats))
        shares = np.array([self._linked(self.data + ratio * e) for e in noise]) / len(self.data)
        return ratio, float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(self.repeats))

    def _linked(self, noisy: Array) -> int:
        _, nearest = KDTree(noisy).query(self.data[self.unique])
        return int((nearest == self.unique).sum())

    @staticmethod
    def frame(rows: list[tuple[float, float, float]]) -> pl.DataFrame:
        schema = {"ratio": pl.Float64, "share": pl.Float64, "standard_error": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")


def _columns(values: Any) -> tuple[Array, Array]:
    """Records by variables, each divided by its standard deviation; and these."""
    try:
        if isinstance(values, Mapping):
            values = np.column_stack([np.asarray(v) for v in values.values()])
        data = np.asarray(values)
        if data.dtype.kind not in "iuf":
            raise TypeError
        data = data.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError("values must be numbers: one array, or one row a record; columns equally long.") from None
    data = data[:, None] if data.ndim == 1 else data
    if data.ndim != 2 or data.shape[0] < 2 or data.shape[1] < 1:
        raise InputError("values must hold at least two records: one number each, or one row each.")
    if data.shape[1] > data.shape[0]:
        raise InputError(
            f"values has {data.shape[0]} rows and {data.shape[1]} columns: give one row a record, "
            "one column a variable."
        )
    bad = int((~np.isfinite(data)).any(axis=1).sum())
    if bad:
        raise InputError(f"values: {bad:,} records have something missing or not finite; leave them out first.")
    with np.errstate(over="ignore"):
        spreads = data.std(axis=0)
    flat = [str(k + 1) for k in np.flatnonzero((data == data[0]).all(axis=0) | ~np.isfinite(spreads) | (spreads == 0))]
    if flat:
        raise InputError(f"Variable {', '.join(flat)} has no usable spread: it tells nobody apart; leave it out.")
    return data / spreads, spreads


def _check_draws(seed: Any, repeats: Any) -> None:
    whole = isinstance(repeats, Integral) and not isinstance(repeats, bool)
    few = (
        [] if whole and repeats >= 2 else ["repeats is a whole number from 2 upwards: one draw has no standard error."]
    )
    raise_all([*seed_problems(seed), *few])
