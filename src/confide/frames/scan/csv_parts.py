"""CSV in parts: blocks of bytes that end where a record does, and types that hold for the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.core.scale.interrupted import check_interrupted
from confide.frames.columns import type_name
from confide.frames.formats.csv_blocks import blocks, check_cells, why_not
from confide.frames.formats.csv_files import CODE, NULLS, header, separator


@dataclass(frozen=True)
class Shown:
    """What a file shows: the type of each column (None where all its values are missing), columns that hold codes with
    leading zeros, and rows."""

    types: Mapping[str, pl.DataType | None]
    coded: frozenset[str]
    rows: int


def survey(file: Path) -> Shown:
    """What the whole file shows, block by block."""
    columns = header(file)
    types: dict[str, pl.DataType | None] = dict.fromkeys(columns)
    coded, rows = set[str](), 0
    for line, block in blocks(file, len(columns) == 1):
        text = _read(file, line, block, columns, dict.fromkeys(columns, pl.String()))
        if text[columns[-1]].null_count():
            check_cells(file, line, block, len(columns), separator(file.suffix))
        shown = _read(file, line, block, columns, None)
        rows += text.height
        coded |= {v for v, some in text.select(pl.all().str.contains(CODE).any()).row(0, named=True).items() if some}
        for v in columns:
            if text[v].null_count() < text.height:
                types[v] = both(types[v], shown.schema[v])
    return Shown(types, frozenset(coded), rows)


def both(a: pl.DataType | None, b: pl.DataType) -> pl.DataType:
    """The type of a column that shows two."""
    if a is None or a == b:
        return b
    return pl.Float64() if a.is_numeric() and b.is_numeric() else pl.String()


def settled(found: Sequence[Shown]) -> tuple[dict[str, pl.DataType], list[str]]:
    """One type for each column in all files (text where none shows any), and columns whose files disagree."""
    out: dict[str, pl.DataType] = {}
    apart = []
    for v in found[0].types:
        shown = [t for f in found if (t := f.types[v]) is not None]
        code = any(v in f.coded for f in found)
        one = pl.String() if code or not shown else reduce(both, shown[1:], shown[0])
        out[v] = one
        if not code and len(set(shown)) > 1 and not one.is_numeric():
            apart.append(v)
    return out, apart


def frames(file: Path, types: Mapping[str, pl.DataType], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """All rows in order, block after block."""
    every = header(file)
    for line, block in blocks(file, len(every) == 1):
        yield _read(file, line, block, every, types).select(columns)


def _read(
    file: Path, line: int, block: bytes, columns: Sequence[str], types: Mapping[str, pl.DataType] | None
) -> pl.DataFrame:
    """A block of whole records, of which the first is on this line. polars gets plain names, since it does not know
    quotation marks in names."""
    plain = [f"c{i}" for i in range(len(columns))]
    cut = separator(file.suffix)
    text = cut.join(plain).encode() + b"\n" + block
    how: dict[str, Any] = {"infer_schema_length": None}
    if types is not None:
        how = {"schema": {p: types[v] for p, v in zip(plain, columns, strict=True)}}
    try:
        made = pl.read_csv(text, separator=cut, null_values=NULLS, **how)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:  # its words may quote a line
        check_interrupted(cause)
        why = why_not(file, line, block, len(columns), cut)
        why = why or (None if types is None else _other_types(file, line, block, columns, types))
        raise why or InputError(
            f"{file.name} cannot be read as CSV: a value is not of the type asked for, or a quotation mark stands "
            "inside a value and is not doubled."
        ) from None
    made.columns = list(columns)
    return made


def _other_types(
    file: Path, line: int, block: bytes, columns: Sequence[str], types: Mapping[str, pl.DataType]
) -> InputError | None:  # fmt: skip
    """The first number of a block with values that are not of the type asked for, if that is what is wrong."""
    numbers = [v for v in columns if types[v].is_numeric()]
    text = _read(file, line, block, columns, dict.fromkeys(columns, pl.String())) if numbers else pl.DataFrame()
    for v in numbers:
        odd = (text[v].cast(types[v], strict=False).is_null() & text[v].is_not_null()).arg_true()
        if len(odd):
            return InputError(
                f'"{v}" cannot be read as {type_name(types[v])} in {file.name}: cells that are not: {len(odd):,}, '
                f"the first near line {line + int(odd[0]):,}. Correct them (a missing value is an empty cell), "
                "or read the column as text."
            )
    return None
