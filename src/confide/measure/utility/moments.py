"""Means, variances, covariances, correlations and eigenvalues of numeric variables, original against release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.frames.columns import F64, I64
from confide.measure.utility.items import Items, items_of, mean_loss, said, spread
from confide.measure.utility.measure import Found, Stated, described, named
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import covariance, mean, variance

EVERY = 8
"""Of so many variables, every set is tried as lost by `Eigenvalues`."""


@dataclass(frozen=True)
class OfNumbers(Stated):
    """What measures of numeric variables share: `variables`, or None for all numbers of the original."""

    variables: str | Sequence[str] | None = None

    least: ClassVar[int] = 2
    """Variables that a measure of several takes at least."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "variables", named(self.variables, type(self).__name__))

    @property
    def range(self) -> tuple[float, float]:
        """A lost variable counts 1, and none counts more."""
        return 0.0, 1.0

    def _chosen(self, pairs: Sequence[Pair], least: int = 1) -> Items:
        """Variables that vary in the original, and which of them are lost."""
        return self.enough(items_of(pairs, self.variables, "number", type(self).__name__), least)

    def enough(self, items: Items, least: int) -> Items:
        """The same items, refused where they are too few."""
        if len(items.names) < least:
            raise InputError(
                f"{type(self).__name__} compares {least} or more numeric variables, and there is {len(items.names)}."
            )
        return items

    def of_matrices(self, items: Items, before: F64, after: F64) -> Found:
        """Of a measure of several variables: its value, from covariances of both files in units of the original's
        standard deviations."""
        raise NotImplementedError

    def _each(self, pairs: Sequence[Pair], loss: Callable[[str], float]) -> Found:
        """The mean over variables of a loss."""
        items = self._chosen(pairs)
        return items.averaged({v: loss(v) for v in items.kept}, self.worst)

    def _matrices(self, pairs: Sequence[Pair]) -> tuple[Items, F64, F64]:
        """Variables, and covariances of both files in units of the original's standard deviations, shape (p, p); 0 in
        the release for what is lost."""
        items = self._chosen(pairs, self.least)
        where = type(self).__name__
        there = _complete(pairs[0], items.names, 0)
        if there is None:
            raise InputError(f"{where}: no record has a value in all {len(items.names)} variables; name fewer.")
        x, w = there
        centre, scale = np.average(x, axis=0, weights=w), np.sqrt(np.diag(covariance(x, w)))
        if not (scale > 0).all():
            raise InputError(f"{where}: among records without missing values, a variable has one value only.")
        kept = np.array([v in items.kept for v in items.names])
        copies = [_complete(p, items.kept, 1) for p in pairs]
        after = np.zeros((len(kept), len(kept)))
        if any(c is None for c in copies):
            items = replace(items, lost=dict.fromkeys(items.names, "no record has all variables") | {**items.lost})
        else:
            each = [covariance((z - centre[kept]) / scale[kept], v) for z, v in filter(None, copies)]
            after[np.ix_(kept, kept)] = np.mean(each, axis=0)
        return items, covariance((x - centre) / scale, w), after


def _complete(pair: Pair, names: list[str], file: int) -> tuple[F64, F64] | None:
    """Records with no missing value among the variables, shape (n, p), and their weights; None where there is none."""
    w = pair.weights(file)
    x = np.stack([pair.numbers(v, file) for v in names], axis=1) if names else np.zeros((len(w), 0))
    there = ~np.isnan(x).any(axis=1) & (w > 0)
    return (x[there], w[there]) if there.any() else None


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
    weights). Lower is better, from 0 (best) to 1, which a lost variable counts, and none counts more. A missing value
    is left out, variable by variable. Over copies the released means are averaged first (Reiter 2003). No link is
    needed.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Means("age")(heads, heads.with_columns(heads["age"] + 1)) == 1 / heads["age"].std(ddof=0)
    True
    """

    key: ClassVar[str] = "means"

    @property
    def by_variable(self) -> str:
        return "number"

    def of(self, pairs: Sequence[Pair]) -> Found:
        def loss(v: str) -> float:
            before, after = _both(pairs, v, mean)
            return abs(after - before) / spread(pairs[0], v)

        return self._each(pairs, loss)


@registered
@dataclass(frozen=True)
class Variances(OfNumbers):
    r"""Relative differences of variances, averaged over variables.

    .. math:: \frac1p \sum_v |s'^2_v / s^2_v - 1|

    Lower is better, from 0 (best) to 1, which a lost variable counts, and none counts more. A missing value is left
    out, variable by variable. Over copies the released variances are averaged first. No link is needed (Domingo-Ferrer
    and Torra 2001).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> round(cf.Variances("age")(heads, heads.with_columns(heads["age"] * 0.5)), 6)
    0.75
    """

    key: ClassVar[str] = "variances"

    @property
    def by_variable(self) -> str:
        return "number"

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

    Lower is better, from 0 (best) to 2, which a pair with a lost variable counts, and none counts more. Only records
    with a value in all variables count. Over copies the released covariances are averaged first. No link is needed
    (Domingo-Ferrer and Torra 2001). Variances: see `Variances`.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Covariances(["age", "hh_income"])(heads, heads)
    0.0
    """

    key: ClassVar[str] = "covariances"

    @property
    def range(self) -> tuple[float, float]:
        """A pair with a lost variable counts 2, and none counts more."""
        return 0.0, 2.0

    jointly = "products"

    def of(self, pairs: Sequence[Pair]) -> Found:
        return self.of_matrices(*self._matrices(pairs))

    def of_matrices(self, items: Items, before: F64, after: F64) -> Found:
        return _of_pairs(items, np.abs(after - before), self.worst)


@registered
@dataclass(frozen=True)
class Correlations(OfNumbers):
    r"""Differences of correlations, averaged over pairs of variables.

    .. math:: \frac{2}{p(p-1)} \sum_{u<v} |r'_{uv} - r_{uv}|

    Lower is better, between 0 (best) and 2, which a pair with a lost variable counts. Only records with a value in all
    variables count. Over copies the released covariances are averaged first. No link is needed (Domingo-Ferrer and
    Torra 2001).

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

    jointly = "products"

    def of(self, pairs: Sequence[Pair]) -> Found:
        return self.of_matrices(*self._matrices(pairs))

    def of_matrices(self, items: Items, before: F64, after: F64) -> Found:
        return _of_pairs(items, np.abs(_correlation(after) - _correlation(before)), self.worst)


@registered
@dataclass(frozen=True)
class Eigenvalues(OfNumbers):
    r"""Differences of the eigenvalues of the covariance matrix of variables scaled by the original's deviations.

    .. math:: \min_S \frac1p \Big( |S| + \sum_k |\lambda'_k(-S) - \lambda_k(-S)| \Big)

    with eigenvalues in falling order, of the matrices of both files without the variables in S; p is the number of
    variables, and the sum of the original's eigenvalues. S holds all variables that are lost: each costs its share.
    One that is released counts as lost where that is cheaper, so that to spoil a variable never costs more than not to
    release it; S is empty where nothing is lost and the differences sum to no more than 1. Lower is better, from 0
    (best) to 1. Only records with a value in all variables count. Over copies the released covariances are averaged
    first. No link is needed (Templ and Meindl 2008, who divide by each eigenvalue instead; small ones then rule the
    sum).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> cf.Eigenvalues(["age", "hh_income", "property_value"])(heads, heads.reverse()) < 1e-12
    True
    """

    key: ClassVar[str] = "eigenvalues"

    jointly = "products"
    least = 1

    def of(self, pairs: Sequence[Pair]) -> Found:
        return self.of_matrices(*self._matrices(pairs))

    def of_matrices(self, items: Items, before: F64, after: F64) -> Found:
        kept = np.array([i for i, v in enumerate(items.names) if v not in items.lost], dtype=np.int64)
        found = min(self.worst, least_loss(before, after, kept))
        detail = described("variable", items.names, [0.0], [*items.notes, *said(items.lost)])
        return Found(found, detail, tuple(items.lost), len(items.names))


def least_loss(before: F64, after: F64, kept: I64) -> float:
    """The smallest of the losses in which more or fewer of the kept variables count as lost. With more than `EVERY` of
    them those whose covariances differ most go first, instead of every set being tried."""
    p = len(before)

    def loss(some: I64) -> float:
        low, high = (np.linalg.eigvalsh(c[np.ix_(some, some)]) for c in (before, after))
        return float((p - len(some) + np.abs(high - low).sum()) / p)

    whole = loss(kept)
    if whole <= (p - len(kept) + 1) / p:  # without one more variable it cannot be less
        return whole
    order = kept[np.argsort(np.abs(after - before)[np.ix_(kept, kept)].sum(axis=0), kind="stable")]
    if len(kept) > EVERY:
        return min(loss(order[:k]) for k in range(len(kept) + 1))
    return min(loss(np.array(some, dtype=np.int64)) for k in range(len(kept) + 1) for some in combinations(kept, k))


def _correlation(c: F64) -> F64:
    scale = np.sqrt(np.diag(c))
    safe = np.where(scale > 1e-12, scale, np.inf)
    return np.asarray(np.clip(c / np.outer(safe, safe), -1, 1))


def _of_pairs(items: Items, losses: F64, worst: float) -> Found:
    """The mean over pairs of variables."""
    places = list(enumerate(items.names))
    found, lost = {}, []
    for (i, u), (j, v) in combinations(places, 2):
        gone = u in items.lost or v in items.lost
        found[f"{u} with {v}"] = worst if gone else float(losses[i, j])
        lost += [f"{u} with {v}"] if gone else []
    return mean_loss("pair", found, worst, items, lost)
