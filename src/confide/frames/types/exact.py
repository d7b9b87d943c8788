"""Numbers that float64 holds exactly, on the way in and on the way out.

Numeric variables are computed with as float64, which tells whole numbers apart up to 2^53 and holds every decimal of 15
digits. A column that needs more is no numeric variable: it is refused, or handled as categories, whose values are
moved and compared as they stand.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError

F64 = NDArray[np.float64]

WHOLE = 2**53
"""The largest whole number up to which float64 holds all."""
DIGITS = 15
"""Every decimal with so many digits comes back from float64."""
_SMALL = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32, pl.Date)
SHORT = (pl.Float32, pl.Float16)


def exact(s: pl.Series) -> bool:
    """Whether float64 distinguishes every value of a column of numbers or times, and gives it back.

    >>> exact(pl.Series([2**53])), exact(pl.Series([2**53 + 1]))
    (True, False)
    """
    if s.dtype in _SMALL or not (s.dtype.is_integer() or s.dtype.is_temporal() or s.dtype.is_decimal()):
        return True
    if s.dtype.is_decimal():
        return _unscaled(s) is not None
    return _largest(s.to_physical()) <= WHOLE


def why_not(s: pl.Series) -> str:
    """What a column holds that float64 does not, and what to do about it, as a sentence."""
    if isinstance(s.dtype, (pl.Datetime, pl.Duration)):
        unit = s.dtype.time_unit
        what = f"times that are more than 2^53 {unit} from their origin"
        do = f'Cast it to a coarser unit than "{unit}" first'
    elif s.dtype.is_decimal():
        what, do = f"decimals of more than {DIGITS} digits", "Round it or cast it to Float64 first"
    else:
        what, do = "whole numbers beyond 2^53", "Subtract a constant or divide it first"
    return (
        f'Column "{s.name}" holds {what}, with which nothing can be computed exactly. {do}, or let it be categorical: '
        "its values are then moved and compared as they stand."
    )


def to_floats(s: pl.Series) -> tuple[F64, float]:
    """The values of an `exact` column as float64 (NaN is missing), and their decimal unit, 0 for a continuum.

    32-bit and 16-bit numbers are read as the shortest decimals that stand for them: 0.1 is 0.1.

    >>> to_floats(pl.Series([0.1, None], dtype=pl.Float32))[0].tolist()
    [0.1, nan]
    """
    if s.dtype.is_decimal():
        whole, digits = _unscaled(s) or (s, 0)
        return _array(whole) / 10.0**digits, 10.0**-digits
    if s.dtype in SHORT:
        values = _array(shortest(s))
        gap = np.finfo(np.float32 if s.dtype == pl.Float32 else np.float16).eps * np.nanmax(np.abs(values), initial=0.0)
        step = precision(values)
        return values, step if step >= gap else 0.0
    values = _array(s.to_physical() if s.dtype.is_temporal() else s)
    return values, 1.0 if s.dtype.is_integer() or s.dtype.is_temporal() else precision(values)


def shortest(s: pl.Series) -> pl.Series:
    """32-bit or 16-bit numbers as Float64: the shortest decimals that become the same numbers again."""
    if s.dtype == pl.Float32:
        return s.cast(pl.String).cast(pl.Float64)
    known = s.drop_nulls().unique()
    return s.cast(pl.Float64).replace(known.cast(pl.Float64), [float(str(x)) for x in known.to_numpy()])


def from_floats(name: str, values: F64, dtype: pl.DataType) -> pl.Series:
    """Float64 as a column of the type given, or of a wider one where values have left its range.

    Multiples of a decimal unit that 32 bits would blur become Float64; other numbers are rounded to 32 bits.

    >>> from_floats("a", np.array([1.5, np.nan]), pl.Decimal(5, 2)).to_list()
    [Decimal('1.50'), None]
    """
    if dtype == pl.Int64 and (whole := _as_whole(values)) is not None:
        return pl.Series(name, whole)
    s = pl.Series(name, values).fill_nan(None)
    if dtype.is_integer() or dtype.is_temporal():
        return whole_back(s, dtype)
    if dtype.is_decimal():
        return decimal_back(s, dtype)
    if dtype in SHORT:
        narrow = s.cast(dtype)
        same = shortest(narrow).eq_missing(s).all()
        blurred = bool(narrow.is_infinite().any()) or (not same and _decimal(values))
        return s if blurred else narrow
    if dtype == pl.Boolean and s.drop_nulls().is_in([0.0, 1.0]).all():
        return s.cast(pl.Boolean)
    return s.cast(pl.Null) if dtype == pl.Null and s.null_count() == len(s) else s


def _as_whole(values: F64) -> NDArray[np.int64] | None:
    """Whole numbers that float64 tells apart, none missing, as such; None for others."""
    if not len(values) or not max(-float(values.min()), float(values.max())) <= WHOLE:
        return None
    whole = values.astype(np.int64)
    return whole if np.array_equal(whole, values) else None


def precision(values: F64) -> float:
    """The decimal unit that all values are multiples of: 1, 0.1, ... 1e-6; 0 where there is none.

    >>> precision(np.array([1.25, 2.5])), precision(np.array([1.0, 7.0])), precision(np.array([np.pi]))
    (0.01, 1.0, 0.0)
    """
    v = values[~np.isnan(values)]
    for digits in range(7):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = v * 10.0**digits
            off = np.abs(scaled - np.round(scaled))  # NaN where a large number has overflowed
        if np.all(off <= 1e-9 * np.maximum(1.0, np.abs(scaled))):
            return float(10.0**-digits)
    return 0.0


def rounded(values: F64, step: float) -> F64:
    """Numbers at a precision: multiples of the step; as they are for a continuum (0).

    >>> rounded(np.array([1.234, 2.0]), 0.01)
    array([1.23, 2.  ])
    """
    if not step:
        return values
    if step == 1.0:
        return nearest(values)
    digits = max(0, round(-np.log10(step)))
    return np.asarray(np.round(nearest(values / step) * step, digits))


def nearest(values: F64) -> F64:
    """The nearest whole numbers, halves upwards; from 2^52 on every float64 is one.

    >>> nearest(np.array([0.5, 2.0**52 + 1])) - [0, 2.0**52]
    array([1., 1.])
    """
    return np.where(np.abs(values) < WHOLE / 2, np.floor(values + 0.5), values)


def near_whole(values: F64, within: float = 5e-10) -> F64:
    """The same numbers, those that a computation left beside a whole number put onto it.

    >>> near_whole(np.array([0.3 / 0.1, 2.5])).tolist()
    [3.0, 2.5]
    """
    whole = np.rint(values)
    return np.where(np.abs(values - whole) <= within, whole, values)


def _decimal(values: F64) -> bool:
    """Whether numbers are multiples of a decimal unit, to the last digit."""
    step = precision(values)
    return step > 0 and np.array_equal(np.round(values, round(-math.log10(step))), values, equal_nan=True)


def fits(values: F64, dtype: pl.DataType) -> bool:
    """Whether a column of this type gives all these numbers back as they are.

    >>> fits(np.array([1.0, np.nan]), pl.Int64()), fits(np.array([1.5]), pl.Int64())
    (True, False)
    """
    try:
        back = from_floats("", values, dtype)
    except InputError:
        return False
    return exact(back) and np.array_equal(to_floats(back)[0], values, equal_nan=True)


def blurred(level: Any) -> bool:
    """Whether float64 may take this number for another one; words are no numbers.

    >>> blurred(2**53 + 1), blurred(2**53), blurred("a")
    (True, False, False)
    """
    if isinstance(level, Decimal):
        return len(level.normalize().as_tuple().digits) > DIGITS
    return isinstance(level, int) and abs(level) > WHOLE


def number_text(x: float, within: float) -> str:
    """A number in as few digits as leave it where it is, give or take `within`; 10 are enough for most.

    >>> number_text(0.1 + 0.2, 1e-6), number_text(12345678901.0, 1e-6)
    ('0.3', '12345678901')
    """
    for digits in (10, DIGITS):
        text = f"{x:.{digits}g}"
        if abs(float(text) - x) <= within:
            return text
    return repr(float(x))


def _array(s: pl.Series) -> F64:
    values = s.cast(pl.Float64).to_numpy(writable=True)
    if s.null_count():
        values[s.is_null().to_numpy()] = np.nan
    return values


def _largest(s: pl.Series) -> int:
    """The largest absolute value of a column of whole numbers; 0 where there is none."""
    return max(abs(int(s.min() or 0)), abs(int(s.max() or 0)))  # type: ignore[arg-type]


def _unscaled(s: pl.Series) -> tuple[pl.Series, int] | None:
    """Decimals as whole numbers over a power of ten, without common zeros at the end; None where too long."""
    assert isinstance(s.dtype, pl.Decimal)
    whole, digits = s.to_physical(), s.dtype.scale or 0
    ten = pl.lit(10, dtype=pl.Int128)
    while digits:
        tenth = whole.to_frame("v").select(v=pl.col("v") // ten, zero=(pl.col("v") // ten) * ten == pl.col("v"))
        if not tenth["zero"].all():
            break
        whole, digits = tenth["v"], digits - 1
    return None if _largest(whole) > 10**DIGITS or digits > 22 else (whole, digits)


def whole_back(s: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Whole numbers, of a wider type where they have left the range of this one."""
    whole = s.round(0)
    if len(s) and float(whole.abs().max() or 0.0) > WHOLE:  # type: ignore[arg-type]
        raise InputError(
            f'"{s.name}": altered values lie beyond 2^53, where whole numbers can no longer be distinguished. Divide '
            "the column first, or alter it less."
        )
    whole = whole.cast(pl.Int64)
    try:
        return whole.cast(dtype)
    except pl.exceptions.PolarsError:
        if dtype.is_integer():
            return whole  # a wider type: values left the range of the original one
        raise InputError(
            f'"{s.name}": altered values leave the range of {dtype} values. Give bounds, or alter it less.'
        ) from None


def decimal_back(s: pl.Series, dtype: pl.DataType, top: float | None = None) -> pl.Series:
    """Decimals of the same scale, exact where they have up to 15 digits. `top`: the largest there are, where the series
    is a part of them."""
    assert isinstance(dtype, pl.Decimal)
    scale, top = dtype.scale or 0, float(s.abs().max() or 0.0) if top is None else top  # type: ignore[arg-type]
    room = DIGITS if top == 0 else math.floor(DIGITS - math.log10(top) + 1e-12)
    for precision in (dtype.precision, 38):
        try:
            return s.cast(pl.Decimal(38, max(0, min(scale, room, 22)))).cast(pl.Decimal(precision, scale))
        except pl.exceptions.PolarsError:
            continue
    raise InputError(f'"{s.name}": altered values leave the range of decimals with {scale} places; alter it less.')
