"""CSV and TSV, read with more care than usual: what looks like a code stays a code."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.core.scale.interrupted import check_interrupted
from confide.frames.columns import type_name
from confide.frames.door import check_names
from confide.frames.formats.csv_blocks import blocks, broken, check_cells, why_not
from confide.frames.formats.spreadsheet import guarded
from confide.frames.types.exact import shortest

NULLS = ["", "NA"]
CODE = r"^[+-]?(0[0-9]|[0-9]{19,}$)"  # a leading zero, or more digits than a number should have

GAPS = "__gaps"
PACKED = (b"\x1f\x8b", b"PK\x03\x04", b"(\xb5/\xfd", b"BZh", b"\xfd7zX")
"""How compressed files begin: gzip, zip, zstd, bzip2, xz."""


def header(source: Path) -> list[str]:
    """The column names on the first line; duplicates are refused (polars would rename them silently).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("sex,age\\nf,31\\n")
    ...     header(path)
    ['sex', 'age']
    """
    try:
        with open(source, encoding="utf-8-sig", newline="") as handle:
            names = next(csv.reader(handle, delimiter=separator(source.suffix)), [])
            ends = handle.newlines
    except UnicodeDecodeError:
        raise _not_text(source) from None
    except csv.Error:
        raise broken(source, "a quotation mark has no partner", 1) from None
    if ends == "\r":
        raise InputError(f"{source.name} ends its lines with CR alone, as old programs do; save it with usual ones.")
    if names and all("\0" in name for name in names):  # UTF-16 without its mark
        raise _not_text(source)
    if len(set(names)) < len(names) and any(_is_value(name) for name in names):
        raise InputError(
            f"{source.name} has no names on its first line, it seems: cells there are the same, and some are numbers "
            "or empty. Write the names of the columns there."
        )
    check_names(names, source.name)
    if len(names) == 1 and names[0].count(";") > 0:
        raise InputError(f"{source.name} seems to be separated by semicolons; save it with commas and decimal points.")
    return names


def load(source: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """The values: types from the whole file, empty cells and `NA` null, codes with leading zeros as text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("area,n\\n007,1\\n100,NA\\n")
    ...     load(path).dtypes
    [String, Int64]
    """
    names, cut = header(source), separator(source.suffix)
    try:
        frame, gaps = _loaded(source, names, columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:  # its words may quote a line
        check_interrupted(cause)
        whys = (why_not(source, line, block, len(names), cut) for line, block in blocks(source, len(names) == 1))
        raise next((why for why in whys if why), None) or _unreadable(source) from None
    for line, block in blocks(source, len(names) == 1):
        if gaps:
            check_cells(source, line, block, len(names), cut)
    return frame


def _loaded(source: Path, names: list[str], columns: list[str] | None) -> tuple[pl.DataFrame, bool]:
    """The values as polars reads them, and whether the last column has gaps. polars keeps doubled quotation marks in
    names as they are."""
    whole = _without_blank_end(source)
    common: dict[str, Any] = {"separator": separator(source.suffix), "null_values": NULLS, "glob": False}
    scan = pl.scan_csv(whole, infer_schema=False, **common)
    read_as = dict(zip(names, scan.collect_schema().names(), strict=True))
    coded = pl.all().str.contains(CODE).any()
    shown = scan.select(coded, pl.col(read_as[names[-1]]).null_count().alias(GAPS)).collect()
    gaps = bool(shown.drop_in_place(GAPS).item())
    codes = [name for name, some in shown.row(0, named=True).items() if some]
    wanted = names if columns is None else columns
    frame = pl.read_csv(
        whole,
        columns=[read_as[v] for v in wanted],
        infer_schema_length=None,
        schema_overrides={v: pl.String() for v in codes if v in {read_as[name] for name in wanted}},
        **common,
    )
    return frame.rename({read_as[v]: v for v in wanted}), gaps


def save(frame: pl.DataFrame, target: Path, suffix: str, spreadsheet: bool = False) -> None:
    """Write text; NaN becomes an empty cell, since `NaN` would turn a column of numbers into text.

    For a `spreadsheet`, text that would be a formula has an apostrophe before it, and all text is in quotes, so that no
    other separator of cells can cut a formula out of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     save(pl.DataFrame({"a": [1.5, float("nan")], "b": ["x", "y"]}), path, ".csv")
    ...     path.read_text().split()
    ['a,b', '1.5,x', ',y']
    """
    nested = [n for n, t in frame.schema.items() if t.is_nested() or t in (pl.Binary, pl.Object, pl.Duration)]
    if nested:
        raise InputError(
            f'Column "{nested[0]}" ({type_name(frame.schema[nested[0]])}) cannot be written as text; drop or cast it.'
        )
    floats = [n for n, t in frame.schema.items() if t.is_float()]
    halves = [shortest(frame[n]) for n in floats if frame.schema[n] == pl.Float16]
    out = frame.with_columns(halves).with_columns(pl.col(floats).fill_nan(None))
    style: Any = "non_numeric" if spreadsheet else "necessary"
    (guarded(out) if spreadsheet else out).write_csv(target, separator=separator(suffix), quote_style=style)


def separator(suffix: str) -> str:
    """The character between cells.

    >>> separator(".tsv")
    '\\t'
    """
    return "\t" if suffix.lower() == ".tsv" else ","


def _without_blank_end(source: Path) -> Path | bytes:
    """The file, or its bytes without the empty lines at its end, each of which polars reads as a record.

    In a file with one column an empty line is a record, a missing value, and stays.
    """
    with open(source, "rb") as handle:
        handle.seek(max(0, source.stat().st_size - 4))
        tail = handle.read()
    blank = tail.endswith((b"\n\n", b"\n\r\n"))
    return source.read_bytes().rstrip(b"\r\n") + b"\n" if blank and len(header(source)) > 1 else source


def _is_value(cell: str) -> bool:
    """Whether a cell of the first line looks like a value rather than a name."""
    return not cell.strip() or cell.strip().lstrip("+-").replace(".", "", 1).isdigit()


def _not_text(source: Path) -> InputError:
    with open(source, "rb") as handle:
        packed = handle.read(4).startswith(PACKED)
    what = "is compressed: unpack it first" if packed else "is not UTF-8 text; save it as UTF-8"
    return InputError(f"{source.name} {what}.")


def _unreadable(source: Path) -> InputError:
    return InputError(
        f"{source} cannot be read as CSV: a quotation mark stands inside a value, or it is in another format."
    )
