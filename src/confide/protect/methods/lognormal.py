"""LognormalNoise: multiply numbers by random factors around 1. Written against `confide.extend` alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confide.extend import (
    F64,
    Apart,
    Applied,
    Bools,
    Chain,
    Column,
    Draws,
    Evidence,
    Fitted,
    InputError,
    Kind,
    Labels,
    Mechanism,
    Names,
    Normal,
    Offers,
    Outlook,
    Problems,
    Records,
    Subject,
    Untried,
    View,
    listed,
    log_cell,
    logs,
    one_each,
    percent,
    positive,
    registered,
    rounded,
    rounding_step,
    too_large,
)

GUESSED = 0.10
"""What somebody assumes of the spread who does not know it."""

SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Spreads to try."""
SKEWED = 4.0
"""How many times its lower quarter a number's upper quarter begins at, if factors suit it better than sums."""


@registered
@dataclass(frozen=True)
class LognormalNoise(Mechanism):
    r"""Multiply numbers by random factors, each lognormal around 1.

    .. math:: z = y\,F, \qquad \log F \sim N\left(-\tfrac{1}{2}\mathrm{sd}^2,\ \mathrm{sd}^2\right)

    so that small and large values are blurred alike, by about ``100 sd`` percent, and :math:`E(z) = y`: totals stay
    unbiased. With ``unbiased=False`` the factor has median 1 in place of mean 1, and :math:`\log F` has mean 0.

    A factor is positive: negative numbers stay negative, and zeros stay zero, which everybody can tell. So do missing
    values and answer codes. Results are rounded to the variable's own precision, 2h, and drawn again where they would
    become a value that is kept. A released value then has, for a true value y of the same sign, the probability

    .. math:: \frac{\Phi\left(\frac{\log|z+h| - m}{\mathrm{sd}}\right) -
        \Phi\left(\frac{\log|z-h| - m}{\mathrm{sd}}\right)}{\mathrm{allowed}(y)},
        \qquad m = \log|y| - \tfrac{1}{2}\mathrm{sd}^2

    (for negative numbers with the two areas exchanged), where allowed(y) is the same area over all values that may be
    drawn; for a continuum the lognormal density. Several variables get factors of their own.

    >>> import confide as cf
    >>> cf.LognormalNoise("hh_income", sd=0.1).stream
    'LognormalNoise:hh_income'
    >>> cf.LognormalNoise("hh_income", sd=10)
    Traceback (most recent call last):
    confide.InputError: LognormalNoise("hh_income"): sd is that of the factor's logarithm; for 10 percent write 0.1.
    """

    variables: Names
    sd: float
    unbiased: bool = True

    method: ClassVar[str] = "lognormal_noise"
    role: ClassVar[str] = "random"
    by_order: ClassVar[bool] = False
    margins: ClassVar[bool] = True

    def __post_init__(self) -> None:
        where, problems = self.where, Problems()
        with problems:
            sd = positive(self.sd, f"{where}: sd")
            percent = f"for {sd:g} percent write {sd / 100:g}"
            problems.when(sd > 1, f"{where}: sd is that of the factor's logarithm; {percent}.")
        known = isinstance(self.unbiased, bool)
        problems.when(not known, f"{where}: unbiased is true (factors have mean 1) or false (median 1).")
        problems.tell()

    @property
    def words(self) -> str:
        return f"multiply {listed(self.variables)} by random factors, give or take {percent(self.sd)}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers whose sizes differ manifold, most of them on one side of zero."""
        numbers = outlook.worth("numeric")
        suited = [s for s in numbers if _skewed(s)]
        left = tuple(s.name for s in numbers if s not in suited)

        def step(s: Subject, sd: float) -> Mechanism:
            return cls(s.name, sd=sd)

        def says(s: Subject, sd: float) -> str:
            return cls(s.name, sd=sd).words

        found = one_each(cls.method, suited, lambda _: SPREADS, step, says, between=True)
        why = "its values do not differ manifold, so that noise that is added suits it better"
        return [*found, Untried(cls.method, why, left)] if left else found

    def kinds(self) -> Mapping[str, Kind]:
        return dict.fromkeys(self.variables, "numeric")

    def parts(self) -> Sequence[Mechanism]:
        return tuple(replace(self, variables=(v,)) for v in self.variables)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - the release does not show the spread
        """Someone who knows only that numbers were multiplied assumes a spread of 0.10."""
        return replace(self, sd=GUESSED)

    def at_once(self) -> str:
        return ""

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> FittedFactors:  # noqa: ARG002
        column, chain = current[self.variable], after.get(self.variable, Chain())
        apart = Apart((*sorted({0.0, *column.special}), np.nan))
        if not (apart.of_values(column.values) == 0).any():
            raise InputError(f"{self.where}: no value would be altered; all are zero, missing or answer codes.")
        if apart.merged(column, chain):
            raise InputError(
                f"{self.where}: a later step merges noisy values with those that are kept (zeros, answer codes). "
                "Coarsen before the noise."
            )
        kind = replace(column.with_values(column.values[:0]), step=rounding_step(column, self.where))
        return FittedFactors(self, kind, apart, chain)


def _skewed(s: Subject) -> bool:
    """Whether sizes differ manifold; dates have none, and some whole numbers are too large to reason about."""
    size = np.abs(s.values[s.values != 0])
    if s.dated or too_large(s.column) or len(np.unique(size)) < 2:
        return False
    low, high = np.quantile(size, [0.25, 0.75])
    return bool(high >= SKEWED * low)


@dataclass(frozen=True, eq=False)
class FittedFactors(Fitted):
    """`column`: as it was met, without values, with the precision of results; `apart`: values that are kept; `after`:
    later steps."""

    step: LognormalNoise
    column: Column
    apart: Apart
    after: Chain

    @property
    def shift(self) -> float:
        """The factor by which released values are brought to the median of what is drawn around their true ones."""
        return float(np.exp(0.5 * self.step.sd**2)) if self.step.unbiased else 1.0

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.step.variable]
        values = column.values.copy()
        todo = np.flatnonzero(self._noisy(values))
        for attempt in range(1_000):
            factor = np.exp(self.step.sd * draws.normal(current.rows[todo], attempt)) / self.shift
            values[todo] = rounded(column.values[todo] * factor, self.column.step)
            todo = todo[self._kept(values[todo])]
            if not len(todo):
                return Applied([column.with_values(values)])
        raise InputError(f"{self.step.where}: some values are so small that they always round to zero.")

    @property
    def in_parts(self) -> bool:
        return True

    def _noisy(self, y: F64) -> Bools:
        return np.asarray(self.apart.of_values(y) == 0)

    def _kept(self, z: F64) -> Bools:
        """Numbers whose released form is that of a value that is kept."""
        if not self.after.steps:
            return ~self._noisy(z)
        image = self.after.image(self.column.with_values(z))
        return np.asarray(self.apart.of_released(image, self.after, self.column) > 0)

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        v = self.step.variable
        z, after = view.released[v], view.chain_after(v)
        state = self.apart.of_released(z, after, self.column)
        low, high = after.drawn(z, self.column.step)
        like = Normal.of_logs(
            low * self.shift, high * self.shift, state == 0, self.step.sd, self._values, self._log_allowed
        )
        labels = Labels(lambda records: self.apart.of_values(records[v].values), state, len(self.apart.values) + 1)
        return Evidence(about, {v: labels}, like)

    def _values(self, records: Records) -> tuple[F64, Bools]:
        y = records[self.step.variable].values
        return y, self._noisy(y)

    def _log_allowed(self, y: F64) -> F64:
        """Log of the share of factors around each y that do not lead to a value that is kept."""
        area = np.ones(len(y))
        kept = np.array([s for s in self.apart.values if not np.isnan(s)])
        image = self.after.image(self.column.with_values(kept))
        for low, high in zip(*self.after.drawn(image, self.column.step), strict=True):
            if low < high:
                edges = logs(self.shift * np.array([low, high]))
                area -= np.exp(log_cell(np.full(len(y), edges[0]), np.full(len(y), edges[1]), logs(y), self.step.sd))
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(area, 0.0))
