"""Whether rows look like several rows of the same units although nobody states a unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64

if TYPE_CHECKING:
    from confide.protect.release import Release

NAMED = re.compile(r"(^|_)(id|hid|hhid|pid|serial|household|family|person|unit|panel)(_?(id|no|nr|number|key))?$", re.I)
"""Names of columns that number units."""
ROWS = 100_000
"""Rows that are looked at, from the first."""
FAR = 50
"""Rows between those that are taken for unrelated."""
EXCESS = 0.2
"""Agreement beyond chance that neighbours must have more than rows further apart."""
BINS = 20


def why_twins(release: Release) -> str:
    """See `why_twins_of`."""
    stated = () if release.plan is None else release.plan.identifiers
    return why_twins_of(release.original.head(ROWS), release.original.height, stated, release.public_variables)


def why_twins_of(frame: pl.DataFrame, rows: int, stated: Sequence[str], public: Sequence[str]) -> str:
    """What makes the rows of the original look like several rows of the same units; empty where nothing does.

    A column that numbers units and repeats its values; or at least three variables, and half of all, that agree between
    neighbouring rows (or rows one wave apart) far more often than between rows further apart, where a file that is
    merely sorted by them would agree as well; those that mostly rise or mostly fall are not counted. `frame`: the first
    `ROWS` of so many rows; `stated`: identifiers; `public`: what is released.
    """
    for v in (*stated, *(c for c in frame.columns if NAMED.search(c) and c not in stated)):
        if v in frame.columns and _numbers_units(frame.get_column(v)):
            return f'values of "{v}" repeat, {frame.height / frame.get_column(v).n_unique():.1f} times on average'
    names = [v for v in public if v in frame.columns]
    codes = [c for v in names if (c := _codes(frame.get_column(v))) is not None]
    if len(codes) < 3 or frame.height < 10 * FAR:
        return ""
    for lag in _lags(rows, frame.height):
        closer = sum(_agreement(c, lag) - _agreement(c, lag + FAR) > EXCESS and not _sorted(c, lag) for c in codes)
        if closer >= 3 and 2 * closer >= len(codes):
            return f"{closer} of {len(codes)} variables agree between neighbouring rows far more often than elsewhere"
    return ""


def _numbers_units(column: pl.Series) -> bool:
    """Whether a column has many values, most of them more than once."""
    if not (column.dtype.is_integer() or column.dtype == pl.String) or column.len() < 20:
        return False
    values = column.drop_nulls()
    each = values.value_counts()["count"]
    return bool(len(each) >= 10 and 20 * len(each) >= len(values) and (each > 1).mean() > 0.2)  # type: ignore[operator]


def _lags(n: int, seen: int) -> list[int]:
    """One row, or one wave of several that lie one below the other."""
    return [1, *(n // waves for waves in range(2, 13) if n % waves == 0 and n // waves < seen - 2 * FAR)]


def _codes(column: pl.Series) -> I64 | None:
    """Categories, or bins of about equal counts where there are many values; None for what is neither."""
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        return None
    rank = column.rank("dense").fill_null(0)
    if column.n_unique() > BINS and (column.dtype.is_numeric() or column.dtype.is_temporal()):
        rank = (column.rank("average") * BINS / column.len()).floor().fill_null(-1)
    values = rank.cast(pl.Int64).to_numpy()
    return None if len(np.unique(values)) < 2 else values


def _agreement(codes: I64, lag: int) -> float:
    """Share of rows that agree with the one so many further on, beyond chance."""
    share: F64 = np.unique(codes, return_counts=True)[1] / len(codes)
    chance = float((share**2).sum())
    return (float((codes[lag:] == codes[:-lag]).mean()) - chance) / (1 - chance)


def _sorted(codes: I64, lag: int) -> bool:
    """Whether, where rows differ from those so many further on, they mostly rise or mostly fall."""
    step = np.sign(codes[lag:] - codes[:-lag])
    step = step[step != 0]
    return bool(len(step)) and abs(float(step.mean())) > 0.3
