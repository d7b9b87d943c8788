"""Normal noise around a number, on the scale of the values or of their logarithms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr

from confide.core.errors import InputError
from confide.frames.columns import F64, Bools, Records
from confide.protect.likelihoods.spread import LOG_2PI
from confide.protect.seam.likelihood import Columns, Likelihood, Scale

APART = 800.0
"""Logarithms are moved so far that positive and negative numbers stay apart."""


def as_they_are(y: F64) -> F64:
    """The scale of the values themselves."""
    return y


def logs(y: F64) -> F64:
    """The scale of logarithms: rising over negative and positive numbers, with 0 far from both.

    >>> import numpy as np
    >>> np.diff(logs(np.array([-np.e, -1.0, 1.0, np.e]))).round(9).tolist()
    [1.0, 1600.0, 1.0]
    """
    return np.asarray(np.sign(y) * (np.log(np.maximum(np.abs(y), 1e-300)) + APART))


@dataclass(frozen=True, eq=False)
class Normal(Likelihood):
    r"""Normal noise around the true value, seen through rounding, bounds and later coarsening.

    .. math:: \Pr(z \mid y) = \frac{\Phi((h_z - y)/s) - \Phi((l_z - y)/s)}{\mathrm{allowed}(y)}

    where [l_z, h_z] are the values that become z and allowed(y) is the same area over all values that may be
    drawn; for a continuum (l_z = h_z) the truncated density. The spread s may grow with the value,
    :math:`s^2 = \mathrm{sd}^2 + (\mathrm{slope}\; y)^2`.

    `low`, `high`, `inside`: shape (r,), the cell of each released value, and whether it is a noisy one. `values` gives
    true values as they are, and which of them are noisy; `log_allowed(y)` the log of allowed(y).

    `transform` gives the scale on which the noise is normal: values as they are, or `logs`, for noise that multiplies.
    Then y, low and high in the formula are logarithms; `of_logs` takes cells as they are and turns them.
    """

    low: F64
    high: F64
    inside: Bools
    sd: float
    values: Callable[[Records], tuple[F64, Bools]]
    log_allowed: Callable[[F64], F64]
    slope: float = 0.0
    transform: Callable[[F64], F64] = as_they_are

    integrates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.slope and self.transform is not as_they_are:
            raise InputError("Normal: noise on another scale has one spread there; leave slope out.")

    @classmethod
    def of_logs(
        cls, low: F64, high: F64, inside: Bools, sd: float, values: Callable[[Records], tuple[F64, Bools]],
        log_allowed: Callable[[F64], F64],
    ) -> Normal:  # fmt: skip
        """Noise on logarithms, with cells, true values and `log_allowed` of values as they are."""
        return cls(logs(low), logs(high), inside, sd, values, log_allowed, transform=logs)

    def on(self, y: F64) -> F64:
        return self.transform(y)

    def sd_at(self, y: F64) -> F64:
        """The spread around each value."""
        return spread_at(self.sd, self.slope, y)

    @property
    def scale(self) -> Scale:
        if self.slope == 0:
            return Scale(self.transform, self.sd)
        if self.sd == 0:
            return Scale(logs, self.slope)
        return Scale(lambda y: np.arcsinh(self.slope * y / self.sd), self.slope)

    def merging(self, lowest: float) -> Callable[[F64], F64]:
        """Sixteenths of the standard deviation, which the noise cannot tell apart."""
        if self.slope == 0 and self.transform is as_they_are:
            return lambda y: (y - lowest) / (self.sd / 16)
        return lambda y: self.in_steps(y, 16)

    def wrong_scale(self, y: F64, t: Columns) -> str:
        if np.allclose(t["y"][t["inside"]], self.on(y[t["inside"]]), rtol=1e-9, atol=1e-12):
            return ""
        stated = "values as they are" if self.transform is as_they_are else "logarithms"
        return (
            f"the likelihood Normal is stated for noise on the scale of {stated}, but values(records) are on another "
            "one, where beliefs about the true value cannot be compared with them. Let values(records) give the column "
            "as it is, and say on which scale the noise is normal: Normal.of_logs(low, high, ...) for noise that "
            "multiplies"
        )

    @property
    def record(self) -> Columns:
        return {"low": self.low, "high": self.high, "inside": self.inside}

    def target(self, records: Records) -> Columns:
        y, inside = self.values(records)
        log_allowed = np.zeros(len(y))
        log_allowed[inside] = self.log_allowed(y[inside])
        return {"y": self.on(y), "log_allowed": log_allowed, "inside": inside}

    def log(self, t: Columns, z: Columns) -> F64:
        inside = np.asarray(t["inside"] & z["inside"])
        out = np.where(t["inside"] | z["inside"], -np.inf, 0.0)
        y, low, high = t["y"][inside], z["low"][inside], z["high"][inside]
        wider = t["wider"][inside] if "wider" in t else 1.0
        out[inside] = log_cell(low, high, y, self.sd_at(y) * wider) - t["log_allowed"][inside]
        return out

    def blurred(self, t: Columns, by: F64) -> Columns:
        """True values spread out normally, each by so many standard deviations."""
        return {**t, "wider": np.hypot(1.0, by)}

    def altered(self, t: Columns) -> Bools:
        return np.asarray(t["inside"])


def spread_at(sd: float, slope: float, y: F64) -> F64:
    """Standard deviation of an error with a constant part and one in proportion to the value."""
    return np.full(np.shape(y), sd) if slope == 0 else np.hypot(sd, slope * y)


def log_cell(low: F64, high: F64, mean: F64, sd: float | F64) -> F64:
    """Log of the normal area between low and high; log density where they coincide. Stable in the tails.

    A narrow cell (h < 0.02 sd) at distance x is density times width times sinh(u)/u, u = x h / 2, less half the mean
    square of the offset inside it: the exponential series of the integrand, right for any x.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        h = (high - low) / sd
        a, b = (low - mean) / sd, (high - mean) / sd
        flip = a + b > 0
        lower, upper = log_ndtr(np.where(flip, -b, a)), log_ndtr(np.where(flip, -a, b))
        wide = upper + np.log1p(-np.exp(lower - upper))
        x = (0.5 * (low + high) - mean) / sd
        density = -0.5 * x * x - 0.5 * LOG_2PI
        u = np.abs(0.5 * x * h)
        tail, small = np.exp(-2 * u), u < 1e-2
        bend = np.where(small, u**2 / 6 - u**4 / 180, u + np.log1p(-tail) - np.log(2 * u))
        far = 0.25 * h * h * (1 - 2 / u * ((1 + tail) / (1 - tail) - 1 / u))
        spread = np.where(small, h * h / 12 + h * h * u * u / 90, far)
        narrow = density + np.log(h) + bend - 0.5 * spread
        return np.where(h == 0, density - np.log(sd), np.where(h < 0.02, narrow, wide))
