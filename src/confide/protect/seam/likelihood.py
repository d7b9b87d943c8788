"""The uncertain part of evidence: how probable a released value is, given the true one.

A likelihood extends `Likelihood` and states five things: `record`, `target`, `log`, `altered` and `scale`. Everything
else that the engine may ask has a default here.

Notation
--------
t : what is known of the target, as columns of arrays (`Likelihood.target` makes it from true values)
z : the released record's side, as columns of arrays (`Likelihood.record`)
r : number of released records
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, I64, Bools, Records

Columns = Mapping[str, NDArray[Any]]
PAIRS = 500_000
"""Pairs whose likelihood is computed together."""


def take(columns: Columns, rows: Any) -> Columns:
    """The same columns for the rows given."""
    return {k: v[rows] for k, v in columns.items()}


@dataclass(frozen=True, eq=False)
class Scale:
    """Where a method's noise is the same everywhere: `of(y)`, a rising function of values, on which it has one `sd`."""

    of: Callable[[F64], F64]
    sd: float


class Likelihood(ABC):
    """log Pr(z given y), of aligned rows.

    `record` holds every record-side number that `log` reads, so that a block of rows can be shipped anywhere; a column
    "inside" marks records that the step may have changed (all, where there is none). `altered` says for which true
    values the outcome is uncertain at all; elsewhere `log` is 0.

    `scale` says how far values can be told apart: near ones are merged when beliefs are averaged. It is None where a
    value matches or does not (categories, exchanged numbers): then whoever is the target never counts as somebody else
    with the same value; and where no belief is averaged. Nothing can guess which holds, so every likelihood states it.
    """

    integrates: ClassVar[bool] = False
    """Whether it is about numbers over which beliefs integrate, however few values they have."""
    runs: ClassVar[bool] = False
    """Whether it can speak of a run of neighbouring true values at once, through `run`."""
    jointly: ClassVar[bool] = False
    """Whether what becomes of one variable hangs on a record's values of the others, so that they go together."""
    makes_missing: ClassVar[bool] = False
    """Whether a number that is there may be released as missing; else a missing number is known to be missing."""

    @property
    @abstractmethod
    def record(self) -> Columns:
        """The released records' side, shape (r,) each."""

    @abstractmethod
    def target(self, records: Records) -> Columns:
        """The same for true values, of targets and of what is believed alike."""

    @abstractmethod
    def log(self, t: Columns, z: Columns) -> F64:
        """The log likelihood of aligned rows."""

    def log_pairs(self, t: Columns, who: I64, z: Columns, which: I64) -> F64:
        """The same of pairs: the target's side at `who` beside the record's at `which`."""
        return self.log(take(t, who), take(z, which))

    def log_every(self, t: Columns, z: Columns) -> F64:
        """The same of every pair, shape (true values, records), several values at a time."""
        n, r = len(next(iter(t.values()))), len(next(iter(z.values())))
        out, step = np.empty((n, r)), max(PAIRS // max(r, 1), 1)
        for a in range(0, n, step):
            mine = np.arange(a, min(a + step, n))
            found = self.log_pairs(t, np.repeat(mine, r), z, np.tile(np.arange(r), len(mine)))
            out[a : a + step] = found.reshape(len(mine), r)
        return out

    @abstractmethod
    def altered(self, t: Columns) -> Bools:
        """True values whose outcome is uncertain."""

    @property
    @abstractmethod
    def scale(self) -> Scale | None:
        """Where its noise is even; None where values match or do not."""

    def on(self, y: F64) -> F64:
        """The scale on which a density of released values is taken: by default their own."""
        return y

    # -- of a number -----------------------------------------------------------------------------------------

    def in_steps(self, y: F64, per_sd: float) -> F64:
        """Values on the scale on which every spread is so many units."""
        assert self.scale is not None
        return np.asarray(self.scale.of(y) * per_sd / self.scale.sd)

    def merging(self, lowest: float) -> Callable[[F64], F64] | None:  # noqa: ARG002 - a default
        """Steps, from the lowest value, inside which believed values count as one; None where each counts."""
        return None

    def run(self, first: Columns, last: Columns) -> Columns:
        """The target's side of all true values from first to last together, each as often as the file has it."""
        raise NotImplementedError(f"{type(self).__name__} speaks of one true value at a time.")

    def band(self, t: Columns, z: Columns, blur: float = 0.0) -> tuple[I64, I64]:  # noqa: ARG002 - a default
        """Which of true values in rising order can have led to each record: positions from, up to (not included).

        With `blur`, values may lie further off, by so many standard deviations.
        """
        n, r = len(next(iter(t.values()))), len(next(iter(z.values())))
        return np.zeros(r, dtype=np.int64), np.full(r, n, dtype=np.int64)

    def blurred(self, t: Columns, by: F64) -> Columns:  # noqa: ARG002 - a default
        """True values spread out over their neighbours, each by so many standard deviations."""
        return t

    def moved(self, rows: I64) -> Bools:
        """Where a released value is one that the step may have changed."""
        inside = self.record.get("inside")
        return np.ones(len(rows), dtype=bool) if inside is None else np.asarray(inside[rows])

    def wrong_scale(self, y: F64, t: Columns) -> str:  # noqa: ARG002 - a default
        """What is wrong where the target's side t has true values y on another scale than is stated; else empty."""
        return ""

    # -- of several variables --------------------------------------------------------------------------------

    def margins(self) -> Sequence[Likelihood]:
        """The likelihood of each variable by itself."""
        return [self]

    def restricted(self, which: Sequence[int]) -> Likelihood:
        """The joint likelihood of some of the variables, the others ignored."""
        if len(which) > 1:
            raise NotImplementedError(f"{type(self).__name__} has no likelihood of some of its variables.")
        return self.margins()[which[0]]

    def correlation(self) -> F64:
        """Correlation of what was done to the variables."""
        return np.eye(len(self.margins()))

    def log_allowed_jointly(self, which: Sequence[int], y: F64) -> F64 | None:  # noqa: ARG002 - a default
        """log of what may be drawn around y (d, n) for some variables, shape (n,); None where each has its own."""
        return None

    # -- of who is known to be released, and of sums by Monte Carlo ------------------------------------------

    def among_present(self) -> Likelihood:
        """The same for a target known to be released, to whom absence does not matter."""
        return self

    @property
    def uncertain(self) -> bool:
        """Whether it is an average over something that can be drawn instead."""
        return False

    def log_draws(self, i: int, t: Columns, z: Columns, n: int, rng: np.random.Generator) -> F64:
        """The i-th variable's log likelihood at n draws of what is uncertain, shape (n, rows); rows share the draws."""
        raise NotImplementedError(f"{type(self).__name__} has nothing to draw.")
