"""A release in memory as one that is read in batches: a stand-in for scans, with any batches and parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

import confide as cf
from confide.frames import Schema
from confide.frames.columns import I64


@dataclass(frozen=True, eq=False)
class Frames:
    """A frame cut into files at `cuts`."""

    frame: pl.DataFrame
    cuts: tuple[int, ...] = ()
    schema: Schema = field(default_factory=Schema)
    files: tuple[Path, ...] = ()

    @property
    def height(self) -> int:
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        return self.frame.columns

    def slice(self, first: int, rows: int, columns: Iterable[str] | None = None) -> pl.DataFrame:
        return self.frame.select(columns or self.columns)[first : first + rows]

    def batches(self, columns: Iterable[str] | None = None, rows: int = 100) -> Iterator[tuple[int, pl.DataFrame]]:
        ends = [0, *self.cuts, self.height]
        for first, last in pairwise(ends):
            for at in range(first, max(last, first + 1), rows):
                yield at, self.frame.select(columns or self.columns)[at : min(at + rows, last)]


@dataclass(frozen=True, eq=False)
class InBatches:
    """A release whose files are read in batches."""

    release: cf.Release
    original: Frames
    released: Frames

    @classmethod
    def of(cls, release: cf.Release, cuts: tuple[int, ...] = ()) -> InBatches:
        return cls(release, Frames(release.original, cuts), Frames(release.frame, cuts))

    def links(self) -> Iterator[I64]:
        assert self.release.link is not None
        yield from np.array_split(self.release.link, 5)

    @property
    def plan(self) -> cf.Plan | None:
        return self.release.plan

    @property
    def compiled(self):
        return self.release.compiled

    @property
    def public_variables(self) -> tuple[str, ...]:
        return self.release.public_variables
