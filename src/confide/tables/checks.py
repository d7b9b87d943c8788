"""Counts, structural zeros and levels as they come from a user, checked and brought into one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.frames.types.exact import shortest
from confide.tables.layout import Bools, Ints

MOST_CELLS = 50_000_000


def text_of(value: Any) -> str:
    """A level as text, the same from any frame: true, not True; 1, not 1.0."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (float, np.floating)) and float(value).is_integer() and abs(float(value)) < 2**53:
        return str(int(value))
    return str(value)


def text_column(column: pl.Series) -> pl.Series:
    """A column of levels as text, as `text_of` has it. Missing values stay missing."""
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.drop_nulls()
        if bool((whole.is_finite() & (whole == whole.round()) & (whole.abs() < 2**53)).all()):
            column = column.cast(pl.Int64)
    if column.dtype == pl.Time and bool((column.to_physical() % 10**9 != 0).any()):
        return column.dt.to_string("iso")  # a cast leaves out parts of a second
    if column.dtype == pl.Float16:
        column = shortest(column)
    return column.cast(pl.String)


def checked_counts(array: Any, what: str = "A table of counts") -> Ints:
    """Whole numbers from 0 upwards, whatever type they come in."""
    try:
        counts = np.asarray(array)
    except (TypeError, ValueError):
        raise InputError(f"{what} needs a regular array of whole numbers: its rows have different lengths.") from None
    if counts.dtype.kind not in "iufb" or counts.dtype.kind == "b":
        raise InputError(f"{what} needs whole numbers, but the array holds {_kind(counts)}.")
    if not counts.size:
        raise InputError(f"{what} needs at least one cell; the array is empty.")
    if counts.size > MOST_CELLS:
        raise InputError(f"{what} of {counts.size:,} cells is too large; at most {MOST_CELLS:,} are possible.")
    if counts.dtype.kind == "f":
        if not np.all(np.isfinite(counts)):
            raise InputError(
                f"{what} needs whole numbers, but {int((~np.isfinite(counts)).sum()):,} are missing or infinite."
            )
        if np.any(counts != np.round(counts)):
            raise InputError(
                f"{what} needs whole numbers, but {int((counts != np.round(counts)).sum()):,} are fractions; "
                "weighted or rounded totals are no counts."
            )
    if np.any(counts < 0):
        raise InputError(f"{what} cannot hold negative numbers, but {int((counts < 0).sum()):,} are.")
    if np.any(counts > 2**40):
        raise InputError(f"{what} cannot hold counts above 2^40.")
    out = np.array(counts, dtype=np.int64, order="C")
    out.setflags(write=False)
    return out


def _kind(counts: Any) -> str:
    return {"b": "booleans", "O": "objects", "U": "text", "S": "text", "c": "complex numbers"}.get(
        counts.dtype.kind, str(counts.dtype)
    )


def checked_structural(mask: Any, counts: Ints, shape: tuple[int, ...]) -> Bools:
    """Where a combination is impossible; every count there must be 0. `counts` may have areas in front."""
    if mask is None:
        return np.zeros(shape, dtype=bool)
    try:
        zeros = np.asarray(mask)
    except ValueError:
        zeros = np.zeros(0)
    if zeros.dtype != bool or zeros.shape != shape:
        raise InputError(
            f"structural is an array of booleans of shape {shape}, True where a combination is impossible."
        )
    if np.any(counts[..., zeros]):
        raise InputError("A cell marked as structural zero has people in it: mark impossible combinations only.")
    return zeros.copy()


TOTALS = frozenset({"all", "sum", "total", "totals"})


def check_no_totals(counts: Ints, names: tuple[str, ...], levels: tuple[tuple[str, ...], ...]) -> None:
    """Refuse a level that is called a total and is one: its people would be counted twice."""
    for axis, (name, labels) in enumerate(zip(names, levels, strict=True)):
        for k, label in enumerate(labels):
            if label.strip().lower() in TOTALS and len(labels) > 1:
                own = np.take(counts, k, axis=axis)
                if own.any() and np.array_equal(2 * own, counts.sum(axis=axis)):
                    raise InputError(
                        f'The level "{label}" of "{name}" is the sum of the others, so that people would be counted '
                        "twice; leave totals out, publish(margins=...) makes them."
                    )


def crosstab_labels(frame: Any, names: Any, levels: Any) -> tuple[Any, Any]:
    """Names and levels of a table that pandas.crosstab made, where they are not given."""
    sides = (frame.index, frame.columns)
    if any(side.nlevels > 1 for side in sides):
        raise InputError("A crosstab of more than two variables has joined labels; use Table.of(frame, by=[...]).")
    if names is None:
        names = [f"v{k + 1}" if side.name is None else str(side.name) for k, side in enumerate(sides)]
    if levels is None:
        levels = [[text_of(v) for v in side] for side in sides]
    return names, levels


def checked_keys(keys: Any, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
    """Keys of cells as they come from a user."""
    if keys is None:
        return None
    try:
        values = np.asarray(keys, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != shape or np.any(~(values >= 0)) or np.any(values >= 1):
        raise InputError(f"keys is an array of shape {shape} with numbers in [0, 1), one per cell.")
    return values
