"""Rounding each count to a multiple of a base: to the nearest one, or at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from confide.core.errors import InputError
from confide.core.registry import registered
from confide.tables.layout import Ints
from confide.tables.schemes.scheme import Floats

HOWS = ("conventional", "random")
TIES = ("up", "down", "even")


def checked_base(base: object, what: str) -> int:
    """A whole number from 2 upwards."""
    if isinstance(base, bool) or not isinstance(base, (int, np.integer)):
        raise InputError(f"The base of {what} is a whole number such as 3 or 5, not {type(base).__name__}.")
    if base == 1:
        raise InputError(f"{what} to base 1 leaves every count as it is; use Exact(), or a base of at least 2.")
    if base < 1:
        raise InputError(f"The base of {what} must be at least 2, such as 3 or 5.")
    if base > 10**9:
        raise InputError(f"The base of {what} must be below 10^9.")
    return int(base)


@registered
@dataclass(frozen=True)
class RoundCells:
    r"""Round each count, and each margin on its own, to a multiple of `base`.

    `how="conventional"`: to the nearest multiple. With an even base, counts half-way go `ties` = "up", "down" or to the
    "even" multiple (as NumPy, pandas and R do). `how="random"`: to one of the two multiples around the count, unbiased:
    up with probability :math:`(c \bmod b)/b`; multiples stay.

    What an intruder can state of a published x: with an odd base :math:`[x-h, x+h]`, :math:`h=(b-1)/2`; with an even
    one the same with the end that ties go to cut off; at random :math:`[x-b+1, x+b-1]`; never below 0.

    >>> import numpy as np
    >>> RoundCells(5).apply(np.array([2, 3, 7, 8]), np.zeros(4))
    array([ 0,  5,  5, 10])
    >>> RoundCells(4, ties="even").interval(np.array([4, 8]))
    (array([3, 6]), array([ 5, 10]))
    >>> RoundCells(1)
    Traceback (most recent call last):
    confide.InputError: RoundCells to base 1 leaves every count as it is; use Exact(), or a base of at least 2.
    """

    base: int
    how: Literal["conventional", "random"] = "conventional"
    ties: Literal["up", "down", "even"] = "up"
    scheme: ClassVar[str] = "round"
    sharp: ClassVar[bool] = True
    keyed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_base(self.base, "RoundCells"))
        if self.how not in HOWS:
            raise InputError('RoundCells(how=...) is "conventional" or "random".')
        if self.ties not in TIES:
            raise InputError('RoundCells(ties=...) is "up", "down" or "even".')

    @property
    def random(self) -> bool:
        return self.how == "random"

    def apply(self, counts: Ints, draws: Floats) -> Ints:
        below, rest = np.divmod(counts, self.base)
        if self.random:
            up = draws * self.base < rest
        else:
            tie = {"up": True, "down": False}.get(self.ties, below % 2 == 1)
            up = (2 * rest > self.base) | ((2 * rest == self.base) & tie)
        return np.asarray((below + up) * self.base, dtype=np.int64)

    def interval(self, published: Ints) -> tuple[Ints, Ints]:
        below, above = self._reach(published)
        return np.maximum(published - below, 0), published + above

    def _reach(self, published: Ints) -> tuple[Ints | int, Ints | int]:
        """How far below and above a published value the true count can lie."""
        if self.random:
            return self.base - 1, self.base - 1
        half, odd = divmod(self.base, 2)
        if odd:
            return half, half
        if self.ties == "even":
            even = (published // self.base) % 2 == 0
            return np.where(even, half, half - 1), np.where(even, half, half - 1)
        return (half, half - 1) if self.ties == "up" else (half - 1, half)

    def outcomes(self, count: int) -> Mapping[int, Fraction]:
        if not self.random:
            return {int(self.apply(np.array([count]), np.zeros(1))[0]): Fraction(1)}
        below, rest = divmod(count, self.base)
        low = below * self.base
        up = Fraction(rest, self.base)
        return {low: 1 - up, low + self.base: up} if rest else {low: Fraction(1)}
