"""Text that a spreadsheet program would take for a formula.

A cell of a CSV file that begins with = + - or @ is computed when the file is opened, and may run a command. An
apostrophe before it says that it is text.
"""

from __future__ import annotations

import polars as pl

from confide.frames.door import check_names

_BLANKS = r"\s\x00-\x1f\u00a0\u200b\u2060\ufeff"
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
FORMULA = rf"^[{_BLANKS}]*[{_SIGNS}]|^[\t\r\n]"
"""A sign that begins a formula, also a wide one or after blanks, which programs pass over; or a tab or line end."""

_WORDS = (pl.String, pl.Enum, pl.Categorical)


def formula_columns(frame: pl.DataFrame) -> list[str]:
    """The columns that a spreadsheet would compute, by a value or by their name.

    >>> formula_columns(pl.DataFrame({"a": ["=1+1", "x"], "b": [-1, 2], "+c": [1, 2]}))
    ['a', '+c']
    """
    return [s.name for s in frame if _begins(s.name) or _some(s)]


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before such text and such names; numbers, dates and true or false stay.

    >>> guarded(pl.DataFrame({"a": ["=1+1", "x"], "-b": [-1, 2]})).rows(named=True)
    [{'a': "'=1+1", "'-b": -1}, {'a': 'x', "'-b": 2}]
    """
    names = [f"'{n}" if _begins(n) else n for n in frame.columns]
    check_names(names, "the file for spreadsheets")
    return pl.DataFrame([_guarded(s).alias(n) for s, n in zip(frame, names, strict=True)])


def formula_text(columns: int, guarded: bool) -> str:
    """What a user is told where there are such columns.

    >>> formula_text(2, guarded=True)
    'For spreadsheets, an apostrophe stands before text that would be a formula: in 2 of the columns.'
    """
    if guarded:
        return (
            f"For spreadsheets, an apostrophe stands before text that would be a formula: in {columns} of the columns."
        )
    return (
        f"A spreadsheet would take text in {columns} of the columns for a formula, since it begins with =, +, - or @; "
        "--spreadsheet puts an apostrophe before it."
    )


def _guarded(values: pl.Series) -> pl.Series:
    if not _some(values):
        return values
    text = values.cast(pl.String)
    return text.zip_with(~text.str.contains(FORMULA).fill_null(False), "'" + text)


def _some(values: pl.Series) -> bool:
    return values.dtype in _WORDS and bool(values.cast(pl.String).str.contains(FORMULA).any())


def _begins(name: str) -> bool:
    return bool(pl.Series([name]).str.contains(FORMULA).item())
