"""CSV in parts: blocks of bytes that end where a record does, and types that hold for the whole file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.frames.formats.csv_files import CODE, NULLS, header, separator

BLOCK = 16 * 2**20
"""Bytes that are looked at together."""


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
    for block in _blocks(file):
        text = _read(file, block, columns, dict.fromkeys(columns, pl.String()))
        shown = _read(file, block, columns, None)
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
    for block in _blocks(file):
        yield _read(file, block, every, types).select(columns)


def _read(file: Path, block: bytes, columns: Sequence[str], types: Mapping[str, pl.DataType] | None) -> pl.DataFrame:
    """A block of whole records."""
    common: dict[str, Any] = {"separator": separator(file.suffix), "null_values": NULLS}
    try:
        if types is None:
            return pl.read_csv(block, infer_schema_length=None, **common)
        return pl.read_csv(block, schema={v: types[v] for v in columns}, **common)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):  # its words may quote a line
        raise InputError(
            f"{file.name} cannot be read as CSV: a line has more or fewer cells than the first, or a value is not of "
            "the type asked for."
        ) from None


def _blocks(file: Path) -> Iterator[bytes]:
    """The records in blocks that end where a record does, at a line's end outside quotes; each after the first line.

    Empty lines at the end of the file are no records, except in a file with one column.
    """
    one, held, top = len(header(file)) == 1, b"", b""
    with open(file, "rb") as handle:
        while piece := handle.read(BLOCK):
            held += piece
            if not top:
                end = _end(held, first=True)
                if end < 0:
                    continue
                top, held = held[:end], held[end:]
            end = _end(held)
            body = held[: max(end, 0)] if one else held[: max(end, 0)].rstrip(b"\r\n")
            if body:
                end = len(body) if one else held.index(b"\n", len(body)) + 1
                yield top + held[:end]
                held = held[end:]  # with the empty lines, which are records if others follow
    if held.strip(b"\r\n") or (one and held):
        yield top + (held if held.endswith(b"\n") else held + b"\n")


def _end(block: bytes, first: bool = False) -> int:
    """The place after the last (or the first) record that is whole; -1 where there is none."""
    at = block.find(b"\n") if first else block.rfind(b"\n")
    quotes = block.count(b'"', 0, at + 1) if at >= 0 else 0
    while at >= 0 and quotes % 2:
        if first:
            then = block.find(b"\n", at + 1)
            quotes += block.count(b'"', at + 1, then + 1) if then >= 0 else 0
        else:
            then = block.rfind(b"\n", 0, at)
            quotes -= block.count(b'"', then + 1, at + 1)
        at = then
    return at + 1 if at >= 0 else -1
