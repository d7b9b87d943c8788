"""Values that keep rules, for methods that draw: which were broken, and values of the file that break none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import F64, Bools, Column, Records
from confide.frames.distinct import Distinct
from confide.protect.shared.rules import Held


def broken(rules: Sequence[Held], beside: Records, made: Column) -> Bools:
    """Records whose value breaks a rule, given the variables beside it, shape (n,)."""
    columns = {**beside, made.name: made}
    return np.asarray(~np.logical_and.reduce([r.holds(columns) for r in rules]))


def from_file(rules: Sequence[Held], beside: Records, pool: Column, now: NDArray[Any], u: F64) -> NDArray[Any]:
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
        here = {**beside.take(np.full(len(pool), first)), pool.name: pool}
        keeps = np.sum([r.holds(here) for r in rules], axis=0)
        good = pool.values[keeps == keeps.max()]
        out[rows] = good[np.minimum((u[rows] * len(good)).astype(np.int64), len(good) - 1)]
    return out
