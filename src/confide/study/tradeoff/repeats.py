"""Repeats of random releases as arrays: means with intervals, differences in pairs, draws of what the means can be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.special import chdtri, stdtrit

from confide.core.errors import InputError
from confide.frames.columns import F64, Bools
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.risk_names import HARM, SHARE, about_file, about_learning, is_share

LEVEL = 0.95
SEED = 20030101
"""Of the draws of means, so that one result gives one answer."""
SAME = 1e-12
"""Numbers that differ by less than this share of themselves are equal."""


Ends = tuple[float, float]
"""The least and the largest value possible."""


@dataclass(frozen=True)
class Interval:
    """The mean over repeats, its 95% interval (None where the spread is not known), standard deviation and number."""

    mean: float
    low: float | None
    high: float | None
    sd: float | None
    repeats: int


def interval(
    values: Sequence[float] | F64, random: bool = True, ends: Ends = (-math.inf, math.inf), level: float = LEVEL
) -> Interval | None:
    """The mean of repeats with Student's t interval; of what is not random the one value; None without a value.

    `ends`: the least and the largest value possible, beyond which no interval goes. `level`: how often it holds.

    >>> found = interval([1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    >>> interval([0.1 + 0.2, 0.3]).sd
    0.0
    >>> interval([5.0]).low is None, interval([5.0], random=False).low
    (True, 5.0)
    """
    x = np.asarray(values, dtype=np.float64)
    x = x[~np.isnan(x)]
    if not len(x):
        return None
    if not np.isfinite(x).all():
        mean = float(x[~np.isfinite(x)].sum())
        return None if np.isnan(mean) else Interval(mean, mean, mean, 0.0, len(x))
    mean = float(x.mean())
    if not random or len(x) == 1:
        known = None if random else mean
        return Interval(mean, known, known, None if random else 0.0, len(x))
    if np.ptp(x) <= SAME * np.abs(x).max():  # the same number, but for the order of additions
        return Interval(mean, mean, mean, 0.0, len(x))
    sd = float(x.std(ddof=1))
    half = float(stdtrit(len(x) - 1, (1 + level) / 2)) * sd / math.sqrt(len(x))
    return Interval(mean, min(max(mean - half, ends[0]), mean), max(min(mean + half, ends[1]), mean), sd, len(x))


@dataclass(frozen=True, eq=False)
class Repeats:
    """The rows of a study by plan (p of them) and repeat (r of them).

    `there`: which plan has which repeat, shape (p, r). `random`: which plans can come out otherwise, shape (p,).
    """

    frame: pl.DataFrame
    plans: tuple[str, ...]
    intruders: tuple[str, ...]
    repeats: tuple[int, ...]
    there: Bools
    random: Bools

    @classmethod
    def of(cls, frame: pl.DataFrame, random: Mapping[str, bool] | None = None) -> Repeats:
        """Read the rows. Where nobody says which plans are random, those with several repeats are taken to be."""
        lost = [c for c in ("plan", "intruder", "repeat") if c not in frame.columns]
        if lost or not frame.height:
            raise InputError("The table of a study has one row per plan, intruder and repeat; this one does not.")
        plans, who, repeats = (tuple(frame[c].unique(maintain_order=True)) for c in ("plan", "intruder", "repeat"))
        repeats = tuple(sorted(repeats))
        made = cls(frame, plans, who, repeats, np.zeros((0, 0), dtype=bool), np.zeros(0, dtype=bool))
        there = ~np.isnan(made._array(frame.with_columns(one=pl.lit(1.0)), "one"))
        several = there.sum(axis=1) > 1
        if random is not None:
            several = np.array([random.get(p, bool(s)) for p, s in zip(plans, several, strict=True)])
        elif not several.any():  # one repeat of each: all may be random but the anchor
            several = np.array([p != EVERYTHING for p in plans])
        return cls(frame, plans, who, repeats, there, several)

    def risk(self, name: str, intruder: str) -> F64:
        """A risk of one intruder, shape (p, r); nan where there is none. One that counts people also as a share."""
        rows = self.frame.filter(pl.col("intruder") == intruder)
        if name in rows.columns:
            return self._array(rows, name)
        count = self._array(rows, name.removesuffix(SHARE))
        return np.asarray(count / np.maximum(self._array(rows, "targets"), 1.0))

    def learners(self, name: str, intruders: Sequence[str]) -> tuple[str, ...]:
        """Of some intruders those with a risk: one who knows a variable cannot learn it, for any plan; a risk of the
        file is the same for all, so one of them stands for it."""
        if about_file(name):
            return tuple(intruders)[:1]
        if not about_learning(name):
            return tuple(intruders)
        found = tuple(who for who in intruders if not np.isnan(self.risk(name, who)).all())
        if not found:
            raise InputError(f"{name}: whoever is asked about knows it already, or learns nothing that is known.")
        return found

    def risk_intervals(self, name: str, intruder: str) -> list[Interval | None]:
        """Each plan's mean risk by one intruder, with its interval, between nobody and all targets of the plan."""
        return self.intervals(self.risk(name, intruder), self.risk_ends(name, intruder))

    def risk_ends(self, name: str, intruder: str) -> list[Ends]:
        """The least and the largest value possible of a risk, for each plan."""
        if is_share(name) or name.endswith("_rate"):
            return [(0.0, 1.0)] * len(self.plans)
        if name.startswith(HARM) or about_file(name):
            return [(0.0, math.inf)] * len(self.plans)
        return [(0.0, math.inf if known is None else known) for known in self.targets(intruder)]

    def targets(self, intruder: str) -> list[float | None]:
        """How many people an intruder looks for in the release of each plan; None where the table does not say."""
        if "targets" not in self.frame.columns:
            return [None] * len(self.plans)
        found = self._array(self.frame.filter(pl.col("intruder") == intruder), "targets")
        each = (row[~np.isnan(row)] for row in found)
        return [float(row.max()) if len(row) else None for row in each]

    def span(self, intruders: Sequence[str]) -> tuple[float, float] | None:
        """The smallest and the largest number of targets over plans and some intruders; None where not known."""
        known = [n for who in intruders for n in self.targets(who) if n is not None]
        return (min(known), max(known)) if known else None

    def utility(self, name: str) -> F64:
        """A measure of utility, which is the same for all intruders, shape (p, r)."""
        return self._array(self.frame.filter(pl.col("intruder") == self.intruders[0]), name)

    def _array(self, rows: pl.DataFrame, column: str) -> F64:
        p = rows["plan"].replace_strict(list(self.plans), range(len(self.plans)), return_dtype=pl.Int64).to_numpy()
        r = np.searchsorted(np.asarray(self.repeats), rows["repeat"].to_numpy())
        out = np.full((len(self.plans), len(self.repeats)), np.nan)
        out[p, r] = rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
        return out

    def whole(self, values: F64) -> Bools:
        """Plans that have a number in every repeat of theirs: only these can be compared."""
        return np.asarray((~np.isnan(values) | ~self.there).all(axis=1))

    def intervals(self, values: F64, ends: Ends | Sequence[Ends] = (-math.inf, math.inf)) -> list[Interval | None]:
        """Each plan's mean and interval within `ends`, those of all or of each; None where a repeat has no number."""
        whole = self.whole(values)
        limits = ends if isinstance(ends, list) else [ends] * len(values)
        each = zip(values, self.random, whole, limits, strict=True)
        return [interval(v, bool(r), between) if ok else None for v, r, ok, between in each]

    def drawn_means(self, values: F64, draws: int) -> F64:
        r"""Means that the repeats leave possible, drawn together for all plans, shape (draws, p).

        .. math:: \mu_p = \bar x_p + \frac{\sum_r g_r (x_{pr} - \bar x_p)}{\sqrt{m_p (m_p - 1)}} \Big/
                  \sqrt{\frac{\chi^2_{m_p - 1}}{m_p - 1}}, \qquad g_r \sim N(0, 1)

        g belongs to the repeat, which is the same draw for all plans. So every mean, and every difference of two plans
        with the same m repeats, has Student's t distribution with m - 1 degrees of freedom and the spread that it has
        over repeats. What never differs over repeats, or has one of them, stays as it is.
        """
        rng = np.random.default_rng(SEED)
        g, u = rng.standard_normal((draws, len(self.repeats))), rng.random(draws)
        finite = np.where(np.isfinite(values), values, 0.0)
        many = self.there.sum(axis=1)
        own = finite.sum(axis=1) / many
        free = np.maximum(many - 1, 1)
        with np.errstate(divide="ignore"):
            heavy = {m: np.sqrt(m / chdtri(float(m), 1 - u)) for m in np.unique(free)}
        away = np.where(self.there, finite - own[:, None], 0.0)
        away[np.abs(away).max(axis=1) <= SAME * np.abs(own)] = 0.0
        means = own + (g @ away.T) / np.sqrt(many * free) * np.stack([heavy[m] for m in free], axis=1)
        endless = [interval(v) for v in values]
        for p, found in enumerate(endless):
            if found is not None and not np.isfinite(found.mean):
                means[:, p] = found.mean
        means[:, ~self.whole(values)] = np.nan
        return np.asarray(means)

    def paired(self, values: F64, a: int, b: int) -> Interval:
        """How far plan a is above plan b, repeat by repeat; what is not random meets every repeat."""
        one, other = (np.full(len(self.repeats), v[t][0]) if t.sum() == 1 else v
                      for v, t in ((values[a], self.there[a]), (values[b], self.there[b])))  # fmt: skip
        with np.errstate(invalid="ignore"):
            found = interval(one - other, bool(self.random[a] or self.random[b]))
        return found or Interval(float(values[a][self.there[a]].mean() - values[b][self.there[b]].mean()), None, None,
                                 None, 0)  # fmt: skip


def worst_of(every: Repeats, risk: str, who: Sequence[str], upper: bool = False) -> list[tuple[str, Interval] | None]:
    """For each plan the intruder whose mean risk is largest; None where one is not known: it might be the worst.

    With `upper`, the one whose interval reaches highest, which need not be the same; an unknown spread is the worst.
    """
    who = every.learners(risk, who)
    each = [every.risk_intervals(risk, name) for name in who]
    out: list[tuple[str, Interval] | None] = []
    for found in zip(*each, strict=True):
        known = [(name, one) for name, one in zip(who, found, strict=True) if one is not None]
        out.append(max(known, key=lambda pair: _height(pair[1], upper)) if len(known) == len(who) else None)
    return out


def _height(found: Interval, upper: bool) -> float:
    if not upper:
        return found.mean
    return math.inf if found.high is None else found.high


def same(a: Any, b: Any) -> Bools:
    """Equal but for rounding of the last digits."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(x - y) <= SAME * np.maximum(np.abs(x), np.abs(y))
    return np.asarray((x == y) | (np.isfinite(x) & np.isfinite(y) & near))
