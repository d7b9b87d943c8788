"""Round: release multiples of a base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import positive
from confide.frames.columns import F64
from confide.frames.types.exact import near_whole, nearest
from confide.protect.seam.dials import Offers, Outlook, Subject, one_each
from confide.protect.seam.mechanism import Mechanism, Name, registered
from confide.protect.seam.words import exactly
from confide.protect.shared.coarser_numbers import CoarserNumbers

SPREADS = (0.1, 0.2, 0.5, 1.0, 2.0)
"""Bases to try, as parts of the standard deviation."""


@registered
@dataclass(frozen=True)
class Round(CoarserNumbers):
    """Release a number as the nearest multiple of a `base`, halves upwards.

    The evidence is certain: a released 50,000 at base 1,000 means a true value in [49,500, 50,500).
    Missing values stay missing.

    >>> import confide as cf
    >>> cf.Round("income", base=1_000)
    Round(variables=('income',), base=1000)
    """

    variables: Name
    base: float

    method: ClassVar[str] = "round"
    unit: ClassVar[str] = "base"

    def __post_init__(self) -> None:
        positive(self.base, f"{self.where}: base")

    def coarser(self, values: F64) -> F64:
        rounded = nearest(values / self.base) * self.base
        return rounded if float(self.base).is_integer() else np.round(rounded, 10)

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        first = np.ceil(near_whole(low / self.base))
        last = np.ceil(near_whole(high / self.base)) - 1
        last = np.maximum(last, first)  # a released value is a multiple of the base
        return (first - 0.5) * self.base, (last + 0.5) * self.base

    @property
    def words(self) -> str:
        return f"round {self.variable} to multiples of {exactly(self.base)}"

    @classmethod
    def dials(cls, outlook: Outlook) -> Offers:
        """Numbers to bases from a tenth of the spread to one and a half times as much."""

        def step(s: Subject, base: float) -> Mechanism:
            return cls(s.name, base=base)

        def says(s: Subject, base: float) -> str:
            return cls(s.name, base=base).words

        none = "no round base is wider than its precision and leaves it several values; dates are recoded instead"
        return one_each(cls.method, outlook.worth("numeric"), _bases, step, says, none)


def _bases(s: Subject) -> list[float]:
    """Round bases that put values together and leave several, all of which the column can hold."""
    if s.dated:
        return []
    spread, ends = float(s.amounts.std()) if len(s.amounts) else 0.0, s.values[[s.values.argmin(), s.values.argmax()]]
    bases = dict.fromkeys(base for part in SPREADS for base in _round_near(part * spread))
    return [
        b for b in sorted(bases)
        if b > s.column.step and s.holds(b) and all(map(s.holds, multiples := nearest(ends / b) * b))
        and multiples[0] < multiples[1]
    ]  # fmt: skip


def _round_near(value: float) -> Iterator[float]:
    """The round number (1, 2 or 5 with zeros) nearest to a value by ratio; none for zero."""
    if value > 0:
        power = int(np.floor(np.log10(value)))
        near = [float(f"{m}e{power + k}") for k in (0, 1) for m in (1, 2, 5)]
        found = min(near, key=lambda x: abs(np.log(x / value)))
        yield int(found) if found.is_integer() else found
