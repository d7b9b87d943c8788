"""Topcode and Bottomcode: one value for everything beyond a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from confide.core.checks import finite, name_of
from confide.core.errors import InputError
from confide.frames.columns import F64, Column, Kind, Records
from confide.frames.types.exact import fits
from confide.protect.seam.mechanism import Chain, Mechanism, registered


@dataclass(frozen=True)
class _Limit:
    """What the two have in common; both are their own `Coarsening`: there is nothing to learn from the data."""

    variable: str
    at: float

    method: ClassVar[str]
    role: ClassVar[str] = "coarsen"
    by_order: ClassVar[bool] = False

    def __post_init__(self) -> None:
        name_of(self.variable, type(self).__name__)
        finite(self.at, f'{type(self).__name__}("{self.variable}"): at')

    @property
    def variables(self) -> tuple[str, ...]:
        return (self.variable,)

    @property
    def needs(self) -> tuple[str, ...]:
        return ()

    @property
    def stream(self) -> str:
        return f"{type(self).__name__}:{self.variable}"

    def kinds(self) -> Mapping[str, Kind]:
        return {self.variable: "numeric"}

    def parts(self) -> Sequence[Mechanism]:
        return (self,)

    def guess(self, released: Records) -> Mechanism:  # noqa: ARG002 - the limit shows in the release
        return self

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> _Limit:  # noqa: ARG002
        self._whole(current[self.variable])
        return self

    def _whole(self, column: Column) -> None:
        """A limit is released as a value of the column, which must have room for it."""
        where = f'{type(self).__name__}("{self.variable}")'
        if column.dtype.is_integer() and not float(self.at).is_integer():
            raise InputError(f"{where}: the column holds whole numbers, so at must be one too.")
        if column.kind == "numeric" and not fits(np.array([float(self.at)]), column.dtype):
            raise InputError(f"{where}: {column.dtype} values cannot hold at exactly; give it fewer digits.")

    def _numeric(self, column: Column) -> None:
        if column.kind != "numeric":
            raise InputError(
                f'{type(self).__name__}("{self.variable}") needs numbers, but the column is categorical here.'
            )

    def _keep_special(self, column: Column, values: F64) -> Column:
        if column.special:
            values = np.where(np.isin(column.values, column.special), column.values, values)
        return column.with_values(values)

    def cells(self, column: Column) -> tuple[F64, F64]:
        return self.back(column.values, np.nextafter(column.values, np.inf))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        raise NotImplementedError

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
    Topcode(variable='income', at=100000)
    """

    method: ClassVar[str] = "topcode"

    def image(self, column: Column) -> Column:
        self._numeric(column)
        return self._keep_special(column, np.minimum(column.values, float(self.at)))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        return low, np.where(high > self.at, np.inf, high)


@registered
@dataclass(frozen=True)
class Bottomcode(_Limit):
    """Release values at or below a limit as that limit, `at`.

    >>> import confide as cf
    >>> cf.Bottomcode("income", at=0)
    Bottomcode(variable='income', at=0)
    """

    method: ClassVar[str] = "bottomcode"

    def image(self, column: Column) -> Column:
        self._numeric(column)
        return self._keep_special(column, np.maximum(column.values, float(self.at)))

    def back(self, low: F64, high: F64) -> tuple[F64, F64]:
        return np.where(low <= self.at, -np.inf, low), high
