"""Regressions that analysts would run: overlap of confidence intervals, differences of coefficients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.registry import registered
from confide.core.run.threads import one_blas_thread
from confide.core.shares import percent
from confide.frames.columns import F64, I64, Bools
from confide.measure.combining import combine
from confide.measure.utility.design import Design, design
from confide.measure.utility.fitting import Fit, fit
from confide.measure.utility.formula import read_formula
from confide.measure.utility.hidden import hidden_share
from confide.measure.utility.items import said
from confide.measure.utility.measure import Found, Stated
from confide.measure.utility.pair import Pair

FAMILIES = ("linear", "logistic")


@dataclass(frozen=True, eq=False)
class Compared:
    """Both files' coefficients, those that the original determines, shape (k,): estimates, standard errors of the
    original's, interval ends. `lost`: those that the release does not determine; their released numbers are NaN."""

    terms: tuple[str, ...]
    before: F64
    error: F64
    low: F64
    high: F64
    after: F64
    low_after: F64
    high_after: F64
    lost: Bools
    notes: tuple[str, ...]

    @property
    def lost_terms(self) -> tuple[str, ...]:
        """The terms of the coefficients that are lost, with how many there are of each."""
        many = Counter(term for term, gone in zip(self.terms, self.lost, strict=True) if gone)
        return tuple(f"{term} ({k} coefficient{'s' * (k > 1)})" for term, k in many.items())


@dataclass(frozen=True)
class _Regression(Stated):
    """What measures of regressions share."""

    formula: str = field(metadata={"example": '"log(hh_income) ~ age + C(race)"'})
    family: str = "linear"
    confidence: float = 0.95
    rule: str = "partial"

    def __post_init__(self) -> None:
        super().__post_init__()
        where = type(self).__name__
        read_formula(self.formula)
        if self.family not in FAMILIES:
            raise InputError(f'{where}: family is "linear" or "logistic".')
        if not 0 < fraction(self.confidence, f"{where}: confidence") < 1:
            raise InputError(f"{where}: confidence is a fraction between 0 and 1, such as 0.95.")
        if self.rule not in ("partial", "full", "multiple"):
            raise InputError(f'{where}: rule is "partial", "full" or "multiple"; see combine.')

    def of(self, pairs: Sequence[Pair]) -> Found:
        """The best of the model and of those without variables of which values are hidden."""
        better = max if self.direction == "higher" else min
        found = [self._found(self.compared(pairs, without)) for without in self._models(pairs)]
        return better(found, key=lambda f: f.value)

    jointly = "rows"

    @property
    def reads_jointly(self) -> tuple[str, ...]:
        """The variables of the formula."""
        formula = read_formula(self.formula)
        return tuple(dict.fromkeys([formula.response.variable, *(f.variable for term in formula.terms for f in term)]))

    def _found(self, c: Compared) -> Found:
        raise NotImplementedError

    def _models(self, pairs: Sequence[Pair]) -> list[dict[str, str]]:
        """Sets of regressors to leave out, each with why: none, those with hidden values one by one, and more and more
        of them from the one with most."""
        formula = read_formula(self.formula)
        names = dict.fromkeys(f.variable for term in formula.terms for f in term)
        share = {v: hidden_share(pairs, v) for v in names if v != formula.response.variable}
        most = sorted((v for v in share if 1e-9 < share[v] < 1), key=lambda v: -share[v])
        sets = [(), *((v,) for v in most), *(tuple(most[:k]) for k in range(2, len(most) + 1))]
        why = {v: f"left out: {percent(share[v], 1)} of its values are hidden" for v in most}
        return [{v: why[v] for v in each} for each in sets]

    def compared(self, pairs: Sequence[Pair], without: Mapping[str, str] | None = None) -> Compared:
        """The regression on the original and on the release, copies combined; `without` some regressors."""
        where = f'{type(self).__name__}("{self.formula}")'
        made = design(read_formula(self.formula), pairs, self.family, where, without)
        with one_blas_thread():
            first = fit(made.files[0], self.family, made.intercept, where)
            others, why = self._fits(made, where)
        kept = first.known
        quantile = float(ndtri(0.5 + self.confidence / 2))
        error = np.sqrt(first.variances[kept])
        before = first.coefficients[kept]
        known = np.logical_and.reduce([made.stands[kept] >= 0, *(f.known[made.stands[kept]] for f in others)])
        known &= bool(others)
        slopes = np.array(made.terms)[kept] != "intercept"
        known &= bool(known[slopes].any()) or not slopes.any()  # a mean is no regression
        after, low, high = (np.full(len(before), np.nan) for _ in range(3))
        if known.any():
            after[known], low[known], high[known] = self._released(others, made.stands[kept][known], quantile)
        terms = tuple(np.array(made.terms)[kept])
        return Compared(
            terms, before, error, before - quantile * error, before + quantile * error,
            after, low, high, ~known, (*_notes(made, pairs, self), *said(made.lost), *why),
        )  # fmt: skip

    def _fits(self, made: Design, where: str) -> tuple[list[Fit], list[str]]:
        """The regression on each copy; none, and why, where one of them does not allow it."""
        try:
            return [fit(m, self.family, made.intercept, where) for m in made.files[1:]], []
        except InputError:
            return [], ["the release does not allow this regression"]

    def _released(self, fits: Sequence[Fit], at: I64, quantile: float) -> tuple[F64, F64, F64]:
        """Estimates and interval ends of some released coefficients, shape (k,)."""
        if len(fits) == 1:
            b, e = fits[0].coefficients[at], np.sqrt(fits[0].variances[at])
            return b, b - quantile * e, b + quantile * e
        found = combine([f.coefficients[at] for f in fits], [f.variances[at] for f in fits], self.rule, self.confidence)
        return np.asarray(found.estimate), np.asarray(found.low), np.asarray(found.high)


def _notes(made: Design, pairs: Sequence[Pair], measure: _Regression) -> tuple[str, ...]:
    notes = [measure.formula]
    if len(pairs) > 1:
        notes.append(f"{len(pairs)} copies combined by rule {measure.rule}")
    before, after = made.files[0], made.files[1:]
    if any(m.left_out for m in made.files):
        counts = [(round(np.mean([m.left_out for m in each])), round(np.mean([m.records for m in each])), what)
                  for each, what in (([before], "original"), (after, "released")) if each]  # fmt: skip
        notes.append(
            f"left out, missing or undefined: {' and '.join(f'{n:,} of {of:,} {w}' for n, of, w in counts)} records"
        )
    return tuple(notes)


@registered
@dataclass(frozen=True)
class RegressionOverlap(_Regression):
    r"""Overlap of the confidence intervals of a regression's coefficients, averaged over coefficients.

    .. math:: J = \min\left( \frac12 \Big( \frac{o}{u - l} + \frac{o}{u' - l'} \Big),
              \frac{2 o}{\max(u - l, u' - l')} \right), \quad o = \min(u,u') - \max(l,l')

    with the interval (l, u) of the original and (l', u') of the release; 0 where they do not meet. Higher is better,
    between 0 and 1 (best). No link is needed. The first part is that of Karr, Kohnen, Oganian, Reiter and Sanil (2006).
    The second is a departure from print: it counts once one interval is more than three times as wide as the other, and
    falls to 0 in proportion. Without it an interval that covers the other has 1/2 however wide it is, so that a release
    of noise alone, whose estimates may be anything, is rated above one that has moved a little.

    `formula`: text such as ``"log(hh_income) ~ age + C(race) * sex"``, see `confide.measure.utility.formula`;
    `family`: "linear" or "logistic" (of two categories the second is the event). Categories have treatment coding; the
    first that occurs in the original is the reference. Intervals are normal, with robust variances; weights are
    sampling weights. Records with a missing or undefined value (the logarithm of zero) are left out and counted in the
    detail. Copies are combined by `rule` of `combine`.

    The original's coefficients are compared, for every release. A number released in intervals enters by their middles;
    in ``C(age)`` the coefficient of an interval, or of a merged category, is compared with that of each value that it
    stands for. A coefficient that the release no longer determines has overlap 0: its variable is lost, or its category
    is one with the reference. Terms without a lost variable are fitted without it; where no regressor is left, the
    intercept is lost too. A regressor of which values are hidden (missing in the release alone) counts as lost where
    that is better, since whoever has it can leave it out: else its last values would cost more than to have none.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Noise("age", sd=10)], identifiers=["id"]).protect(heads, seed=1)
    >>> measure = cf.RegressionOverlap("log(hh_income) ~ age + sex")
    >>> round(measure(heads, heads), 9), 0 < measure(heads, release.data) < 1
    (1.0, True)
    """

    key: ClassVar[str] = "ci_overlap"

    @property
    def direction(self) -> str:
        """Which way is better."""
        return "higher"

    @property
    def range(self) -> tuple[float, float]:
        """Between intervals that do not meet and equal ones."""
        return 0.0, 1.0

    @property
    def best(self) -> float:
        """Equal intervals."""
        return 1.0

    def _found(self, c: Compared) -> Found:
        values = np.where(c.lost, 0.0, overlap(c.low, c.high, c.low_after, c.high_after))
        return Found(float(values.mean()), _described(c, values, "least"), c.lost_terms, len(values))


def overlap(low: F64, high: F64, low_after: F64, high_after: F64) -> F64:
    """Overlap of intervals, between 0 and 1; of two equal points 1. The customary mean of both shares, but no more than
    twice the share of the wider one: less than the mean where that is more than three times as wide as the other.

    >>> import numpy as np
    >>> overlap(np.array([0.0]), np.array([2.0]), np.array([1.0]), np.array([5.0]))
    array([0.375])
    >>> overlap(np.array([0.0]), np.array([2.0]), np.array([-99.0]), np.array([101.0]))
    array([0.02])
    """
    common = np.maximum(np.minimum(high, high_after) - np.maximum(low, low_after), 0.0)
    with np.errstate(all="ignore"):
        shares = common / (high - low), common / (high_after - low_after)
        found = np.minimum(0.5 * (shares[0] + shares[1]), 2 * np.minimum(*shares))
    same = (low == low_after) & (high == high_after)
    return np.asarray(np.clip(np.where(same, 1.0, np.nan_to_num(found, nan=0.0, posinf=0.0)), 0.0, 1.0))


@registered
@dataclass(frozen=True)
class CoefficientDifference(_Regression):
    r"""Differences of a regression's coefficients in standard errors of the original, averaged over coefficients.

    .. math:: \frac1k \sum_j |b'_j - b_j| / \mathrm{se}(b_j)

    Lower is better, from 0 (best) to 10, which a lost coefficient counts, and none counts more; below 1 the release
    adds less than the sample's own uncertainty. No link is needed. Formula, weights, missing values, what is lost and
    copies are those of `RegressionOverlap` (Woo and Slavković 2015; Snoke and others 2018).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Noise("age", sd=10)], identifiers=["id"]).protect(heads, seed=1)
    >>> cf.CoefficientDifference("hispanic ~ age + sex", family="logistic")(heads, release.data) > 0
    True
    """

    key: ClassVar[str] = "coefficient_difference"

    @property
    def range(self) -> tuple[float, float]:
        """A lost coefficient counts 10 standard errors, and none counts more."""
        return 0.0, 10.0

    def _found(self, c: Compared) -> Found:
        gap = np.abs(c.after - c.before)
        with np.errstate(all="ignore"):
            values = np.where(gap > 1e-12 * np.abs(c.before), gap / c.error, 0.0)
        values = np.where(c.lost, self.worst, np.minimum(values, self.worst))
        return Found(float(values.mean()), _described(c, -values, "most"), c.lost_terms, len(values))


def _described(c: Compared, values: F64, word: str) -> str:
    """How many coefficients, the one that fared worst, notes."""
    at = int(values.argmin())
    text = f"{len(values)} coefficient{'s' * (len(values) != 1)}; {word}: {c.terms[at]} ({abs(values[at]):.3g})"
    lost = int(c.lost.sum())
    gone = [f"{lost} cannot be estimated from the release: {', '.join(c.lost_terms)}"] if lost else []
    return "; ".join([text, *gone, *c.notes])
