"""The door: any frame comes in as polars, and goes out as what the caller uses.

pandas and pyarrow are never imported here unless the caller's own object is one of theirs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe, is_pyarrow_table
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.frames.data import Data
from confide.frames.marks import withhold
from confide.frames.schema import Frame, Schema, attach, schema

_READ = 'A file is read first: {} = cf.read("file.csv").'
_ACCEPTED = "a polars DataFrame or LazyFrame, a pandas DataFrame, a pyarrow Table, or a dict of columns"


def to_polars(frame: object, what: str = "data") -> pl.DataFrame:
    """The caller's frame as a polars DataFrame; the input is never changed.

    Accepted: a polars DataFrame or LazyFrame, pandas (its index is ignored), a pyarrow Table, whatever else narwhals
    reads, a dict of columns, and a `Data`. Missing values of pandas (NaN, NaT, NA, None) become null. In polars input
    NaN stays NaN. A pandas Categorical of text becomes an Enum with the same levels. A schema is attached to the very
    frame returned.

    `what` names the frame in errors. Refused: no columns, names that are not text or not unique, a column
    that mixes text and numbers, Python objects.

    >>> to_polars({"age": [31, None], "sex": ["f", "m"]}).dtypes
    [Int64, String]
    >>> to_polars([1, 2])
    Traceback (most recent call last):
    ...
    confide.InputError: data must be a polars DataFrame or LazyFrame, a pandas DataFrame, \
a pyarrow Table, or a dict of columns, not list.
    """
    if isinstance(frame, Data):
        bare = _with_schema(_checked(frame._frame.clone(), what), frame.schema)
        return withhold(bare, frame.refusal) if frame.refusal else bare
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return _checked(frame, what)
    if is_pandas_dataframe(frame):
        from confide.frames.types.pandas_columns import from_pandas

        check_names(list(frame.columns), what)
        return _with_schema(_checked(from_pandas(frame, what), what), schema(frame))
    if is_pyarrow_table(frame):
        from confide.frames.types.arrow_columns import from_arrow

        check_names(frame.column_names, what)
        return _checked(from_arrow(frame, what), what)
    if isinstance(frame, Mapping):
        return _checked(_from_columns(frame, what), what)
    return _checked(_by_narwhals(frame, what), what)


def give_back(frame: pl.DataFrame, like: object) -> Any:
    """A polars frame as the type of `like`: `Data`, pandas and arrow in, the same out; otherwise polars.

    A column keeps the type that it has in `like`, where that holds its values. An Enum becomes an ordered pandas
    Categorical; whole numbers with nulls become pandas Int64. pandas gets a fresh index. An attached schema goes along
    where the type can hold one.

    >>> give_back(pl.DataFrame({"a": [1]}), like=pl.LazyFrame({"b": [2]})).columns
    ['a']
    """
    if isinstance(like, Data):
        return Data(frame)
    if is_pandas_dataframe(like):
        from confide.frames.types.pandas_columns import to_pandas

        return _with_schema(to_pandas(frame, like), schema(frame))
    if is_pyarrow_table(like):
        from confide.frames.types.arrow_columns import to_arrow

        return to_arrow(frame, like)
    return frame


def check_names(names: list[Any], what: str = "data") -> None:
    """Refuse a frame without columns, and names that are not text or not unique.

    >>> check_names(["a", "b", "a"])
    Traceback (most recent call last):
    ...
    confide.InputError: data has more than one column named "a"; rename or drop all but one.
    """
    if not names:
        raise InputError(f"{what} has no columns.")
    odd = [(i, type(n).__name__) for i, n in enumerate(names) if not isinstance(n, str)]
    if odd:
        position, kind = odd[0]
        raise InputError(
            f"{what} has {len(odd)} of {len(names)} column names that are not text (the first: column "
            f"{position}, counted from 0, is named by {kind}); rename them, for example with str."
        )
    twice = [n for n, count in Counter(names).items() if count > 1]
    if twice:
        shown = ", ".join(f'"{n}"' for n in twice)
        raise InputError(f"{what} has more than one column named {shown}; rename or drop all but one.")


def array_of(given: Any, dtype: Any = None) -> NDArray[Any]:
    """What a user gave as an array; one of a shape that nobody asks for where it is none.

    >>> array_of([1, 2]).shape, array_of([[1], [2, 3]]).shape, array_of("x", float).shape
    ((2,), (0, 0, 0), (0, 0, 0))
    """
    try:
        return np.asarray(given, dtype=dtype)
    except (ValueError, TypeError, OverflowError):  # rows of different lengths, text for numbers
        return np.zeros((0, 0, 0))


def _checked(frame: pl.DataFrame, what: str) -> pl.DataFrame:
    check_names(frame.columns, what)
    objects = [n for n, t in frame.schema.items() if t == pl.Object]
    if objects:
        raise InputError(
            f'{what}: column "{objects[0]}" holds Python objects; cast it to text, numbers or dates first.'
        )
    return frame


def _with_schema(frame: Frame, found: Schema) -> Frame:
    return attach(frame, found) if found != Schema() else frame


def _from_columns(columns: Mapping[Any, Any], what: str) -> pl.DataFrame:
    """A dict of equally long columns (lists, arrays, Series)."""
    check_names(list(columns), what)
    made = [_series(name, values, what) for name, values in columns.items()]
    lengths = {s.name: s.len() for s in made}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f'"{n}" has {k:,}' for n, k in lengths.items())
        raise InputError(f"{what} must have columns of one length: {shown}.")
    return pl.DataFrame(made)


def _series(name: str, values: Any, what: str) -> pl.Series:
    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InputError(f'{what}: column "{name}" must be a list or an array, not {type(values).__name__}.')
    if isinstance(values, (list, tuple)):
        return from_values(name, list(values), what)
    made = _try_series(name, values)
    return made if made is not None else from_values(name, list(values), what)


def from_values(name: str, values: list[Any], what: str = "data") -> pl.Series:
    """A list of Python values as one column. Types that do not go together are named, values are not.

    >>> from_values("income", [1, 2.5, None]).dtype
    Float64
    >>> from_values("income", [1, "none"])
    Traceback (most recent call last):
    ...
    confide.InputError: data: column "income" mixes values of type int and str; make them of one type.
    """
    kinds = sorted({type(v).__name__ for v in values if v is not None})
    if any(isinstance(v, float) for v in values) and set(kinds) <= {"int", "float", "float64", "int64"}:
        lost = sum(isinstance(v, (int, np.integer)) and int(float(v)) != v for v in values)
        if lost:
            raise InputError(
                f'{what}: column "{name}" has {lost:,} whole numbers beyond 2^53 beside numbers with a decimal point, '
                "which cannot hold them; make the values of one type."
            )
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    made = _try_series(name, values)
    if made is not None and not {"bool", "int"} <= set(kinds):
        return made
    if len(kinds) > 1:
        mixed = " and ".join([", ".join(kinds[:-1]), kinds[-1]])
        raise InputError(f'{what}: column "{name}" mixes values of type {mixed}; make them of one type.')
    raise InputError(f'{what}: column "{name}" holds values of type {"".join(kinds)}, which cannot be used.')


def _try_series(name: str, values: Any) -> pl.Series | None:
    """A column if polars can make one. What it says when it cannot quotes values, and is dropped here."""
    try:
        made = pl.Series(name, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return None
    return made if made.dtype != pl.Object else None


def _by_narwhals(frame: Any, what: str) -> pl.DataFrame:
    native = nw.from_native(frame, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        native = native.collect(backend="polars")
    if isinstance(native, nw.DataFrame):
        return native.to_polars()
    if hasattr(frame, "batches") and hasattr(frame, "collect"):
        raise InputError(
            f"{what} is a scan, of files larger than memory; this reads a file at once. Where memory holds it: "
            f"{what} = {what}.collect(), or some of its rows, {what}.slice(first, rows)."
        )
    file = isinstance(frame, (str, os.PathLike))
    several = file and (os.path.isdir(frame) or any(c in str(frame) for c in "*?["))
    how = 'Files that are one are scanned first: {} = cf.scan("folder").' if several else _READ
    read = f" {how.format(what)}" if file else ""
    raise InputError(f"{what} must be {_ACCEPTED}, not {type(frame).__name__}.{read}")
