"""Released rows on scratch, on their way into random order: runs that are sorted, read again range by range.

Each run is one file: some rows, sorted by their random word, in as many pieces as there are ranges of words. A range is
read from all runs, sorted, and is then the next piece of the release.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from confide.core.random.draws import Counter
from confide.core.random.philox import U64
from confide.frames.columns import I64

ROW, WORD = "\x00row", "\x00word"
"""Columns of the runs that are not released: the number of the original row, and its random word."""


class Spill:
    """`ranges`: how many ranges of words there are. `size`: rows of a run."""

    def __init__(self, folder: Path, draws: Counter, ranges: int, size: int) -> None:
        self.folder, self.draws, self.size = folder, draws, size
        self.edges = np.array([(k << 64) // ranges for k in range(1, ranges)], dtype=np.uint64)
        self.held: list[pl.DataFrame] = []
        self.runs: list[tuple[Path, list[int]]] = []
        self.rows = 0

    def add(self, frame: pl.DataFrame, rows: I64) -> None:
        """Some released rows, and the numbers of their original rows."""
        if not len(rows):
            return
        self.held.append(frame.with_columns(pl.Series(ROW, rows), pl.Series(WORD, self.draws.words(rows))))
        self.rows += len(rows)
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
        file, places = self.folder / f"run-{len(self.runs):05}", [0]
        with open(file, "wb") as handle:
            for low, high in pairwise(cuts):
                if high > low:
                    piece = io.BytesIO()
                    frame[low:high].write_ipc(piece, compression="uncompressed")
                    handle.write(piece.getbuffer())
                places.append(handle.tell())
        self.runs.append((file, places))

    def pieces(self) -> Iterator[tuple[pl.DataFrame, I64]]:
        """All rows in their random order, range by range, each with the numbers of its original rows."""
        self.flush()
        with ExitStack() as stack:
            handles = [stack.enter_context(open(file, "rb")) for file, _ in self.runs]
            for k in range(len(self.edges) + 1):
                found = []
                for handle, (_, places) in zip(handles, self.runs, strict=True):
                    handle.seek(places[k])
                    if places[k + 1] > places[k]:
                        found.append(pl.read_ipc(io.BytesIO(handle.read(places[k + 1] - places[k]))))
                if found:
                    yield self._sorted(pl.concat(found))

    def _sorted(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, I64]:
        rows, words = frame.get_column(ROW).to_numpy(), frame.get_column(WORD).to_numpy()
        order = np.argsort(words)
        if _ties(words[order]):
            order = np.lexsort((rows, self.draws.words(rows, word=1), words))
        return frame.drop(ROW, WORD)[order], rows[order]


def _ties(rising: U64) -> bool:
    return bool((rising[1:] == rising[:-1]).any())
