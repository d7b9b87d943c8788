"""Writing Excel files: what a worksheet can hold, values only, never a formula."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import polars as pl

from confide.core.errors import InputError, raise_all
from confide.frames.types.exact import exact

ROWS, COLUMNS, LETTERS = 1_048_575, 16_384, 32_767
"""A worksheet has so many rows below its heading, and so many columns; a cell so many letters."""


def save(frame: pl.DataFrame, target: Path) -> None:
    """Write one worksheet; NaN becomes an empty cell, text that looks like a formula stays text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pl.DataFrame({"a": [1], "A": [2]}), Path(folder) / "a.xlsx")
    Traceback (most recent call last):
    confide.InputError: Excel takes "a" and "A" for the same name; rename one.
    """
    if find_spec("xlsxwriter") is None:
        raise InputError(
            'Excel files need the package xlsxwriter: pip install "confide[excel]". CSV and Parquet need nothing more.'
        )
    raise_all(_problems(frame))
    frame.with_columns(pl.selectors.float().fill_nan(None)).write_excel(target, autofit=frame.height <= 1000)


def _problems(frame: pl.DataFrame) -> Iterator[str]:
    if frame.height > ROWS or frame.width > COLUMNS:
        yield f"A worksheet holds {ROWS:,} rows and {COLUMNS:,} columns, not {frame.height:,} and {frame.width:,}."
    same: dict[str, str] = {}
    for name in frame.columns:
        if name.lower() in same:
            yield f'Excel takes "{same[name.lower()]}" and "{name}" for the same name; rename one.'
        same[name.lower()] = name
    for s in frame:
        kind = s.dtype
        zoned = isinstance(kind, pl.Datetime) and kind.time_zone is not None
        if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration) or zoned:
            yield f'Excel cannot hold column "{s.name}" of type {kind}; drop or cast it.'
        elif kind.is_numeric() and not exact(s):
            yield f'Excel cannot hold all digits of column "{s.name}"; cast it to text.'
        elif kind == pl.String and (s.str.len_chars() > LETTERS).any():
            yield f'Excel holds {LETTERS:,} letters in a cell, and column "{s.name}" has longer ones.'
