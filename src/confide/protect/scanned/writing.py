"""The public parts of a release, one after the other, and the link of each beside it in a folder of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from confide.frames.columns import I64
from confide.frames.files import METADATA
from confide.frames.schema import Schema, schema_to_dict


class Parts:
    """`rows`: of each public file; `file`: of the original. `described`: what may be said of variables of these types.
    Of a draft, files can be read by their owner alone."""

    def __init__(
        self, out: Path, links: Path, rows: int, file: int, draft: bool,
        described: Callable[[Mapping[str, pl.DataType]], Schema],
    ) -> None:  # fmt: skip
        self.out, self.links, self.rows, self.draft, self.described = out, links, rows, draft, described
        self.number = np.min_scalar_type(file)
        self.held: list[tuple[pl.DataFrame, I64]] = []
        self.many = 0
        self.written: list[tuple[str, int]] = []
        self.types: dict[str, pl.DataType] = {}
        self._extra: dict[str, str] | None = None

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

    def _write(self) -> None:
        frame, link = pl.concat([f for f, _ in self.held]), np.concatenate([x for _, x in self.held])
        now, name = min(self.rows, frame.height), f"part-{len(self.written):05}"
        self.held, self.many = [(frame[now:], link[now:])], frame.height - now
        if not self.types:
            self._describe(frame)
        file = self.out / f"{name}.parquet"
        frame[:now].write_parquet(file, metadata=self._extra)
        if self.draft:
            os.chmod(file, 0o600)
        np.save(self.links / f"{name}.npy", link[:now].astype(self.number))
        self.written.append((file.name, now))

    def _describe(self, frame: pl.DataFrame) -> None:
        self.types = dict(frame.schema)
        schema = self.described(self.types)
        if schema.variables:
            self._extra = {METADATA: json.dumps(schema_to_dict(schema))}
