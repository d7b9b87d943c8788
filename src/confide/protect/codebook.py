"""What a release names: the categories that occur in it, and the others only where the codebook is public.

A list of categories is data too. After `Sample`, or after a swap out of a small file, it may name an answer that
nobody released has, and so tell that somebody in the original gave it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import I64
from confide.frames.encoded import Encoded
from confide.frames.schema import Code, Missing, Schema, VariableSchema

MANY = 50
"""Categories from which their order may give away that of the records."""
FIRST = 10_000
"""Rows in which all categories are sought before the whole column is counted."""
ALIKE = 0.8
"""The rank correlation of two orders that counts as one following the other."""


def only_occurring(frame: pl.DataFrame, public: Collection[str] = (), original: Encoded | None = None) -> pl.DataFrame:
    """Each Enum with the categories that occur, in their order; as they are in variables whose codebook is public.

    A long list that was made while the `original` was read is in the order of its records, and is sorted.

    >>> kind = pl.Enum(["north", "east", "south"])
    >>> frame = pl.DataFrame({"region": pl.Series(["south", "north", None], dtype=kind)})
    >>> only_occurring(frame)["region"].dtype.categories.to_list()
    ['north', 'south']
    >>> only_occurring(frame, ["region"])["region"].dtype.categories.to_list()
    ['north', 'east', 'south']
    """
    return pl.DataFrame([s if s.name in public else _cut(s, _kind(s, original)) for s in frame])


def _cut(values: pl.Series, kind: pl.DataType) -> pl.Series:
    """The same values with the categories of another type."""
    if values.dtype == kind:
        return values
    if not isinstance(kind, pl.Enum) or not isinstance(values.dtype, pl.Enum):
        return values.cast(kind)
    here = set(kind.categories.to_list())
    table = [c if c in here else None for c in values.dtype.categories.to_list()]
    return pl.Series(values.name, table, dtype=kind).gather(values.to_physical())


def _kind(values: pl.Series, original: Encoded | None) -> pl.DataType:
    kind, v = _occurring(values), values.name
    if not isinstance(kind, pl.Enum) or original is None or v not in original.frame.columns:
        return kind
    told = original.remembered(("follows rows", v), [v], lambda: follows_rows(original.frame.get_column(v)))
    return pl.Enum(kind.categories.sort()) if told else kind


def follows_rows(values: pl.Series) -> bool:
    """Whether many categories are listed in the order in which records first have them, or nearly so.

    >>> names = [f"town {i * 37 % 101}" for i in range(101)]
    >>> towns = pl.Series(names, dtype=pl.Enum(names))
    >>> follows_rows(towns), follows_rows(towns.cast(pl.String).cast(pl.Enum(sorted(names))))
    (True, False)
    """
    if not isinstance(values.dtype, pl.Enum) or len(values.dtype.categories) <= MANY:
        return False
    codes = values.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    first = np.full(len(values.dtype.categories) + 1, -1)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes the last counts: the first row that has it
    return listed_by_rows(first[:-1][first[:-1] >= 0])


def listed_by_rows(first: I64) -> bool:
    """The same, from the first row that has each category, in the order of categories."""
    if len(first) <= MANY:
        return False
    places = np.argsort(np.argsort(first))
    return bool(np.corrcoef(places, np.arange(len(places)))[0, 1] > ALIKE)


def _occurring(values: pl.Series) -> pl.DataType:
    """The type with fewer categories, also inside lists and structures."""
    kind = values.dtype
    if isinstance(kind, pl.Enum):
        names = kind.categories.to_list()
        codes = (values.drop_nulls() if values.null_count() else values).to_physical().to_numpy()
        count = np.bincount(codes[:FIRST], minlength=len(names))
        if not count.all():
            count = np.bincount(codes, minlength=len(names))
        return kind if count.all() else pl.Enum([c for c, n in zip(names, count, strict=True) if n])
    if isinstance(kind, pl.List):
        return pl.List(_occurring(values.explode()))
    if isinstance(kind, pl.Array):
        return pl.Array(_occurring(values.explode()), kind.size)
    if isinstance(kind, pl.Struct):
        return pl.Struct({s.name: _occurring(s) for s in values.struct.unnest()})
    return kind


def schema_of_occurring(held: Schema, frame: pl.DataFrame, public: Collection[str] = ()) -> Schema:
    """Labels and missing codes of values that occur; as they are in variables whose codebook is public.

    A code, or its label where the column holds labels, must be in the data. A range of missing codes stays where a
    value lies in it; Stata's letters, which stand for nothing in the data, go.

    >>> region = VariableSchema("region", value_labels={1: "north", 2: "east"}, missing=(9, (90, 99)))
    >>> found = schema_of_occurring(Schema({"region": region}), pl.DataFrame({"region": [1, 95]}))
    >>> dict(found.variable("region").value_labels), found.variable("region").missing
    ({1: 'north'}, ((90, 99),))
    """
    kept = {
        n: v if n in public or n not in frame.columns else _variable(v, frame.get_column(n))
        for n, v in held.variables.items()
    }
    return replace(held, variables=kept)


def _variable(held: VariableSchema, values: pl.Series) -> VariableSchema:
    shown = held.format if values.dtype.is_numeric() else None  # that of text is the length of the longest
    if values.dtype.is_nested() or not (held.value_labels or held.missing):
        return replace(held, format=shown)
    present = set(values.drop_nulls().unique().to_list())
    named = isinstance(values.dtype, (pl.Enum, pl.Categorical))
    labels: dict[Code, str] = {
        c: t
        for c, t in held.value_labels.items()
        if c in present or ((named or not isinstance(c, str)) and t in present)
    }
    missing: tuple[Missing, ...] = tuple(m for m in held.missing if _occurs(m, present))
    return replace(held, value_labels=labels, missing=missing, format=shown)


def _occurs(missing: Missing, present: set[Any]) -> bool:
    if not isinstance(missing, tuple):
        return missing in present
    low, high = missing
    return any(isinstance(v, (int, float)) and low <= v <= high for v in present)
