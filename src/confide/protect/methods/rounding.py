"""Round: release multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import name_of, positive
from confide.core.errors import InputError
from confide.frames.columns import F64, Column, Kind, Records
from confide.frames.types.exact import fits, near_whole, nearest
from confide.protect.seam.mechanism import Chain, Mechanism, registered


@registered
@dataclass(frozen=True)
class Round:
    """Release a number as the nearest multiple of a `base`, halves upwards.

    The evidence is certain: a released 50,000 at base 1,000 means a true value in [49,500, 50,500).
    Missing values stay missing.

    >>> import confide as cf
    >>> cf.Round("income", base=1_000)
    Round(variable='income', base=1000)
    """

    variable: str
    base: float

    method: ClassVar[str] = "round"
    role: ClassVar[str] = "coarsen"
    by_order: ClassVar[bool] = False

    def __post_init__(self) -> None:
        name_of(self.variable, "Round")
        positive(self.base, f'Round("{self.variable}"): base')

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def stream(self) -> str:
        return f"Round:{self.variable}"

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}

    def parts(self) -> Sequence[Mechanism]:
        return (self,)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - the base shows in the release
        return self

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Round:  # noqa: ARG002
        self._whole(current[self.variable])
        return self

    def _whole(self, column: Column) -> None:
        """Multiples are released as values of the column, which must have room for them."""
        if column.dtype.is_integer() and not float(self.base).is_integer():
            raise InputError(f'Round("{self.variable}"): the column holds whole numbers, so base must be one too.')
        if column.kind == "numeric" and not fits(np.array([float(self.base)]), column.dtype):
            raise InputError(
                f'Round("{self.variable}"): {column.dtype} values cannot hold multiples of base exactly; give it '
                "fewer digits."
            )

    def image(self, column: Column) -> Column:
        if column.kind != "numeric":
            raise InputError(f'Round("{self.variable}") needs numbers, but the column is categorical here.')
        rounded = nearest(column.values / self.base) * self.base
        if not float(self.base).is_integer():
            rounded = np.round(rounded, 10)
        if column.special:
            rounded = np.where(np.isin(column.values, column.special), column.values, rounded)
        return column.with_values(rounded)

    def cells(self, column: Column) -> tuple[F64, F64]:
        return self.back(column.values, np.nextafter(column.values, np.inf))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        first = np.ceil(near_whole(low / self.base))
        last = np.ceil(near_whole(high / self.base)) - 1
        last = np.maximum(last, first)  # a released value is a multiple of the base
        return (first - 0.5) * self.base, (last + 0.5) * self.base

    def tails(self) -> tuple[float, ...]:
        return ()
