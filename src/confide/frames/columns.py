"""What the rest of confide computes with: each variable as one array, with its kind.

A frame is encoded once, at the door. A *categorical* variable becomes integer codes into a tuple of levels
(-1 is missing); a *numeric* variable becomes float64 (NaN is missing). Nothing downstream reads a data frame.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError, did_you_mean
from confide.core.run.alongside import alongside
from confide.frames.types.exact import exact, from_floats, shortest, to_floats, why_not
from confide.frames.types.exact import precision as precision
from confide.frames.types.exact import rounded as rounded

Kind = Literal["categorical", "numeric"]
F64 = NDArray[np.float64]
I64 = NDArray[np.int64]
Bools = NDArray[np.bool_]

FEW = 20
"""An integer column with at most this many distinct values is taken as coded categories."""


@dataclass(frozen=True, eq=False)
class Column:
    """One variable of n records.

    `values`: float64 (numeric, NaN missing) or int64 codes into `levels` (categorical, -1 missing), shape (n,).
    `step`: the precision of a numeric variable (1 for whole numbers, 0.01 for cents, 0 for a continuum).
    `special`: numbers that stand for an answer ("refused"), left alone by numeric methods.
    `why`: how the kind was decided, for printouts.
    """

    name: str
    kind: Kind
    values: NDArray[Any]
    dtype: pl.DataType
    levels: tuple[Any, ...] = ()
    step: float = 0.0
    special: tuple[float, ...] = ()
    why: str = ""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> Bools:
        """Where the value is missing, shape (n,)."""
        if self.kind == "numeric":
            return np.asarray(np.isnan(self.values))
        return np.asarray(self.values < 0)

    @property
    def usable(self) -> Bools:
        """Where a numeric variable holds a number that is no answer code, shape (n,)."""
        return np.asarray(~(self.missing | np.isin(self.values, self.special)))

    def take(self, rows: I64) -> Column:
        """The same variable for the rows given."""
        return replace(self, values=self.values[rows])

    def codebook(self) -> Column:
        """The same variable with its distinct numbers as rows, or with its levels and no row: what codes refer to."""
        return self.with_values(np.unique(self.values[~self.missing]) if self.kind == "numeric" else self.values[:0])

    def with_values(self, values: NDArray[Any]) -> Column:
        """The same variable with other values."""
        return replace(self, values=values)

    def wide(self) -> Column:
        """The same variable as numbers of any precision: its type would round sums and means of its values."""
        if self.dtype.is_temporal() or self.dtype == pl.Float64:
            return self
        return replace(self, dtype=pl.Float64(), step=0.0)


class Records(Mapping[str, Column]):
    """Columns of equal length, by name. `rows` are positions in the file that the records were taken from, which has
    `file` records.

    `units`: the number of each record's unit (that of the unit's first row), None where units have one row each.
    `count`: how many records each one stands for, None for one each.
    """

    def __init__(
        self, columns: Iterable[Column], n: int | None = None, rows: I64 | None = None, units: I64 | None = None,
        file: int | None = None, count: F64 | None = None,
    ) -> None:  # fmt: skip
        self._columns = {c.name: c for c in columns}
        lengths = {len(c) for c in self._columns.values()}
        self.n = n if n is not None else (lengths.pop() if lengths else 0)
        self.rows = np.arange(self.n, dtype=np.int64) if rows is None else rows
        self.units = units
        self.count = count
        self.file = int(self.rows.max(initial=-1)) + 1 if file is None else file

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def take(self, rows: I64) -> Records:
        """The same variables for the rows given."""
        units = None if self.units is None else self.units[rows]
        count = None if self.count is None else self.count[rows]
        columns = (c.take(rows) for c in self._columns.values())
        return Records(columns, len(rows), self.rows[rows], units, self.file, count)

    def only(self, rows: I64) -> Records:
        """The same as `take`; where these are all rows as they stand, the very records, whose arrays are then shared:
        what was made of them is there."""
        return self if len(rows) == self.n and bool((rows == np.arange(self.n)).all()) else self.take(rows)

    def select(self, names: Iterable[str]) -> Records:
        """Only the variables named."""
        return Records((self._columns[v] for v in names), self.n, self.rows, self.units, self.file, self.count)

    @property
    def counts(self) -> F64:
        """How many records each one stands for, shape (n,)."""
        return np.ones(self.n) if self.count is None else self.count

    def count_of(self, name: str) -> F64 | None:  # noqa: ARG002 - of `Margins`
        """The same for the values of one variable; None for one each."""
        return self.count

    def replaced(self, columns: Iterable[Column]) -> Records:
        """The same records with some variables replaced or added."""
        every = (self._columns | {c.name: c for c in columns}).values()
        return Records(every, self.n, self.rows, self.units, self.file, self.count)


class Margins(Records):
    """Variables each by itself: its distinct values, and how many records have each."""

    def __init__(self, columns: Iterable[Column], counts: Mapping[str, F64], file: int) -> None:
        held = list(columns)
        first = held[0].name if held else ""
        n = len(held[0]) if held else 1
        super().__init__(held, n, file=file, count=counts[first] if held else np.array([float(file)]))
        self._counts = counts

    def count_of(self, name: str) -> F64:
        return self._counts[name]


def alike(a: Records, b: Records) -> bool:
    """Whether two files hold the same variables with the same values.

    >>> one = Records([encode_column(pl.Series("a", [1.5, 2.5]))])
    >>> alike(one, one), alike(one, one.take(np.array([1, 0])))
    (True, False)
    """
    return list(a) == list(b) and all(
        a[v].kind == b[v].kind
        and a[v].levels == b[v].levels
        and np.array_equal(a[v].values, b[v].values, equal_nan=a[v].kind == "numeric")
        for v in a
    )


def readable(frame: pl.DataFrame, name: str) -> pl.Series:
    """A column that holds numbers or categories."""
    if name not in frame.columns:
        raise InputError(f'There is no column "{name}".{did_you_mean(name, frame.columns)}')
    s = frame.get_column(name)
    if s.dtype.is_nested() or s.dtype in (pl.Object, pl.Binary):
        raise InputError(f'Column "{name}" holds {type_name(s.dtype)}, which are neither numbers nor categories.')
    return s


def encode_column(
    s: pl.Series, asked: Kind | None = None, *, labelled: bool = False, special: tuple[float, ...] = ()
) -> Column:
    """One polars series as a `Column`."""
    kind, why = (asked, "named") if asked else inferred(s, labelled)
    if kind == "categorical":
        return _categorical(s, why)
    if not (s.dtype.is_numeric() or s.dtype.is_temporal() or s.dtype in (pl.Boolean, pl.Null)):
        raise InputError(
            f'Column "{s.name}" holds {type_name(s.dtype)}, but numbers are needed there. Turn it into numbers first, '
            "or treat it as categorical."
        )
    if asked and not exact(s):
        raise InputError(why_not(s))
    values, step = to_floats(s)
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise InputError(f'Column "{s.name}" holds {infinite} infinite values: make them missing or give numbers.')
    return Column(s.name, "numeric", values, s.dtype, step=step, special=special, why=why)


def type_name(dtype: pl.DataType) -> str:
    """A column type in words; the categories of an Enum are values of the data and are not shown."""
    if isinstance(dtype, (pl.Enum, pl.Categorical)):
        return "categories"
    if dtype.is_nested():
        return "lists or structures"
    return {"String": "text", "Boolean": "true-or-false values", "Binary": "bytes", "Object": "Python objects"}.get(
        str(dtype), f"{dtype} values"
    )


def kind_of(s: pl.Series, labelled: bool = False) -> str:
    """The kind that a variable is taken for where nobody says; empty for lists and structures, which have none.

    >>> kind_of(pl.Series([1.5, 2.5])), kind_of(pl.Series([1.5, 2.5]), labelled=True), kind_of(pl.Series([[1]]))
    ('numeric', 'categorical', '')
    """
    return "" if s.dtype.is_nested() or s.dtype == pl.Binary else inferred(s, labelled)[0]


def inferred(s: pl.Series, labelled: bool, rows: int | None = None) -> tuple[Kind, str]:
    """The kind that a column's type, labels and values give it, and why; `rows`: how many it has, where the series
    holds its distinct values alone."""
    if s.dtype == pl.Boolean:
        return "categorical", "true or false"
    if isinstance(s.dtype, (pl.Enum, pl.Categorical)):
        return "categorical", "categories"
    if s.dtype in (pl.String, pl.Null):
        return "categorical", "text" if s.dtype == pl.String else "all missing"
    if labelled:
        return "categorical", "value labels"
    if not exact(s):
        return "categorical", "values that numbers would blur"
    if s.dtype.is_temporal():
        return "numeric", "dates"
    distinct = (s.fill_nan(None) if s.dtype.is_float() else s).drop_nulls().unique()
    many = len(s) if rows is None else rows
    few = len(distinct) <= FEW and (len(distinct) <= 10 or len(distinct) * 5 <= many)
    if few and len(distinct):
        whole = s.dtype.is_integer() or bool((distinct.cast(pl.Float64).round(0) == distinct).all())
        if whole:
            return "categorical", f"whole numbers, {len(distinct)} values"
    return "numeric", "numbers"


def _categorical(s: pl.Series, why: str) -> Column:
    if isinstance(s.dtype, pl.Enum):
        levels = tuple(s.dtype.categories.to_list())
        physical = s.to_physical().cast(pl.Int64).fill_null(-1)
        return Column(s.name, "categorical", physical.to_numpy().astype(np.int64), s.dtype, levels, why=why)
    plain = as_levels(s)
    unique = plain.drop_nulls().unique().sort()
    table = pl.DataFrame({"v": unique, "code": np.arange(len(unique), dtype=np.int64)})
    joined = pl.DataFrame({"v": plain}).join(table, on="v", how="left", maintain_order="left")
    codes = joined["code"].fill_null(-1).to_numpy().astype(np.int64)
    try:
        return Column(s.name, "categorical", codes, s.dtype, tuple(unique.to_list()), why=why)
    except (OverflowError, ValueError):
        raise InputError(
            f'Column "{s.name}" holds times outside the years 1 to 9999, which cannot be categories; make them missing.'
        ) from None


def as_levels(s: pl.Series) -> pl.Series:
    """Values in a form that Python tells apart as they are: whole numbers for times that it would round or merge."""
    if isinstance(s.dtype, pl.Categorical):
        return s.cast(pl.String)
    if s.dtype in (pl.Float32, pl.Float16):
        return shortest(s).fill_nan(None)
    if _counted(s.dtype):
        return s.to_physical()
    return s.fill_nan(None) if s.dtype.is_float() else s


def _counted(dtype: pl.DataType) -> bool:
    """Times whose levels are counts of their unit: nanoseconds, and local times, of which two may look the same."""
    if isinstance(dtype, pl.Datetime):
        return dtype.time_zone is not None or dtype.time_unit == "ns"
    return dtype in (pl.Time, pl.Duration)


def decode(column: Column) -> pl.Series:
    """A `Column` as a polars series of the type it came from."""
    if column.kind == "categorical":
        codes = pl.Series(column.name, column.values, dtype=pl.Int64)
        index = codes.set(codes < 0, None)
        if _counted(column.dtype):
            levels = pl.Series(column.name, list(column.levels), dtype=pl.Int64).cast(column.dtype)
        else:
            levels = pl.Series(column.name, list(column.levels), dtype=column.dtype)
        return levels.gather(index).alias(column.name)
    return from_floats(column.name, column.values, column.dtype)


def codes_in(column: Column, reference: Column) -> I64:
    """Each value's code in the reference's list of distinct values; -1 where missing or not there, shape (n,).

    For a categorical reference the list is its levels; for a numeric one its sorted distinct values.
    """
    if reference.kind == "numeric":
        if column.kind != "numeric":
            raise InputError(f'"{column.name}" is numeric in one file and categorical in the other.')
        known = np.unique(reference.values[~np.isnan(reference.values)])
        also = hashlib.blake2b(known.tobytes(), digest_size=16).digest()
        return alongside(codes_of_numbers, column.values, also=also, given=(known,))
    if column.kind == "numeric":
        column = _categorical(decode(column), column.why)
    if column.levels == reference.levels:
        return np.asarray(column.values)
    place = {level: i for i, level in enumerate(reference.levels)}
    table = np.array([place.get(level, -1) for level in column.levels] + [-1], dtype=np.int64)
    return np.asarray(table[column.values])


def codes_of_numbers(values: F64, known: F64) -> I64:
    """Position of each value in a sorted array of distinct numbers, -1 where it is not there."""
    if not len(known):
        return np.full(len(values), -1, dtype=np.int64)
    at = np.clip(np.searchsorted(known, values), 0, len(known) - 1)
    return np.where(known[at] == values, at, -1).astype(np.int64)


def combine(codes: Sequence[I64], sizes: Sequence[int]) -> I64:
    """Several codes as one dense code, in order of first variable, then second, ...; shape (n,).

    Codes lie in -1..size-1. The result is compact only through `np.unique`; callers do that.
    """
    total = np.zeros(len(codes[0]) if codes else 0, dtype=np.int64)
    span = 1
    for c, size in zip(codes, sizes, strict=True):
        width = size + 1
        if span > 2**62 // max(width, 1):
            _, total = np.unique(total, return_inverse=True)
            total = total.astype(np.int64)
            span = int(total.max()) + 1 if len(total) else 1
        total = total * width + (c + 1)
        span *= width
    return total
