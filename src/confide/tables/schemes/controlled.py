"""Controlled rounding: cells and margins go to multiples of a base together, so that the published table adds up.

Notation: counts `c` (Q) of the published quantities, base `b`, c = b f + r with 0 <= r < b, `k` steps. A solution is a
table y of whole multiples; the programme is in z = y - floor(c / b) on the cells (m), numbers near zero at any count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.core.random.draws import Draws
from confide.core.registry import registered
from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.schemes.balance import nearest_sums
from confide.tables.schemes.rounding import checked_base
from confide.tables.schemes.scheme import Settled
from confide.tables.solve.programme import NEAR, Answer, Floats, Programme, whole

SECONDS = 60.0
"""Time limit of the search for the nearest rounding."""

LARGE = 1_500
"""Published quantities beyond which a table that is no flow is not searched for the nearest rounding."""

GAP = 0.99
"""Distances are whole: none is less than one that is this close to the bound."""

FAULT = "A controlled rounding failed its check in whole numbers: this is a fault in confide, please report it."


@registered
@dataclass(frozen=True)
class ControlledRounding:
    r"""Round cells and margins to multiples of `base` such that margins are the sums of the rounded cells.

    Of all such tables the one that minimises :math:`\sum_q |x_q - c_q|` over the published quantities q, subject to
    :math:`|x_q - c_q| < (\mathrm{steps} + 1)\,\mathrm{base}`: with `steps=0` each goes to one of the two multiples
    around it, and a multiple stays (zero-restricted; Cox 1987). Where several tables are equally near, chance
    decides. Structural zeros stay 0. Where cells are not published, margins add up to some table of
    multiples from 0 upwards.

    A two-way table with any of its margins, also with nested groupings on one side, always has a solution. Tables with
    three or more variables may have none at `steps=0`; `steps=1` then usually helps. A solution is checked in whole
    numbers. If the search ends at its time limit with a solution, that solution is published, and the audit says
    that it is not proven to be the nearest.

    Tables with three or more variables and more than 1,500 published quantities, and those for which no rounding is
    found within the time limit, are rounded by simulated annealing: every cell to one of the two multiples around it,
    so that the margins' errors cancel out. The audit then has the distance, a least distance that is proven (their gap
    is what a better rounding could gain at most), and `steps`: those that it took. These may be more than were asked
    for, and are then what an intruder can state.

    What an intruder can state of a published x: :math:`|x - c| < (\mathrm{steps} + 1)\,\mathrm{base}`, never below 0.

    >>> ControlledRounding(3)
    ControlledRounding(base=3, steps=0)
    >>> ControlledRounding(3, steps=-1)
    Traceback (most recent call last):
    confide.InputError: ControlledRounding(steps=...) is a whole number from 0 to 1,000; 0 is zero-restricted.
    """

    base: int
    steps: int = 0
    scheme: ClassVar[str] = "controlled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_base(self.base, "ControlledRounding"))
        steps = self.steps
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 0 <= steps <= 1000:
            raise InputError("ControlledRounding(steps=...) is a whole number from 0 to 1,000; 0 is zero-restricted.")
        object.__setattr__(self, "steps", int(steps))

    @property
    def random(self) -> bool:
        return True

    def settle(self, layout: Layout, counts: Ints, free: Bools, draws: Draws) -> Settled:
        """Round a table of `counts` (m).

        The audit has one row: how far the published counts moved in all, the least distance that is proven possible,
        whether the two are the same, and the steps that it took.
        """
        true = layout.sums(counts)
        rounding = _Rounding.of(layout, counts, free, self.base, self.steps)
        large = layout.families is None and layout.quantities > LARGE
        best, steps = None if large else self._solve(rounding, draws), self.steps
        answer, steps = self._near(layout, counts, draws) if best is None else (best, steps)
        values = self._checked(layout, counts, free, answer, steps)
        distance = int(np.abs(values - true).sum())
        nearest = answer.status == "optimal"
        least = distance if nearest else rounding.least(answer.bound)
        known = layout.sums(free.astype(np.int64)) == 0  # nobody can be there
        reach = (steps + 1) * self.base - 1
        return Settled(
            values,
            np.ones(len(values), dtype=bool),
            np.where(known, 0, np.maximum(values - reach, 0)),
            np.where(known, 0, values + reach),
            pl.DataFrame(
                {
                    "quantities": [len(values)],
                    "distance": [distance],
                    "least": [least],
                    "nearest": [nearest or least == distance],
                    "steps": [steps],
                }
            ),
            additive=True,
        )

    def _solve(self, rounding: _Rounding, draws: Draws) -> Answer | None:
        """The nearest rounding in z, None if none was found in time; among equals, the draws choose.

        Two families of sets: a vertex is whole, and c / b itself shows that there is one; small random weights pick it.
        Otherwise weights would slow the proof down, and the order in which the search takes the cells is random.
        """
        layout = rounding.layout
        flow = layout.families is not None
        each = draws.of("weights").uniform(np.arange(layout.quantities))
        weights = each * (flow / (2.0 * (2 * self.steps + 1) * max(layout.quantities, 1)))
        order = np.arange(layout.cells) if flow else draws.of("order").order(np.arange(layout.cells))
        for integer, presolve in [(False, True), (True, True)] if flow else [(True, True), (True, False)]:
            answer = rounding.nearest(weights, order, integer, presolve)
            if answer.found and whole(answer.x) is not None:
                return answer
            if answer.status == "unproven":
                break
        wider = f"ControlledRounding({self.base}, steps={self.steps + 1})"
        if answer.status == "infeasible" and not flow:
            raise InputError(
                f"No table of multiples of {self.base} adds up within steps={self.steps} of every published count; "
                f"{wider} allows the next multiples too."
            )
        if answer.status == "unproven":
            return None
        raise RuntimeError(FAULT)

    def _near(self, layout: Layout, counts: Ints, draws: Draws) -> tuple[Answer, int]:
        """A rounding of every cell up or down whose margins are near, and the steps that it takes: as few as the
        search finds."""
        true, low = layout.sums(counts), counts - counts % self.base
        at, exact = np.flatnonzero(counts % self.base), true % self.base == 0
        for steps in range(self.steps, self.steps + 1 + int(layout.cells)):
            reach = np.where(exact & (steps == 0), 0, (steps + 1) * self.base - 1)
            table = nearest_sums(layout, counts, at, low, self.base, reach, draws)
            if bool(np.all(np.abs(layout.sums(table) - true) <= reach)):
                break
        return Answer("unproven", np.nan, np.nan, (table - low) / self.base), steps

    def _checked(self, layout: Layout, counts: Ints, free: Bools, answer: Answer, steps: int) -> Ints:
        """The published values; everything that was promised is checked in whole numbers."""
        z = whole(answer.x)
        assert z is not None
        y = z + counts // self.base
        values = layout.sums(y * self.base)
        within = np.abs(values - layout.sums(counts)) < (steps + 1) * self.base
        if not (bool(within.all()) and bool((y >= 0).all()) and not bool(y[~free].any())):
            raise RuntimeError(FAULT)
        return values


@dataclass(frozen=True, eq=False)
class _Rounding:
    """The programme of one table. Columns: z (m), then for `steps` > 0, of each quantity q: s, over, under, with
    a_q z = shift_q + s + over - under, which makes the distance of x_q linear: (b - 2r) s + b over + b under."""

    layout: Layout
    rest: Ints
    shift: Ints
    base: int
    steps: int
    low: Ints
    high: Ints

    @classmethod
    def of(cls, layout: Layout, counts: Ints, free: Bools, base: int, steps: int) -> _Rounding:
        floor = counts // base
        below, rest = np.divmod(layout.sums(counts), base)
        low = np.where(free, -floor, 0)
        high = np.where(free, UNBOUNDED, 0)
        return cls(layout, rest, below - layout.sums(floor), base, steps, low, high)

    @property
    def slope(self) -> Ints:
        """What the distance grows by from the multiple below to the one above."""
        return self.base - 2 * self.rest

    def nearest(self, weights: Floats, order: Ints, integer: bool, presolve: bool) -> Answer:
        """The best z, where columns are taken in this `order` and each quantity costs its `weights` more."""
        matrix, low, high, objective, row_low, row_high = (
            self._with_steps(weights) if self.steps else self._plain(weights)
        )
        every = np.concatenate([order, np.arange(self.layout.cells, len(low))])
        kinds = (every < self.layout.cells) & integer
        programme = Programme(
            matrix[:, every], row_low, row_high, low[every], high[every], kinds, SECONDS, presolve, gap=GAP
        )
        found = programme.minimise(objective[every])
        x = np.empty(len(low))
        x[every] = found.x
        return Answer(found.status, found.value, found.bound, x[: self.layout.cells])

    def _plain(self, weights: Floats) -> tuple[Any, Ints, Ints, Floats, Ints, Ints]:
        """Matrix, bounds and costs of columns, bounds of rows. Counts of one cell are bounds, not rows."""
        own, up = self.layout.single, self.shift + (self.rest > 0)
        rows = own < 0
        low, high = self.low.copy(), self.high.copy()
        np.maximum.at(low, own[~rows], self.shift[~rows])
        np.minimum.at(high, own[~rows], up[~rows])
        objective = self.layout.matrix.T @ (self.slope + weights)
        return self.layout.matrix[rows], low, high, objective, self.shift[rows], up[rows]

    def _with_steps(self, weights: Floats) -> tuple[Any, Ints, Ints, Floats, Ints, Ints]:
        from scipy.sparse import csr_matrix, hstack, identity

        size = len(self.rest)
        one = identity(size, dtype=np.int64, format="csr")
        matrix = csr_matrix(hstack([self.layout.matrix, -one, -one, one]))
        low = np.concatenate([self.low, np.zeros(3 * size, dtype=np.int64)])
        high = np.concatenate([self.high, self.rest > 0, np.full(2 * size, self.steps)])
        far = np.full(2 * size, float(self.base))
        objective = np.concatenate([self.layout.matrix.T @ weights, self.slope, far])
        return matrix, low, high, objective, self.shift, self.shift

    def least(self, bound: float) -> int:
        """The least distance that a bound of the objective proves; at least that to the nearest multiples."""
        nearest = int(np.minimum(self.rest, self.base - self.rest).sum())
        if self.layout.families is not None or not np.isfinite(bound):
            return nearest
        below = 0 if self.steps else int(self.slope @ self.shift)
        return max(nearest, int(np.ceil(bound - NEAR)) + int(self.rest.sum()) - below)
