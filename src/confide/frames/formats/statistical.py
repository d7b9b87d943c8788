"""SPSS, Stata and SAS files, by way of pyreadstat, with everything they say of their variables.

pyreadstat keeps user-missing codes only if asked, and writes labels, measures and missing ranges only if
each is repeated: both are done here, and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from confide.frames.formats.statistical_out import save
from confide.frames.schema import Code, Missing, Schema, VariableSchema

__all__ = ["labelled", "load", "names", "save"]

_EXACT = 2**53  # above it a double no longer holds every whole number
_LETTER = re.compile(r"^[a-zA-Z_]$")  # extended missing values: Stata .a to .z, SAS also .A to .Z and ._


def names(source: Path, suffix: str) -> list[str]:
    """The names of the variables of a file, without reading its values.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pl.DataFrame({"sex": [1, 2]}), Path(folder) / "a.dta", ".dta", Schema())
    ...     names(Path(folder) / "a.dta", ".dta")
    ['sex']
    """
    return list(_reader(suffix)(str(source), metadataonly=True, output_format="polars")[1].column_names)


def load(source: Path, suffix: str, columns: list[str] | None = None) -> tuple[pl.DataFrame, Schema]:
    """The values and the schema of a file: extended missing values null, user-missing codes as values.

    >>> import tempfile
    >>> coded = Schema({"sex": VariableSchema("sex", missing=(9,))})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pl.DataFrame({"sex": [1, 9]}), Path(folder) / "a.sav", ".sav", coded)
    ...     frame, found = load(Path(folder) / "a.sav", ".sav")
    >>> frame["sex"].to_list(), found.variable("sex").missing
    ([1, 9], (9,))
    """
    options: dict[str, Any] = {"usecols": columns} if columns is not None else {}
    frame, meta = _reader(suffix)(str(source), user_missing=True, output_format="polars", **options)
    kinds = meta.readstat_variable_types
    frame = pl.DataFrame([_tidy(s, kinds.get(s.name) == "string") for s in frame])
    variables = {s.name: _variable(s, meta) for s in frame}
    notes = tuple(str(n) for n in meta.notes or ())
    return frame, Schema(variables, meta.file_label or None, notes)


def labelled(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Each variable whose every value has a label, as an Enum of the labels in the order of the codes.

    >>> s = Schema({"sex": VariableSchema("sex", value_labels={2: "female", 1: "male"})})
    >>> labelled(pl.DataFrame({"sex": [2, 1, None]}), s)["sex"].to_list()
    ['female', 'male', None]
    """
    return frame.with_columns(_labelled(s, schema.variable(s.name).value_labels) for s in frame)


def _reader(suffix: str) -> Any:
    import pyreadstat

    return {
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
    }[suffix]


def _tidy(values: pl.Series, text: bool) -> pl.Series:
    """Letters and empty text to null, whole doubles to Int64, and a type for a column of nulls."""
    if values.dtype == pl.Object:
        numbers = [None if isinstance(v, str) else v for v in values]
        values = pl.Series(values.name, numbers, dtype=pl.Float64, strict=False)
    if values.dtype == pl.Null:
        return values.cast(pl.String if text else pl.Float64)
    if values.dtype == pl.String:
        return values.set(values == "", None)
    return _whole(values) if values.dtype == pl.Float64 else values


def _whole(values: pl.Series) -> pl.Series:
    values = values.fill_nan(None)
    present = values.drop_nulls()
    whole = present.len() > 0 and ((present == present.round()) & (present.abs() <= _EXACT)).all()
    return values.cast(pl.Int64) if whole else values


def _variable(values: pl.Series, meta: Any) -> VariableSchema:
    name = values.name
    labels = meta.variable_value_labels.get(name, {})
    measure = meta.variable_measure.get(name)
    return VariableSchema(
        name=name,
        label=meta.column_names_to_labels.get(name) or None,
        value_labels={_code(code): str(label) for code, label in labels.items()},
        missing=_missing(name, meta, labels, values.dtype != pl.String),
        measure=measure if measure != "unknown" else None,
        format=meta.original_variable_types.get(name),
    )


def _missing(name: str, meta: Any, labels: Mapping[Any, str], number: bool) -> tuple[Missing, ...]:
    """SPSS ranges, then letters: those met in the data, and those that have a label."""
    ranges: Iterable[Mapping[str, Any]] = meta.missing_ranges.get(name, ())
    found = [_one_or_range(_code(r["lo"]), _code(r["hi"])) for r in ranges]
    letters = {str(c) for c in meta.missing_user_values.get(name) or ()}
    if number:
        letters |= {c for c in labels if isinstance(c, str) and _LETTER.match(c)}
    return (*found, *sorted(letters))


def _one_or_range(low: Code, high: Code) -> Missing:
    if low == high or isinstance(low, str) or isinstance(high, str):
        return low
    return low, high


def _code(code: Any) -> Code:
    """A code as the file means it: 1.0 is 1."""
    if isinstance(code, float) and math.isfinite(code) and code.is_integer() and abs(code) <= _EXACT:
        return int(code)
    return code if isinstance(code, (int, float, str)) else str(code)


def _labelled(values: pl.Series, labels: Mapping[Code, str]) -> pl.Series:
    text = values.dtype == pl.String
    fitting = {c: label for c, label in labels.items() if isinstance(c, str) == text}
    codes = sorted(fitting, key=lambda c: (isinstance(c, str), c))
    present = set(values.drop_nulls().unique().to_list()) if values.dtype.is_numeric() or text else None
    if not codes or present is None or not present <= set(codes) or len({*fitting.values()}) < len(codes):
        return values
    return values.replace_strict(codes, [fitting[c] for c in codes], return_dtype=pl.Enum([fitting[c] for c in codes]))
