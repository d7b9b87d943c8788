"""A release made by another tool: its link, its words, and whether it is one that the plan can make."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, raise_all
from confide.frames import Schema
from confide.frames.columns import I64, Column, Records, codes_in, encode_column
from confide.frames.door import array_of
from confide.frames.encoded import Encoded
from confide.frames.units import unit_numbers
from confide.protect.compiled import Compiled

if TYPE_CHECKING:
    on_class = classmethod
else:

    class on_class(classmethod):
        """A constructor that is refused where it is called on a release that is there already."""

        def __get__(self, made: Any, cls: Any = None) -> Any:
            return super().__get__(made, cls) if made is None else _refused


def _refused(*args: object, **options: object) -> None:  # noqa: ARG001 - whatever was given
    raise InputError(
        "Release.adopt makes a new release of two files, original and released: call it as cf.Release.adopt(...). This "
        "one is a release already, and can be attacked as it is."
    )


def checked_link(link: Any, n: int, r: int) -> I64 | None:
    """The original row of each of r released rows, as the caller gave it; None where nobody knows."""
    if link is None:
        return None
    rows = array_of(link)
    if rows.shape != (r,) or not np.issubdtype(rows.dtype, np.integer):
        raise InputError(f"link must give one original row number for each of the {r} released rows.")
    if len(rows) and (rows.min() < 0 or rows.max() >= n):
        raise InputError(f"link points outside the original file, whose rows are 0 to {n - 1}.")
    if len(np.unique(rows)) < len(rows):
        raise InputError("link gives the same original row to more than one released row.")
    return rows.astype(np.int64)


def check_fits(
    compiled: Compiled, forms: Mapping[str, Column], y: pl.DataFrame, after: Encoded, rows: I64 | None,
    unit: str | None = None,
) -> None:  # fmt: skip
    """Refuse released values that contradict the plan: the risk measured would be of another release."""
    problems, z = _wrong_pseudonyms(y, after.frame, rows, unit), after.frame
    for v in compiled.ways:
        if v not in z.columns:
            continue
        expected = forms[v]
        try:
            released = after.in_unit(v, expected.kind, expected.dtype)
        except InputError as e:
            problems.append(str(e))
            continue
        if compiled.way(v).random is None and rows is not None:
            wrong = int((codes_in(released, expected) != codes_in(expected, expected)[rows]).sum())
            if wrong:
                problems.append(
                    f'"{v}": {wrong} of {len(rows)} released values are not what the plan makes of the original.'
                )
        elif expected.kind == "categorical":
            strange = int(((codes_in(released, expected) < 0) & ~released.missing).sum())
            if strange:
                problems.append(
                    f'"{v}": {strange} of {z.height} released values are categories the plan cannot produce.'
                )
    for v in z.columns:
        if v in compiled.ways or v not in y.columns or rows is None or v == unit:
            continue
        wrong = _unlike(y.get_column(v).gather(rows), z.get_column(v))
        if wrong:
            problems.append(f'"{v}": {wrong} of {len(rows)} released values differ, though the plan leaves them alone.')
    problems += _unfit(compiled, forms, after, rows)
    raise_all(problems, "The released file does not fit the plan:")


def _wrong_pseudonyms(y: pl.DataFrame, z: pl.DataFrame, rows: I64 | None, unit: str | None) -> list[str]:
    """Whether a column of pseudonyms puts other rows together than the original column does."""
    if unit is None or unit not in z.columns or rows is None:
        return []
    before, after = unit_numbers(y.get_column(unit))[rows], unit_numbers(z.get_column(unit))
    pairs = len(np.unique(np.stack([before, after]), axis=1).T)
    if pairs == len(np.unique(before)) == len(np.unique(after)):
        return []
    return [f'"{unit}": the released column puts other rows together than the original one.']


def _unfit(compiled: Compiled, forms: Mapping[str, Column], after: Encoded, rows: I64 | None) -> list[str]:
    """What fitted steps say they cannot have made. A step met more records than are there if a later one selects."""
    columns = []
    for v, form in forms.items():
        if v in after.frame.columns:
            with suppress(InputError):  # named above where it matters
                columns.append(after.like(v, form))
    released = Records(columns, n=after.frame.height)
    problems = []
    for i, part in enumerate(compiled.fitted):
        later = compiled.steps[i + 1 :]
        if part is not None and not any(s.selects for s in later):
            problems += part.unfit(released, rows)
    return problems


def in_words(z: pl.DataFrame, held: Schema, y: pl.DataFrame, forms: Mapping[str, Column]) -> pl.DataFrame:
    """Codes of a labelled file (SPSS, Stata) as their labels, where the plan makes words of the variable."""
    for v in z.columns:
        labels = held.variables[v].value_labels if v in held.variables else {}
        if not labels or not z.schema[v].is_numeric() or v not in y.columns:
            continue
        words = forms[v].levels if v in forms else tuple(y.get_column(v).unique())
        if any(isinstance(w, str) for w in words):
            codes = {float(code): label for code, label in labels.items()}
            column = [None if c is None else codes.get(float(c)) for c in z.get_column(v).to_list()]
            z = z.with_columns(pl.Series(v, column, dtype=pl.String))
    return z


def _unlike(a: pl.Series, b: pl.Series) -> int:
    """How many values of a kept column differ; numbers are compared as numbers, anything else as it is, or as text."""
    if a.dtype == b.dtype and not a.dtype.is_float():
        return int(a.ne_missing(b).sum())
    both = a.dtype.is_numeric() and b.dtype.is_numeric()
    if both and not (a.dtype.is_integer() and b.dtype.is_integer()):
        x, y = (encode_column(s, "numeric").values for s in (a, b))
        return int((~np.isclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)).sum())
    return int(a.cast(pl.String).ne_missing(b.cast(pl.String)).sum())
