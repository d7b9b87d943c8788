"""Writing SPSS and Stata files: what they can hold, and every label repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.errors import InputError, raise_all
from confide.frames.schema import Code, Missing, Schema, VariableSchema
from confide.frames.types.exact import DIGITS, exact, to_floats

_EXACT = 2**53
_NAME = {"SPSS": re.compile(r"^[^\W\d_][\w.@#$]*$"), "Stata": re.compile(r"^[^\W\d]\w*$")}
_LONGEST = {"SPSS": 64, "Stata": 32}
_LETTER = re.compile(r"^[a-z]$")
_NUMBER_FORMAT = {  # display formats that suit a number; any other is left to the writer
    "SPSS": re.compile(r"^(F|E|N|COMMA|DOT|DOLLAR|PCT)\d"),
    "Stata": re.compile(r"^%-?0?\d*[.,]\d+[efg]c?$"),
}


def save(frame: pl.DataFrame, target: Path, suffix: str, schema: Schema) -> None:
    """Write `.sav`, `.zsav` or `.dta` with the schema's labels, missing codes, measures and formats.

    SPSS holds numeric and text missing codes, Stata the letters of extended missing values: what the
    other format declared as missing stays in the data, with its label, but is no longer declared.

    >>> import tempfile
    >>> labels = Schema({"sex": VariableSchema("sex", value_labels={1: "male", 2: "female"})})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pl.DataFrame({"sex": [1, 2]}), Path(folder) / "a.sav", ".sav", labels)
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['a.sav']
    """
    program = "Stata" if suffix == ".dta" else "SPSS"
    raise_all([*_bad_names(frame.columns, program), *_bad_values(frame, program)])
    pairs = [_stored(s, schema.variable(s.name)) for s in frame]
    out = pl.DataFrame([s for s, _ in pairs])
    variables = [_fitting(v, s.dtype, program) for s, v in pairs]
    if program == "SPSS":
        raise_all(_too_many_missing(variables))
    try:
        _write(out, target, suffix, schema, variables)
    except Exception as cause:
        kind = type(cause).__name__  # its message may quote a value
        why = f"a value cannot be held, or the disk is full ({kind})"
        raise InputError(f"The data could not be written for {program}: {why}. No unfinished file is left.") from None


def _write(frame: pl.DataFrame, target: Path, suffix: str, schema: Schema, variables: list[VariableSchema]) -> None:
    import pyreadstat

    common: dict[str, Any] = {
        "file_label": schema.file_label or "",
        "column_labels": {v.name: v.label for v in variables if v.label},
        "variable_value_labels": {v.name: dict(v.value_labels) for v in variables if v.value_labels},
        "variable_format": {v.name: v.format for v in variables if v.format},
    }
    declared = {v.name: v.missing for v in variables if v.missing}
    if suffix == ".dta":
        # pyreadstat takes letters only beside Python objects
        objects = [pl.Series(n, frame[n].to_list(), dtype=pl.Object) for n in declared]
        letters = {n: [str(m) for m in missing] for n, missing in declared.items()}
        pyreadstat.write_dta(frame.with_columns(objects), str(target), missing_user_values=letters, **common)
        return
    pyreadstat.write_sav(
        frame,
        str(target),
        compress=suffix == ".zsav",
        note=list(schema.notes) or None,
        missing_ranges={n: [_range(m) for m in missing] for n, missing in declared.items()},
        variable_measure={v.name: v.measure for v in variables if v.measure},
        **common,
    )


def _range(missing: Missing) -> Any:
    return {"lo": missing[0], "hi": missing[1]} if isinstance(missing, tuple) else missing


def _bad_names(names: list[str], program: str) -> list[str]:
    longest = _LONGEST[program]
    wrong = [
        f'{program} cannot hold a column named "{n}": a name starts with a letter, has letters, digits and '
        f"_ only, and at most {longest} characters; rename it."
        for n in names
        if not _NAME[program].match(n) or len(n.encode()) > longest
    ]
    lower: dict[str, str] = {}
    for n in names if program == "SPSS" else ():
        if n.lower() in lower:
            wrong.append(f'SPSS takes "{lower[n.lower()]}" and "{n}" for the same name; rename one.')
        lower[n.lower()] = n
    return wrong


def _bad_values(frame: pl.DataFrame, program: str) -> list[str]:
    wrong = []
    for s in frame:
        kind = s.dtype
        if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
            wrong.append(f'{program} cannot hold column "{s.name}" of type {kind}; drop or cast it.')
        elif kind.is_integer() and _largest(s) > _EXACT:
            wrong.append(f'{program} cannot hold the whole numbers beyond 2^53 in column "{s.name}"; cast it to text.')
        elif kind.is_decimal() and not exact(s):
            wrong.append(
                f'{program} cannot hold the decimals of more than {DIGITS} digits in column "{s.name}"; cast it to '
                "text."
            )
        elif kind.is_temporal() and _lost_times(s):
            wrong.append(
                f'{program} cannot hold the times in column "{s.name}", which differ by less than a microsecond or by '
                "their zone only; round them, or cast them to UTC or to text."
            )
        elif kind.is_float() and s.is_infinite().any():
            wrong.append(f'{program} cannot hold the infinite numbers in column "{s.name}"; make them null.')
    return wrong


def _stored(values: pl.Series, variable: VariableSchema) -> tuple[pl.Series, VariableSchema]:
    """The column in a type that both formats hold, and the schema with the labels of its levels."""
    kind = values.dtype
    if isinstance(kind, (pl.Enum, pl.Categorical)):
        return _coded(values, variable)
    if kind.is_integer() or kind == pl.Boolean:
        return values.cast(pl.Int64), variable
    if kind.is_numeric():
        return pl.Series(values.name, to_floats(values)[0]).fill_nan(None), variable
    if isinstance(kind, pl.Datetime):
        return values.dt.replace_time_zone(None).cast(pl.Datetime("us")), variable
    return (values.cast(pl.Float64) if kind == pl.Null else values), variable


def _coded(values: pl.Series, variable: VariableSchema) -> tuple[pl.Series, VariableSchema]:
    """Levels as the codes they had in the schema, where it has them all, otherwise as 1 to k."""
    kind = values.dtype
    text = values.cast(pl.String)
    levels = kind.categories.to_list() if isinstance(kind, pl.Enum) else sorted(text.drop_nulls().unique())
    known = {label: code for code, label in variable.value_labels.items()}
    if levels and all(level in known for level in levels) and len({type(known[x]) for x in levels}) == 1:
        codes: list[Code] = [known[level] for level in levels]
    else:
        codes = list(range(1, len(levels) + 1))
        fresh: Mapping[Code, str] = dict(zip(codes, levels, strict=True))
        variable = VariableSchema(variable.name, variable.label, fresh, measure=variable.measure)
    whole = all(isinstance(c, int) for c in codes)
    dtype = pl.Int64 if whole else pl.String if isinstance(codes[0], str) else pl.Float64
    return text.replace_strict(levels, codes, return_dtype=dtype), variable


def _fitting(variable: VariableSchema, kind: pl.DataType, program: str) -> VariableSchema:
    """The schema of a variable without what its column, or the program, has no place for."""
    text, number = kind == pl.String, kind.is_numeric()
    if program == "Stata":
        declared = (m for m in variable.missing if number and isinstance(m, str) and _LETTER.match(m))
        missing: tuple[Missing, ...] = tuple(declared)
        labels: dict[Code, str] = {
            (c if isinstance(c, str) else int(c)): label
            for c, label in variable.value_labels.items()
            if c in missing or (number and not isinstance(c, str) and float(c).is_integer())
        }
    else:
        missing = tuple(m for m in variable.missing if _suits(m, text, number))
        labels = {c: label for c, label in variable.value_labels.items() if _suits(c, text, number)}
    shown = variable.format if number and _NUMBER_FORMAT[program].match(variable.format or "") else None
    measure = variable.measure if variable.measure in ("nominal", "ordinal", "scale") else None
    return VariableSchema(variable.name, variable.label, labels, missing, measure, shown)


def _suits(code: Missing, text: bool, number: bool) -> bool:
    return text if isinstance(code, str) else number


def _too_many_missing(variables: list[VariableSchema]) -> list[str]:
    wrong = []
    for v in variables:
        ranges = sum(isinstance(m, tuple) for m in v.missing)
        if ranges > 1 or len(v.missing) > (2 if ranges else 3):
            wrong.append(
                f'SPSS holds at most three missing codes, or one range and one code; "{v.name}" has '
                f"{len(v.missing) - ranges} codes and {ranges} ranges in its schema."
            )
    return wrong


def _lost_times(values: pl.Series) -> bool:
    """Whether times have parts of a microsecond, or become the same without their zone."""
    kind = values.dtype
    fine = kind == pl.Time or (isinstance(kind, pl.Datetime) and kind.time_unit == "ns")
    if fine and bool((values.to_physical() % 1000 != 0).any()):
        return True
    zoned = isinstance(kind, pl.Datetime) and kind.time_zone is not None
    return zoned and values.dt.replace_time_zone(None).n_unique() < values.n_unique()


def _largest(values: pl.Series) -> int:
    """The largest absolute value of a column of whole numbers; 0 if there is none."""
    ends = values.drop_nulls()
    return max(abs(int(ends.min() or 0)), abs(int(ends.max() or 0)))  # type: ignore[arg-type]
