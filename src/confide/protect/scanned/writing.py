"""The public parts of a release, one after the other, and the link of each beside it in a folder of its own."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.frames.columns import I64
from confide.frames.files import METADATA
from confide.frames.schema import Schema, schema_to_dict

END = "PAR1"
"""The last four letters of a Parquet file."""
GROUP = 125_000
"""Rows of a row group. It is stated, since otherwise groups end where pieces of the frame do, and these hang on the
engine and its memory."""


class Parts:
    """`rows`: of each public file; `file`: of the original. `described`: what may be said of variables of these types.
    Parts that are in the folders are taken over: these are known by all that parts hang on."""

    def __init__(
        self, out: Path, links: Path, rows: int, file: int, described: Callable[[Mapping[str, pl.DataType]], Schema]
    ) -> None:  # fmt: skip
        self.out, self.links, self.rows, self.described = out, links, rows, described
        self.number = np.min_scalar_type(file)
        self.held: list[tuple[pl.DataFrame, I64]] = []
        self.many = 0
        self.written: list[tuple[str, int]] = []
        self.types: dict[str, pl.DataType] = {}
        self._extra: dict[str, str] | None = None
        while (file_there := out / f"{part_name(len(self.written))}.parquet").exists():
            self.written.append((file_there.name, self._rows(file_there)))

    def _rows(self, file: Path) -> int:
        return len(np.load(self.links / f"{file.stem}.npy", mmap_mode="r"))

    @property
    def done(self) -> int:
        """Rows of finished parts."""
        return sum(n for _, n in self.written)

    def add(self, frame: pl.DataFrame, link: I64) -> None:
        """The next released rows, with the numbers of their original rows."""
        self.held.append((frame, link))
        self.many += frame.height
        while self.many >= self.rows:
            self._write()

    def close(self) -> None:
        """Write what is left; a release without rows is one empty file."""
        if self.many or not self.written:
            self._write()
        if not self.types:
            self.types = dict(pl.read_parquet_schema(self.out / self.written[0][0]))

    def _write(self) -> None:
        frame, link = pl.concat([f for f, _ in self.held]), np.concatenate([x for _, x in self.held])
        now, name = min(self.rows, frame.height), part_name(len(self.written))
        self.held, self.many = [(frame[now:], link[now:])], frame.height - now
        if not self.types:
            self.types = dict(frame.schema)
            self._extra = extra_of(self.described(self.types))
        file = self.out / f"{name}.parquet"
        write_part(file, self.links / f"{name}.npy", frame[:now], link[:now].astype(self.number), self._extra)
        self.written.append((file.name, now))

    def moved(self, out: Path, links: Path) -> None:
        """Put all parts where they are to be published from."""
        for name, _ in self.written:
            shutil.move(self.out / name, out / name)
            link = f"{Path(name).stem}.npy"
            shutil.move(self.links / link, links / link)


def part_name(k: int) -> str:
    """Of the public file with this number, and of its link."""
    return f"part-{k:05}"


def extra_of(schema: Schema) -> dict[str, str] | None:
    """What a public file says of its variables, beside their values."""
    return {METADATA: json.dumps(schema_to_dict(schema))} if schema.variables else None


def write_part(
    file: Path, link_file: Path, frame: pl.DataFrame, link: NDArray[Any], extra: dict[str, str] | None
) -> None:  # fmt: skip
    """One public file and its link, whole or not at all; the link comes first. Several may write the same at a time."""
    unfinished = file.with_name(f"{file.stem}-{secrets.token_hex(8)}.unfinished")
    with open(unfinished, "wb") as handle:
        np.save(handle, link)
    os.replace(unfinished, link_file)
    written(frame, unfinished, extra)
    os.replace(unfinished, file)


def written(frame: pl.DataFrame, where: Path | IO[bytes], extra: dict[str, str] | None) -> None:
    """A public file, of the same bytes in whatever pieces its rows were put together."""
    frame.write_parquet(where, metadata=extra, row_group_size=GROUP)
