"""Steps that act on units instead of records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import I64, Records

PER = ("record", "unit")


def checked_per(given: object, where: str) -> None:
    """Refuse anything but the two words."""
    if given not in PER:
        raise InputError(f'{where}: per is "record" or "unit".')


def heads(records: Records, where: str) -> tuple[I64, I64]:
    """The place of one record of each unit, in the order of units; and the unit of each record among those."""
    if records.units is None:
        raise InputError(f'{where}: per="unit" needs Plan(..., unit=) to say which rows are of one unit.')
    _, first, of = np.unique(records.units, return_index=True, return_inverse=True)
    return first.astype(np.int64), of.astype(np.int64)


def check_constant(records: Records, names: Sequence[str], where: str) -> None:
    """Refuse variables that differ between rows of one unit."""
    first, of = heads(records, where)
    for v in names:
        values = records[v].values
        same = (values == values[first][of]) | (records[v].missing & records[v].missing[first][of])
        units = len(np.unique(of[~same]))
        if units:
            raise not_constant(where, v, units)


def not_constant(where: str, variable: str, units: int) -> InputError:
    """A variable that differs between the rows of so many units."""
    return InputError(
        f'{where}: per="unit" moves one value for all rows of a unit, but "{variable}" differs between the rows of '
        f"{units:,} units; let the step act on records."
    )
