"""Dates in months, quarters, years and longer: intervals between the first days of periods."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import Column, type_name
from confide.frames.hierarchies.intervals import Intervals
from confide.frames.types.exact import from_floats

PERIODS = {"month": 1, "quarter": 3, "year": 12, "five years": 60, "decade": 120}
"""Periods and their months, from the shortest; each holds whole ones of those before it."""


def periods_of(column: Column, period: str) -> Intervals:
    """The periods of a variable's dates, with one before the first and one after the last for dates of other files."""
    if not column.dtype.is_temporal() or column.dtype in (pl.Time, pl.Duration):
        raise InputError(
            f'Hierarchy of "{column.name}": dates cuts dates, but the column holds {type_name(column.dtype)}. Turn it '
            "into dates first; text such as 2020-05-17 is cut by prefix=[7, 4]."
        )
    there = column.values[column.usable]
    if not len(there):
        return Intervals(breaks=(0.0,))
    months = PERIODS[period]
    ends = from_floats(column.name, np.array([there.min(), there.max()]), column.dtype)
    first, last = (m // months for m in (ends.dt.year() * 12 + ends.dt.month() - 1).to_list())
    numbers = range(first, last + 2)
    days = pl.Series([date((m := k * months) // 12, m % 12 + 1, 1) for k in numbers])
    names = [_named(k * months, period) for k in numbers]
    labels = (f"before {names[0]}", *names[:-1], f"{names[-1]} or after")
    return Intervals(breaks=tuple(_physical(days, column.dtype)), labels=labels)


def _physical(days: pl.Series, dtype: pl.DataType) -> list[float]:
    """First days as the numbers that stand for them in a column of dates or times."""
    if not isinstance(dtype, pl.Datetime):
        return [float(x) for x in days.to_physical().to_list()]
    times = days.cast(pl.Datetime(dtype.time_unit))
    if dtype.time_zone is not None:
        times = times.dt.replace_time_zone(dtype.time_zone, ambiguous="earliest", non_existent="null")
    return [float(x) for x in times.to_physical().to_list()]


def _named(month: int, period: str) -> str:
    """A period by its first month, counted from the year 0."""
    year, months = month // 12, PERIODS[period]
    if period == "month":
        return f"{year:04d}-{month % 12 + 1:02d}"
    if period == "quarter":
        return f"{year:04d} Q{month % 12 // 3 + 1}"
    return f"{year:04d}" if months == 12 else f"{year:04d} to {year + months // 12 - 1:04d}"
