"""Columns that hold what they show, and nothing else.

A polars column made from a larger one may share its memory: text that a filter left out, and numbers that were made
missing, are then still there, unseen, and an Arrow file or a pickle would carry them along.
"""

from __future__ import annotations

import polars as pl


def rebuilt(frame: pl.DataFrame) -> pl.DataFrame:
    """The same values in memory of their own, with nothing behind missing values.

    >>> import io
    >>> long = ["the first of two long texts", "the second, which is left out"]
    >>> frame = pl.DataFrame({"a": long * 9}).filter(pl.col("a").str.starts_with("the first"))
    >>> def arrow(frame):
    ...     file = io.BytesIO()
    ...     frame.write_ipc(file, compression="uncompressed")
    ...     return file.getvalue()
    >>> b"left out" in arrow(rebuilt(frame)), rebuilt(frame).equals(frame)
    (False, True)
    """
    return pl.DataFrame([_column(s) for s in frame])


def _column(values: pl.Series) -> pl.Series:
    kind = values.dtype
    if isinstance(kind, pl.Enum) and not values.null_count():
        return values
    if isinstance(kind, (pl.Enum, pl.Categorical)):
        return values.cast(pl.String).cast(kind)
    if kind.is_nested() or kind.is_decimal() or kind in (pl.String, pl.Binary):
        return pl.Series(values.name, values.to_list(), dtype=kind)
    if not values.null_count() or kind in (pl.Null, pl.Object):
        return values
    filled = values.to_physical().fill_null(False if kind == pl.Boolean else 0)
    nothing = pl.Series(values.name, [None], dtype=filled.dtype)
    return filled.zip_with(values.is_not_null(), nothing).cast(kind)
