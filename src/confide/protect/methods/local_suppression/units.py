"""Rows that are of one unit: k counts rows, and k rows need not be of k units."""

from __future__ import annotations

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import I64
from confide.frames.distinct import Distinct


def rows_of_few(kind: I64, units: I64 | None, k: int) -> int:
    """Records of which k rows or more have the keys, but fewer than k units; 0 where each row is a unit.

    `kind`: (n,) number of each record's joint values; `units`: (n,) of its unit.

    >>> rows_of_few(np.array([0, 0, 0, 1, 1, 1]), np.array([7, 7, 8, 7, 8, 9]), 3)
    3
    """
    if units is None or not len(units):
        return 0
    pairs = Distinct.rows([kind, units], len(kind))
    rows = np.bincount(kind)
    several = np.bincount(kind[pairs.first], minlength=len(rows))
    return int(rows[(rows >= k) & (several < k)].sum())


def refuse_repeats(kind: I64, units: I64 | None, where: str) -> None:
    """Refuse a file in which the rows of every unit have the same keys: k rows would stand for fewer people whatever is
    hidden."""
    if units is None or not len(units):
        return
    many = len(np.unique(units))
    if many < len(kind) and len(Distinct.rows([kind, units], len(kind))) == many:
        raise InputError(
            f"{where}: the rows of a unit all have the same keys, and k counts rows, so that k of them can be of fewer "
            "than k units. Hide values in a file with one row per unit and bring these keys to the other rows "
            "afterwards, or leave out unit where each row is another person."
        )
