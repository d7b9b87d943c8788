"""Small-cell adjustment: only cells below a base are rounded, to 0 or to the base: each by itself at random, or all
together so that margins stay near."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import polars as pl

from confide.core.random.draws import Draws
from confide.core.registry import registered
from confide.tables.layout import Bools, Ints, Layout
from confide.tables.schemes.balance import nearest_sums, no_reach
from confide.tables.schemes.rounding import checked_base
from confide.tables.schemes.scheme import Floats, Settled


@registered
@dataclass(frozen=True)
class SmallCounts:
    r"""Publish counts below `base` as 0 or `base`, unbiased, others as they are. `base` has probability :math:`c/b`.

    An intruder can state :math:`[0, b-1]` of a published 0, :math:`[1, b]` of a published b, and any other count
    exactly. Usually published with `totals="summed"`, so that tables add up: such totals tell nothing more.

    >>> import confide as cf
    >>> published = cf.Table([2, 1, 5]).publish(SmallCounts(3), margins="total", totals="summed", seed=1)
    >>> published.frame.select("published", "lower", "upper").rows()[2]
    (5, 5, 5)
    """

    base: int
    scheme: ClassVar[str] = "small"

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_base(self.base, "SmallCounts"))

    random: ClassVar[bool] = True
    sharp: ClassVar[bool] = True
    keyed: ClassVar[bool] = False

    def apply(self, counts: Ints, draws: Floats) -> Ints:
        adjusted = np.where(draws * self.base < counts, self.base, 0)
        return np.where(counts < self.base, adjusted, counts).astype(np.int64)

    def interval(self, published: Ints) -> tuple[Ints, Ints]:
        lower = np.where(published == self.base, 1, published)
        upper = np.where(published == 0, self.base - 1, published)
        return lower, upper

    def outcomes(self, count: int) -> Mapping[int, Fraction]:
        if count == 0 or count >= self.base:
            return {count: Fraction(1)}
        up = Fraction(count, self.base)
        return {0: 1 - up, self.base: up}


@registered
@dataclass(frozen=True)
class ControlledSmallCounts:
    r"""Publish cells below `base` as 0 or `base`, other cells as they are, and margins as sums of the published cells.

    Which cells go up is chosen for all together, such that margins stay near the true ones: by simulated annealing on
    :math:`\sum_q e_q^2 + 9 e_q^4 / 16 b^2`, with :math:`e_q` the error of a published quantity. It is not unbiased cell
    by cell, as `SmallCounts` is; its margins are nearer by far (Langsrud and Heldal 2018 describe the problem). The
    order of the search is random, and decides between tables that are about as near.

    An intruder can state :math:`[0, b-1]` of a cell published as 0, :math:`[1, b]` of one published as b, and any other
    cell exactly; margins tell nothing more. Of a margin without its cells: at most :math:`b - 1` more or less for each
    of its cells. No bound on the error of a margin is promised, so none can be stated; an intruder who also knows how
    the search went is not considered. `published.audit` has the largest and the mean error; it is private.

    >>> import confide as cf
    >>> published = cf.Table([[1, 2, 1], [2, 7, 1]]).publish(ControlledSmallCounts(3), margins="all", seed=1)
    >>> published.audit["largest"].to_list(), published.frame["published"][-1]
    ([2], 13)
    >>> ControlledSmallCounts(0)
    Traceback (most recent call last):
    confide.InputError: The base of ControlledSmallCounts must be at least 2, such as 3 or 5.
    """

    base: int
    scheme: ClassVar[str] = "small_controlled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_base(self.base, "ControlledSmallCounts"))

    random: ClassVar[bool] = True

    def settle(self, layout: Layout, counts: Ints, free: Bools, draws: Draws) -> Settled:
        """Publish a table of `counts` (m). The audit has one row: quantities, the largest and the mean error."""
        small = np.flatnonzero((counts > 0) & (counts < self.base))
        low = counts.copy()
        low[small] = 0
        table = nearest_sums(layout, counts, small, low, self.base, no_reach(layout.quantities), draws)
        values = layout.sums(table)
        lower, upper = self._stated(layout, table, values, free)
        error = np.abs(values - layout.sums(counts))
        audit = {"quantities": [len(error)], "largest": [int(error.max(initial=0))], "mean": [float(np.mean(error))]}
        return Settled(values, np.ones(len(values), dtype=bool), lower, upper, pl.DataFrame(audit), additive=True)

    def _stated(self, layout: Layout, table: Ints, values: Ints, free: Bools) -> tuple[Ints, Ints]:
        """What can be stated of each quantity, from its cells where all cells are published."""
        if np.array_equal(np.unique(layout.single[layout.single >= 0]), np.arange(layout.cells)):
            low, high = SmallCounts(self.base).interval(table)
            return layout.sums(np.where(free, low, 0)), layout.sums(np.where(free, high, 0))
        reach = (self.base - 1) * layout.sums(free.astype(np.int64))
        return np.maximum(values - reach, 0), values + reach
