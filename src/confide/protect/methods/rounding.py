"""Round: release multiples of a base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import positive
from confide.frames.columns import F64
from confide.frames.types.exact import near_whole, nearest
from confide.protect.seam.mechanism import Name, registered
from confide.protect.shared.coarser_numbers import CoarserNumbers


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
