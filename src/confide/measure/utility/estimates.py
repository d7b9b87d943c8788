"""1/MSE of the estimates that a user names (Duncan and others)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.measure.utility.items import said
from confide.measure.utility.measure import Found, Stated, described
from confide.measure.utility.pair import Pair
from confide.measure.utility.statistics import read_statistic

Estimator = Callable[[Any], tuple[float, float]]


@registered
@dataclass(frozen=True)
class InverseMse(Stated):
    r"""The data user's 1/MSE of named estimates, by default as a share of what the original gives.

    .. math:: \mathrm{MSE} = (\hat\theta' - \hat\theta)^2 + v, \qquad U = 1 / \mathrm{MSE}

    with the estimate of the original and that of the release, and v the sampling variance of the original's: the
    release adds its error to the sample's (Duncan and Keller-McNulty 2000; in expectation this is their n/(sigma^2 +
    lambda^2) for a mean under noise). With ``relative=True`` the value is :math:`1 / \overline{\mathrm{MSE}/v}`, the
    mean over estimates: the share of the original's U, between 0 and 1 (best). With ``relative=False`` it is U of one
    estimate in its own unit, at most 1/v; v = 0 (every value equal) makes it infinite. Higher is better. No link is
    needed.

    `estimates`: text or a list of texts: ``mean(x)``, ``variance(x)``, ``sd(x)``, ``median(x)``, ``quantile(x, 0.9)``,
    ``covariance(x, y)``, ``correlation(x, y)``, ``ratio(x, y)`` (of means), ``share(g, "category")``. Or a table of
    functions by name, each from a frame to (estimate, variance), which see no weights but those in the frame. Variances
    are of simple random samples with weights (linearised; Woodruff's for quantiles). Missing values are left out, and
    are in no category; a merged category counts in equal parts for those that it may stand for. An estimate that the
    release cannot give has an infinite MSE, and the value is 0. Over copies the released estimates are averaged first.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(2000)
    >>> release = cf.Plan([cf.Noise("age", sd=10)], identifiers=["id"]).protect(heads, seed=1)
    >>> measure = cf.InverseMse(["mean(age)", "median(hh_income)"])
    >>> measure(heads, heads), 0 < measure(heads, release.data) < 1
    (1.0, True)
    """

    estimates: str | Sequence[str] | Mapping[str, Estimator] = field(metadata={"example": '["mean(age)"]'})
    relative: bool = True

    key: ClassVar[str] = "inverse_mse"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.estimates
        if isinstance(given, Mapping):
            if not given or not all(isinstance(k, str) and callable(f) for k, f in given.items()):
                raise InputError("InverseMse: a table of estimates leads from names to functions of a frame.")
        else:
            texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else ()
            if not texts or not all(isinstance(t, str) for t in texts):
                raise InputError('InverseMse: estimates are texts such as "mean(age)", or a table of functions.')
            for text in texts:
                read_statistic(text)
            if len(set(texts)) < len(texts):
                raise InputError("InverseMse: an estimate is named twice.")
            object.__setattr__(self, "estimates", texts)
        if not isinstance(self.relative, bool):
            raise InputError("InverseMse: relative is true or false.")
        if not self.relative and len(self.estimates) != 1:
            raise InputError("InverseMse: relative=False takes one estimate, since several have different units.")

    @property
    def direction(self) -> str:
        """Which way is better."""
        return "higher"

    @property
    def range(self) -> tuple[float, float]:
        """A share, or any positive number."""
        return (0.0, 1.0) if self.relative else (0.0, inf)

    @property
    def best(self) -> float:
        """All of the original's; in its own unit there is no limit that holds for all files."""
        return 1.0 if self.relative else inf

    def of(self, pairs: Sequence[Pair]) -> Found:
        lost: dict[str, str] = {}
        found: dict[str, tuple[float, float]] = {}
        for name in self.estimates:
            before, v = self._estimate(name, pairs[0], 0)
            why, after = self._released(name, pairs)
            lost |= {name: why} if why else {}
            found[name] = (inf if why else (after - before) ** 2, v)
        if not self.relative:
            ((name, (error, v)),) = found.items()
            best = f"{1 / v:.4g}" if v > 0 else "infinite"
            notes = [f"{name}; of the original: {best}", *said(lost)]
            return Found(1 / (error + v) if error + v > 0 else inf, "; ".join(notes), tuple(lost), 1)
        losses = np.array([error / v if v > 0 else (inf if error > 0 else 0.0) for error, v in found.values()])
        detail = described("estimate", list(found), losses, said(lost))
        return Found(float(1 / (1 + losses.mean())), detail, tuple(lost), len(found))

    def _released(self, name: str, pairs: Sequence[Pair]) -> tuple[str, float]:
        """Why the release cannot give an estimate, or what it gives, averaged over copies."""
        if not isinstance(self.estimates, Mapping):
            statistic = read_statistic(name)
            if why := next(filter(None, map(statistic.lost, pairs)), ""):
                return why, 0.0
        try:
            return "", float(np.mean([self._estimate(name, p, 1)[0] for p in pairs]))
        except InputError:
            return "cannot be computed", 0.0

    def _estimate(self, name: str, pair: Pair, file: int) -> tuple[float, float]:
        if not isinstance(self.estimates, Mapping):
            statistic, where = read_statistic(name), f'InverseMse "{name}"'
            statistic.check(pair, where)
            return statistic.of(pair, file, where)
        try:
            found = self.estimates[name](pair.frame(file))
        except InputError:
            raise
        except Exception as e:
            raise InputError(f'InverseMse: "{name}" failed with {type(e).__name__}.') from e
        good = isinstance(found, Sequence | np.ndarray) and len(found) == 2
        if not good or not all(isinstance(x, Real) and np.isfinite(float(x)) for x in found) or found[1] < 0:
            raise InputError(f'InverseMse: "{name}" must give (estimate, variance), two finite numbers.')
        return float(found[0]), float(found[1])
