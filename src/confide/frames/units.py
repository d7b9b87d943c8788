"""Units that have several rows: which rows belong together."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.frames.columns import I64, encode_column


def unit_numbers(column: pl.Series) -> I64:
    """The number of each row's unit: that of its first row in the file. A row without a unit is one by itself.

    >>> unit_numbers(pl.Series(["b", "a", None, "b", None])).tolist()
    [0, 1, 2, 0, 4]
    """
    codes = encode_column(column, "categorical").values
    _, first, of = np.unique(codes, return_index=True, return_inverse=True)
    return np.where(codes < 0, np.arange(len(codes)), first[of]).astype(np.int64)
