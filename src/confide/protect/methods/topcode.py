"""Topcode and Bottomcode: one value for everything beyond a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import finite
from confide.frames.columns import F64
from confide.protect.seam.dials import Offers, Outlook, Subject, one_each, rounded
from confide.protect.seam.mechanism import Mechanism, Name, registered
from confide.protect.seam.words import exactly
from confide.protect.shared.coarser_numbers import CoarserNumbers


@dataclass(frozen=True)
class _Limit(CoarserNumbers):
    """What the two have in common."""

    variables: Name
    at: float

    unit: ClassVar[str] = "at"

    def __post_init__(self) -> None:
        finite(self.at, f"{self.where}: at")

    @property
    def words(self) -> str:
        return f"{self.method} {self.variable} at {exactly(self.at)}"

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

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        return _limits(cls, outlook, (0.995, 0.99, 0.97, 0.95, 0.9))


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

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        return _limits(cls, outlook, (0.005, 0.01, 0.03, 0.05, 0.1))


def _limits(cls: type[_Limit], outlook: Outlook, shares: Sequence[float]) -> Offers:
    """One dial for each number, by the share of records that the limit leaves as they are; rounded, so that the limit
    is nobody's own value."""

    def limits(s: Subject) -> list[float]:
        cuts = dict.fromkeys(rounded(s.quantile(share)) for share in shares)
        low, high = s.quantile(0), s.quantile(1)
        return [] if s.dated else [c for c in cuts if low < c < high and s.holds(c)]

    def says(s: Subject, at: float) -> str:
        return cls(s.name, at=at).words

    def step(s: Subject, at: float) -> Mechanism:
        return cls(s.name, at=at)

    none = "no round limit lies between a few records and the rest; dates are recoded instead"
    return one_each(cls.method, outlook.worth("numeric"), limits, step, says, none)
