"""From the columns of a frame to cells: levels, positions, counts; checked here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from narwhals.dependencies import is_pandas_dataframe
from numpy.typing import NDArray

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.columns import type_name
from confide.frames.door import to_polars
from confide.tables.checks import MOST_CELLS, checked_counts, text_column, text_of
from confide.tables.layout import Ints

MISSING = "missing"


def records(frame: Any) -> pl.DataFrame:
    """A frame of records as polars. Categories of pandas, also of numbers or intervals, keep their order as text."""
    if is_pandas_dataframe(frame):
        for name in frame.columns:
            categories = getattr(frame[name].dtype, "categories", None)
            if categories is not None:
                texts = [text_of(c) for c in categories]
                frame = frame.assign(**{name: frame[name].cat.rename_categories(texts)})
    return to_polars(frame, "The frame")


def checked_by(by: Any, columns: Sequence[str]) -> list[str]:
    """The names of the variables to cross, each a column and each once."""
    if isinstance(by, str):
        raise InputError(f'by is a list of variables; for one write by=["{by}"].')
    if not isinstance(by, Iterable) or any(not isinstance(n, str) for n in by):
        raise InputError('by is a list of names of variables, as ["sex", "age"].')
    names = list(by)
    if not names:
        raise InputError("by names no variable; a table needs at least one.")
    raise_all(f'There is no column "{n}".{did_you_mean(n, columns)}' for n in names if n not in columns)
    if len(set(names)) < len(names):
        raise InputError("by names a variable twice.")
    return names


def checked_levels(levels: Any, names: Sequence[str]) -> Mapping[str, Sequence[object]]:
    """Levels that were named for some variables, each once."""
    if levels is None:
        return {}
    if not isinstance(levels, Mapping):
        raise InputError('levels is a dict of lists, as {"sex": ["m", "f"]}.')
    wrong = []
    for name, given in levels.items():
        if name not in names:
            wrong.append(f'There are levels for "{name}", no variable of the table.{did_you_mean(str(name), names)}')
        elif isinstance(given, str) or not isinstance(given, Iterable):
            wrong.append(f'The levels of "{name}" must be a list.')
        elif len({text_of(v) for v in given}) < len(list(given)):
            wrong.append(f'A level of "{name}" is listed twice.')
    raise_all(wrong)
    return levels


def coded_column(column: pl.Series, levels: Sequence[object] | None, name: str) -> tuple[list[str], Ints]:
    """The levels of a column, and the position of each record's level. Missing values come last."""
    column = column.fill_nan(None) if column.dtype.is_float() else column
    dtype = column.dtype
    if dtype.is_nested() or dtype in (pl.Duration, pl.Object, pl.Binary):
        raise InputError(f'"{name}" holds {dtype.base_type().__name__} values, which cannot be levels of a table.')
    if len(column) and column.null_count() == len(column) and levels is None and not isinstance(dtype, pl.Enum):
        raise InputError(f'"{name}" has only missing values, so there is no table by it.')
    texts = text_column(column)
    if levels is not None:
        found = [text_of(v) for v in levels]
    elif isinstance(dtype, pl.Enum):
        found = dtype.categories.to_list()
    else:
        found = _in_order(column)
    if texts.null_count():
        if MISSING in found and levels is None:
            raise InputError(
                f'"{name}" has missing values and a level called "{MISSING}", which is what they would be called; '
                "rename it."
            )
        found = found if MISSING in found else [*found, MISSING]
        texts = texts.fill_null(MISSING)
    known = set(found)
    strange = set(texts.unique().to_list()) - known
    if strange:
        raise InputError(f'{len(strange)} values of "{name}" are not among its levels; list every level that occurs.')
    if not found:
        raise InputError(f'"{name}" has no values, so there is no table by it.')
    codes = texts.replace_strict(found, list(range(len(found))), return_dtype=pl.Int64).to_numpy()
    return found, codes.astype(np.int64)


def _in_order(column: pl.Series) -> list[str]:
    """The values that occur, numbers by size and everything else by its text."""
    values = column.drop_nulls().unique()
    values = values.sort() if values.dtype.is_numeric() or values.dtype.is_temporal() else values.cast(pl.String).sort()
    return [str(v) for v in text_column(values).to_list()]


def crossed(coded: Sequence[tuple[list[str], Ints]], names: Sequence[str]) -> tuple[tuple[int, ...], Ints]:
    """The shape of the table, and each record's cell."""
    shape = tuple(len(v) for v, _ in coded)
    if np.prod([float(s) for s in shape]) > MOST_CELLS:
        widest = names[int(np.argmax(shape))]
        raise InputError(
            f"The table would have more than {MOST_CELLS:,} cells, most of them by "
            f'"{widest}" with {max(shape):,} levels: recode it into classes, or leave a variable out.'
        )
    if not len(coded[0][1]):
        raise InputError("The frame has no rows, so there is nothing to count.")
    return shape, np.ravel_multi_index([c for _, c in coded], shape).astype(np.int64)


def count_column(data: pl.DataFrame, count: str) -> NDArray[np.float64]:
    """The counts of a tidy frame, checked."""
    if count not in data.columns:
        raise InputError(
            f'There is no column "{count}" of counts.{did_you_mean(count, data.columns)} '
            "For a frame of records use Table.of."
        )
    column = data[count]
    if not data.height:
        raise InputError("The frame has no rows, so there is nothing to count.")
    if not column.dtype.is_numeric():
        raise InputError(
            f'The column "{count}" holds {type_name(column.dtype)}, not numbers; are there signs such as "1,234" or '
            '"<5" in it?'
        )
    if column.null_count():
        raise InputError(f'{column.null_count():,} counts in "{count}" are missing; write 0 where nobody is.')
    return checked_counts(column.to_numpy(), f'The column "{count}"').astype(np.float64)
