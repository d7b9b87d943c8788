"""Two files' values of one variable: brought to one form, so that equal values are equal, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import polars as pl

from confide.core.errors import InputError
from confide.frames.columns import Column, Kind, encode_column, type_name
from confide.frames.types.exact import SHORT, blurred, exact


def encode_like(s: pl.Series, model: Column, made: Callable[[pl.Series, Kind], Column] = encode_column) -> Column:
    """Another file's values of a variable: of the same kind, precision and answer codes, whichever values it happens
    to hold (names of intervals depend on the precision). `made` encodes a series, or knows what that gives."""
    words = model.kind == "categorical" and any(isinstance(v, str) for v in model.levels)
    numbers = model.kind == "categorical" and any(isinstance(v, (int, float, Decimal)) for v in model.levels)
    given_words = s.dtype == pl.String or isinstance(s.dtype, (pl.Enum, pl.Categorical))
    if s.null_count() < len(s) and ((words and not given_words) or (numbers and given_words)):
        raise InputError(
            f'"{s.name}" holds {type_name(s.dtype)}, but the original file has {"words" if words else "number codes"} '
            "there, so that nothing could match. Give both files the same codes."
        )
    s = _as_narrow(in_unit(s, model.dtype), model)
    return replace(same_numbers(s, made(s, model.kind), model), step=model.step, special=model.special)


def _as_narrow(s: pl.Series, model: Column) -> pl.Series:
    """Numbers beside a file of 32-bit numbers: what that file would hold of them."""
    if model.dtype in SHORT and s.dtype.is_numeric():
        return s.cast(model.dtype, strict=False)
    if s.dtype in SHORT and model.dtype == pl.Float64 and model.kind == "numeric" and not model.step:
        raise _apart(s, "numbers of more digits")
    return s


def in_unit(s: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Times in the unit of another column, so that equal times are equal numbers; a column of anything else as it is.

    >>> in_unit(pl.Series([1], dtype=pl.Datetime("ms")), pl.Datetime("us")).to_physical().to_list()
    [1000]
    """
    if s.dtype == dtype or not (s.dtype.is_temporal() or dtype.is_temporal()) or s.null_count() == len(s):
        return s
    days = (pl.Date, pl.Datetime)
    alike = s.dtype.base_type() == dtype.base_type() or (s.dtype in days and dtype in days)
    zones = [getattr(t, "time_zone", None) is not None for t in (s.dtype, dtype)]
    made = s.cast(dtype, strict=False) if alike and zones[0] == zones[1] else None
    if made is None or not made.cast(s.dtype).eq_missing(s).all():
        raise _apart(s, f"{dtype} values")
    return made


def same_numbers(s: pl.Series, found: Column, model: Column) -> Column:
    """An encoded column with its levels as numbers of the model's type: 0.1 is 0.1, as a decimal and as a float."""
    if found.kind != "categorical" or model.kind != "categorical":
        return found
    decimals = any(isinstance(v, Decimal) for v in model.levels)
    if s.dtype.is_float():
        if any(blurred(v) for v in model.levels):
            raise _apart(s, "decimals of more than 15 digits" if decimals else "whole numbers beyond 2^53")
        return replace(found, levels=tuple(Decimal(repr(v)) for v in found.levels)) if decimals else found
    if s.dtype.is_decimal() and any(isinstance(v, float) for v in model.levels):
        if not exact(s):
            raise _apart(s, "floating-point numbers")
        return replace(found, levels=tuple(float(v) for v in found.levels))
    return found


def _apart(s: pl.Series, held: str) -> InputError:
    return InputError(
        f'"{s.name}" holds {type_name(s.dtype)}, which cannot be compared exactly with the {held} of the original '
        "file. Give both files the same type."
    )
