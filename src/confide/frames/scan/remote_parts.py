"""Parquet files in the storage of a cluster: what they say of themselves, and some of their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import polars as pl

from confide.core.scale.hadoop import Remote
from confide.frames.files import METADATA
from confide.frames.schema import Schema, schema_from_dict


def footer(file: Remote) -> tuple[dict[str, pl.DataType], int, Schema]:
    """Types, rows and labels."""
    import pyarrow.parquet as pq

    with file.open() as opened:
        found = pq.ParquetFile(opened)
        shown = pl.from_arrow(found.schema_arrow.empty_table())
        stored = (found.metadata.metadata or {}).get(METADATA.encode())
    assert isinstance(shown, pl.DataFrame)
    return (
        dict(shown.schema),
        int(found.metadata.num_rows),
        schema_from_dict(json.loads(stored)) if stored else Schema(),
    )


def rows_of(file: Remote, first: int, rows: int, columns: Sequence[str]) -> pl.DataFrame:
    """So many rows from a place on; only the groups of rows that hold them are read."""
    import pyarrow.parquet as pq

    with file.open() as opened:
        found = pq.ParquetFile(opened)
        sizes = [found.metadata.row_group(k).num_rows for k in range(found.metadata.num_row_groups)]
        ends = np.cumsum([0, *sizes])
        near = [k for k in range(len(sizes)) if ends[k] < first + rows and ends[k + 1] > first]
        table = found.read_row_groups(near, columns=list(columns))
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame[first - int(ends[near[0]]) if near else 0 :][:rows].select(columns)
