"""Encoded rows as a narrow frame, to be counted or put aside, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.scale.engine import COUNT
from confide.core.scale.rows_alike import RowsAlike
from confide.frames.columns import F64, I64, Column, Records
from confide.frames.encoded import narrow
from confide.frames.tally import Tally

AT = "__at"
TOGETHER = 2**20
Places = NDArray[np.uint32]
"""The place of each row of a file among those that differ."""


def frame_of(
    records: Records, names: Sequence[str] | None = None, beside: Mapping[str, I64] | None = None
) -> pl.DataFrame:  # fmt: skip
    """Codes in the smallest integers that hold them, and numbers; `beside`: columns that go with them, also where
    nothing is known of the rows."""
    codes = {v: narrow(records[v]).values for v in (records if names is None else names)}
    return pl.DataFrame({**codes, **({} if beside is None else beside)})


def records_of(frame: pl.DataFrame, columns: Mapping[str, Column]) -> Records:
    """The same rows as arrays; `columns`: what codes refer to."""
    made = []
    for v in frame.columns:
        if v in columns:
            values = frame[v].to_numpy()
            number = columns[v].kind == "numeric"
            made.append(columns[v].with_values(_gaps(frame[v]) if number else values.astype(np.int64)))
    return Records(made, n=frame.height)


def _gaps(values: pl.Series) -> F64:
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def tally_of(alike: RowsAlike | pl.DataFrame, columns: Mapping[str, Column], places: Places | None = None) -> Tally:
    """Distinct coded rows with their counts, in the order of their codes; `places` among those that came, which are put
    into this order."""
    table = alike if isinstance(alike, pl.DataFrame) else alike.table
    names = [v for v in table.columns if v in columns]
    table = table.with_row_index(AT).sort(names, nulls_last=True)  # a missing category is -1, a missing number last
    if places is not None:
        rank = np.empty(table.height, dtype=places.dtype)
        rank[table[AT].to_numpy()] = np.arange(table.height)
        for low in range(0, len(places), TOGETHER):
            places[low : low + TOGETHER] = rank[places[low : low + TOGETHER]]
    return Tally(records_of(table, columns), table[COUNT].to_numpy())


def label_frame(labels: Sequence[I64]) -> pl.DataFrame:
    """Labels as a frame with one column each."""
    return pl.DataFrame({f"label {i}": codes for i, codes in enumerate(labels)})
