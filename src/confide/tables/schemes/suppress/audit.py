"""Check hidden counts from the outside: what can each be, given what is published? No true count is looked at.

A count is safe only if two tables are at hand that both fit all that is published, checked in whole numbers, and in
which the count differs by the width that was asked for. So a solver that errs or runs out of time can make a safe count
look unsafe, never the other way round. Tables that are offered are checked like those of the solver, cell by cell and
sum by sum; what they do not show is solved by SciPy, not by the programmes that choose what to hide.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import ConfideError
from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout

EFFORT = {True: 2_000_000, False: 20_000}
"""Solves times size that may go into exact ends; smaller where a solve is a search (not one or two families)."""

NODES = 20
"""How long such a search may be; whether a count is safe is searched for without this limit."""


def audit(
    layout: Layout, lower: Ints, upper: Ints, free: Bools, which: Ints, width: int = 1, seconds: float = 10.0,
    offered: Ints | None = None,
) -> pl.DataFrame:  # fmt: skip
    """The range of each of the quantities `which`, where every quantity (Q) lies in `lower`..`upper`.

    Returns quantity, lower, upper (null: no end), width, safe, proven. `safe`: two tables that fit are at least `width`
    apart. `proven`: lower and upper are the exact ends; otherwise the range is at least this wide, and not safe means
    not shown to be safe. `free` (m) is False where a cell is 0 and everybody knows; `seconds` limits each solve.
    `offered` (tables x m): tables that somebody says fit.
    """
    return ranges(layout, lower, upper, free, which, width, seconds, offered).frame()


def ranges(
    layout: Layout, lower: Ints, upper: Ints, free: Bools, which: Ints, width: int = 1, seconds: float = 10.0,
    offered: Ints | None = None,
) -> Ranges:  # fmt: skip
    """The same as far as it says what is safe; `frame` looks for exact ends too."""
    found = Ranges(layout, lower, upper, free, np.asarray(which, dtype=np.int64), width, seconds)
    if len(found.which):
        found.start(offered)
        found.free_standing()
        found.part_many()
        found.part()
    return found


class Ranges:
    """What is known of each quantity of `which` (w): tables that fit reach `low` and `high`."""

    def __init__(
        self, layout: Layout, lower: Ints, upper: Ints, free: Bools, which: Ints, width: int, seconds: float
    ) -> None:
        self.layout, self.lower, self.upper, self.free, self.which = layout, lower, upper, free, which
        self.flow = layout.families is not None
        self.width, self.seconds = width, seconds
        self.low, self.high = np.full(len(which), UNBOUNDED), np.full(len(which), -1)
        self.low_proven, self.high_proven, self.endless = (np.zeros(len(which), dtype=bool) for _ in range(3))
        # beyond every finite end of a flow, and wide enough
        self.cap = int(np.sum(upper[upper < UNBOUNDED]) + np.sum(lower)) + 1 + width
        self.solves = 0
        self.nodes: int | None = None  # of a search; None: no limit but time

    @property
    def safe(self) -> Bools:
        return np.asarray(self.high - self.low >= self.width)

    def frame(self) -> pl.DataFrame:
        """What `audit` returns."""
        if len(self.which):
            self.sharpen()
        width = self.high - self.low
        return pl.DataFrame(
            {
                "quantity": self.which,
                "lower": self.low,
                "upper": pl.Series(self.high).set(pl.Series(self.endless), None),
                "width": pl.Series(width).set(pl.Series(self.endless), None),
                "safe": self.safe,
                "proven": self.low_proven & self.high_proven,
            }
        )

    def start(self, offered: Ints | None = None) -> None:
        """Some table that fits."""
        if offered is not None:
            self._keep(offered)
        if self.high[0] < 0:
            self._solve(np.zeros(self.layout.cells))
        if self.high[0] < 0:
            raise ConfideError("The check of the hidden counts found no table that fits what is published.")

    def free_standing(self) -> None:
        """Counts that nothing else speaks of: every number of their interval fits, whatever the other cells are."""
        mine = self.layout.alone[self.which] & self.free[np.maximum(self.layout.single[self.which], 0)]
        q = self.which[mine]
        self.low[mine], self.high[mine] = self.lower[q], np.minimum(self.upper[q], self.cap)
        self.low_proven[mine] = self.high_proven[mine] = True
        self.endless[mine] = self.upper[q] >= UNBOUNDED

    def part_many(self) -> None:
        """Tables in which many quantities are high and many others low, then the other way round, by their bits."""
        place = np.arange(len(self.which))
        rows = self.layout.matrix[self.which].T
        for bit in range(max(len(place) - 1, 1).bit_length()):
            for sign in (1.0, -1.0):
                if bool(self.safe.all()):
                    return
                self._solve(sign * np.asarray(rows @ np.where((place >> bit) & 1, 1.0, -1.0)))

    def part(self) -> None:
        """Tables that are the width apart at each quantity, if there are any."""
        for k in range(len(self.which)):
            for top in (True, False):
                if self.high[k] - self.low[k] < self.width:
                    self._end(k, top)

    def sharpen(self) -> None:
        """Exact ends, as far as the effort goes. A quantity's own interval is proof where a table reaches its end."""
        self.nodes = NODES
        allowed = self.solves + EFFORT[self.flow] // max(self.layout.cells + self.layout.quantities, 1)
        for k in range(len(self.which)):
            for top in (True, False):
                done = self.high_proven[k] if top else self.low_proven[k]
                if not done and self.solves < allowed:
                    self._end(k, top)
        self.low_proven |= self.low == self.lower[self.which]
        self.high_proven |= self.high == self.upper[self.which]

    def _end(self, k: int, top: bool) -> None:
        """One end of one range."""
        q = self.which[k]
        if (top and self.high[k] == self.upper[q]) or (not top and self.low[k] == self.lower[q]):
            return
        row = np.asarray(self.layout.matrix[[q]].toarray()[0], dtype=np.float64)
        bound = self._solve(-row if top else row, q)
        if top and self.high[k] >= self.cap:
            self.endless[k], self.high_proven[k] = True, self.flow
        elif top and bound is not None:
            self.high_proven[k] = self.high[k] == np.floor(-bound + 1e-6)
        elif bound is not None:
            self.low_proven[k] = self.low[k] == np.ceil(bound - 1e-6)

    def _solve(self, cost: NDArray[np.float64], q: int = -1) -> float | None:
        """Minimise, keep the table that was found, and return the bound that is proven."""
        for whole in (False, True) if self.flow else (True,):  # a vertex of a flow is whole
            result = self._milp(cost, whole, q)
            if result.x is not None and self._keep(np.rint(result.x).astype(np.int64)):
                break
        if result.status == 0 and not whole:
            return float(result.fun)
        bound = getattr(result, "mip_dual_bound", None)
        return float(bound) if whole and bound is not None and result.status in (0, 1) else None

    def _milp(self, cost: NDArray[np.float64], whole: bool, q: int) -> Any:
        from scipy.optimize import milp

        self.solves += 1
        bounds, rows = self._plain
        if q >= 0 and self.upper[q] >= UNBOUNDED:
            upper = self.upper.copy()
            upper[q] = self.cap
            bounds, rows = self._stated(upper)
        kinds = np.full(self.layout.cells, int(whole))
        options = {"time_limit": self.seconds, "mip_rel_gap": 0.0, "node_limit": self.nodes}
        return milp(cost, integrality=kinds, bounds=bounds, constraints=rows, options=options)

    @cached_property
    def _plain(self) -> tuple[Any, Any]:
        return self._stated(self.upper)

    def _stated(self, upper: Ints) -> tuple[Any, Any]:
        """Bounds of cells, and of sums of several cells."""
        from scipy.optimize import Bounds, LinearConstraint

        own = self.layout.single
        low, high = np.zeros(self.layout.cells, dtype=np.int64), np.where(self.free, UNBOUNDED, 0)
        one = np.flatnonzero(own >= 0)
        np.maximum.at(low, own[one], self.lower[one])
        np.minimum.at(high, own[one], upper[one])
        many = (own < 0) & ((self.lower > 0) | (upper < UNBOUNDED))
        rows = LinearConstraint(self.layout.matrix[many], self.lower[many], _open(upper[many])) if many.any() else None
        return Bounds(low, _open(high)), rows

    def _keep(self, tables: Ints) -> bool:
        """Whether any of some tables (tables x m) fits, in whole numbers; those that do widen the ranges."""
        fit, tables = False, np.atleast_2d(tables)
        for some in (tables[k : k + 64] for k in range(0, len(tables), 64)):
            sums = self.layout.sums(some)
            ok = (some >= 0).all(axis=1) & ~some[:, ~self.free].any(axis=1)
            ok &= ((sums >= self.lower) & (sums <= self.upper)).all(axis=1)
            reached = sums[ok][:, self.which]
            self.low = np.minimum(self.low, reached.min(axis=0, initial=UNBOUNDED))
            self.high = np.maximum(self.high, reached.max(axis=0, initial=-1))
            fit |= bool(ok.any())
        return fit


def _open(upper: Ints) -> NDArray[np.float64]:
    return np.where(upper >= UNBOUNDED, np.inf, upper.astype(np.float64))
