"""What a guess of a variable's role reads: its words, its type, how many values it has and how they repeat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.frames.columns import F64, inferred
from confide.frames.cut import quantiles
from confide.frames.roles.words import words_of
from confide.frames.schema import Schema

FEW_ROWS = 20
"""Rows below which different values say nothing: in a file of ten everybody may have an age of their own."""
WRITTEN = r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))$"
"""Dates as text: the year first, or last."""


@dataclass(frozen=True)
class Facts:
    """Of one variable: `kind` is empty where it holds lists or bytes. `distinct`: how many values it has, missing not
    among them. `present`: rows with a value. `positive`, `whole`: of numbers, whether all are above 0, and whole.
    `middle`: of numbers, those below which a twentieth, a half and nineteen twentieths lie. `written`: whether text
    holds dates.
    """

    name: str
    label: str
    kind: str
    dtype: pl.DataType
    rows: int
    distinct: int
    present: int
    positive: bool
    whole: bool
    middle: tuple[float, float, float] | None = None
    written: bool = False

    @property
    def missing(self) -> int:
        """Rows without a value."""
        return self.rows - self.present

    @property
    def name_words(self) -> list[str]:
        """The words of its name."""
        return words_of(self.name)

    @property
    def label_words(self) -> list[str]:
        """The words of its label."""
        return words_of(self.label)

    @property
    def different(self) -> bool:
        """Whether no two of many rows have the same value."""
        return self.distinct == self.present > FEW_ROWS

    @property
    def dates(self) -> bool:
        """Whether it holds dates, also as text."""
        return self.dtype.is_temporal() or self.written

    @property
    def number(self) -> bool:
        """Whether it holds numbers, whatever its kind."""
        return self.dtype.is_numeric()


def facts_of(frame: pl.DataFrame, schema: Schema) -> list[Facts]:
    """The facts of every variable, in the order of the file.

    >>> [(f.distinct, f.missing) for f in facts_of(pl.DataFrame({"a": [1, 1, None], "b": ["x", "y", "z"]}), Schema())]
    [(1, 1), (3, 0)]
    """
    return [_facts(s, schema) for s in frame]


def counted_facts(s: pl.Series, schema: Schema, count: F64, rows: int) -> Facts:
    """The facts of a variable of which the different values are known, the missing one among them, and how many rows of
    so many have each.

    >>> counted_facts(pl.Series("a", [1, 2, None]), Schema(), np.array([3.0, 1.0, 2.0]), 6).present
    4
    """
    return _facts(s, schema, count, rows)


def _facts(s: pl.Series, schema: Schema, count: F64 | None = None, of: int | None = None) -> Facts:
    said, rows = schema.variable(s.name), len(s) if of is None else of
    each = np.ones(len(s)) if count is None else count
    label = said.label or ""
    if s.dtype.is_nested() or s.dtype in (pl.Binary, pl.Object):
        return Facts(s.name, label, "", s.dtype, rows, 0, int(each[s.is_not_null().to_numpy()].sum()), False, False)
    codes = schema.missing_codes(s.name, s) if s.name in schema.variables else ()
    plain = _values(s)
    each, seen = each[plain.is_not_null().to_numpy()], plain.drop_nulls()
    number = s.dtype.is_numeric()
    declared = [c for c in codes if isinstance(c, str) != number]
    if declared:
        kept = ~seen.is_in(pl.Series(declared).cast(seen.dtype, strict=False).drop_nulls().implode())
        each, seen = each[kept.to_numpy()], seen.filter(kept)
    whole = number and (s.dtype.is_integer() or bool((seen == seen.round(0)).all()))
    labelled = bool(set(said.value_labels) - set(codes))
    kind = inferred(s, labelled, of)[0]
    positive = number and len(seen) > 0 and float(seen.min()) > 0  # type: ignore[arg-type]
    return Facts(
        s.name, label, kind, s.dtype, rows, seen.n_unique(), int(each.sum()), positive, whole,
        _middle(seen, each, number), written(seen),
    )  # fmt: skip


def _middle(seen: pl.Series, each: F64, number: bool) -> tuple[float, float, float] | None:
    if not number or not len(seen):
        return None
    x = seen.cast(pl.Float64).to_numpy()
    order = np.argsort(x)
    low, half, high = quantiles(x[order], each[order], [0.05, 0.5, 0.95])
    return float(low), float(half), float(high)


def written(values: pl.Series) -> bool:
    """Whether all of a variable's text is dates.

    >>> written(pl.Series(["2022-01-12", None, "2023-11-02"])), written(pl.Series(["31.12.1999"]))
    (True, True)
    >>> written(pl.Series(["2022-01", "I21.0"])), written(pl.Series([20220112]))
    (False, False)
    """
    there = values.drop_nulls()
    return there.dtype == pl.String and len(there) > 0 and bool(there.str.strip_chars().str.contains(WRITTEN).all())


def _values(s: pl.Series) -> pl.Series:
    if s.dtype.is_decimal():
        return s.cast(pl.Float64)
    return s.fill_nan(None) if s.dtype.is_float() else s
