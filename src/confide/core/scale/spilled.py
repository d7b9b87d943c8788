"""Rows put aside by bucket, on scratch: one file per batch, a piece for each bucket, read again bucket by bucket."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

I64 = NDArray[np.int64]


class Spilled:
    """`buckets`: how many there are; `rows`: how many rows each has.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     aside = Spilled(Path(here), "people", 2)
    ...     aside.add(pl.DataFrame({"a": [1, 2, 3]}), np.array([1, 0, 1]))
    ...     aside.add(pl.DataFrame({"a": [4]}), np.array([1]))
    ...     aside.bucket(1)["a"].to_list(), aside.rows.tolist()
    ([1, 3, 4], [1, 3])
    """

    def __init__(self, folder: Path, name: str, buckets: int) -> None:
        self.folder, self.name, self.buckets = folder, name, buckets
        self.rows = np.zeros(buckets, dtype=np.int64)
        self._places: list[list[int]] = []
        self._empty: pl.DataFrame | None = None

    def add(self, frame: pl.DataFrame, bucket: I64) -> None:
        """Some rows, with the bucket of each; rows of one bucket keep their order."""
        if self._empty is None:
            self._empty = frame.head(0)
        if not frame.height:
            return
        order = np.argsort(bucket, kind="stable")
        cuts = np.searchsorted(bucket[order], np.arange(self.buckets + 1))
        frame, places = frame[order], [0]
        with open(self._file(len(self._places)), "wb") as file:
            for low, high in pairwise(cuts.tolist()):
                if high > low:
                    piece = io.BytesIO()
                    frame[low:high].write_ipc_stream(piece, compression="uncompressed")
                    file.write(piece.getbuffer())
                places.append(file.tell())
        self._places.append(places)
        self.rows += np.diff(cuts)

    def bucket(self, b: int) -> pl.DataFrame:
        """All rows of a bucket."""
        found = [] if self._empty is None else [self._empty]
        for k, places in enumerate(self._places):
            if places[b + 1] > places[b]:
                with open(self._file(k), "rb") as file:
                    file.seek(places[b])
                    found.append(pl.read_ipc_stream(io.BytesIO(file.read(places[b + 1] - places[b]))))
        return pl.concat(found, rechunk=True)

    def _file(self, k: int) -> Path:
        return self.folder / f"{self.name}-{k:06}.arrow"


def bucket_of(codes: list[I64], n: int, buckets: int) -> I64:
    """The bucket of each of n rows, by a hash of codes: rows with the same codes meet."""
    whole = np.zeros(n, dtype=np.uint64)
    for c in codes:
        whole = (whole ^ c.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        whole ^= whole >> np.uint64(29)
    return (whole % np.uint64(buckets)).astype(np.int64)
