r"""Exchanged numbers known together: a value is believed in beside others because values near it are seen there.

Of two swapped numbers nearly every combination is its owner's alone, so that the file's own combinations say little of
how common one is among others. So the belief in a combination is, in part, that of its neighbourhood,

.. math:: \kappa(z \mid y_g) = \frac{p_z\, e^{-(s_z - s_g)^2 / 2 h^2}}{\sum_x p_x\, e^{-(s_x - s_g)^2 / 2 h^2}},

the chance that somebody near combination g has the very value z, with s normal scores and :math:`p_z` the share of the
file that has z. The width h is the one under which rows of the file are likeliest when each is left out in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.held_out import U64
from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood, Scale

WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Widths that are tried, on the scale of normal scores."""
TRIED, AGAINST = 400, 4000
"""Rows that are left out in their turn, and rows that each is compared with."""
FAR = 6.0
"""Values farther than this many widths do not count as near."""


@dataclass(frozen=True, eq=False)
class NearValues(Likelihood):
    """`values`: the file's distinct ones, sorted; `middle`, `share`: their scores and shares, shape (V,); `width`: h;
    `one`: the share of one row."""

    values: F64
    middle: F64
    share: F64
    width: float
    one: float

    @property
    def record(self) -> Columns:
        return {}

    def target(self, records: Records) -> Columns:
        (column,) = records.values()
        return self.around(np.interp(column.values, self.values, self.middle))

    def around(self, s: F64) -> Columns:
        """Scores of combinations, with the log of what the values near each add up to."""
        at, of = np.unique(np.round(s * 16 / self.width), return_inverse=True)
        first = np.searchsorted(self.middle, at * self.width / 16 - FAR * self.width)
        last = np.searchsorted(self.middle, at * self.width / 16 + FAR * self.width, side="right")
        out = np.full(len(at), -np.inf)
        for i, (a, b) in enumerate(zip(first, last, strict=True)):
            if b > a:
                x = (self.middle[a:b] - at[i] * self.width / 16) / self.width
                out[i] = logsumexp(-0.5 * x * x, b=self.share[a:b])
        return {"s": at[of] * self.width / 16, "log_norm": out[of]}

    def seen(self, z: F64, others: bool) -> Columns:
        """Released values; with `others`, only as far as somebody else has the same."""
        place = np.minimum(np.searchsorted(self.values, z), len(self.values) - 1)
        there = self.values[place] == z
        return {
            "s": self.middle[place],
            "log_share": np.where(there, np.log(np.maximum(self.share[place] - self.one * others, 1e-300)), -np.inf),
        }

    def log(self, t: Columns, z: Columns) -> F64:
        x = (z["s"] - t["s"]) / self.width
        return np.asarray(np.where(np.abs(x) <= FAR, -0.5 * x * x, -np.inf) + z["log_share"] - t["log_norm"])

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["s"]), dtype=bool)

    @property
    def scale(self) -> Scale:
        return Scale(lambda y: np.interp(y, self.values, self.middle), self.width)

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:  # noqa: ARG002 - has its own width
        reach = FAR * self.width
        return np.searchsorted(t["s"], z["s"] - reach), np.searchsorted(t["s"], z["s"] + reach, side="right")


@dataclass(frozen=True, eq=False)
class SameValue(Likelihood):
    """1 for the very value, 0 for any other."""

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {}

    def target(self, records: Records) -> Columns:
        (column,) = records.values()
        return {"y": column.values}

    def log(self, t: Columns, z: Columns) -> F64:
        return np.where(t["y"] == z["y"], 0.0, -np.inf)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["y"]), dtype=bool)

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:  # noqa: ARG002 - never blurred
        return np.searchsorted(t["y"], z["y"]), np.searchsorted(t["y"], z["y"], side="right")


def best_width(scores: F64, beside: Sequence[F64], digest: U64) -> float:
    """The width under which rows, each left out in its turn, are likeliest given their other numbers.

    `scores`: (d, n) of the exchanged numbers; `beside`: noisy ones, in standard deviations of their noise.
    `digest`: of what rows hold, by which some are picked.
    """
    n = scores.shape[1]
    some = _spread(np.argsort(digest, kind="stable"), AGAINST)
    out = _spread(some, TRIED)
    apart = np.sum([(s[out][:, None] - s[some]) ** 2 for s in scores], axis=0)
    # Rows with the very same values are told apart elsewhere; noisy numbers are both as noisy as what is released.
    other = np.where(apart == 0, -np.inf, 0.0)
    for x in beside:
        other -= 0.25 * (x[out][:, None] - x[some]) ** 2
    # A little of everybody, so that no row by itself decides.
    whole = logsumexp(other - apart / 8, axis=1) - 7.0
    found = []
    for h in WIDTHS:
        near = logsumexp(other - apart / (2 * h * h), axis=1) - len(scores) * np.log(h)
        found.append(np.logaddexp(near, whole).mean())
    return float(WIDTHS[int(np.argmax(found))] * (n / len(some)) ** (-1 / (4 + len(scores) + len(beside))))


def _spread(rows: I64, most: int) -> I64:
    """At most so many of the rows, evenly spread: rows that hold the same, which lie together, keep their share."""
    many = min(most, len(rows))
    return np.asarray(rows[np.arange(many) * len(rows) // many])
