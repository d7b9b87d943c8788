"""A file whose columns are made into arrays once each, when they are first asked for, and kept beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError, raise_all
from confide.frames.columns import F64, I64, Column, Kind, Records, encode_column, inferred, precision, readable
from confide.frames.comparing import encode_like, in_unit
from confide.frames.door import to_polars
from confide.frames.doubts import code_like
from confide.frames.schema import Schema, schema

T = TypeVar("T")
Seeds = Callable[[str, Kind], Column | None]
MOST = 1_000_000
"""Values of a file that are looked at to tell whether they are codes, where it is known by its distinct rows."""


class Encoded:
    """A file, and what was made of its columns so far. Threads may share one; its arrays are for reading only.

    `frame`: the file. `schema`: what it says of labels and answer codes. `seeds`: a column of the same rows and values
    that was made before, perhaps with levels that no row has; None where there is none. `count`: how many rows of a
    larger file each row stands for, None for one.

    Codes are kept in the smallest integers that hold them, and given out as int64; arrays that are in use are shared.

    >>> file = Encoded(pl.DataFrame({"sex": ["f", "m", "f"], "age": [31, 42, 57]}))
    >>> file.column("sex").levels, file.column("age", "numeric").values is file.column("age", "numeric").values
    (('f', 'm'), True)
    """

    def __init__(
        self, frame: pl.DataFrame, schema: Schema | None = None, seeds: Seeds | None = None,
        count: F64 | None = None,
    ) -> None:  # fmt: skip
        self.frame, self.schema, self._seeds, self._count = frame, schema or Schema(), seeds, count
        self._memory: dict[Any, tuple[frozenset[str], Any]] = {}
        self._used: WeakValueDictionary[tuple[str, Kind], NDArray[Any]] = WeakValueDictionary()
        self._lock = RLock()

    @classmethod
    def of(cls, data: Any, what: str = "data") -> Encoded:
        """A caller's frame of any type, which the caller may go on changing; one that is encoded stays as it is."""
        return data if isinstance(data, cls) else cls(to_polars(data, what).clone(), schema(data))

    @property
    def count(self) -> F64 | None:
        """How many rows of a larger file each row stands for, None for one."""
        return self._count

    @property
    def rows(self) -> int:
        """Rows of the file that it stands for."""
        return self.frame.height if self._count is None else int(self._count.sum())

    def each(self, values: F64) -> F64:
        """What all rows of that file have together for which a row here stands that has these numbers."""
        return values if self._count is None else values * self._count

    def total(self, values: Any) -> float:
        """The sum over the rows of that file of what each row here has, true counting as 1."""
        return float(np.sum(self.each(np.asarray(values))))

    def __getstate__(self) -> tuple[pl.DataFrame, Schema, None, F64 | None]:
        """Arrays are made again from the file."""
        return self.frame, self.schema, None, self._count

    def __setstate__(self, state: tuple[pl.DataFrame, Schema, None, F64 | None]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    @cached_property
    def types(self) -> Mapping[str, pl.DataType]:
        """The type of each column."""
        return dict(self.frame.schema)

    def remembered(self, key: Any, variables: Iterable[str], make: Callable[[], T]) -> T:
        """What `make` gave when it was first asked; it reads the variables named, and no others."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = frozenset(variables), make()
            found: T = self._memory[key][1]
            return found

    def column(self, name: str, kind: Kind | None = None) -> Column:
        """A variable as an array, of the kind asked for, or of the one that its labels, type and values give it."""
        with self._lock:
            chosen, why = (kind, "named") if kind else self._inferred(name)
            held = self.remembered(("column", name, chosen), [name], lambda: narrow(self._made(name, chosen)))
            values = self._used.get((name, chosen))
            if values is None:
                # A view: numpy adds to an array in place where it counts one reference, and does not count weak ones.
                values = held.values.astype(np.int64)[:] if chosen == "categorical" else held.values
                self._used[name, chosen] = values
            return replace(held, values=values, why=why)

    def doubt(self, name: str) -> str:
        """What is to be asked about a variable that would be taken as a number: whether it holds codes; else empty."""
        if not self.types[name].is_numeric() or (name in self.schema.variables and self._answers(name)[1]):
            return ""
        return self.remembered(("doubt", name), [name], lambda: code_like(self._repeated(self.column(name, "numeric"))))

    def _repeated(self, column: Column) -> Column:
        """A column of distinct rows with each value as often as its share of the larger file asks for."""
        if self._count is None:
            return column
        often = np.ceil(self._count * min(1.0, MOST / max(self._count.sum(), 1.0))).astype(np.int64)
        return column.with_values(np.repeat(column.values, often))

    def records(self, names: Iterable[str], kinds: Mapping[str, Kind]) -> Records:
        """Several variables, of the kinds given; what is wrong with any of them is said at once."""
        return gathered(names, lambda v: self.column(v, kinds.get(v)), self.frame.height)

    def like(self, name: str, model: Column) -> Column:
        """A variable in the form of another file's."""
        s = self.frame.get_column(name)
        return encode_like(s, model, lambda seen, kind: self._of(name, s, seen, kind))

    def in_unit(self, name: str, kind: Kind, dtype: pl.DataType) -> Column:
        """A variable of the kind asked for; times in the unit of another column."""
        s = readable(self.frame, name)
        return self._of(name, s, in_unit(s, dtype), kind)

    def replaced(self, values: pl.Series) -> Encoded:
        """The same file with other values of one variable."""
        found = Encoded(self.frame.with_columns(values), self.schema)
        found._memory = {k: x for k, x in self._memory.copy().items() if values.name not in x[0]}
        return found

    def taken(self, rows: I64) -> Encoded:
        """Some of the rows."""
        return Encoded(self.frame[rows], self.schema, lambda v, kind: self.column(v, kind).take(rows))

    def _of(self, name: str, s: pl.Series, seen: pl.Series, kind: Kind) -> Column:
        """What encoding a series gives, which may be the file's own or another form of it."""
        return self.column(name, kind) if seen is s else encode_column(seen, kind)

    def _inferred(self, name: str) -> tuple[Kind, str]:
        rows = None if self._count is None else int(self._count.sum())
        return self.remembered(
            ("kind", name), [name], lambda: inferred(readable(self.frame, name), self._answers(name)[1], rows)
        )

    def _answers(self, name: str) -> tuple[tuple[float, ...], bool]:
        """Numbers that stand for an answer, and whether other values have labels."""
        if name not in self.schema.variables:
            return (), False
        codes = self.schema.missing_codes(name, self.frame.get_column(name))
        labelled = bool(set(self.schema.variables[name].value_labels) - set(codes))
        return tuple(float(c) for c in codes if isinstance(c, (int, float))), labelled

    def _made(self, name: str, kind: Kind) -> Column:
        s = readable(self.frame, name)
        special = self._answers(name)[0] if kind == "numeric" else ()
        try:
            seed = None if self._seeds is None else self._seeds(name, kind)
        except InputError:  # what is wrong may be in rows that are not here
            seed = None
        found = None if seed is None else cut(seed, s)
        return encode_column(s, kind, special=special) if found is None else replace(found, special=special)


def gathered(names: Iterable[str], make: Callable[[str], Column], n: int) -> Records:
    """Columns made one by one; what is wrong with any of them is said at once."""
    columns, problems = [], []
    for v in names:
        try:
            columns.append(make(v))
        except InputError as e:
            problems.append(str(e))
    raise_all(problems)
    return Records(columns, n=n)


def cut(column: Column, values: pl.Series) -> Column | None:
    """What encoding a series gives, from a column of the same rows and values: levels that no row has are left out.

    None where only the series can tell: it is of another type, or of one whose precision depends on the rows.

    >>> pets = encode_column(pl.Series("pet", ["cat", "dog", "eel"]))
    >>> cut(pets.take(np.array([2, 0])), pl.Series("pet", ["eel", "cat"])).levels
    ('cat', 'eel')
    """
    if column.dtype != values.dtype:
        return None
    if isinstance(values.dtype, pl.Enum):
        return replace(column, why="named") if column.levels == tuple(values.dtype.categories) else None
    if column.kind == "numeric":
        whole = values.dtype.is_integer() or values.dtype.is_temporal()
        if not whole and values.dtype != pl.Float64:
            return None
        return replace(column, step=1.0 if whole else precision(column.values), why="named")
    try:
        if not all(a < b for a, b in pairwise(column.levels)):
            return None
    except TypeError:
        return None
    there = np.bincount(np.add(column.values, 1, dtype=np.int64), minlength=len(column.levels) + 1)[1:] > 0
    place = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
    levels = tuple(level for level, kept in zip(column.levels, there, strict=True) if kept)
    return replace(column, values=place[column.values], levels=levels, why="named")


def narrow(column: Column) -> Column:
    """Codes in the smallest integers that hold them."""
    if column.kind == "numeric":
        return column
    return column.with_values(column.values.astype(np.min_scalar_type(-max(len(column.levels), 1))))
