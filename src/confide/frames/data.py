"""A frame and what is known of its variables, as one value that no operation takes apart."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.frames.operations import Operations
from confide.frames.schema import Schema, attach
from confide.frames.schema import schema as schema_of
from confide.frames.shown import codebook, left_behind, shown, shown_html


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Data(Operations):
    """A file of records with its schema: labels, kinds and user-missing codes go wherever the records go.

    `frame` is polars, pandas, arrow, a dict of columns or another `Data`. What `schema` says of a variable replaces
    what was known of it; variables that it does not name keep theirs. `cf.read` returns a `Data` for files that
    carry labels or user-missing codes. `refusal` says why the data must not be published; it is empty where they may.

    Operations are those of polars, take the same arguments and return a new `Data`. Rows come and go with the schema
    as it is. A variable that is replaced keeps all that is said of it, one that is copied or renamed takes it along,
    and a new one has none. **A user-missing code never becomes a value**: where `with_columns` or `select` would
    compute a number from one, they refuse; make the codes null first (`missing_to_null`). What else polars can do is
    done after `to_polars`.

    >>> import confide as cf
    >>> income = cf.VariableSchema("income", label="Yearly income", missing=(9999,))
    >>> data = cf.Data({"income": [1200, 9999, 400], "sex": ["f", "m", "m"]}, cf.Schema({"income": income}))
    >>> data.filter(pl.col("sex") == "m").rename({"income": "pay"}).schema.variable("pay").missing
    (9999,)
    >>> data.with_columns(pl.col("income") / 1000)
    Traceback (most recent call last):
    confide.InputError: with_columns: "income" would be computed from user-missing codes in 1 of 3 rows, as if they \
were values. Make them null first, with data.missing_to_null(...), or leave the schema with data.to_polars().
    """

    _frame: pl.DataFrame
    schema: Schema
    refusal: str

    def __init__(self, frame: object, schema: Schema | None = None) -> None:
        from confide.frames.door import to_polars
        from confide.frames.marks import why_withheld

        if schema is not None and not isinstance(schema, Schema):
            raise InputError(
                f"schema must be a cf.Schema, not {type(schema).__name__}; for example "
                'cf.Schema({"income": cf.VariableSchema("income", missing=(9999,))}).'
            )
        bare = to_polars(frame).clone()
        for name in () if schema is None else schema.variables:
            if name not in bare.columns:
                raise InputError(
                    f'schema describes "{name}", which is no column of the data.{did_you_mean(name, bare.columns)} '
                    "For a part of a file: schema.select(names)."
                )
        held = schema_of(frame).select(bare.columns)
        self._set(bare, held if schema is None else held.updated(schema), why_withheld(frame))

    def _set(self, frame: pl.DataFrame, schema: Schema, refusal: str) -> None:
        for name, value in {"_frame": frame, "schema": schema, "refusal": refusal}.items():
            object.__setattr__(self, name, value)

    def _made(self, frame: pl.DataFrame, schema: Schema | None = None, refusal: str = "") -> Self:
        made = object.__new__(type(self))
        found = self.schema if schema is None else schema
        made._set(frame, found.select(frame.columns), self.refusal or refusal)
        return made

    @property
    def columns(self) -> list[str]:
        """The names of the variables."""
        return self._frame.columns

    @property
    def dtypes(self) -> list[pl.DataType]:
        """The polars types of the variables."""
        return self._frame.dtypes

    @property
    def height(self) -> int:
        """The number of records."""
        return self._frame.height

    @property
    def width(self) -> int:
        """The number of variables."""
        return self._frame.width

    @property
    def shape(self) -> tuple[int, int]:
        """Records and variables."""
        return self._frame.shape

    def __len__(self) -> int:
        return self._frame.height

    def __iter__(self) -> Iterator[pl.Series]:
        return iter(self._frame)

    def __contains__(self, name: object) -> bool:
        return name in self._frame.columns

    def __getitem__(self, name: str) -> pl.Series:
        if not isinstance(name, str):
            raise InputError('data["age"] gives one column; use select for several, and slice or filter for rows.')
        if name not in self.columns:
            raise InputError(f'There is no column "{name}".{did_you_mean(name, self.columns)}')
        return self._frame.get_column(name)

    def get_column(self, name: str) -> pl.Series:
        """One variable as a polars Series, user-missing codes among its values.

        >>> Data({"age": [31, 42]}).get_column("age").to_list()
        [31, 42]
        """
        return self[name]

    def codebook(self) -> pl.DataFrame:
        """What is known of each variable: its label, its kind, its values in words, the codes that mean missing.

        >>> import confide as cf
        >>> sex = cf.VariableSchema("sex", "Sex", {1: "male", 2: "female"}, missing=(9,))
        >>> cf.Data({"sex": [1, 2]}, cf.Schema({"sex": sex})).codebook().row(0)
        ('sex', 'Sex', 'categorical', '1 male; 2 female', '9')
        """
        return codebook(self._frame, self.schema)

    @property
    def left_behind(self) -> str:
        """What `to_polars` leaves behind, in a sentence; empty where it is nothing.

        >>> import confide as cf
        >>> print(cf.Data({"age": [99]}, cf.Schema({"age": cf.VariableSchema("age", missing=(99,))})).left_behind)
        to_polars leaves behind: user-missing codes of "age", from then on values like any other. \
To put it back: cf.Data(frame, data.schema).
        """
        return left_behind(self.schema)

    def to_polars(self) -> pl.DataFrame:
        """The bare polars frame. **Labels, kinds by labels and user-missing codes are left behind.**

        A code is a number like any other from then on, and gets noise like one. `left_behind` says what stays; on a
        terminal and in a notebook that is printed, once, and elsewhere nothing is. `cf.Data(frame, data.schema)` puts
        it back.

        >>> Data({"age": [31, 42]}).to_polars().height
        2
        """
        from confide.frames.marks import withhold

        if self.left_behind and (hasattr(sys, "ps1") or sys.stderr.isatty()):
            _say(self.left_behind)
        bare = self._frame.clone()
        return withhold(bare, self.refusal) if self.refusal else bare

    def to_pandas(self) -> Any:
        """A pandas frame that holds the schema in its `attrs`, where confide finds it again.

        pandas keeps `attrs` in most operations, but not in all of them, and does not follow new names.

        >>> import confide as cf
        >>> frame = cf.Data({"age": [31]}, cf.Schema({"age": cf.VariableSchema("age", missing=(99,))})).to_pandas()
        >>> cf.Data(frame[frame["age"] > 30]).schema.variable("age").missing
        (99,)
        """
        from confide.frames.marks import withhold
        from confide.frames.types.pandas_columns import to_pandas

        made = attach(to_pandas(self._frame), self.schema)
        return withhold(made, self.refusal) if self.refusal else made

    def equals(self, other: object) -> bool:
        """Whether another frame has the same values, names and types; another `Data` also the same schema.

        >>> Data({"age": [31]}).equals(Data({"age": [32]}))
        False
        """
        if isinstance(other, Data):
            return self._frame.equals(other._frame) and self.schema == other.schema
        return isinstance(other, pl.DataFrame) and self._frame.equals(other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(pl.DataFrame, name):
            raise AttributeError(f"'Data' object has no attribute {name!r}")
        raise AttributeError(
            f"Data has no {name}: labels and user-missing codes would be lost. Leave them behind by an explicit call: "
            f"data.to_polars().{name}"
        )

    def __repr__(self) -> str:
        return shown(self._frame, self.schema)

    def _repr_html_(self) -> str:
        return shown_html(self._frame, self.schema)


@functools.cache
def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
