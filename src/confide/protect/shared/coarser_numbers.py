"""What methods share that make numbers coarser by one stated number: a limit, a base."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, Column, Records
from confide.frames.types.exact import fits
from confide.protect.seam.coarsening import Chain, Coarsening
from confide.protect.seam.mechanism import CoarseningMethod


class CoarserNumbers(CoarseningMethod, Coarsening):
    """A step that is its own `Coarsening`, with nothing to learn from the data. `unit`: the field of that number."""

    unit: ClassVar[str]

    def fit(self, original: Records, current: Records, after: Mapping[str, Chain]) -> Self:  # noqa: ARG002
        """The number is released as a value of the column, which must have room for it."""
        column, number = current[self.variable], float(vars(self)[self.unit])
        if column.dtype.is_integer() and not number.is_integer():
            raise InputError(f"{self.where}: the column holds whole numbers, so {self.unit} must be one too.")
        if column.kind == "numeric" and not fits(np.array([number]), column.dtype):
            raise InputError(
                f"{self.where}: {column.dtype} values cannot hold {self.unit} exactly; give it fewer digits."
            )
        return self

    def image(self, column: Column) -> Column:
        if column.kind != "numeric":
            raise InputError(f"{self.where} needs numbers, but the column is categorical here.")
        values = self.coarser(column.values)
        if column.special:
            values = np.where(np.isin(column.values, column.special), column.values, values)
        return column.with_values(values)

    @abstractmethod
    def coarser(self, values: F64) -> F64:
        """Coarser numbers for those given; answer codes are put back afterwards."""
