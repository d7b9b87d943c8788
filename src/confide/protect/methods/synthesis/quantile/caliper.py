"""Calipers: all records within a distance of a target's prediction are alike, and none beyond it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood

NEAR, POWER = 10, 0.75
"""An intruder's own choice of caliper leaves this power of a cell's records inside for a typical target, at least ten:
few enough to tell, and enough that calipers on two or three variables do not exclude everybody."""


@dataclass(frozen=True, eq=False)
class Caliper(Likelihood):
    """1 within a distance of the target's prediction, 0 beyond it; `gap` is the log for a missing value."""

    z: F64
    size: float
    values: Callable[[Records], F64]
    gap: float

    scale: ClassVar[None] = None

    @property
    def record(self) -> Columns:
        return {"z": self.z}

    def target(self, records: Records) -> Columns:
        return {"x": self.values(records)}

    def log(self, t: Columns, z: Columns) -> F64:
        with np.errstate(invalid="ignore"):
            found = np.where(np.abs(t["x"] - z["z"]) <= self.size, 0.0, -np.inf)
        return np.where(np.isnan(z["z"]), self.gap, found)

    def altered(self, t: Columns) -> Bools:
        return np.ones(len(t["x"]), dtype=bool)


def typical(values: F64, usable: Bools, own: F64, cell: I64, count: F64) -> float:
    """A distance that leaves some records of its own cell inside, for the median record; 0 where there is none.

    Of records that are alike in `values` (`usable`: where they have one), in their own predictions `own` and in their
    `cell`; `count`: how many each stands for.
    """
    distance = np.full(len(values), np.nan)
    order = np.lexsort((values, cell))
    for rows in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        there = rows[usable[rows]]
        if len(there):
            upto = np.cumsum(count[there]).astype(np.int64)
            distance[rows] = _to_neighbour(values[there], upto, own[rows], _enough(int(upto[-1])))
    return _median(distance, count)


def _enough(n: int) -> int:
    return int(min(max(NEAR, n**POWER), n))


def _to_neighbour(values: F64, upto: I64, points: F64, k: int) -> F64:
    """Distance from each point to the k-th nearest of sorted values; `upto`: how many there are up to each of them."""

    def at(place: I64) -> F64:
        return values[np.searchsorted(upto, place, side="right")]

    n = int(upto[-1])
    low, high = np.zeros(len(points), dtype=np.int64), np.full(len(points), n - k)
    while bool((low < high).any()):  # where the k nearest begin
        middle = (low + high) // 2
        later = points - at(middle) > at(np.minimum(middle + k, n - 1)) - points
        low, high = np.where((low < high) & later, middle + 1, low), np.where((low < high) & ~later, middle, high)
    return np.asarray(np.maximum(np.abs(points - at(low)), np.abs(at(low + k - 1) - points)))


def _median(values: F64, count: F64) -> float:
    """Of numbers of which there are several each, those that are missing left out; 0 of none."""
    order = np.argsort(values)[: int((~np.isnan(values)).sum())]
    if not len(order):
        return 0.0
    upto = np.cumsum(count[order]).astype(np.int64)
    middle = np.array([(upto[-1] - 1) // 2, upto[-1] // 2])
    low, high = values[order][np.searchsorted(upto, middle, side="right")]
    return float(low) if low == high else float((low + high) / 2)
