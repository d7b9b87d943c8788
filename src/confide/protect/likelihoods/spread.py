"""A true value around the released one, with an error of unknown size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood

LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Spread(Likelihood):
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

    integrates: ClassVar[bool] = True
    scale: ClassVar[None] = None

    @classmethod
    def sized(
        cls, z: F64, there: Bools, variance: F64, values: Callable[[Records], F64], gap: float,
        weight: F64 | None = None,
    ) -> Spread:  # fmt: skip
        """Around the target's own value, one known variance per record; `weight` stands before each density."""
        p = np.ones(len(z)) if weight is None else weight
        most, rule = (float(variance.max(initial=0.0)), 0.0), np.arange(len(z))
        known = cls(np.where(there, z, 0.0), there, rule, variance[:, None], p[:, None], most, values, None)
        return replace(known, gap=gap)

    @property
    def record(self) -> Columns:
        return {"z": self.z, "there": self.there, "rule": self.rule}

    def target(self, records: Records) -> Columns:
        x = self.values(records)
        none = np.isnan(x)  # what the target then is, labels say
        absent, some = np.zeros(len(x)), np.flatnonzero(~none)
        if self.log_absent is not None and len(some):
            absent[some] = self.log_absent(records.take(some))
        return {"x": np.where(none, 0.0, x), "log_absent": absent}

    def log(self, t: Columns, z: Columns) -> F64:
        v, p = self.variance[z["rule"]], self.p[z["rule"]]
        q = (t["x"] - z["z"]) ** 2
        top = v.max(axis=1)
        with np.errstate(invalid="ignore", over="ignore"):
            rest = (p / np.sqrt(v) * np.exp(-0.5 * q[:, None] * (1 / v - 1 / top[:, None]))).sum(axis=1)
            found = np.log(rest) - 0.5 * q / top - 0.5 * LOG_2PI - t["log_absent"]
        return np.where(z["there"], found, self.gap)

    def log_every(self, t: Columns, z: Columns) -> F64:
        if self.uncertain:
            return super().log_every(t, z)
        v, p = self.variance[z["rule"], 0], self.p[z["rule"], 0]
        with np.errstate(invalid="ignore", over="ignore"):
            found = np.log(p / np.sqrt(v)) - 0.5 * (t["x"][:, None] - z["z"]) ** 2 / v - 0.5 * LOG_2PI
            return np.where(z["there"], found - t["log_absent"][:, None], self.gap)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["x"]), dtype=bool)

    def mean_variance(self) -> tuple[float, float]:
        """The parts a and b of the error's mean variance a + b z^2."""
        mean, z = (self.p * self.variance).sum(axis=1)[self.rule], self.z**2
        there = self.there & (self.p.sum(axis=1)[self.rule] > 0)
        if not there.any():
            return 1.0, 0.0
        low, high = (int(np.flatnonzero(there)[pick(z[there])]) for pick in (np.argmin, np.argmax))
        slope = (mean[high] - mean[low]) / (z[high] - z[low]) if z[high] > z[low] else 0.0
        return float(max(mean[low] - slope * z[low], 0.0)), float(max(slope, 0.0))

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

    def log_draws(self, i: int, t: Columns, z: Columns, n: int, rng: np.random.Generator) -> F64:  # noqa: ARG002
        """The log ratio at n drawn variances instead of the nodes, shape (n, rows): the same draws for every row."""
        assert self.draw is not None
        noise, bias = self.draw(n, rng)
        v = noise[:, None] + bias[:, None] * z["z"] ** 2
        found = -0.5 * (t["x"] - z["z"]) ** 2 / v - 0.5 * np.log(2 * np.pi * v) - t["log_absent"]
        return np.where(z["there"], found, 0.0)
