"""Who is at risk, by group: shares alone and found of people with each value of a key; small groups are left out."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64, encode_column
from confide.frames.cut import MISSING, MOST_LEVELS, Cut, why_no_groups
from confide.frames.encoded import Encoded
from confide.frames.roles.facts import written
from confide.measure.risk.by_group import wilson

SMALLEST = 10
"""People that a group has at least to be shown."""
MOST = 8
"""Variables by which people are grouped."""
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "group": pl.String, "people": pl.Int64, "alone": pl.Int64, "alone_share": pl.Float64,
    "found": pl.Float64, "found_share": pl.Float64, "low": pl.Float64, "high": pl.Float64, "times": pl.Float64,
}  # fmt: skip


def groups(file: Encoded, names: tuple[str, ...], alike: F64, codes: Container[str] = ()) -> tuple[pl.DataFrame, int]:
    """One row per variable and group of at least `SMALLEST` people; and how many groups are too small to be shown.

    `found`: people that an intruder finds who knows all keys and is sure of membership, the sum of 1 / alike;
    `low`, `high`: Wilson's 95 percent interval of its share, for another file of such people; `times`: that share over
    the file's. Of `codes` no ranges are made; dates are in years, or months of one.
    """
    rows, small = [], 0
    found, each = 1.0 / alike, np.ones(len(alike)) if file.count is None else file.count
    whole = file.total(found) / file.rows
    for name in names[:MOST]:
        values = periods(labelled(file, name))
        if why_no_groups(values, file.rows):
            continue
        names_of, place = named(values, name in codes, file.count)
        people, alone, right = (np.bincount(place, w * each, len(names_of)) for w in (1.0, alike == 1, found))
        for k, group in enumerate(names_of):
            n = int(people[k])
            if not n:
                continue
            if n < SMALLEST:
                small += 1
                continue
            share = float(right[k]) / n
            rows.append((name, group, n, int(alone[k]), float(alone[k]) / n, float(right[k]), share, *wilson(share, n),
                         share / whole))  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), small


def named(values: pl.Series, codes: bool = False, people: F64 | None = None) -> tuple[tuple[str, ...], I64]:
    """Names of groups and each row's group: every category, or about five ranges of many numbers. `people`: how many
    have each value (None: one).

    >>> named(pl.Series(["b", "a", None]))[0]
    ('a', 'b', '(missing)')
    """
    if values.dtype.is_numeric() and not codes and values.n_unique() > MOST_LEVELS:
        cut = Cut.of(values, people=people)
        return cut.names, cut.codes(values)
    column = encode_column(values, "categorical")
    return (*(str(v) for v in column.levels), MISSING), np.where(column.missing, len(column.levels), column.values)


def labelled(file: Encoded, name: str) -> pl.Series:
    """A variable with its codes in words, where the file has labels for all that occur, or for some of a few."""
    s = file.frame.get_column(name)
    labels = file.schema.variable(name).value_labels
    if not labels or isinstance(s.dtype, (pl.Enum, pl.Categorical)):
        return s
    number = s.dtype.is_numeric()
    table = {(float(c) if number else c): t for c, t in labels.items() if isinstance(c, str) != number}
    plain = s.cast(pl.Float64) if number else s
    there = plain.drop_nulls().unique()
    bare = set(there.to_list()) - set(table)
    if not table or (bare and len(there) > MOST_LEVELS):
        return s
    rest = {c: f"{c:g}" if number else str(c) for c in bare}
    return plain.replace_strict({**table, **rest}, default=None, return_dtype=pl.String).alias(name)


def periods(values: pl.Series) -> pl.Series:
    """Dates in years, or in months where they are of one year or two; anything else as it is.

    >>> periods(pl.Series(["2022-01-12", "2022-03-01"])).to_list()
    ['2022-01', '2022-03']
    >>> periods(pl.Series(["12.1.1950", "1.3.1960", "2.4.1970"])).to_list()
    ['1950', '1960', '1970']
    """
    if values.dtype in (pl.Date, pl.Datetime):
        year, month = values.dt.strftime("%Y"), values.dt.strftime("%Y-%m")
    elif written(values):
        year = values.str.extract(r"(\d{4})")
        month = values.str.extract(r"^\s*(\d{4}-\d{2})")
    else:
        return values
    few = year.n_unique() <= 2 and month.null_count() == values.null_count()
    return month if few else year if year.null_count() == values.null_count() else values
