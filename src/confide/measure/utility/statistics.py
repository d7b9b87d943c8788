"""Estimates by name, such as ``mean(hh_income)``, each with the variance that sampling gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import F64
from confide.measure.utility.distances import cells
from confide.measure.utility.formula import Reader
from confide.measure.utility.items import Use, why_lost
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import mean, quantiles

USAGE = {"mean": "mean(x)", "variance": "variance(x)", "sd": "sd(x)", "median": "median(x)",
         "quantile": "quantile(x, 0.9)", "covariance": "covariance(x, y)", "correlation": "correlation(x, y)",
         "ratio": "ratio(x, y)", "share": 'share(g, "category")'}  # fmt: skip
"""How each is written."""
NUMBERS = {"mean": 1, "variance": 1, "sd": 1, "median": 1, "quantile": 1, "covariance": 2, "correlation": 2, "ratio": 2}
"""How many numeric variables each takes; `share` takes a variable and a category."""


@dataclass(frozen=True)
class Statistic:
    """An estimate: its name, its variables, and the share of a quantile or the category of a share."""

    how: str
    variables: tuple[str, ...]
    value: float | str | None = None

    def of(self, pair: Pair, file: int, where: str) -> tuple[float, float]:
        """The estimate in the original (0) or the release (1), and its sampling variance."""
        w = pair.weights(file)
        if self.how == "share":
            return _linear(self._indicator(pair, file, where), w, _mean)
        columns = [pair.numbers(v, file) for v in self.variables]
        there = ~np.isnan(columns).any(axis=0) & (w > 0)
        if there.sum() < 2:
            raise InputError(f"{where}: fewer than two records of one file can be used for {self.how}.")
        x, w = np.stack(columns)[:, there], w[there]
        if self.how in ("median", "quantile"):
            return _quantile(x[0], w, float(self.value or 0.5))
        return _linear(x, w, INFLUENCE[self.how])

    def check(self, pair: Pair, where: str) -> None:
        """Refuse variables that the original does not have, or that hold no numbers where these are needed."""
        for v in self.variables:
            pair.in_original(v, where) if self.how == "share" else pair.original_number(v, where)

    def lost(self, pair: Pair) -> str:
        """Why the release cannot give it."""
        use: Use = "category" if self.how == "share" else "number"
        return ", ".join(f"{v} {why}" for v in self.variables if (why := why_lost(pair, v, use)))

    def _indicator(self, pair: Pair, file: int, where: str) -> F64:
        """1 for records in the category, the part that it has of a merged one; missing values are not in it."""
        y = pair.column(self.variables[0])
        if y.kind == "numeric":
            raise InputError(f'{where}: "{self.variables[0]}" holds numbers, and share() is of a category.')
        levels = [str(v) for v in y.levels]
        if self.value not in levels:
            raise InputError(f'{where}: "{self.variables[0]}" has no category of that name in the original.')
        at, codes = levels.index(str(self.value)), y.values
        if file == 1:
            c = cells(pair, self.variables[0], 2, where)
            if c.parts is not None:
                return np.asarray(c.parts[c.after, at])[None, :]
            codes = c.after
        return np.asarray(codes == at, dtype=float)[None, :]


def _linear(x: F64, w: F64, influence: Callable[[F64, F64], tuple[float, F64]]) -> tuple[float, float]:
    """Estimate and variance n/(n-1) sum w^2 e^2 / (sum w)^2, with e the influence of each record (Deville 1999)."""
    estimate, e = influence(x, w)
    n = len(w)
    return estimate, float(n / (n - 1) * ((w * e) ** 2).sum() / w.sum() ** 2) if n > 1 else 0.0


def _mean(x: F64, w: F64) -> tuple[float, F64]:
    m = mean(x[0], w)
    return m, x[0] - m


def _variance(x: F64, w: F64) -> tuple[float, F64]:
    return _covariance(x[[0, 0]], w)


def _sd(x: F64, w: F64) -> tuple[float, F64]:
    v, e = _variance(x, w)
    return float(np.sqrt(v)), e / (2 * np.sqrt(v)) if v > 0 else e


def _covariance(x: F64, w: F64) -> tuple[float, F64]:
    product = (x[0] - mean(x[0], w)) * (x[1] - mean(x[1], w))
    c = mean(product, w)
    return c, product - c


def _correlation(x: F64, w: F64) -> tuple[float, F64]:
    a, b = _variance(x[:1], w)[0], _variance(x[1:], w)[0]
    if not (a > 0 and b > 0):
        return 0.0, np.zeros(len(w))
    u, v = (x[0] - mean(x[0], w)) / np.sqrt(a), (x[1] - mean(x[1], w)) / np.sqrt(b)
    r = mean(u * v, w)
    return r, u * v - r * (u * u + v * v) / 2


def _ratio(x: F64, w: F64) -> tuple[float, F64]:
    a, b = mean(x[0], w), mean(x[1], w)
    if b == 0:
        raise InputError("ratio(): the mean of the second variable is zero in one of the files.")
    return a / b, (x[0] - a / b * x[1]) / b


INFLUENCE: dict[str, Callable[[F64, F64], tuple[float, F64]]] = {
    "mean": _mean, "variance": _variance, "sd": _sd, "covariance": _covariance, "correlation": _correlation,
    "ratio": _ratio,
}  # fmt: skip


def _quantile(x: F64, w: F64, share: float) -> tuple[float, float]:
    """A quantile, its variance from the interval that inverts that of the share below it (Woodruff 1952).

    Where many records have one value the interval can be that value alone; it is then widened, and the variance scaled
    down in turn, until it is not.
    """
    at = float(quantiles(x, w, np.array([share]))[0])
    n, total = len(w), w.sum()
    error = np.sqrt(n / (n - 1) * ((w * ((x <= at) - share)) ** 2).sum()) / total
    for z in (2.0, 4.0, 8.0, 16.0, 32.0, 1 / max(error, 1e-12)):
        low, high = quantiles(x, w, np.clip(np.array([share - z * error, share + z * error]), 0, 1))
        if high > low:
            return at, float(((high - low) / (2 * z)) ** 2)
    return at, 0.0


def read_statistic(text: str) -> Statistic:
    """A statistic from its text.

    >>> read_statistic("quantile(hh_income, 0.9)")
    Statistic(how='quantile', variables=('hh_income',), value=0.9)
    """
    reader = Reader(text, "Estimate")
    how = str(reader.take("name"))
    if reader.peek() != ("sign", "("):
        raise reader.wrong("an estimate is written as mean(x), with the name of a variable for x")
    if how not in USAGE:
        raise InputError(f'Estimate "{text}": there is no "{how}".{did_you_mean(how, USAGE)}')
    try:
        return _arguments(reader, how)
    except InputError as e:
        raise InputError(f"{e} Write it as {USAGE[how]}.") from None


def _arguments(reader: Reader, how: str) -> Statistic:
    reader.take("(")
    variables = [str(reader.take("name"))]
    value: float | str | None = 0.5 if how == "median" else None
    if NUMBERS.get(how) == 2:
        reader.take(",")
        variables.append(str(reader.take("name")))
    if how in ("quantile", "share"):
        reader.take(",")
        value = reader.take("number" if how == "quantile" else "text")
    reader.take(")")
    reader.end()
    if how == "quantile" and not (isinstance(value, float) and 0 < value < 1):
        raise reader.wrong("a quantile is named by a share between 0 and 1, such as 0.9")
    return Statistic(how, tuple(variables), value)
