"""At which precision noisy numbers are released."""

from __future__ import annotations

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import Column


def too_large(column: Column) -> bool:
    """Whether it holds whole numbers too large for noise that can be reasoned about exactly."""
    return _beyond(column) and not column.dtype.is_float()


def rounding_step(column: Column, where: str) -> float:
    """The column's precision, if float64 holds the edges of the cells that values are rounded from; 0 for a continuum.

    `where` names the step in the error about whole numbers that are too large.
    """
    if too_large(column):
        raise InputError(
            f"{where}: the column holds numbers beyond 2^51 times its precision, too large for noise that can be "
            "reasoned about exactly. Divide it first."
        )
    return 0.0 if _beyond(column) else column.step


def _beyond(column: Column) -> bool:
    return bool(column.step) and float(np.fmax.reduce(np.abs(column.values), initial=0.0)) > column.step * 2.0**51
