"""What a released value tells someone who knows the true one.

Evidence has a certain part (a label that released and true value always share) and an uncertain part (a
likelihood). Three likelihoods have compiled kernels: `Match`, `Table` and `Normal`; any other class with the
same methods works too and is evaluated in chunks.

Notation
--------
t : what is known of the target, as columns of arrays (`Likelihood.target` makes it from true values)
z : the released record's side, as columns of arrays (`Likelihood.record`)
r : number of released records
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from confide.frames.columns import F64, I64, Bools, Records

Columns = Mapping[str, NDArray[Any]]

LOG_2PI = float(np.log(2 * np.pi))


def take(columns: Columns, rows: Any) -> Columns:
    """The same columns for the rows given."""
    return {k: v[rows] for k, v in columns.items()}


@dataclass(frozen=True, eq=False)
class Labels:
    """The certain part: label(z) = label(y) always.

    `of(records)` gives each record of true values its code, -1 where the release has no such label; `released`
    holds the codes of the r released rows; codes lie in 0..size-1.
    """

    of: Callable[[Records], I64]
    released: I64
    size: int


@runtime_checkable
class Likelihood(Protocol):
    """The uncertain part: log Pr(z given y), of aligned rows.

    `record` holds every record-side number that `log` reads, so that a block of rows can be shipped anywhere.
    `altered` says for which true values the outcome is uncertain at all; elsewhere `log` is 0.
    """

    @property
    def record(self) -> Columns: ...

    def target(self, records: Records) -> Columns: ...

    def log(self, t: Columns, z: Columns) -> F64: ...

    def altered(self, t: Columns) -> Bools: ...


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one mechanism's variables say about a pair (target, released row).

    `sense` is "z|y" for the likelihood of the released value given the true one; "y|z" for a model of the true
    value given the released one, already divided by its average: that one stays out of A.
    """

    about: tuple[str, ...]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    likelihood: Likelihood | None = None
    sense: str = "z|y"


@dataclass(frozen=True, eq=False)
class Match:
    """Pr(z given y) depends on whether y equals z, and on the record: swapping and its relatives.

    `code`, `log_same`, `log_diff`: shape (r,). `codes(records)` gives true values their code (-1: not released).
    """

    code: I64
    log_same: F64
    log_diff: F64
    codes: Callable[[Records], I64]

    @property
    def record(self) -> Columns:
        return {"code": self.code, "same": self.log_same, "diff": self.log_diff}

    def target(self, records: Records) -> Columns:
        return {"code": self.codes(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        return np.where(t["code"] == z["code"], z["same"], z["diff"])

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["code"]), dtype=bool)


@dataclass(frozen=True, eq=False)
class Table:
    """Pr(z given y) from a matrix: `log_p[row(y), column(z)]`; a true value with no row has probability 0."""

    column: I64
    log_p: F64
    rows: Callable[[Records], I64]

    @property
    def record(self) -> Columns:
        return {"column": self.column}

    def target(self, records: Records) -> Columns:
        return {"row": self.rows(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        found = self.log_p[np.maximum(t["row"], 0), z["column"]]
        return np.where(t["row"] >= 0, found, -np.inf)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["row"]), dtype=bool)


@dataclass(frozen=True, eq=False)
class Normal:
    r"""Normal noise around the true value, seen through rounding, bounds and later coarsening.

    .. math:: \Pr(z \mid y) = \frac{\Phi((h_z - y)/s) - \Phi((l_z - y)/s)}{\mathrm{allowed}(y)}

    where [l_z, h_z] are the values that become z and allowed(y) is the same area over all values that may be
    drawn; for a continuum (l_z = h_z) the truncated density.

    `low`, `high`, `inside`: shape (r,), the cell of each released value, and whether it is a noisy one.
    `target(records)` must give `y`, `log_allowed` and `inside`.
    """

    low: F64
    high: F64
    inside: Bools
    sd: float
    values: Callable[[Records], tuple[F64, Bools]]
    log_allowed: Callable[[F64], F64]

    @property
    def record(self) -> Columns:
        return {"low": self.low, "high": self.high, "inside": self.inside}

    def target(self, records: Records) -> Columns:
        y, inside = self.values(records)
        log_allowed = np.zeros(len(y))
        log_allowed[inside] = self.log_allowed(y[inside])
        return {"y": y, "log_allowed": log_allowed, "inside": inside}

    def log(self, t: Columns, z: Columns) -> F64:
        inside = np.asarray(t["inside"] & z["inside"])
        out = np.where(t["inside"] | z["inside"], -np.inf, 0.0)
        y, low, high = t["y"][inside], z["low"][inside], z["high"][inside]
        out[inside] = log_cell(low, high, y, self.sd) - t["log_allowed"][inside]
        return out

    def altered(self, t: Columns) -> Bools:
        return np.asarray(t["inside"])


def log_cell(low: F64, high: F64, mean: F64, sd: float) -> F64:
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
