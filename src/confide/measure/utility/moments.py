"""Means, variances, covariances, correlations and eigenvalues of numeric variables, original against release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64
from confide.measure.utility.measure import Found, Stated, described, named, numeric_names
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import covariance, mean, variance


@dataclass(frozen=True)
class OfNumbers(Stated):
    """What measures of numeric variables share: `variables`, or None for all numbers that both files hold."""

    variables: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variables", named(self.variables, type(self).__name__))

    def _chosen(self, pair: Pair, least: int = 1) -> tuple[list[str], list[str]]:
        """Variables that vary in the original, and notes on those left out."""
        where = type(self).__name__
        names, notes = numeric_names(pair, self.variables, where)
        still = [v for v in names if not spread(pair, v, where) > 0]
        if still and (self.variables is not None or len(still) == len(names)):
            raise InputError(
                f'{where}: "{still[0]}" has one value only in the original: there is no spread to scale by.'
            )
        notes += [f"left out, constant: {', '.join(still)}"] if still else []
        kept = [v for v in names if v not in still]
        if len(kept) < least:
            raise InputError(f"{where} compares {least} or more numeric variables, and there is {len(kept)}.")
        return kept, notes

    def _each(self, pairs: Sequence[Pair], loss: Callable[[str], float]) -> Found:
        """The mean over variables of a loss."""
        names, notes = self._chosen(pairs[0])
        losses = [loss(v) for v in names]
        return Found(float(np.mean(losses)), described("variable", names, losses, notes))

    def _matrices(self, pairs: Sequence[Pair], least: int = 2) -> tuple[list[str], list[str], F64, F64]:
        """Names, notes, and covariances of both files in units of the original's standard deviations, shape (p, p)."""
        names, notes = self._chosen(pairs[0], least)
        where = type(self).__name__
        x, w = _complete(pairs[0], names, 0, where)
        centre, scale = np.average(x, axis=0, weights=w), np.sqrt(np.diag(covariance(x, w)))
        if not (scale > 0).all():
            raise InputError(f"{where}: among records without missing values, a variable has one value only.")
        copies = [_complete(p, names, 1, where) for p in pairs]
        after = np.mean([covariance((z - centre) / scale, v) for z, v in copies], axis=0)
        return names, notes, covariance((x - centre) / scale, w), after


def spread(pair: Pair, variable: str, where: str) -> float:
    """Standard deviation in the original, 0 where it is rounding only; refused where a file has no value at all."""
    for file, what in ((0, "original"), (1, "released")):
        if bool(np.isnan(pair.numbers(variable, file)).all()):
            raise InputError(f'{where}: "{variable}" has no value in the {what} file.')
    x = pair.numbers(variable, 0)
    found = float(np.sqrt(variance(x, pair.weights(0))))
    return found if found > 1e-12 * float(np.nanmax(np.abs(x))) else 0.0


def _complete(pair: Pair, names: list[str], file: int, where: str) -> tuple[F64, F64]:
    """Records with no missing value among the variables, shape (n, p), and their weights."""
    x, w = np.stack([pair.numbers(v, file) for v in names], axis=1), pair.weights(file)
    there = ~np.isnan(x).any(axis=1) & (w > 0)
    if not there.any():
        raise InputError(f"{where}: no record of one file has a value in all {len(names)} variables; name fewer.")
    return x[there], w[there]


def _both(pairs: Sequence[Pair], variable: str, statistic: Callable[[F64, F64], float]) -> tuple[float, float]:
    """A statistic of the original, and of the release: averaged over copies."""
    first = pairs[0]
    before = statistic(first.numbers(variable, 0), first.weights(0))
    return before, float(np.mean([statistic(p.numbers(variable, 1), p.weights(1)) for p in pairs]))


@registered
@dataclass(frozen=True)
class Means(OfNumbers):
    r"""Differences of means, in standard deviations of the original, averaged over variables.

    .. math:: \frac1p \sum_v |\bar x'_v - \bar x_v| / s_v

    with means of the original and of the release, and the original's standard deviation s (divisor: the sum of
    weights). Lower is better, from 0 (best) upwards. A missing value is left out, variable by variable. Over copies the
    released means are averaged first (Reiter 2003). No link is needed.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Means("age")(heads, heads.with_columns(heads["age"] + 1)) == 1 / heads["age"].std(ddof=0)
    True
    """

    key: ClassVar[str] = "means"

    def of(self, pairs: Sequence[Pair]) -> Found:
        def loss(v: str) -> float:
            before, after = _both(pairs, v, mean)
            return abs(after - before) / spread(pairs[0], v, self.key)

        return self._each(pairs, loss)


@registered
@dataclass(frozen=True)
class Variances(OfNumbers):
    r"""Relative differences of variances, averaged over variables.

    .. math:: \frac1p \sum_v |s'^2_v / s^2_v - 1|

    Lower is better, from 0 (best) upwards. A missing value is left out, variable by variable. Over copies the released
    variances are averaged first. No link is needed (Domingo-Ferrer and Torra 2001).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> round(cf.Variances("age")(heads, heads.with_columns(heads["age"] * 2)), 6)
    3.0
    """

    key: ClassVar[str] = "variances"

    def of(self, pairs: Sequence[Pair]) -> Found:
        def loss(v: str) -> float:
            before, after = _both(pairs, v, variance)
            return abs(after / before - 1)

        return self._each(pairs, loss)


@registered
@dataclass(frozen=True)
class Covariances(OfNumbers):
    r"""Differences of covariances in units of the original's standard deviations, averaged over pairs of variables.

    .. math:: \frac{2}{p(p-1)} \sum_{u<v} |c'_{uv} - c_{uv}| / (s_u s_v)

    Lower is better, from 0 (best) upwards. Only records with a value in all variables count. Over copies the released
    covariances are averaged first. No link is needed (Domingo-Ferrer and Torra 2001). Variances: see `Variances`.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Covariances(["age", "hh_income"])(heads, heads)
    0.0
    """

    key: ClassVar[str] = "covariances"

    def of(self, pairs: Sequence[Pair]) -> Found:
        names, notes, before, after = self._matrices(pairs)
        return _of_pairs(names, notes, np.abs(after - before))


@registered
@dataclass(frozen=True)
class Correlations(OfNumbers):
    r"""Differences of correlations, averaged over pairs of variables.

    .. math:: \frac{2}{p(p-1)} \sum_{u<v} |r'_{uv} - r_{uv}|

    Lower is better, between 0 (best) and 2. Only records with a value in all variables count. A released variable that
    has become constant has correlation 0 with others. Over copies the released covariances are averaged first. No link
    is needed (Domingo-Ferrer and Torra 2001).

    >>> import confide as cf, numpy as np
    >>> heads = cf.demo("heads").head(2000)
    >>> turned = heads.with_columns(-heads["age"])
    >>> found = cf.Correlations(["age", "hh_income"])(heads, turned)
    >>> bool(np.isclose(found, 2 * abs(np.corrcoef(heads["age"], heads["hh_income"])[0, 1])))
    True
    """

    key: ClassVar[str] = "correlations"

    @property
    def range(self) -> tuple[float, float]:
        """Correlations differ by at most 2."""
        return 0.0, 2.0

    def of(self, pairs: Sequence[Pair]) -> Found:
        names, notes, before, after = self._matrices(pairs)
        return _of_pairs(names, notes, np.abs(_correlation(after) - _correlation(before)))


@registered
@dataclass(frozen=True)
class Eigenvalues(OfNumbers):
    r"""Differences of the eigenvalues of the covariance matrix of variables scaled by the original's deviations.

    .. math:: \sum_k |\lambda'_k - \lambda_k| / \sum_k \lambda_k

    with both sets in falling order; the sum below is the number of variables. Lower is better, from 0 (best) upwards.
    Only records with a value in all variables count. Over copies the released covariances are averaged first. No link
    is needed (Templ and Meindl 2008, who divide by each eigenvalue instead; small ones then rule the sum).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Eigenvalues(["age", "hh_income", "property_value"])(heads, heads.reverse()) < 1e-12
    True
    """

    key: ClassVar[str] = "eigenvalues"

    def of(self, pairs: Sequence[Pair]) -> Found:
        names, notes, before, after = self._matrices(pairs, least=1)
        low, high = np.linalg.eigvalsh(before), np.linalg.eigvalsh(after)
        return Found(float(np.abs(high - low).sum() / low.sum()), described("variable", names, [0.0], notes))


def _correlation(c: F64) -> F64:
    scale = np.sqrt(np.diag(c))
    safe = np.where(scale > 1e-12, scale, np.inf)
    return np.asarray(np.clip(c / np.outer(safe, safe), -1, 1))


def _of_pairs(names: list[str], notes: list[str], losses: F64) -> Found:
    """The mean over pairs of variables."""
    every = list(combinations(range(len(names)), 2))
    values = np.array([losses[i, j] for i, j in every])
    words = [f"{names[i]} with {names[j]}" for i, j in every]
    return Found(float(values.mean()), described("pair", words, values, notes))
