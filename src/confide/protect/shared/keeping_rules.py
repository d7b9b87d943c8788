"""Values that keep rules, for methods that draw: which were broken, and values of the file that break none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, I64, Bools, Column, Records
from confide.frames.distinct import Distinct
from confide.protect.shared.rules import Held
from confide.protect.shared.rules_ahead import Ahead


@dataclass(frozen=True, eq=False)
class Kept:
    """What draws of one variable have to keep: `rules` of it and of variables drawn before, and rules `ahead`, which
    variables to come must still be able to keep; None where there are none."""

    rules: tuple[Held, ...]
    ahead: Ahead | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that they speak of, but for those to come."""
        later = () if self.ahead is None else tuple(self.ahead.ways)
        every = (*self.rules, *(() if self.ahead is None else self.ahead.rules))
        return tuple(dict.fromkeys(v for r in every for v in r.names if v not in later))

    def many(self, columns: Records) -> I64:
        """How many of them records keep, shape (n,); all rules ahead together count as one."""
        found = np.sum([r.holds(columns) for r in self.rules], axis=0, initial=0, dtype=np.int64)
        found = np.broadcast_to(found, (columns.n,))
        return found if self.ahead is None else found + self.ahead.open(columns.select(self.ahead.early(columns)))

    @property
    def most(self) -> int:
        """How many there are."""
        return len(self.rules) + (self.ahead is not None)


def broken(kept: Kept, beside: Records, made: Column) -> Bools:
    """Records whose value breaks a rule, given the variables beside it, shape (n,)."""
    return np.asarray(kept.many(beside.replaced([made])) < kept.most)


def from_file(kept: Kept, beside: Records, pool: Column, now: NDArray[Any], u: F64) -> NDArray[Any]:
    """For each record a value of the file that breaks no rule beside its other values, each as likely as it is
    frequent; where every value breaks one, of those that break the fewest rules; `now` where the file has none.

    `pool`: the values of the file; `u`: one uniform number per record.
    """
    out = now.copy()
    if not len(pool):
        return out
    found = Distinct.rows([c.values for c in beside.values()], beside.n)
    for k, first in enumerate(found.first):
        rows = np.flatnonzero(found.of == k)
        keeps = kept.many(beside.take(np.full(len(pool), first)).replaced([pool]))
        good = pool.values[keeps == keeps.max()]
        out[rows] = good[np.minimum((u[rows] * len(good)).astype(np.int64), len(good) - 1)]
    return out
