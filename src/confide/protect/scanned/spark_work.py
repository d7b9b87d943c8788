"""What workers of a cluster do with batches of a file that is protected: objects that pickle, with all they need in
them. What they make hangs on rows and their numbers alone, so that a task that is done again makes the same."""

from __future__ import annotations

import io
import os
import pickle
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.random.draws import Counter
from confide.core.scale.spark_files import ROW
from confide.frames.columns import I64
from confide.protect.compiled import Compiled
from confide.protect.scanned.passes import Look
from confide.protect.scanned.public import Public
from confide.protect.scanned.spill import in_order
from confide.protect.scanned.survey import Surveying
from confide.protect.scanned.writing import END, extra_of, part_name, write_part, written

if TYPE_CHECKING:
    import pyarrow as pa

SEEN = "first bigint, made binary"
"""What is gathered of a batch, by its first row."""
WRITTEN = "part int"
MADE = "part int, content binary"


def in_a_row(frame: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Rows of a batch whose numbers follow one another, with the first; a batch may hold the ends of several files.

    >>> frame = pl.DataFrame({"a": [1, 2, 3, 4], ROW: [7, 8, 0, 1]})
    >>> [(first, some["a"].to_list()) for first, some in in_a_row(frame)]
    [(7, [1, 2]), (0, [3, 4])]
    """
    rows = frame[ROW].to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
    held = frame.drop(ROW) if frame.width > 1 else frame.rename({ROW: ""})  # a frame without columns has no rows
    for low, high in pairwise(cuts):
        if high > low:
            yield int(rows[low]), held[low:high]


def told(found: list[tuple[int, Any]]) -> pa.Table:
    """What is gathered of pieces of a batch, by their first rows."""
    import pyarrow as pa

    made = [pickle.dumps(each) for _, each in found]
    columns = [pa.array([first for first, _ in found], pa.int64()), pa.array(made, pa.binary())]
    return pa.table(columns, names=["first", "made"])


@dataclass(frozen=True, eq=False)
class SurveyBatch:
    """The digest and the distinct values of a batch; `empty`: before anything was seen."""

    empty: Surveying

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        made: Surveying = pickle.loads(pickle.dumps(self.empty))
        for first, batch in in_a_row(frame):
            made.add(batch, first)
        return told([(int(frame[ROW][0]), made)])


@dataclass(frozen=True, eq=False)
class LookAtBatch:
    """What steps take from a batch."""

    look: Look

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        return told([(first, list(self.look.at(first, batch))) for first, batch in in_a_row(frame)])


@dataclass(frozen=True, eq=False)
class UnitsOfBatch:
    """Which units rows are of, as the file has it."""

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        return told([(first, (first, batch)) for first, batch in in_a_row(frame)])


@dataclass(frozen=True, eq=False)
class Ranks:
    """Which ranges of words hold which public files. `ends`: how many rows there are up to the end of each range;
    `rows`: of a file."""

    ends: I64
    rows: int

    @property
    def many(self) -> int:
        """Public files."""
        return max(-(-int(self.ends[-1]) // self.rows), 1)

    @property
    def sizes(self) -> list[int]:
        """Rows of each public file; a release without rows is one empty file."""
        return [min(self.rows, int(self.ends[-1]) - k * self.rows) for k in range(self.many)]

    def parts(self) -> list[tuple[int, int]]:
        """Each range with every file that has rows of it."""
        found = []
        for k, (low, high) in enumerate(zip([0, *self.ends[:-1]], self.ends, strict=True)):
            if high > low:
                found += [(k, p) for p in range(int(low) // self.rows, (int(high) - 1) // self.rows + 1)]
        return found

    def cut(self, part: int) -> tuple[int, int]:
        """Of all rows in the ranges of a file, those that are in it."""
        starts = np.concatenate([[0], self.ends[:-1]])
        first = int(starts[np.searchsorted(self.ends, part * self.rows, side="right")])
        low = part * self.rows - first
        return low, low + min(self.rows, int(self.ends[-1]) - part * self.rows)


@dataclass(frozen=True, eq=False)
class _Part:
    """One public file and its link. `number`: the type of links; `links`: the folder for them."""

    public: Public
    compiled: Compiled
    draws: Counter
    ranks: Ranks
    number: Any
    links: Path

    def __call__(self, sides: Mapping[int, pl.DataFrame]) -> pa.Table:
        ((part, every),) = sides.items()
        frame, rows = in_order(every, self.draws)
        low, high = self.ranks.cut(part)
        return self.finished(part, self.public.released(frame[low:high]), rows[low:high])

    def finished(self, part: int, frame: pl.DataFrame, rows: I64) -> pa.Table:
        """The file of these rows."""
        raise NotImplementedError

    def _extra(self, frame: pl.DataFrame) -> dict[str, str] | None:
        return extra_of(self.public.described(self.compiled, dict(frame.schema)))


@dataclass(frozen=True, eq=False)
class WritePart(_Part):
    """In two folders on scratch: whole or not at all, and the same whichever attempt comes last."""

    out: Path

    def finished(self, part: int, frame: pl.DataFrame, rows: I64) -> pa.Table:
        """See `_Part`."""
        import pyarrow as pa

        name, link = part_name(part), rows.astype(self.number)
        write_part(self.out / f"{name}.parquet", self.links / f"{name}.npy", frame, link, self._extra(frame))
        return pa.table([pa.array([part], pa.int32())], names=["part"])


@dataclass(frozen=True, eq=False)
class MakePart(_Part):
    """The bytes of the file, but for those at its end, for Spark to write; the link is the same for all attempts."""

    def finished(self, part: int, frame: pl.DataFrame, rows: I64) -> pa.Table:
        """See `_Part`."""
        import pyarrow as pa

        unfinished = self.links / secrets.token_hex(16)
        with open(unfinished, "wb") as handle:
            np.save(handle, rows.astype(self.number))
        os.replace(unfinished, self.links / f"{part_name(part)}.npy")
        held = io.BytesIO()
        written(frame, held, self._extra(frame))
        content = held.getvalue().removesuffix(END.encode())
        return pa.table([pa.array([part], pa.int32()), pa.array([content], pa.binary())], names=["part", "content"])
