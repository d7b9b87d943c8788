"""What a file says about its variables: labels, user-missing codes, measures.

SPSS, Stata and SAS files carry more than values. `Data` holds both as one value; a bare polars frame has no room for
it. Inside confide, and by `attach`, a schema may hang on one very frame: every polars operation returns a new one
without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

import polars as pl
from narwhals.dependencies import is_pandas_dataframe

from confide.core.errors import InputError, did_you_mean

Code: TypeAlias = int | float | str
Missing: TypeAlias = Code | tuple[float, float]
Frame = TypeVar("Frame")

_ATTRIBUTE = "_confide_schema"  # on a polars frame
_ATTRS_KEY = "confide_schema"  # in the attrs of a pandas frame, as a plain dict (pandas writes attrs as JSON)


@dataclass(frozen=True)
class VariableSchema:
    """One variable: its label, the labels of its codes, the codes that mean "missing".

    `missing` holds single codes and closed ranges `(low, high)`, either end of which may be infinite.
    For a number read from Stata it holds the letters of its extended missing values ("a" for `.a`), which
    are null in the frame.

    >>> VariableSchema("age", label="Age in years", missing=(99,)).missing
    (99,)
    """

    name: str
    label: str | None = None
    value_labels: Mapping[Code, str] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    measure: str | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        text = (self.label, self.measure, self.format)
        labels = self.value_labels.items() if isinstance(self.value_labels, Mapping) else [(None, None)]
        if (
            not isinstance(self.name, str)
            or not all(t is None or isinstance(t, str) for t in text)
            or not all(isinstance(c, (int, float, str)) and isinstance(t, str) for c, t in labels)
            or not isinstance(self.missing, tuple)
            or not all(_is_missing(m) for m in self.missing)
        ):
            raise InputError(
                "VariableSchema: name, label, measure and format are text, value_labels is a dict of codes and their "
                "labels, missing a tuple of codes and of ranges (low, high)."
            )


def _is_missing(code: object) -> bool:
    ends = code if isinstance(code, tuple) and len(code) == 2 else None
    return isinstance(code, (int, float, str)) or (ends is not None and all(isinstance(e, (int, float)) for e in ends))


@dataclass(frozen=True)
class Schema:
    """The variables of a file by name, its label and its notes.

    >>> s = Schema({"sex": VariableSchema("sex", value_labels={1: "male", 2: "female"})})
    >>> s.variable("sex").value_labels[2]
    'female'
    >>> s.rename({"sex": "gender"}).select(["gender"]).variables["gender"].name
    'gender'
    """

    variables: Mapping[str, VariableSchema] = field(default_factory=dict)
    file_label: str | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        variables = self.variables.items() if isinstance(self.variables, Mapping) else [(None, None)]
        if (
            not all(isinstance(v, VariableSchema) and isinstance(n, str) for n, v in variables)
            or not (self.file_label is None or isinstance(self.file_label, str))
            or not (isinstance(self.notes, tuple) and all(isinstance(n, str) for n in self.notes))
        ):
            raise InputError(
                "Schema: variables is a dict of names and their VariableSchema, file_label is text, notes a tuple of "
                "texts."
            )

    def variable(self, name: str) -> VariableSchema:
        """What is known of one variable; an empty `VariableSchema` if nothing is.

        >>> Schema().variable("age").label is None
        True
        """
        return self.variables.get(name) or VariableSchema(name)

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of these variables only, in this order; names it does not know are passed over.

        >>> list(Schema({"a": VariableSchema("a"), "b": VariableSchema("b")}).select(["b", "z"]).variables)
        ['b']
        """
        return replace(self, variables={n: self.variables[n] for n in names if n in self.variables})

    def rename(self, names: Mapping[str, str]) -> Schema:
        """The schema with variables renamed, old name to new.

        >>> list(Schema({"a": VariableSchema("a")}).rename({"a": "b"}).variables)
        ['b']
        """
        moved = [replace(v, name=names.get(n, n)) for n, v in self.variables.items()]
        return replace(self, variables={v.name: v for v in moved})

    def updated(self, other: Schema) -> Schema:
        """This schema with what another says of its variables, of the file and its notes.

        >>> Schema({"a": VariableSchema("a")}).updated(Schema({"a": VariableSchema("a", "A")})).variable("a").label
        'A'
        """
        return Schema(
            {**self.variables, **other.variables}, other.file_label or self.file_label, other.notes or self.notes
        )

    def coded(self, values: pl.Series) -> pl.Series:
        """Where a column holds a code that is declared missing.

        >>> Schema({"age": VariableSchema("age", missing=(-1, (97, 99)))}).coded(pl.Series("age", [30, 98])).to_list()
        [False, True]
        """
        declared = self.variable(values.name).missing
        if values.dtype == pl.String:
            return values.is_in([m for m in declared if isinstance(m, str)]).fill_null(False)
        found = pl.repeat(False, len(values), eager=True)
        for code in declared if values.dtype.is_numeric() else ():
            if not isinstance(code, str):
                low, high = code if isinstance(code, tuple) else (code, code)
                found |= values.cast(pl.Float64).is_between(low, high).fill_null(False)
        return found

    def missing_codes(self, name: str, values: Iterable[Any]) -> tuple[Code, ...]:
        """The codes of `name` that are declared missing: single codes, then values that fall in a range.

        `values` are the values present (a column, or its distinct values); nulls among them are passed over.

        >>> s = Schema({"age": VariableSchema("age", missing=(-1, (97, 99)))})
        >>> s.missing_codes("age", [30, 98, 31, 97, None])
        (-1, 97, 98)
        """
        declared = self.variable(name).missing
        codes: dict[Code, None] = dict.fromkeys(m for m in declared if not isinstance(m, tuple))
        ranges = [m for m in declared if isinstance(m, tuple)]
        if not ranges:
            return tuple(codes)
        present = values.unique().to_list() if isinstance(values, pl.Series) else set(values)
        numbers = sorted(v for v in present if isinstance(v, (int, float)) and not math.isnan(v))
        return tuple(codes | dict.fromkeys(v for v in numbers if any(lo <= v <= hi for lo, hi in ranges)))


def attach(frame: Frame, schema: Schema) -> Frame:
    """Set the schema on this very frame (polars, or pandas in its `attrs`) and return the same frame.

    Any polars operation, `clone` included, returns a new frame without it. `Data(frame, schema)` cannot lose it.

    >>> frame = attach(pl.DataFrame({"a": [1]}), Schema(file_label="A survey"))
    >>> schema(frame).file_label, schema(frame.head(1)).file_label
    ('A survey', None)
    """
    from confide.frames.data import Data

    if isinstance(frame, Data):
        return type(frame)(frame, schema)
    if isinstance(frame, pl.DataFrame):
        setattr(frame, _ATTRIBUTE, schema)
    elif is_pandas_dataframe(frame):
        frame.attrs[_ATTRS_KEY] = schema_to_dict(schema)
    else:
        raise InputError(f"A schema can be attached to a polars or a pandas DataFrame, not to {type(frame).__name__}.")
    return frame


def schema(frame: object) -> Schema:
    """The schema of a `Data`, or the one attached to a frame, or an empty one.

    >>> schema(pl.DataFrame({"a": [1]}))
    Schema(variables={}, file_label=None, notes=())
    """
    if is_pandas_dataframe(frame):
        stored = frame.attrs.get(_ATTRS_KEY)
        return schema_from_dict(stored) if stored else Schema()
    found = getattr(frame, _ATTRIBUTE if isinstance(frame, pl.DataFrame) else "schema", None)
    return found if isinstance(found, Schema) else Schema()


def schema_to_dict(schema: Schema) -> dict[str, Any]:
    """A schema as plain dicts and lists that JSON can hold. Codes keep their types; an infinite end is None.

    >>> schema_to_dict(Schema({"a": VariableSchema("a", value_labels={1: "one"}, missing=(9,))}))["variables"]
    [{'name': 'a', 'value_labels': [[1, 'one']], 'missing': [9]}]
    """
    out: dict[str, Any] = {"variables": [_variable_to_dict(v) for v in schema.variables.values()]}
    if schema.file_label:
        out["file_label"] = schema.file_label
    if schema.notes:
        out["notes"] = list(schema.notes)
    return out


def schema_from_dict(stored: Mapping[str, Any]) -> Schema:
    """The schema that `schema_to_dict` wrote; anything else is refused.

    >>> s = Schema({"a": VariableSchema("a", missing=(9, (float("-inf"), -1)))}, notes=("first",))
    >>> schema_from_dict(schema_to_dict(s)) == s
    True
    """
    try:
        variables = [_variable_from_dict(v) for v in stored.get("variables", ())]
        label = stored.get("file_label")
        notes = tuple(str(n) for n in stored.get("notes", ()))
    except InputError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError) as cause:
        raise InputError("This is not a stored schema; it is written by schema_to_dict.") from cause
    return Schema({v.name: v for v in variables}, label, notes)


_FIELDS = ("name", "label", "value_labels", "missing", "measure", "format")


def _variable_to_dict(v: VariableSchema) -> dict[str, Any]:
    ends = [[None if math.isinf(e) else e for e in m] if isinstance(m, tuple) else m for m in v.missing]
    labels = [[code, label] for code, label in v.value_labels.items()]
    values = (v.name, v.label, labels, ends, v.measure, v.format)
    return {k: value for k, value in zip(_FIELDS, values, strict=True) if value not in (None, [])}


def _variable_from_dict(stored: Mapping[str, Any]) -> VariableSchema:
    if unknown := [k for k in stored if k not in _FIELDS]:
        raise InputError(f'"{unknown[0]}" is not a part of a stored variable.{did_you_mean(unknown[0], _FIELDS)}')
    missing = tuple(_range(m) if isinstance(m, (list, tuple)) else m for m in stored.get("missing", ()))
    return VariableSchema(
        name=str(stored["name"]),
        label=stored.get("label"),
        value_labels={code: str(label) for code, label in stored.get("value_labels", ())},
        missing=missing,
        measure=stored.get("measure"),
        format=stored.get("format"),
    )


def _range(ends: Iterable[float | None]) -> tuple[float, float]:
    lo, hi = ends
    return (-math.inf if lo is None else lo), (math.inf if hi is None else hi)
