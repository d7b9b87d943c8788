"""A file that is not read yet: one or many on disk, seen as one, and read in batches of bounded size."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import polars as pl
from polars._typing import PolarsDataType
from polars.datatypes import DataTypeClass

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames.formats.csv_blocks import doubtful_ends
from confide.frames.scan.parts import Part, survey
from confide.frames.scan.paths import found_files
from confide.frames.schema import Schema

BATCH = 200_000
"""Rows that are read at a time where nobody says otherwise."""

Place = str | os.PathLike[str]


def scan(source: Place | Sequence[Place], *, types: Mapping[str, PolarsDataType] | None = None) -> Scan:
    """A file, or many that are one, for work in bounded memory: names, types and rows are known, nothing is read yet.

    `source` is a file, a folder, a pattern such as ``"persons/*.parquet"``, or a list of files; all of Parquet, all of
    Arrow, or all of CSV (`.csv`, `.tsv`). Files are taken in the order of their paths, those of a list in the order
    given, and **the number of a row is its place in that order**. All must have the same columns of the same types;
    `types` (polars types, by name) says which to read a column as where they differ.

    Types and rows of Parquet and Arrow files stand in the files. Those of CSV are found when they are first asked for,
    by reading all of it once.

    >>> import tempfile
    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> folder = tempfile.TemporaryDirectory()
    >>> for i in range(3):
    ...     _ = cf.write(heads[20_000 * i : 20_000 * (i + 1)], f"{folder.name}/part-{i}.parquet")
    >>> data = cf.scan(f"{folder.name}/*.parquet")
    >>> data
    Scan: 51,016 rows, 15 variables; 3 files, Parquet
    >>> [(first, batch.height) for first, batch in data.batches(["age"], rows=15_000)]
    [(0, 15000), (15000, 5000), (20000, 15000), (35000, 5000), (40000, 11016)]
    >>> folder.cleanup()
    """
    files, form = found_files(source)
    stated = {} if types is None else dict(types)
    raise_all(
        f'types: "{v}" is read as a type of polars, such as pl.Int64 or pl.String, not {type(t).__name__}.'
        for v, t in stated.items() if not isinstance(t, pl.DataType | DataTypeClass)
    )  # fmt: skip
    return Scan(tuple(files), form, stated)


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """What `cf.scan` gives. `files`: in the order of their rows. `format`: "Parquet", "Arrow", "CSV" or "TSV".
    `stated`: types that the user gave. `start`: the number of its first row, where it is a part of a larger one.

    It holds no rows, and may be sent to other processes.
    """

    files: tuple[Path, ...]
    format: str
    stated: Mapping[str, PolarsDataType] = field(default_factory=dict)
    start: int = 0

    def __post_init__(self) -> None:
        if self.format in ("Parquet", "Arrow"):
            _ = self.parts  # what stands in the files is judged at once

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What is known of each file."""
        return survey(self.files, self.format, self.stated)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What is suspicious about the files, in sentences: CSV whose last value may have lost its end, since the copy
        broke off there. They are printed, too."""
        return doubtful_ends(self.files) if self.format in ("CSV", "TSV") else ()

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The type of each column."""
        return dict(self.parts[0].types)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.types)

    @property
    def schema(self) -> Schema:
        """What the first file says of labels and answer codes."""
        return self.parts[0].schema

    @property
    def counts(self) -> tuple[int, ...]:
        """Rows of each file."""
        return tuple(p.rows for p in self.parts)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The number of each file's first row, and that after the last row of all."""
        return tuple(accumulate(self.counts, initial=self.start))

    @property
    def height(self) -> int:
        """Rows of all files."""
        return sum(self.counts)

    @property
    def width(self) -> int:
        """Columns."""
        return len(self.types)

    def batches(
        self, columns: Iterable[str] | None = None, rows: int = BATCH, told: Callable[[int], None] | None = None,
        since: int = 0,
    ) -> Iterator[tuple[int, pl.DataFrame]]:  # fmt: skip
        """All rows in their order, at most so many at a time: the number of the first, and the rows. A batch ends where
        a file does. `told` hears how many rows each batch has, when it is done with. `since`: batches that begin before
        this row are left out."""
        wanted = self._wanted(columns)
        if rows < 1:
            raise InputError("rows is how many are read at a time, from 1 upwards.")
        for part, first in zip(self.parts, self.offsets, strict=False):
            for at, frame in part.batches(wanted, rows, since - first):
                yield first + at, frame
                if told is not None:
                    told(frame.height)

    def slice(self, first: int, rows: int, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """The rows with numbers from `first` on, as many as asked for or are left."""
        wanted, offsets = self._wanted(columns), self.offsets
        low, end = max(first, self.start), min(first + rows, offsets[-1])
        found = [pl.DataFrame(schema={v: self.types[v] for v in wanted})]
        at = bisect_right(offsets, low) - 1
        while low < end and at < len(self.parts):
            here = min(end, offsets[at + 1])
            if here > low:
                found.append(self.parts[at].slice(low - offsets[at], here - low, wanted))
            low, at = here, at + 1
        return pl.concat(found)

    def part(self, k: int) -> Scan:
        """The file with this number alone; its rows keep their numbers."""
        if not 0 <= k < len(self.files):
            raise InputError(f"There are {len(self.files)} files, counted from 0.")
        made = replace(self, files=(self.files[k],), stated=self.types, start=self.offsets[k])
        made.__dict__["parts"] = (self.parts[k],)
        return made

    def head(self, rows: int = 5) -> pl.DataFrame:
        """The first rows."""
        return self.slice(self.start, rows)

    def collect(self, columns: Iterable[str] | None = None) -> pl.DataFrame:
        """All rows at once, where memory holds them."""
        return self.slice(self.start, self.height, columns)

    def _wanted(self, columns: Iterable[str] | None) -> list[str]:
        if columns is None:
            return self.columns
        if isinstance(columns, str):
            raise InputError(f'columns must be a list of names, such as ["{columns}"].')
        wanted = list(columns)
        for v in wanted:
            if v not in self.types:
                raise InputError(f'There is no column "{v}".{did_you_mean(v, self.columns)}')
        return wanted

    def __repr__(self) -> str:
        files = f"{len(self.files):,} file{'s' if len(self.files) > 1 else ''}, {self.format}"
        known = "parts" in self.__dict__
        head = f"{self.height:,} rows, {self.width} variables; {files}" if known else f"{files}, not read yet"
        return "\n".join([f"Scan: {head}", *(f"Caution: {said}" for said in self.cautions)])
