"""Estimates from several synthetic copies of a file, combined into one with an honest standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import polars as pl
from scipy.special import ndtri, stdtrit

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.result import Result

Array = np.ndarray[Any, np.dtype[np.float64]]
RULES = ("partial", "full", "multiple")


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Result):
    """One estimate from m copies: numbers for one estimand, arrays for several.

    `variance` is the total variance T and `standard_error` its root; `low` and `high` bound the t interval on `df`
    degrees of freedom; `within` is the mean of the copies' variances, `between` the variance of their estimates.
    `adjusted` is true where rule "full" had no positive variance and used its substitute.
    """

    private: ClassVar[bool] = False
    estimate: float | Array
    variance: float | Array
    standard_error: float | Array
    df: float | Array
    low: float | Array
    high: float | Array
    within: float | Array
    between: float | Array
    adjusted: bool | np.ndarray[Any, np.dtype[np.bool_]]
    copies: int
    rule: str
    confidence: float

    @property
    def frame(self) -> pl.DataFrame:
        """One row an estimand, numbered from 1 in the order given."""
        names = ("estimate", "standard_error", "low", "high", "df", "variance", "within", "between", "adjusted")
        columns = {name: np.atleast_1d(getattr(self, name)) for name in names}
        return pl.DataFrame({"estimand": np.arange(1, len(columns["estimate"]) + 1), **columns})

    def __repr__(self) -> str:
        head = f"{self.copies} copies, rule {self.rule}, {100 * self.confidence:g}% intervals"
        lines = [head, f"{'estimate':>12}  {'error':>10}  {'low':>12}  {'high':>12}  {'df':>8}"]
        frame = self.frame
        for r in frame.head(20).iter_rows(named=True):
            numbers = f"{r['estimate']:>12.6g}  {r['standard_error']:>10.4g}  {r['low']:>12.6g}  {r['high']:>12.6g}"
            lines.append(f"{numbers}  {r['df']:>8.4g}" + ("  adjusted" if r["adjusted"] else ""))
        if frame.height > 20:
            lines.append(f"... and {frame.height - 20:,} more: see .frame")
        return "\n".join(lines)


def combine(
    estimates: Any, variances: Any, rule: str = "partial", confidence: float = 0.95, complete: float | None = None,
    ratio: float = 1.0,
) -> Combined:  # fmt: skip
    """Combine the estimates of m >= 2 synthetic copies, each with its variance within the copy.

    Both are m numbers, or m rows of k numbers for k estimands at once. With q their mean, b the variance of the
    estimates over copies (divisor m - 1) and u the mean of the variances:

    - rule "partial" (Reiter 2003): some values were replaced. T = u + b/m, df = (m-1) (1 + m u/b)^2.
    - rule "full" (Raghunathan, Reiter and Rubin 2003): copies are new samples drawn from a posterior.
      T = (1+1/m) b - u, df = (m-1) (1 - m u/((m+1) b))^2.
    - rule "multiple" (Rubin 1987): missing values were imputed, nothing is synthetic.
      T = u + (1+1/m) b, df = (m-1) (1 + m u/((m+1) b))^2.

    df is infinite where b = 0 (rules "partial" and "multiple") and never below 1. Where T of rule "full" is not
    positive, Reiter's (2002) T = `ratio` u takes its place; `ratio` is records of a copy by records of the original.
    The formula for df has no meaning there, and m - 1 is used: a choice of this library.

    With few copies rule "full" is cautious: with ten copies as large as the original its 95% intervals hold the truth
    in 99 of 100 simulations; with a hundred copies, or ten that are ten times as large, in 95.

    `complete` is the degrees of freedom that the original data would have (such as n - 1 for a mean); it matters for
    small files. Rule "multiple" then follows Barnard and Rubin (1999); "full" has at most that many; "partial" uses
    Satterthwaite's T^2 / (u^2/complete + (b/m)^2/(m-1)), which is Reiter's df when `complete` is infinite.

    Variances are standard errors squared. Standard errors in their place go unnoticed and give wrong intervals.

    >>> from confide.measure.combining import combine
    >>> found = combine([10.1, 9.8, 10.4], [0.25, 0.24, 0.26])
    >>> round(found.estimate, 3), round(found.variance, 3), round(found.low, 2), round(found.high, 2)
    (10.1, 0.28, 9.06, 11.14)
    """
    name, level = _rule(rule), _level(confidence)
    q, u = _pair(estimates, variances)
    m = len(q)
    if complete is not None and not (_is_number(complete) and complete >= 1):
        raise InputError("complete is a number of degrees of freedom from 1 upwards, such as n - 1 for a mean.")
    if not (_is_number(ratio) and 0 < ratio < np.inf):
        raise InputError("ratio is the number of records in a copy divided by that in the original, such as 1.0.")
    if ratio != 1 and name != "full":
        raise InputError(f'ratio belongs to rule "full"; rule "{name}" has no use for it.')
    with np.errstate(all="ignore"):
        shifted = q - q[0]  # equal estimates then have no variance at all, whatever rounding does to their mean
        mean, between, within = q[0] + shifted.mean(axis=0), shifted.var(axis=0, ddof=1), u.mean(axis=0)
        total, df, adjusted = _total(name, m, between, within, np.inf if complete is None else float(complete), ratio)
        error = np.sqrt(total)
        half = _t_quantile(0.5 + level / 2, df) * error
    if not np.isfinite([mean, half, total]).all():
        raise InputError("The numbers are too large to combine: express the variable in a larger unit.")
    values: list[Any] = [mean, total, error, df, mean - half, mean + half, within, between, adjusted]
    if q.ndim == 1:
        values = [x.item() for x in values]
    return Combined(*[*values, m, name, level])


def combine_frames(
    frames: Iterable[Any], estimator: Callable[[Any], Any], rule: str = "partial", confidence: float = 0.95,
    complete: float | None = None, ratio: float = 1.0,
) -> Combined:  # fmt: skip
    """Apply `estimator` to every copy and `combine` what it gives: (estimate, variance), two numbers or two vectors.

    `frames`: `Copies`, or a list of copies. A copy is handed over as it is, so it may be any kind of frame, or anything
    else that the estimator reads.

    >>> import polars as pl
    >>> from confide.measure.combining import combine_frames
    >>> copies = [pl.DataFrame({"x": x}) for x in ([1, 2, 3, 6], [2, 2, 4, 4], [1, 3, 4, 5])]
    >>> found = combine_frames(copies, lambda f: (f["x"].mean(), f["x"].var() / f.height))
    >>> round(found.estimate, 3), round(found.standard_error, 3)
    (3.083, 0.866)
    """
    from confide.protect.copies import Copies

    _rule(rule)
    if isinstance(frames, Copies):
        frames = frames.data
    if not callable(estimator):
        raise InputError("estimator must be a function that takes one copy and gives (estimate, variance).")
    if isinstance(frames, str | Mapping) or hasattr(frames, "columns") or not isinstance(frames, Iterable):
        raise InputError(f"frames must be a list of copies, such as [copy_1, copy_2], not one {type(frames).__name__}.")
    estimates, variances = [], []
    for i, copy in enumerate(frames, 1):
        found = estimator(copy)
        if isinstance(found, str | Mapping) or not hasattr(found, "__len__") or len(found) != 2:
            raise InputError(f"The estimator must give a pair (estimate, variance); for copy {i} it gave no pair.")
        estimates.append(np.asarray(found[0]))
        variances.append(np.asarray(found[1]))
    return combine(estimates, variances, rule, confidence, complete, ratio)


def _total(
    rule: str, m: int, b: Array, u: Array, complete: float, ratio: float
) -> tuple[Array, Array, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Total variance, degrees of freedom, and where the variance of rule "full" was replaced."""
    if rule == "full":
        spread = (1 + 1 / m) * b
        total = spread - u
        adjusted = total <= 0
        df = np.where(adjusted, m - 1, (m - 1) * (total / spread) ** 2)
        return np.where(adjusted, ratio * u, total), np.clip(df, 1, min(m - 1, complete)), adjusted
    part = b / m if rule == "partial" else (1 + 1 / m) * b
    total = u + part
    share = np.where(total > 0, part / total, 0.0)
    if rule == "partial":
        df = 1 / (share**2 / (m - 1) + (1 - share) ** 2 / complete)
    else:
        observed = np.inf if np.isinf(complete) else (complete + 1) / (complete + 3) * complete * (1 - share)
        df = 1 / (share**2 / (m - 1) + 1 / observed)
    return total, np.maximum(df, 1.0), np.zeros(np.shape(total), dtype=bool)


def _t_quantile(p: float, df: Array) -> Array:
    """Quantile of the t distribution; beyond 1e10 degrees of freedom it is the normal one to ten digits."""
    found: Array = np.where(df > 1e10, ndtri(p), stdtrit(np.minimum(df, 1e10), p))
    return found


def _rule(rule: str) -> str:
    if isinstance(rule, str) and rule in RULES:
        return rule
    hint = did_you_mean(rule.strip().lower(), RULES) if isinstance(rule, str) else ""
    meanings = '"partial" (some values replaced), "full" (new samples), "multiple" (missing values imputed)'
    raise InputError(f"rule must be one of {meanings}.{hint if 'Did' in hint else ''}")


def _is_number(x: Any) -> bool:
    return isinstance(x, Real) and not isinstance(x, bool | np.bool_)


def _level(confidence: float) -> float:
    if _is_number(confidence) and 0 < confidence < 1:
        return float(confidence)
    percent = _is_number(confidence) and 1 < confidence < 100
    hint = f": for {confidence:g} percent write {confidence / 100:g}." if percent else ", such as 0.95."
    raise InputError("confidence is a fraction between 0 and 1" + hint)


def _numbers(given: Any, name: str) -> Array:
    """What was given as an array of floats, missing as NaN."""
    if isinstance(given, str | bytes | Mapping | set | frozenset):
        raise InputError(f"{name} must be a list or an array with one entry a copy, not a {type(given).__name__}.")
    if isinstance(given, np.ma.MaskedArray):
        given = np.ma.filled(given.astype(float), np.nan)
    try:
        found = np.asarray(list(given) if hasattr(given, "__next__") else given)
    except ValueError:
        raise InputError(f"{name}: copies differ in how many estimands they have; each must have the same.") from None
    if found.dtype.kind in "iuf" or (
        found.dtype.kind == "O" and not any(isinstance(x, str | bool) for x in found.flat)
    ):
        try:
            return found.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
    raise InputError(f"{name} must hold numbers only, one (or one row) a copy, and none missing.")


def _pair(estimates: Any, variances: Any) -> tuple[Array, Array]:
    """Estimates and variances, checked: m numbers each, or m rows of k."""
    q, u = _numbers(estimates, "estimates"), _numbers(variances, "variances")
    m = len(q) if q.ndim else 1
    if m < 2:
        raise InputError(
            f"At least two copies are needed, and there {'is' if m else 'are'} {m}: "
            "the variance between copies cannot be known from fewer."
        )
    if q.ndim > 2 or (q.ndim == 2 and not q.shape[1]):
        raise InputError("estimates must be m numbers, or m rows with one number an estimand.")
    if u.ndim == q.ndim + 1:
        raise InputError("variances has one dimension more than estimates: of covariance matrices, give the diagonals.")
    if q.shape != u.shape:
        raise InputError(
            f"estimates and variances must have the same shape, one variance an estimate: they are "
            f"{_shape(q)} and {_shape(u)}."
        )
    problems = [
        f"{name}: missing or not finite in {_copies(~np.isfinite(x))}; every copy must give a number."
        for name, x in (("estimates", q), ("variances", u))
        if not np.isfinite(x).all()
    ]
    if (u < 0).any():
        problems.append(f"variances: negative in {_copies(u < 0)}; a variance is a standard error squared.")
    raise_all(problems)
    return q, u


def _shape(x: Array) -> str:
    return f"{x.size} number{'s' * (x.size != 1)}" if x.ndim < 2 else " by ".join(str(n) for n in x.shape)


def _copies(bad: np.ndarray[Any, np.dtype[np.bool_]]) -> str:
    """Which copies, counted from 1."""
    at = [str(i + 1) for i in np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))]
    return f"{'copy' if len(at) == 1 else 'copies'} {', '.join(at[:8])}{', ...' if len(at) > 8 else ''}"
