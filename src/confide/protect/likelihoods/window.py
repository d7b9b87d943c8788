"""Likelihoods of ranks: a released value holds ranks near those of the value it was made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood, Scale

Shares = Callable[[I64, I64, I64, I64], F64]
"""Chance that a record whose value holds ranks q_lo..q_hi releases one that holds p_lo..p_hi."""
Ranks = tuple[I64, I64, Bools]
"""The ranks lo..hi of each value, and whether it is one that may have been moved."""


@runtime_checkable
class PairShares(Protocol):
    """Such chances that also come for pairs, in a loop of their own."""

    def log_pairs(self, t: Ranks, who: I64, z: Ranks, which: I64) -> F64:
        """log of the chance that t at `who` releases z at `which`: 0 where neither was moved, -inf where one was."""


@dataclass(frozen=True, eq=False)
class Window(Likelihood):
    r"""Pr(z given y) by ranks: the share of the moves from y that lead to z.

    `low`, `high`, `inside`: shape (r,), the ranks that each released value stands for, and whether it is one that may
    have been moved. `ranks(y)` gives ranks and `inside` of true values of the `variable`. There are `n` ranks, and a
    value moves `reach` of them at most. `tells`: records whose value says something; None for all.
    """

    low: I64
    high: I64
    inside: Bools
    share: Shares
    variable: str
    ranks: Callable[[F64], tuple[I64, I64, Bools]]
    n: int
    reach: int
    tells: Bools | None = None

    runs: ClassVar[bool] = True

    @property
    def record(self) -> Columns:
        own = {"low": self.low, "high": self.high, "inside": self.inside}
        return own if self.tells is None else {**own, "tells": self.tells}

    def target(self, records: Records) -> Columns:
        low, high, inside = self.ranks(records[self.variable].values)
        return {"low": low, "high": high, "inside": inside}

    def log(self, t: Columns, z: Columns) -> F64:
        inside = np.asarray(t["inside"] & z["inside"])
        out = np.where(t["inside"] | z["inside"], -np.inf, 0.0)
        with np.errstate(divide="ignore"):
            out[inside] = np.log(self.share(t["low"][inside], t["high"][inside], z["low"][inside], z["high"][inside]))
        return np.where(z["tells"], out, 0.0) if "tells" in z else out

    def log_pairs(self, t: Columns, who: I64, z: Columns, which: I64) -> F64:
        if not isinstance(self.share, PairShares):
            return super().log_pairs(t, who, z, which)
        out = self.share.log_pairs(_ranks(t), who, _ranks(z), which)
        return np.where(z["tells"][which], out, 0.0) if "tells" in z else out

    def altered(self, t: Columns) -> Bools:
        return np.asarray(t["inside"])

    def run(self, first: Columns, last: Columns) -> Columns:
        """All ranks from those of the first value to those of the last: shares are averages over them."""
        return {"low": first["low"], "high": last["high"], "inside": first["inside"] & last["inside"]}

    def blurred(self, t: Columns, by: F64) -> Columns:
        """True values spread out over neighbouring ranks, each by so many times the reach."""
        wider = np.round(by * self.reach).astype(np.int64)
        return {**t, "low": np.maximum(t["low"] - wider, 0), "high": np.minimum(t["high"] + wider, self.n - 1)}

    @property
    def scale(self) -> Scale:
        """Ranks, with the standard deviation of a uniform move."""
        return Scale(self._middle, max(self.reach, 1) / np.sqrt(3))

    def _middle(self, y: F64) -> F64:
        low, high, _ = self.ranks(y)
        return np.asarray(0.5 * (low + high))

    def merging(self, lowest: float) -> Callable[[F64], F64] | None:  # noqa: ARG002 - ranks start at 0
        """Sixteenths of the standard deviation, where that is more than a rank or two."""
        return (lambda y: self.in_steps(y, 16)) if self.reach >= 64 else None

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:
        """As far as a value may have moved; with `blur` further, by so many times the reach."""
        if "tells" in z:
            return np.zeros(len(z["low"]), dtype=np.int64), np.full(len(z["low"]), len(t["low"]))
        more = int(np.ceil(blur * self.reach))
        first = np.searchsorted(t["high"], z["low"] - self.reach - more, side="left")
        last = np.searchsorted(t["low"], z["high"] + self.reach + more, side="right")
        return first, np.maximum(last, first)


def _ranks(x: Columns) -> Ranks:
    return x["low"], x["high"], x["inside"]


@dataclass(frozen=True, eq=False)
class Near(Likelihood):
    """The same chance for all records whose ranks come within `reach` of the target's, none for others.

    `low`, `high`: shape (r,); `there` marks records that have a value; `gap` is the log for others. `ranks(records)` as
    above. `chance`: what is said of records inside.
    """

    low: F64
    high: F64
    there: Bools
    ranks: Callable[[Records], tuple[F64, F64]]
    reach: float
    chance: float
    gap: float = 0.0

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"low": self.low, "high": self.high, "there": self.there}

    def target(self, records: Records) -> Columns:
        low, high = self.ranks(records)
        return {"low": low, "high": high}

    def log(self, t: Columns, z: Columns) -> F64:
        return self._within(np.maximum(z["low"] - t["high"], t["low"] - z["high"]), z)

    def log_every(self, t: Columns, z: Columns) -> F64:
        low, high = t["low"][:, None], t["high"][:, None]
        return self._within(np.maximum(z["low"] - high, low - z["high"]), z)

    def _within(self, gap: F64, z: Columns) -> F64:
        return np.where(z["there"], np.where(gap <= self.reach, np.log(self.chance), -np.inf), self.gap)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["low"]), dtype=bool)
