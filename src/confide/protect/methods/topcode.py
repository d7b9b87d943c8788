"""Topcode and Bottomcode: one value for everything beyond a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import finite
from confide.frames.columns import F64
from confide.protect.seam.mechanism import Name, registered
from confide.protect.shared.coarser_numbers import CoarserNumbers


@dataclass(frozen=True)
class _Limit(CoarserNumbers):
    """What the two have in common."""

    variables: Name
    at: float

    unit: ClassVar[str] = "at"

    def __post_init__(self) -> None:
        finite(self.at, f"{self.where}: at")

    def tails(self) -> tuple[float, ...]:
        return (self.at,)


@registered
@dataclass(frozen=True)
class Topcode(_Limit):
    """Release values at or above a limit as that limit, `at`.

    Values below are released as they are, so the evidence is certain: the value itself below the limit, one
    label from it upwards. Missing values stay missing.

    >>> import confide as cf
    >>> cf.Topcode("income", at=100_000)
    Topcode(variables=('income',), at=100000)
    """

    method: ClassVar[str] = "topcode"

    def coarser(self, values: F64) -> F64:
        return np.minimum(values, float(self.at))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        return low, np.where(high > self.at, np.inf, high)


@registered
@dataclass(frozen=True)
class Bottomcode(_Limit):
    """Release values at or below a limit as that limit, `at`.

    >>> import confide as cf
    >>> cf.Bottomcode("income", at=0)
    Bottomcode(variables=('income',), at=0)
    """

    method: ClassVar[str] = "bottomcode"

    def coarser(self, values: F64) -> F64:
        return np.maximum(values, float(self.at))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        return np.where(low <= self.at, -np.inf, low), high
