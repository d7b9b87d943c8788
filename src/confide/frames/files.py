"""Read and write data files; the suffix of the name says which format.

| suffix | read | write | labels and missing codes |
| --- | --- | --- | --- |
| `.csv`, `.tsv` | yes | yes | none, and no types: CSV has no place for them |
| `.parquet` | yes | yes | kept, in the file's key-value metadata |
| `.arrow`, `.feather`, `.ipc` | yes | yes | none: polars writes no metadata into Arrow files |
| `.sav`, `.zsav` (SPSS), `.dta` (Stata) | yes | yes | kept |
| `.sas7bdat` (SAS) | yes | no | variable labels only: value labels live in another file |
| `.xlsx` (Excel) | no | yes, with `confide[excel]` | none |
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.core.files.atomic import atomic_write
from confide.core.scale.interrupted import check_interrupted
from confide.frames.data import Data
from confide.frames.door import to_polars
from confide.frames.formats import csv_files, excel, statistical
from confide.frames.marks import why_withheld
from confide.frames.schema import Schema, attach, schema_from_dict, schema_to_dict
from confide.frames.schema import schema as schema_of
from confide.frames.types.buffers import rebuilt

FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".dta": "Stata",
    ".sas7bdat": "SAS",
    ".xlsx": "Excel",
}
TEXT = (".csv", ".tsv")
PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".lz4", ".tar", ".tgz")
"""Suffixes of files that are packed."""
METADATA = "confide.schema"
"""Where a Parquet file has its labels and missing codes."""


def read(
    path: str | os.PathLike[str],
    *,
    columns: Iterable[str] | None = None,
    labels: bool = False,
    schema: Schema | None = None,
) -> pl.DataFrame | Data:
    """A data file as a polars DataFrame, or as a `Data` where it comes with labels or user-missing codes.

    `schema` says by hand what the file does not: of each variable that it names, it replaces what the file says.
    `columns` picks variables, in the order given. `labels=True` turns a variable whose every value has a
    label into an Enum of the labels, in the order of the codes; user-missing codes become labels like any
    other. A variable with some values unlabelled (an age with 99 = "refused") stays as it is.

    CSV must be UTF-8; an empty cell and `NA` are missing; types are inferred from the whole file; a column
    with leading zeros (`0601`) or with 19 digits or more stays text. SPSS user-missing codes stay in the
    data and are listed in the schema. Stata's extended missing values (`.a` to `.z`) become null, their
    letters and labels are kept in the schema: which record had which letter is not. In SPSS and Stata files
    numbers that are all whole become Int64, and empty text, their only missing text, becomes null.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "people.csv"
    ...     _ = path.write_text("area,age\\n0601,31\\n0602,NA\\n")
    ...     read(path).rows()
    [('0601', 31), ('0602', None)]
    """
    source, suffix = _source(path)
    wanted = _wanted(columns)
    given = Schema() if schema is None else schema
    if not isinstance(given, Schema):
        raise InputError(f"schema must be a cf.Schema, not {type(schema).__name__}.")
    frame, found = _load(source, suffix, wanted, list(given.variables))
    frame = frame if wanted is None else frame.select(wanted)
    found = found.updated(given).select(frame.columns)
    if labels:
        frame = statistical.labelled(frame, found)
    attach(frame, found)
    described = any(v.label or v.value_labels or v.missing for v in found.variables.values())
    return Data(frame) if described else frame  # display formats and measures alone change nothing


def write(
    frame: object,
    path: str | os.PathLike[str],
    *,
    schema: Schema | None = None,
    overwrite: bool = False,
    draft: bool = False,
    spreadsheet: bool = False,
    private: bool = False,
) -> Path:
    """Write a frame; the file appears whole or not at all. Returns its path.

    The data of a draft (a release made with a seed and without a vault) or of a release with shared draws is refused;
    `draft=True` writes it for use inside the agency. A draft, and any file with `private=True`, is readable by its
    owner alone.

    `schema` gives labels and missing codes; by default those of a `Data`, or those attached to `frame`. Labels that no
    longer fit a column (text where there were codes) are dropped for that column. In SPSS and Stata files an Enum or
    Categorical becomes whole numbers with value labels: the schema's codes where they cover every level,
    otherwise 1 to k. NaN is written as missing, except in Parquet and Arrow, which can hold both.

    An existing file is refused unless `overwrite` is true. `spreadsheet=True`, for CSV and TSV that people will open
    in a spreadsheet program, puts an apostrophe before text and names that such a program would take for a formula
    (``=``, ``+``, ``-``, ``@``), and text in quotes; numbers stay numbers. It alters values, so it is off by default.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write({"sex": ["f", "m"]}, Path(folder) / "people.parquet")
    ...     read(path).height
    2
    """
    why = why_withheld(frame)
    if why and not draft:
        raise InputError(f"{why} For use inside the agency alone: write(..., draft=True).")
    data = to_polars(frame)
    found = schema if schema is not None else schema_of(frame)
    found = found.select(data.columns)
    suffix = _suffix(path)
    if suffix == ".sas7bdat":
        raise InputError("SAS files (.sas7bdat) can be read but not written; write .sav, .dta or .parquet.")
    if spreadsheet and suffix not in TEXT:
        raise InputError(f"spreadsheet=True goes with {' and '.join(TEXT)}; {FORMATS[suffix]} files hold no formulas.")

    try:
        with atomic_write(path, overwrite, draft or private) as temporary:
            _save(data, temporary, suffix, found, spreadsheet)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:  # its words may quote a value
        check_interrupted(cause)
        why = f"a column cannot be held, or the disk is full ({type(cause).__name__})"
        raise InputError(f"{path} cannot be written: {why}. No unfinished file is left behind.") from None
    return Path(path)


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        given = f'"{suffix}"' if suffix else "no suffix"
        raise InputError(f"{path} has {given}; the formats known are {', '.join(FORMATS)}.")
    return suffix


def _source(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """The file to read and its suffix; refused unless it is there, a file, and not empty."""
    try:
        source = Path(path).expanduser()
        there = source.exists()
    except (OSError, RuntimeError, ValueError):  # too long, a home that is not there, a NUL
        raise InputError(f"{str(path)[:200]!r} cannot be the name of a file.") from None
    if not there:
        raise InputError(f"{path} does not exist.{_near(source)}")
    if source.is_dir():
        raise InputError(f"{path} is a folder; give one file.")
    if source.suffix.lower() in PACKED:
        raise InputError(f"{path} is compressed: unpack it first.")
    suffix = _suffix(source)
    if suffix == ".xlsx":
        raise InputError("Excel files (.xlsx) can be written but not read; save the sheet as CSV.")
    if not os.access(source, os.R_OK):
        raise InputError(f"{path} may not be read: permission denied.")
    if source.stat().st_size == 0:
        raise InputError(f"{path} is empty.")
    return source, suffix


def _near(source: Path) -> str:
    if not source.parent.is_dir():
        return f" The folder {source.parent} does not exist either."
    names = [p.name for p in source.parent.iterdir() if p.suffix.lower() in FORMATS]
    hint = did_you_mean(source.name, names)
    return hint if "Did you mean" in hint else ""


def _wanted(columns: Iterable[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError(f'columns must be a list of names, such as ["{columns}"].')
    wanted = list(columns)
    if twice := [c for c, count in Counter(wanted).items() if count > 1]:
        raise InputError(f'columns names "{twice[0]}" more than once.')
    if not wanted:
        raise InputError("columns is an empty list; name at least one, or leave it out to read all.")
    return wanted


def _known(wanted: list[str], names: list[str], source: Path) -> None:
    for name in wanted:
        if name not in names:
            raise InputError(f'{source.name} has no column "{name}".{did_you_mean(name, names)}')


def _load(source: Path, suffix: str, wanted: list[str] | None, described: list[str]) -> tuple[pl.DataFrame, Schema]:
    """The columns wanted (or all) and their schema, with every failure told in terms of the file."""
    try:
        names = _names(source, suffix)
        _known([*(wanted or ()), *described], names, source)
        return _values(source, suffix, wanted)
    except (InputError, MemoryError):
        raise
    except (Exception, pl.exceptions.PanicException) as cause:  # a panic in polars is no Exception
        check_interrupted(cause)
        what = f"{source} cannot be read as {FORMATS[suffix]}; it may be damaged or in another format."
        if suffix in TEXT:  # what polars says of a line it cannot parse quotes the line
            raise InputError(what) from None
        raise InputError(what) from cause


def _names(source: Path, suffix: str) -> list[str]:
    if suffix in TEXT:
        return csv_files.header(source)
    if suffix == ".parquet":
        return list(pl.scan_parquet(source, glob=False, hive_partitioning=False).collect_schema())
    if FORMATS[suffix] == "Arrow":
        return list(pl.read_ipc_schema(source))
    return statistical.names(source, suffix)


def _values(source: Path, suffix: str, wanted: list[str] | None) -> tuple[pl.DataFrame, Schema]:
    if suffix in TEXT:
        return csv_files.load(source, wanted), Schema()
    if suffix == ".parquet":
        stored = pl.read_parquet_metadata(source).get(METADATA)
        frame = pl.read_parquet(source, columns=wanted, glob=False, hive_partitioning=False)
        return frame, schema_from_dict(json.loads(stored)) if stored else Schema()
    if FORMATS[suffix] == "Arrow":
        with open(source, "rb") as handle:  # by handle: a path would be taken as a pattern
            return pl.read_ipc(handle, columns=wanted), Schema()
    return statistical.load(source, suffix, wanted)


def _save(frame: pl.DataFrame, target: Path, suffix: str, found: Schema, spreadsheet: bool) -> None:
    if suffix in TEXT:
        csv_files.save(frame, target, suffix, spreadsheet)
    elif suffix == ".parquet":
        extra: Any = {METADATA: json.dumps(schema_to_dict(found))} if found != Schema() else None
        frame.write_parquet(target, metadata=extra)
    elif suffix == ".xlsx":
        excel.save(frame, target)
    elif FORMATS[suffix] == "Arrow":
        rebuilt(frame).write_ipc(target, compression="zstd")
    else:
        statistical.save(frame, target, suffix, found)
