"""Small-cell adjustment: only counts below a base are rounded, at random, to 0 or to the base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from confide.core.registry import registered
from confide.tables.layout import Ints
from confide.tables.schemes.rounding import checked_base
from confide.tables.schemes.scheme import Floats


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
