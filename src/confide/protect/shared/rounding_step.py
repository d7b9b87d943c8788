"""At which precision noisy numbers are released."""

from __future__ import annotations

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import Column


def rounding_step(column: Column, where: str) -> float:
    """The column's precision, if float64 holds the edges of the cells that values are rounded from; 0 for a continuum.

    `where` names the step in the error about whole numbers that are too large.
    """
    present = column.values[~column.missing]
    if not column.step or not len(present) or np.abs(present).max() <= column.step * 2.0**51:
        return column.step
    if column.dtype.is_float():
        return 0.0
    raise InputError(
        f"{where}: the column holds numbers beyond 2^51 times its precision, too large for noise that can be reasoned "
        "about exactly. Divide it first."
    )
