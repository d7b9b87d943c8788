"""Numbers in intervals [low, high), of one width or between stated breaks, with a name for each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Column
from confide.frames.types.exact import near_whole, number_text

MOST = 100_000
"""Intervals that a variable may have."""


@dataclass(frozen=True)
class Intervals:
    """Intervals of one `width` that begin at `start`, or between `breaks`: below the first and from the last upwards
    are intervals of their own. `labels`: one name per interval between breaks.

    >>> Intervals(width=5).names(np.array([4.0, 5.0]), step=1.0)
    ('20 to 24', '25 to 29')
    """

    width: float | None = None
    start: float = 0
    breaks: Sequence[float] | None = None
    labels: Sequence[str] | None = None

    def bins(self, values: F64) -> F64:
        """The number of each value's interval; NaN where a value is missing."""
        if self.width is not None:
            return np.floor(near_whole((values - self.start) / self.width))
        found = np.searchsorted(np.asarray(self.breaks, dtype=float), values, side="right").astype(float)
        return np.where(np.isnan(values), np.nan, found)

    def edges(self, bins: F64) -> tuple[F64, F64]:
        """The ends of intervals."""
        if self.width is not None:
            low = self.start + bins * self.width
            return low, low + self.width
        cuts = np.concatenate([[-np.inf], np.asarray(self.breaks, dtype=float), [np.inf]])
        at = bins.astype(int)
        return cuts[at], cuts[at + 1]

    def names(self, bins: F64, step: float) -> tuple[str, ...]:
        """The names of intervals of a variable whose precision is `step`."""
        if self.labels is not None:
            return tuple(str(self.labels[int(b)]) for b in bins)
        low, high = self.edges(bins)
        gap = self.width or min(np.diff(self.breaks or ()), default=1.0)
        return tuple(_name(a, b, step, gap * 1e-6) for a, b in zip(low, high, strict=True))

    def coded(self, column: Column) -> tuple[I64, tuple[str, ...]]:
        """Each value's place among the names of all intervals from the first to the last that occurs; -1 for a missing
        one. An answer code ("refused") stays a category of its own."""
        bins = _each_once(self.bins, column.values)
        present = ~np.isnan(bins)
        if column.special:
            present &= ~np.isin(column.values, column.special)
        there = bins if present.all() else bins[present]
        first, last = (there.min(), there.max()) if len(there) else (0.0, -1.0)
        if last - first > MOST:
            raise InputError(f'Recode("{column.name}"): width makes over 100,000 categories; give a larger width.')
        names = self.names(first + np.arange(last - first + 1), column.step)
        codes = (there - first).astype(np.int64)
        if there is not bins:
            every = np.full(len(bins), -1, dtype=np.int64)
            every[present], codes = codes, every
        for s in column.special:
            codes[column.values == s] = len(names)
            names = (*names, f"answer {s:.15g}")
        return codes, names

    def ends_of(self, names: Sequence[str]) -> F64:
        """The ends of intervals with these names, shape (names, 2); NaN for what is none, such as an answer code."""
        read = self._by_break if self.breaks is not None else self._by_width
        return np.array([read(str(name)) for name in names], dtype=float).reshape(-1, 2)

    def _by_break(self, name: str) -> tuple[float, float]:
        bins = np.arange(len(self.breaks or ()) + 1, dtype=float)
        for step in (1.0, 0.0):
            names = self.names(bins, step)
            if name in names:
                low, high = self.edges(bins)
                return float(low[names.index(name)]), float(high[names.index(name)])
        return np.nan, np.nan

    def _by_width(self, name: str) -> tuple[float, float]:
        found = re.match(r"\[?(-?[0-9.e+-]+)", name)
        if found is None or self.width is None:
            return np.nan, np.nan
        low, high = self.edges(self.bins(np.array([float(found[1]) + self.width / 2])))
        return float(low[0]), float(high[0])


def _each_once(bins: Callable[[F64], F64], values: F64) -> F64:
    """Bins of many values; of whole numbers that repeat, each number's is found once."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, np.inf)
    if not high - low < len(values):  # also where some are missing
        return bins(values)
    at = (values - low).astype(np.int64)
    if not np.array_equal(at + low, values):
        return bins(values)
    return bins(low + np.arange(high - low + 1))[at]


def _name(low: float, high: float, step: float, within: float) -> str:
    if np.isinf(low):
        return f"under {number_text(high, within)}"
    if np.isinf(high):
        return f"{number_text(low, within)} and over"
    if step == 1.0 and float(low).is_integer() and float(high).is_integer():
        return f"{low:.0f}" if high - low == 1 else f"{low:.0f} to {high - 1:.0f}"
    return f"[{number_text(low, within)}, {number_text(high, within)})"
