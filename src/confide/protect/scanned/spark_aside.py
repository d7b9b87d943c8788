"""Released rows that workers put aside on scratch, on their way into random order: a file for each batch.

Beside it lies what the batch shows: which rows of the original it is of, how many are in each range of words, what the
release must know of them. So the same work finds batches again that were finished before its driver was killed, and
workers leave out their rows. A batch counts once, however many attempts of a task, or workers that outlived their
driver, have written it.
"""

from __future__ import annotations

import os
import pickle
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.core.random.draws import Counter, UnitsOfRows
from confide.core.random.philox import U64
from confide.core.scale.spark_batches import packed_rows
from confide.core.scale.spark_files import ROW
from confide.frames.columns import I64, Bools
from confide.frames.scan.codebook import Codebook
from confide.protect.scanned.passes import Stage, encoded
from confide.protect.scanned.public import Public, Seen
from confide.protect.scanned.spark_work import in_a_row
from confide.protect.scanned.spill import ROW as NUMBER
from confide.protect.scanned.spill import WORD

if TYPE_CHECKING:
    import pyarrow as pa

PUT = "file string"
"""What a worker says of a batch that it put aside."""
END = ".parquet"


@dataclass(frozen=True, eq=False)
class Shown:
    """Of a batch. `rows`: first and last but one of rows that follow one another; `counts`: by ranges of words."""

    rows: I64
    counts: I64
    seen: Seen


@dataclass(frozen=True, eq=False)
class Aside:
    """Batches that are finished: their files, and what they show."""

    files: Sequence[Path] = ()
    shown: Sequence[Shown] = ()

    @classmethod
    def of(cls, files: Sequence[Path]) -> Aside:
        """Of several that hold the same rows, the first."""
        kept, shown = [], []
        rows = np.zeros((0, 2), dtype=np.int64)
        for file in files:
            found = pickle.loads(_beside(file).read_bytes())
            if not any(((rows[:, 0] < high) & (rows[:, 1] > low)).any() for low, high in found.rows):
                kept.append(file)
                shown.append(found)
                rows = np.concatenate([rows, found.rows])
        return cls(kept, shown)

    @property
    def rows(self) -> I64:
        """First row, and that after the last, of all that is finished; in rising order."""
        every = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(s.rows for s in self.shown)])
        return every[np.argsort(every[:, 0])]

    @property
    def many(self) -> int:
        """How many rows these are."""
        return int((self.rows[:, 1] - self.rows[:, 0]).sum())


def finished_in(folder: Path) -> list[Path]:
    """Files of finished batches."""
    return sorted(folder.glob(f"*{END}"))


def _beside(file: Path) -> Path:
    return file.with_suffix(".shown")


@dataclass(frozen=True, eq=False)
class SpillBatch:
    """Released rows of a batch, cut by ranges of their random words, and what they show. `done`: rows that are put
    aside already, as `Aside` has them; `folder`: for the files."""

    codebook: Codebook
    stages: tuple[Stage, ...]
    public: Public
    draws: Counter
    edges: U64
    units: UnitsOfRows | None
    done: I64
    folder: Path

    def __call__(self, frame: pl.DataFrame) -> pa.Table:
        import pyarrow as pa

        left = frame.filter(~self._is_done(frame[ROW].to_numpy()))
        return pa.table([pa.array([self._put(left)] if left.height else [], pa.string())], names=["file"])

    def _is_done(self, rows: I64) -> Bools:
        if not len(self.done):
            return np.zeros(len(rows), dtype=bool)
        place = np.searchsorted(self.done[:, 0], rows, side="right") - 1
        return np.asarray((place >= 0) & (rows < self.done[place, 1]))

    def _put(self, frame: pl.DataFrame) -> str:
        public, made, rows = self.public.anew(), [], []
        for first, batch in in_a_row(frame):
            base = current = encoded(self.codebook, batch, first, list(self.codebook.columns), self.units)
            for stage in self.stages:
                base, current = stage.carry(base, current)
            spilt = public.spilt(first, batch, current)
            public.see(spilt)
            words = self.draws.words(current.rows)
            made.append(spilt.with_columns(pl.Series(NUMBER, current.rows), pl.Series(WORD, words)))
            rows.append((first, first + batch.height))
        every = pl.concat(made)
        place = np.searchsorted(self.edges, every[WORD].to_numpy(), side="right")
        counts = np.bincount(place, minlength=len(self.edges) + 1)
        return self._written(packed_rows(every, place, 0), Shown(np.array(rows), counts, public.seen))

    def _written(self, table: pa.Table, shown: Shown) -> str:
        """The name of the file, which appears whole and last."""
        from pyarrow import parquet

        file = self.folder / f"{secrets.token_hex(16)}{END}"
        unfinished = file.with_suffix(".unfinished")
        parquet.write_table(table, unfinished, compression="none", use_dictionary=False, write_statistics=False)
        _beside(file).write_bytes(pickle.dumps(shown))
        os.replace(unfinished, file)
        return file.name
