"""Released rows on scratch, on their way into random order: runs that are sorted, read again range by range.

Each run is one file: some rows, sorted by their random word, in as many pieces as there are ranges of words. A range is
read from all runs, sorted, and is then the next piece of the release. Beside a run that is finished lies what is known
of it, so that the same work finds it again after its process was killed.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from confide.core.random.draws import Counter
from confide.core.random.philox import U64
from confide.frames.columns import I64

ROW, WORD = "\x00row", "\x00word"
"""Columns of the runs that are not released: the number of the original row, and its random word."""


@dataclass(frozen=True)
class Run:
    """`places`: where ranges begin and end in its file; `cuts`: among its rows. `end`: the original row after
    it."""

    places: list[int]
    cuts: list[int]
    end: int


class Spill:
    """`ranges`: how many ranges of words there are. `size`: rows of a run. Runs that are in the folder are taken over:
    it is known by all that they hang on."""

    def __init__(self, folder: Path, draws: Counter, ranges: int, size: int) -> None:
        self.folder, self.draws, self.size = folder, draws, size
        self.edges = np.array([(k << 64) // ranges for k in range(1, ranges)], dtype=np.uint64)
        self.held: list[pl.DataFrame] = []
        self.end = 0
        self.runs: list[Run] = []
        while self._facts(len(self.runs)).exists():
            self.runs.append(Run(**json.loads(self._facts(len(self.runs)).read_text(encoding="utf-8"))))

    @property
    def done(self) -> int:
        """The original row that comes after all finished runs."""
        return self.runs[-1].end if self.runs else 0

    def add(self, frame: pl.DataFrame, rows: I64, end: int) -> None:
        """Some released rows, and the numbers of their original rows; they are of a batch that ends before `end`."""
        self.end = end
        if len(rows):
            self.held.append(frame.with_columns(pl.Series(ROW, rows), pl.Series(WORD, self.draws.words(rows))))
        if sum(f.height for f in self.held) >= self.size:
            self.flush()

    def flush(self) -> None:
        """Write what is held as one run."""
        if not self.held:
            return
        frame = pl.concat(self.held)
        self.held = []
        words = frame.get_column(WORD).to_numpy()
        order = np.argsort(words)
        frame = frame[order]
        cuts = [0, *np.searchsorted(words[order], self.edges).tolist(), frame.height]
        k, places = len(self.runs), [0]
        with open(self._file(k), "wb") as handle:
            for low, high in pairwise(cuts):
                if high > low:
                    piece = io.BytesIO()
                    frame[low:high].write_ipc(piece, compression="uncompressed")
                    handle.write(piece.getbuffer())
                places.append(handle.tell())
        self.runs.append(Run(places, cuts, self.end))
        temporary = self.folder / "unfinished"
        temporary.write_text(json.dumps(asdict(self.runs[-1])), encoding="utf-8")
        os.replace(temporary, self._facts(k))

    def pieces(self, since: int = 0) -> Iterator[tuple[pl.DataFrame, I64]]:
        """All rows in their random order, range by range, each with the numbers of its original rows; from the row with
        the place `since` in that order on."""
        self.flush()
        many = [np.zeros(len(self.edges) + 1, dtype=np.int64), *(np.diff(r.cuts) for r in self.runs)]
        ends = np.cumsum(np.sum(many, axis=0))
        with ExitStack() as stack:
            handles = [stack.enter_context(open(self._file(k), "rb")) for k in range(len(self.runs))]
            for k, end in enumerate(ends.tolist()):
                if end <= since:
                    continue
                found = [_read(h, r.places[k], r.places[k + 1]) for h, r in zip(handles, self.runs, strict=True)]
                if there := [f for f in found if f is not None]:
                    frame, rows = in_order(pl.concat(there), self.draws)
                    late = max(since - (end - len(rows)), 0)
                    yield frame[late:], rows[late:]

    def finished(self) -> Iterator[pl.DataFrame]:
        """The rows of finished runs, in any order."""
        for k, run in enumerate(self.runs):
            with open(self._file(k), "rb") as handle:
                for low, high in pairwise(run.places):
                    if (frame := _read(handle, low, high)) is not None:
                        yield frame.drop(ROW, WORD)

    def _file(self, k: int) -> Path:
        return self.folder / f"run-{k:05}"

    def _facts(self, k: int) -> Path:
        return self.folder / f"run-{k:05}.json"


def _read(handle: io.BufferedReader, low: int, high: int) -> pl.DataFrame | None:
    if high == low:
        return None
    handle.seek(low)
    return pl.read_ipc(io.BytesIO(handle.read(high - low)))


def in_order(frame: pl.DataFrame, draws: Counter) -> tuple[pl.DataFrame, I64]:
    """Rows in the order of their words, and the numbers of their original rows."""
    rows, words = frame.get_column(ROW).to_numpy(), frame.get_column(WORD).to_numpy()
    order = np.argsort(words)
    if _ties(words[order]):
        order = np.lexsort((rows, draws.words(rows, word=1), words))
    return frame.drop(ROW, WORD)[order], rows[order]


def _ties(rising: U64) -> bool:
    return bool((rising[1:] == rising[:-1]).any())
