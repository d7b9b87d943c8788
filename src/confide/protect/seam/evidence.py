"""What a released value tells someone who knows the true one.

Evidence has a certain part (a label that released and true value always share) and an uncertain part (a
likelihood). Four likelihoods have compiled kernels: `Match`, `Table`, `Normal` and `Spread`; any other class with
the same methods works too and is evaluated in chunks. `Silent` is the likelihood of what was drawn anew.

Notation
--------
t : what is known of the target, as columns of arrays (`Likelihood.target` makes it from true values)
z : the released record's side, as columns of arrays (`Likelihood.record`)
r : number of released records
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
    value given the released one, already divided by its average: that one stays out of A. "pair" is for a method's
    own reading of a pair, which needs no belief about what is not known and brings its own part A: `log_others`, the
    log of one factor a record, shape (r,).
    """

    about: tuple[str, ...]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    likelihood: Likelihood | None = None
    sense: str = "z|y"
    log_others: F64 | None = None


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
    drawn; for a continuum (l_z = h_z) the truncated density. The spread s may grow with the value,
    :math:`s^2 = \mathrm{sd}^2 + (\mathrm{slope}\; y)^2`.

    `low`, `high`, `inside`: shape (r,), the cell of each released value, and whether it is a noisy one.
    `target(records)` must give `y`, `log_allowed` and `inside`.
    """

    low: F64
    high: F64
    inside: Bools
    sd: float
    values: Callable[[Records], tuple[F64, Bools]]
    log_allowed: Callable[[F64], F64]
    slope: float = 0.0

    def sd_at(self, y: F64) -> F64:
        """The spread around each value."""
        return spread_at(self.sd, self.slope, y)

    def in_steps(self, y: F64, per_sd: float) -> F64:
        """Values on a scale on which every spread is so many units."""
        if self.slope == 0:
            return np.asarray(y * per_sd / self.sd)
        if self.sd == 0:  # logarithms, moved so far that positive and negative numbers stay apart
            return np.asarray(np.sign(y) * (np.log(np.maximum(np.abs(y), 1e-300)) + 800) * per_sd / self.slope)
        return np.asarray(np.arcsinh(self.slope * y / self.sd) * per_sd / self.slope)

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
        out[inside] = log_cell(low, high, y, self.sd_at(y)) - t["log_allowed"][inside]
        return out

    def altered(self, t: Columns) -> Bools:
        return np.asarray(t["inside"])


@dataclass(frozen=True, eq=False)
class Spread:
    r"""The true value is normal around the released one, with a variance that is not known.

    .. math:: \frac{f(x \mid z_j)}{f(x \mid \mathrm{absent})}, \qquad
        f(x \mid z_j) = \sum_k p_{jk}\, N(x;\ z_j, v_{jk})

    A ratio, so that it needs no part A and stands beside the prior weight of absence. Where the record's value is
    missing the log ratio is `gap`: 0, where that says nothing, or minus infinity, where it rules the record out.

    `z`, `there`, `rule`: shape (r,), the released value, whether there is one, and the row of `variance` and `p`,
    shapes (m, K), with its nodes. `most`: bounds (a, b) with v_jk <= a + b z_j^2. `values(records)` gives x,
    `log_absent(x)` the log of the denominator, None where it is not asked for. `draw(n, rng)` draws noise and bias
    variances, for sums by Monte Carlo; None where they are known.
    """

    z: F64
    there: Bools
    rule: I64
    variance: F64
    p: F64
    most: tuple[float, float]
    values: Callable[[Records], F64]
    log_absent: Callable[[Records], F64] | None
    draw: Callable[[int, np.random.Generator], tuple[F64, F64]] | None = None
    gap: float = 0.0

    @classmethod
    def sized(
        cls, z: F64, there: Bools, variance: F64, values: Callable[[Records], F64], gap: float,
        weight: F64 | None = None,
    ) -> Spread:  # fmt: skip
        """Around the target's own value, one known variance a record; `weight` stands before each density."""
        p = np.ones(len(z)) if weight is None else weight
        most, rule = (float(variance.max(initial=0.0)), 0.0), np.arange(len(z))
        known = cls(np.where(there, z, 0.0), there, rule, variance[:, None], p[:, None], most, values, None)
        return replace(known, gap=gap)

    @property
    def record(self) -> Columns:
        return {"z": self.z, "there": self.there, "rule": self.rule}

    def target(self, records: Records) -> Columns:
        x = self.values(records)
        return {"x": x, "log_absent": np.zeros(len(x)) if self.log_absent is None else self.log_absent(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        v, p = self.variance[z["rule"]], self.p[z["rule"]]
        q = (t["x"] - z["z"]) ** 2
        top = v.max(axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            rest = (p / np.sqrt(v) * np.exp(-0.5 * q[:, None] * (1 / v - 1 / top[:, None]))).sum(axis=1)
            found = np.log(rest) - 0.5 * q / top - 0.5 * LOG_2PI - t["log_absent"]
        return np.where(z["there"], found, self.gap)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["x"]), dtype=bool)

    def vagueness(self) -> float:
        """How much of a variable's own spread its error covers."""
        z = self.z[self.there]
        if not len(z) or np.std(z) == 0:
            return float(np.inf)
        return float(np.sqrt(self.most[0] + self.most[1] * np.mean(z**2)) / np.std(z))

    def among_present(self) -> Spread:
        """The same for a target known to be released, to whom absence does not matter."""
        return replace(self, log_absent=None) if bool(self.there.all()) else self

    @property
    def uncertain(self) -> bool:
        """Whether any variance is not known, so that there is something to draw."""
        return bool(self.p.shape[1] > 1)

    def log_draws(self, t: Columns, z: Columns, n: int, rng: np.random.Generator) -> F64:
        """The log ratio at n drawn variances instead of the nodes, shape (n, rows): the same draws for every row."""
        assert self.draw is not None
        noise, bias = self.draw(n, rng)
        v = noise[:, None] + bias[:, None] * z["z"] ** 2
        found = -0.5 * (t["x"] - z["z"]) ** 2 / v - 0.5 * np.log(2 * np.pi * v) - t["log_absent"]
        return np.where(z["there"], found, 0.0)


@dataclass(frozen=True, eq=False)
class Silent:
    """The released value says nothing about the true one: it was drawn anew, without it.

    Such a variable still counts where it is known, for what it says of others that are not. There are `n` records; the
    `variable` is named by who asks about one.
    """

    n: int
    variable: str = ""

    @property
    def record(self) -> Columns:
        return {"none": np.zeros(self.n, dtype=np.int64)}

    def target(self, records: Records) -> Columns:
        return {"y": records[self.variable].values}

    def log(self, t: Columns, z: Columns) -> F64:  # noqa: ARG002 - nothing depends on the record
        return np.zeros(len(t["y"]))

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["y"]), dtype=bool)


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
