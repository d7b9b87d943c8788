"""Rows put aside by bucket, on scratch: one file per batch, sorted by bucket, and read again bucket by bucket."""

from __future__ import annotations

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
        self._cuts: list[I64] = []
        self._empty: pl.DataFrame | None = None

    def add(self, frame: pl.DataFrame, bucket: I64) -> None:
        """Some rows, with the bucket of each; rows of one bucket keep their order."""
        if self._empty is None:
            self._empty = frame.head(0)
        if not frame.height:
            return
        order = np.argsort(bucket, kind="stable")
        cuts = np.searchsorted(bucket[order], np.arange(self.buckets + 1))
        frame[order].write_ipc(self._file(len(self._cuts)), compression="uncompressed")
        self._cuts.append(cuts)
        self.rows += np.diff(cuts)

    def bucket(self, b: int) -> pl.DataFrame:
        """All rows of a bucket."""
        found = [] if self._empty is None else [self._empty]
        for k, cuts in enumerate(self._cuts):
            if cuts[b + 1] > cuts[b]:
                found.append(pl.scan_ipc(self._file(k)).slice(int(cuts[b]), int(cuts[b + 1] - cuts[b])).collect())
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
