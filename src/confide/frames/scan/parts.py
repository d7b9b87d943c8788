"""One file of a scan: what it says of itself, and its rows, some at a time."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from polars._typing import PolarsDataType

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.scale.hadoop import Remote
from confide.core.scale.interrupted import check_interrupted
from confide.frames.columns import type_name
from confide.frames.door import check_names
from confide.frames.files import METADATA
from confide.frames.scan import csv_parts
from confide.frames.scan.remote_parts import footer, rows_of
from confide.frames.schema import Schema, schema_from_dict


@dataclass(frozen=True, eq=False)
class Part:
    """`types`: of its columns, as they are to be read; `held`: as the file has them. `rows`: how many there are;
    `stamp`: size and time of the file when it was looked at, None where that is not asked."""

    file: Path
    format: str
    types: Mapping[str, pl.DataType]
    held: Mapping[str, pl.DataType]
    rows: int
    schema: Schema = field(default_factory=Schema)
    stamp: tuple[int, int] | None = None

    def batches(self, columns: Sequence[str], rows: int, since: int = 0) -> Iterator[tuple[int, pl.DataFrame]]:
        """All rows in order, with the place of the first of each batch in this file; from the place `since` on."""
        self.check()
        if self.format in ("CSV", "TSV"):
            yield from (some for some in self._of_text(columns, rows) if some[0] >= since)
            return
        for first in range(max(0, -(-since // rows)) * rows, self.rows, rows):
            yield first, self.slice(first, min(rows, self.rows - first), columns)

    def slice(self, first: int, rows: int, columns: Sequence[str]) -> pl.DataFrame:
        """So many rows from a place on."""
        self.check()
        if self.format in ("CSV", "TSV"):
            return self._slice_of_text(first, rows, columns)
        try:
            if isinstance(self.file, Remote):
                frame = rows_of(self.file, first, rows, columns)
            else:
                frame = _lazy(self.file, self.format).slice(first, rows).select(columns).collect()
        except Exception as cause:
            raise _unreadable(self.file, self.format) from cause
        if frame.height != rows:
            raise changed(self.file)
        return self._typed(frame)

    def check(self) -> None:
        """Refuse a file that is gone, or no longer what it was when it was looked at."""
        if self.stamp is None:
            return
        if not self.file.exists():
            raise missing(self.file)
        if stamp_of(self.file) != self.stamp:
            raise changed(self.file)

    def _of_text(self, columns: Sequence[str], rows: int) -> Iterator[tuple[int, pl.DataFrame]]:
        first = 0
        for frame in csv_parts.frames(self.file, self.held, columns):
            for at in range(0, frame.height, rows):
                some = frame[at : at + rows]
                yield first, self._typed(some)
                first += some.height
        if first != self.rows:
            raise changed(self.file)

    def _slice_of_text(self, first: int, rows: int, columns: Sequence[str]) -> pl.DataFrame:
        found: list[pl.DataFrame] = []
        for at, frame in self._of_text(columns, max(rows, 1)):
            low, high = max(first - at, 0), min(first + rows - at, frame.height)
            if low < high:
                found.append(frame[low:high])
            if at + frame.height >= first + rows:
                break
        return pl.concat(found)

    def _typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The columns in the types in which they are to be read."""
        other = {v: t for v in frame.columns if (t := self.types[v]) != frame.schema[v]}
        try:
            return frame.cast(other) if other else frame  # type: ignore[arg-type]
        except pl.exceptions.PolarsError:
            names = ", ".join(f'"{v}"' for v in other)
            raise InputError(
                f"{self.file.name}: not every value of {names} can be read in the type asked for; ask for text "
                "(pl.String), or for a wider one."
            ) from None


def survey(files: Sequence[Path], form: str, stated: Mapping[str, PolarsDataType]) -> tuple[Part, ...]:
    """What all files say of themselves; refused unless they can be one file."""
    found = _of_text(files, stated) if form in ("CSV", "TSV") else [_of_footer(p, form) for p in files]
    first = found[0][0]
    for p, (types, _, _) in zip(files, found, strict=True):
        _same_columns(list(types), list(first), p, files[0])
    for v in stated:
        if v not in first:
            raise InputError(f'types names "{v}", which is no column.{did_you_mean(v, first)}')
    _check_types([types for types, _, _ in found], files, set(stated))
    read = {v: _plain(stated.get(v, t)) for v, t in first.items()}
    return tuple(
        Part(p, form, read, types, rows, schema, stamp_of(p))
        for p, (types, rows, schema) in zip(files, found, strict=True)
    )


Found = tuple[dict[str, pl.DataType], int, Schema]
"""Types, rows and labels of a file."""


def _of_text(files: Sequence[Path], stated: Mapping[str, PolarsDataType]) -> list[Found]:
    """The same of CSV files, which must be read for it."""
    shown = [csv_parts.survey(p) for p in files]
    for p, one in zip(files, shown, strict=True):
        _same_columns(list(one.types), list(shown[0].types), p, files[0])
    types, apart = csv_parts.settled(shown)
    apart = [v for v in apart if v not in stated]
    _check_types([{v: t for v in apart if (t := f.types[v]) is not None} for f in shown], files, set())
    held = {v: _plain(stated.get(v, t)) for v, t in types.items()}
    return [(held, one.rows, Schema()) for one in shown]


def stamp_of(file: Path) -> tuple[int, int] | None:
    """Size and time of a file; None of one in the storage of a cluster."""
    if isinstance(file, Remote):
        return None
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def missing(file: Path) -> InputError:
    """A file is no longer there."""
    return InputError(f"{file.name} is missing: it was there when the scan was made.")


def changed(file: Path) -> InputError:
    """A file is no longer what it was."""
    return InputError(f"{file.name} has changed since it was scanned; scan it again.")


def _plain(dtype: Any) -> pl.DataType:
    plain: pl.DataType = dtype() if isinstance(dtype, type) else dtype
    return plain


def _lazy(file: Path, form: str) -> pl.LazyFrame:
    if form == "Parquet":
        return pl.scan_parquet(file, glob=False, hive_partitioning=False)
    return pl.scan_ipc(glob.escape(str(file)))


def _of_footer(file: Path, form: str) -> Found:
    """Types, rows and labels as a Parquet or Arrow file states them."""
    try:
        if isinstance(file, Remote):
            types, rows, schema = footer(file)
            check_names(list(types), file.name)
            return types, rows, schema
        lazy = _lazy(file, form)
        types = dict(lazy.collect_schema())
        rows = int(lazy.select(pl.len()).collect().item())
        stored = pl.read_parquet_metadata(file).get(METADATA) if form == "Parquet" else None
        schema = schema_from_dict(json.loads(stored)) if stored else Schema()
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as cause:
        check_interrupted(cause)
        raise _unreadable(file, form) from cause
    check_names(list(types), file.name)
    return types, rows, schema


def _unreadable(file: Path, form: str) -> InputError:
    if not file.exists():
        return missing(file)
    return InputError(
        f"{file.name} cannot be read as {form}; it may be damaged (a copy that broke off) or in another format."
    )


def _same_columns(names: Sequence[str], first: Sequence[str], file: Path, other: Path) -> None:
    lost, more = [v for v in first if v not in names], [v for v in names if v not in first]
    if len(lost) == len(first):
        raise InputError(
            f"{file.name} has none of the columns of {other.name}: if its first line holds values, write the names of "
            "the columns there; all files must have the same."
        )
    if lost:
        raise InputError(
            f'{file.name} has no column "{lost[0]}", which {other.name} has; all files must have the same.'
        )
    if more:
        raise InputError(f'{file.name} has a column "{more[0]}", which {other.name} has not; all must have the same.')


def _wide(types: Sequence[pl.DataType]) -> str:
    """A type that holds the values of all of these."""
    if not all(t.is_numeric() for t in types):
        return "String"
    return "Int64" if all(t.is_integer() for t in types) else "Float64"


def _check_types(held: Sequence[Mapping[str, pl.DataType]], files: Sequence[Path], settled: set[str]) -> None:
    """Refuse a column that is of one type in one file and of another in the next."""
    problems = []
    for v in dict.fromkeys(v for types in held for v in types):
        there = [(types[v], p) for types, p in zip(held, files, strict=True) if v in types]
        if v in settled or not there:
            continue
        first, at = there[0]
        other = next(((t, p) for t, p in there if t != first), None)
        if other is None:
            continue
        if isinstance(first, pl.Enum) and isinstance(other[0], pl.Enum):
            how = f"has other categories in {other[1].name} than in {at.name}"
        else:
            how = f"changes its type: {type_name(first)} in {at.name}, {type_name(other[0])} in {other[1].name}"
        shown = [t for t, _ in there]
        text = [p for t, p in there if t == pl.String()]
        number = ""
        if text and any(t.is_numeric() for t in shown):
            number = f" If it is a number, look for text in {text[0].name}: a missing number is an empty cell."
        problems.append(f'"{v}" {how}. Say which to read it as: scan(..., types={{"{v}": pl.{_wide(shown)}}}).{number}')
    raise_all(problems)
