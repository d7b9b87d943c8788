"""`cf.counts`: people by value or by range, for a small picture of one variable; no rare value is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.core.result import Result
from confide.core.visible import visible
from confide.frames.columns import F64, kind_of
from confide.frames.door import to_polars

SCHEMA: dict[str, Any] = {"value": pl.String, "low": pl.Float64, "high": pl.Float64, "people": pl.Int64}
OTHERS, MISSING = "all others", "missing"
ENDS = 0.01
"""Share of numbers that lie outside the ranges at either end."""

Row = tuple[str, float | None, float | None, int]


@dataclass(frozen=True, eq=False, repr=False)
class Counts(Result):
    """People by value or by range of one variable.

    `frame`: one row per value or range: `value`, in words; `low` (from) and `high` (below), null for values, and at an
    end that is open; `people`. Values that fewer than `fewest` people have are in "all others"; those without a value
    are "missing".
    """

    frame: pl.DataFrame
    variable: str
    rows: int
    fewest: int

    def __repr__(self) -> str:
        wide = max((len(visible(v)) for v in self.frame["value"]), default=0)
        lines = [f"{visible(v).ljust(wide)}  {n:>9,}" for v, n in self.frame.select("value", "people").rows()]
        return "\n".join([f"{visible(self.variable)}: {self.rows:,} rows", *lines])


def counts(data: Any, variable: str, bins: int = 18, fewest: int = 3) -> Counts:
    """How many people have which value of a variable, or lie in which range, in at most `bins` rows.

    Categories, and numbers with few values: the most frequent ones, the rest together; a value that fewer than `fewest`
    people have is never named. Other numbers: even ranges between round ends, with the lowest and highest hundredth in
    the first and the last, which are open; how few lie in a range is told. Dates count by year. Those without a value
    are one more row.

    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> cf.counts(heads, "race").frame.select("value", "people").rows()[:2]
    [('White', 39343), ('Native or other', 5460)]
    >>> cf.counts(heads, "hh_income", bins=5).frame["value"].to_list()
    ['below 150,000', '150,000 to 300,000', '300,000 to 450,000', '450,000 to 600,000', '600,000 and more']
    """
    frame = to_polars(data)
    for name, number, least in (("bins", bins, 2), ("fewest", fewest, 1)):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not least <= number <= 10_000:
            raise InputError(f"{name} is a whole number from {least} to 10,000.")
    if not isinstance(variable, str) or variable not in frame.columns:
        hint = did_you_mean(variable, frame.columns) if isinstance(variable, str) else ""
        raise InputError(f"counts takes the data, then the name of one of their columns.{hint}")
    column = frame.get_column(variable)
    kind, whole = kind_of(column), column.dtype.is_integer()
    if kind is None:
        raise InputError(f'"{variable}" holds neither numbers nor categories; it cannot be counted.')
    if column.dtype in (pl.Date, pl.Datetime):
        column, whole = column.dt.year(), True
    numeric = kind == "numeric" and column.dtype != pl.Boolean
    if numeric:
        column = column.to_physical().cast(pl.Float64, strict=False)
    column = column.fill_nan(None) if column.dtype.is_float() else column
    there = column.drop_nulls()
    several = numeric and there.n_unique() > bins
    rows = _ranges(there.to_numpy(), bins, whole) if several else _values(there, bins, fewest)
    rows += [(MISSING, None, None, column.null_count())] * bool(column.null_count())
    return Counts(pl.DataFrame(rows, schema=SCHEMA, orient="row"), variable, frame.height, int(fewest))


def _values(there: pl.Series, bins: int, fewest: int) -> list[Row]:
    """The most frequent values; numbers in their order, others by how many have them."""
    number = there.dtype.is_numeric()
    found = pl.DataFrame({"value": there}).group_by("value").agg(people=pl.len())
    found = found.sort(["people", "value"], descending=[True, False])
    most = found.head(bins if found.height <= bins and (found["people"] >= fewest).all() else bins - 1)
    named = most.filter(pl.col("people") >= fewest)
    rest = len(there) - int(named["people"].sum())
    if 0 < rest < fewest and named.height:  # who they are could be told from what is named
        named = named.head(named.height - 1)
        rest = len(there) - int(named["people"].sum())
    named = named.sort("value") if number else named
    rows: list[Row] = [(_number(v) if number else str(v), None, None, n) for v, n in named.rows()]
    return rows + [(OTHERS, None, None, rest)] * bool(rest)


def _ranges(values: F64, bins: int, whole: bool) -> list[Row]:
    """Even ranges between round ends."""
    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, [ENDS, 1 - ENDS])
    if low == high:
        low, high = float(finite.min()), float(finite.max())
    width = _round_up((high - low) / bins, whole)
    start = np.floor(low / width) * width
    cuts = start + width * np.arange(1, bins)
    cuts = cuts[cuts < high] if (cuts < high).any() else cuts[:1]
    people = np.bincount(np.searchsorted(cuts, values, side="right"), minlength=len(cuts) + 1)
    ends = [None, *(float(f"{c:.12g}") for c in cuts), None]
    return [(_between(a, b), a, b, int(n)) for a, b, n in zip(ends[:-1], ends[1:], people, strict=True)]


def _round_up(width: float, whole: bool) -> float:
    """The next number of 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 and zeros, a whole one where values are: so that ranges end in
    round numbers."""
    power = 10.0 ** np.floor(np.log10(max(width, 1.0) if whole else width))
    steps = [m * power for m in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)]
    return float(next(s for s in steps if s >= width * (1 - 1e-9) and not (whole and s % 1)))


def _between(low: float | None, high: float | None) -> str:
    if low is None:
        return f"below {_number(high)}"
    return f"{_number(low)} and more" if high is None else f"{_number(low)} to {_number(high)}"


def _number(value: float | None) -> str:
    assert value is not None
    return f"{value:,.12g}"
