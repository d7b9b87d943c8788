"""Altered numbers on their way back into a column, some at a time: which type holds all of them.

What `from_floats` decides from a whole column (a wider type where values have left the range, fewer digits) is decided
here from what all parts show.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.frames.types.exact import F64, SHORT, decimal_back, shortest, whole_back

DIGITS = 7
"""Decimal units that a precision may have: 1, 0.1, ... 1e-6."""


class Returning:
    """Numbers of one variable of a type. `see` all parts first, then `made` brings each part back.

    >>> back = Returning("age", pl.Int8())
    >>> for part in ([1.0, 2.0], [300.0, np.nan]):
    ...     back.see(np.array(part))
    >>> back.made(np.array([1.0, np.nan])).to_list(), back.made(np.array([1.0])).dtype
    ([1, None], Int64)
    """

    def __init__(self, name: str, dtype: pl.DataType) -> None:
        self.name, self.dtype = name, dtype
        self.low, self.high = np.inf, -np.inf
        self.any = self.infinite = self.other = self.beyond = False
        self.near, self.equal = np.ones(DIGITS, dtype=bool), np.ones(DIGITS, dtype=bool)

    def see(self, values: F64) -> None:
        """One more part."""
        y = values[~np.isnan(values)]
        if not len(y):
            return
        self.any = True
        self.low, self.high = min(self.low, float(y.min())), max(self.high, float(y.max()))
        if self.dtype == pl.Boolean:
            self.beyond |= not bool(np.isin(y, (0.0, 1.0)).all())
        if self.dtype in SHORT:
            self._see_short(y)

    def merge(self, other: Returning) -> None:
        """What other parts showed."""
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.any |= other.any
        self.infinite |= other.infinite
        self.other |= other.other
        self.beyond |= other.beyond
        self.near, self.equal = self.near & other.near, self.equal & other.equal

    def _see_short(self, y: F64) -> None:
        s = pl.Series(self.name, y)
        narrow = s.cast(self.dtype)
        self.infinite |= bool(narrow.is_infinite().any())
        self.other |= not shortest(narrow).eq_missing(s).all()
        for digits in range(DIGITS):
            with np.errstate(over="ignore", invalid="ignore"):
                scaled = y * 10.0**digits
                off = np.abs(scaled - np.round(scaled))
            self.near[digits] &= bool(np.all(off <= 1e-9 * np.maximum(1.0, np.abs(scaled))))
            self.equal[digits] &= bool(np.array_equal(np.round(y, digits), y))

    def made(self, values: F64) -> pl.Series:
        """A part as a series."""
        s, kind = pl.Series(self.name, values).fill_nan(None), self.dtype
        if kind.is_integer() or kind.is_temporal():
            ends = whole_back(pl.Series(self.name, [self.low, self.high] if self.any else [], dtype=pl.Float64), kind)
            return s.round(0).cast(pl.Int64).cast(ends.dtype)
        if kind.is_decimal():
            top = max(abs(self.low), abs(self.high)) if self.any else 0.0
            ends = decimal_back(pl.Series(self.name, [self.low, self.high] if self.any else [], dtype=pl.Float64), kind)
            return decimal_back(s, kind, top).cast(ends.dtype)
        if kind in SHORT:
            digits = np.flatnonzero(self.near)
            decimal = bool(len(digits) and self.equal[digits[0]])
            return s if self.infinite or (self.other and decimal) else s.cast(kind)
        if kind == pl.Boolean and not self.beyond:
            return s.cast(pl.Boolean)
        return s.cast(pl.Null) if kind == pl.Null and not self.any else s
