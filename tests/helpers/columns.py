"""Columns compared field by field, and every encoding counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

from confide.frames import columns
from confide.frames.columns import Column, Records, encode_column


def same(found: Column, wanted: Column) -> bool:
    """Whether two columns agree in every field, types of values included."""
    plain = [f.name for f in fields(Column) if f.name != "values"]
    return (
        all(getattr(found, name) == getattr(wanted, name) for name in plain)
        and [type(v) for v in found.levels] == [type(v) for v in wanted.levels]
        and found.values.dtype == wanted.values.dtype
        and np.array_equal(found.values, wanted.values, equal_nan=wanted.kind == "numeric")
    )


def encode(frame: pl.DataFrame, names: Any = None, categorical: Any = (), numeric: Any = ()) -> Records:
    """Columns of a frame as arrays, of the kinds given."""
    kinds: Any = dict.fromkeys(categorical, "categorical") | dict.fromkeys(numeric, "numeric")
    return Records((encode_column(frame[v], kinds.get(v)) for v in names or frame.columns), n=frame.height)


def tried(s: pl.Series, kind: Any, **more: Any) -> Column | str:
    """A column, or what is wrong with it."""
    try:
        return encode_column(s, kind, **more)
    except columns.InputError as e:
        return str(e)


@contextmanager
def counted(original: pl.DataFrame) -> Iterator[Counter[tuple[str, str, str]]]:
    """Encodings made by anybody: how often each (file, variable, kind) was; a file that is not the original is another."""
    found: Counter[tuple[str, str, str]] = Counter()

    def noting(kind: str, make: Any) -> Any:
        def noted(s: pl.Series, *more: Any) -> Any:
            own = s.name in original.columns and s.equals(original[s.name], check_dtypes=True)
            found["original" if own else "other", s.name, kind] += 1
            return make(s, *more)

        return noted

    with (
        mock.patch.object(columns, "_categorical", noting("categorical", columns._categorical)),
        mock.patch.object(columns, "to_floats", noting("numeric", columns.to_floats)),
    ):
        yield found
