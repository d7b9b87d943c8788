"""`Local`: files larger than memory, on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.checks import positive
from confide.core.errors import InputError
from confide.core.files.whole_folder import whole_folder
from confide.core.run.progress import Progress, checked_progress, progress_bar
from confide.core.scale.engine import Asked, Counted, Engine, Linked
from confide.core.scale.rows_alike import RowsAlike, both
from confide.core.scale.scratch import scratch_folder

I64 = NDArray[np.int64]
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST = 256 * 2**20
"""Bytes below which nothing can be done."""
USUAL = 4 * 2**30
"""Bytes that are allowed where nobody says."""
TOGETHER = 2**20
"""Rows whose codes are looked at together."""
NOBODY = -1
MOST = 10_000
"""Buckets at most."""


@dataclass(frozen=True)
class Local:
    """Work on this machine, within so much memory; what does not fit is put aside in a scratch folder.

    `memory`: what the work may take beside the program itself, as "4GB". `scratch`: the folder for what is put aside;
    microdata are in it, so name one on a disk that is approved for them (default: the system's temporary folder). It is
    made private and is removed in any case. `batch`: rows that are read at a time. `buckets`: into so many
    parts a file is cut of which too few rows are alike; by default that is done only where distinct rows do not fit
    into memory, with as many buckets as memory asks for. Neither changes a result.

    >>> import confide as cf
    >>> cf.Local(memory="2GB").in_bytes
    2147483648
    """

    memory: str | float = "4GB"
    scratch: str | os.PathLike[str] | None = None
    batch: int = field(default=200_000, metadata={"lowest": 1})
    buckets: int | None = None

    def __post_init__(self) -> None:
        check_machine(checked_size(self.memory, "Local: memory"))
        if isinstance(self.batch, bool) or not isinstance(self.batch, int) or self.batch < 1:
            raise InputError("Local: batch is how many rows are read at a time, from 1 upwards.")
        if self.buckets is not None and (not isinstance(self.buckets, int) or not 1 <= self.buckets <= MOST):
            raise InputError(f"Local: buckets is a whole number from 1 to {MOST:,}.")

    @property
    def in_bytes(self) -> int:
        """The memory in bytes."""
        return size_of(self.memory, "Local: memory")

    @contextmanager
    def counting(self, release: Linked, asked: Asked, progress: Progress = None) -> Iterator[LocalCounting]:
        """Count, and keep whose rows are alike until the end of the block."""
        checked_progress(progress)
        with scratch_folder(self.scratch) as folder:
            yield LocalCounting.of(self, release, asked, folder, progress)


@dataclass(frozen=True, eq=False)
class LocalCounting:
    """`pair`: of each original row, the place among pairs, -1 for one that does not count; on disk."""

    counted: Counted
    pair: NDArray[np.int32]

    @classmethod
    def of(cls, local: Local, release: Linked, asked: Asked, folder: Path, progress: Progress) -> LocalCounting:
        """Three passes: over the original, over the release, over the codes of both."""
        n, m = release.original.height, release.released.height
        most = local.in_bytes // bytes_of_row(len(asked.original) + len(asked.released))
        with progress_bar("counting rows that are alike", n + m, progress) as done:
            own = _codes(folder / "own", n)
            before = RowsAlike(asked.original, asked.original_added, most)
            codes = _codes(folder / "codes", n)
            for first, batch in release.original.batches(both(asked.original, asked.original_added), rows=local.batch):
                codes[first : first + batch.height] = before.add(batch)
                done(batch.height)
            after = RowsAlike(asked.released, asked.added, most)
            for batch, link in _with_links(release, both(asked.released, asked.added), local.batch):
                own[link] = after.add(batch)
                done(batch.height)
        pairs = _paired(codes, own, len(after), asked.everybody)
        return cls(Counted(before.table, after.table, *pairs), codes)

    def pairs_of(self, rows: I64) -> I64:
        """See `Counting`."""
        return np.asarray(self.pair[rows]).astype(np.int64)

    def spread(self, table: pl.DataFrame, out: Path, progress: Progress = None) -> None:
        """Write one row for each person who counted; see `Counting`."""
        names, first, number = table.columns, 0, count()
        with whole_folder(out, private=True) as folder, progress_bar("writing", len(self.pair), progress) as done:
            for at in range(0, len(self.pair), TOGETHER):
                mine = np.asarray(self.pair[at : at + TOGETHER])
                mine = mine[mine >= 0]
                rows = table.select(pl.all().gather(mine.astype(np.int64)))
                every = pl.int_range(first, first + len(mine), dtype=pl.Int64, eager=True).alias("target")
                rows.insert_column(0, every).select("target", *names).write_parquet(
                    folder / f"part-{next(number):05}.parquet"
                )
                first += len(mine)
                done(min(TOGETHER, len(self.pair) - at))


def size_of(memory: str | float, where: str) -> int:
    """A size in bytes.

    >>> size_of("512MB", "memory")
    536870912
    """
    if not isinstance(memory, str):
        return int(positive(memory, where))
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)i?b?\s*", memory.lower())
    if found is None:
        raise InputError(f'{where} is a size such as "4GB" or "512MB", not "{memory}".')
    return int(float(found[1]) * UNITS[found[2]])


def checked_size(memory: str | float, where: str) -> int:
    """The same, of what work can be done with."""
    if (found := size_of(memory, where)) < LEAST:
        raise InputError(f'{where} is at least 256MB, not {memory!r}: write it with its unit, as "4GB".')
    return found


def check_machine(memory: int) -> None:
    """Refuse more than this machine has, where it says so; what is allowed by default is never refused."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return
    if memory > max(there, USUAL):
        raise InputError(
            f"memory: more is allowed than this machine has, {there / 2**30:,.0f} GB. Allow less: what does not fit is "
            "put aside on scratch."
        )


def engine_of(given: object) -> Engine:
    """The engine that was given, this machine where none was; refused where it is no engine.

    >>> engine_of(None)
    Local(memory='4GB', scratch=None, batch=200000, buckets=None)
    """
    if given is None:
        return Local()
    if isinstance(given, type) or not all(hasattr(given, name) for name in ("in_bytes", "counting")):
        raise InputError(f"engine is cf.Local(...) or cf.Spark(session), not {type(given).__name__}.")
    return given  # type: ignore[return-value]


def bytes_of_row(variables: int) -> int:
    """What a distinct row takes while an attack is computed, by the rule of `Intruder.cost`."""
    return 100 + 70 * variables


def _codes(path: Path, n: int) -> NDArray[np.int32]:
    """An array on disk, -1 everywhere."""
    if not n:
        return np.zeros(0, dtype=np.int32)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    with open(path, "r+b") as handle:
        os.posix_fallocate(handle.fileno(), 0, 4 * n) if hasattr(os, "posix_fallocate") else handle.truncate(4 * n)
    made = np.memmap(path, dtype=np.int32, mode="r+", shape=(n,))
    made[:] = NOBODY
    return made


def _with_links(release: Linked, names: list[str], rows: int) -> Iterator[tuple[pl.DataFrame, I64]]:
    """Released rows with the original row of each, whatever the batches of either."""
    links, held = release.links(), np.zeros(0, dtype=np.int64)
    for _, batch in release.released.batches(names, rows=rows):
        while len(held) < batch.height:
            more = next(links, None)
            if more is None:
                raise InputError(
                    "The private folder has fewer links than the release has rows; protect the file again."
                )
            held = np.concatenate([held, more])
        yield batch, held[: batch.height]
        held = held[batch.height :]


def _paired(
    codes: NDArray[np.int32], own: NDArray[np.int32], many: int, everybody: bool
) -> tuple[I64, I64, NDArray[np.float64]]:
    """Distinct pairs in rising order with their counts; `codes` holds the place of each row's pair afterwards."""
    width = many + 1
    known, total = np.zeros(0, dtype=np.int64), np.zeros(0)

    def wholes() -> Iterator[tuple[int, I64, NDArray[np.bool_]]]:
        for at in range(0, len(codes), TOGETHER):
            z = np.asarray(own[at : at + TOGETHER]).astype(np.int64)
            yield at, np.asarray(codes[at : at + TOGETHER]) * np.int64(width) + z + 1, (z >= 0) | everybody

    for _, whole, kept in wholes():
        found, number = np.unique(whole[kept], return_counts=True)
        every = np.union1d(known, found)
        sums = np.zeros(len(every))
        sums[np.searchsorted(every, known)] += total
        sums[np.searchsorted(every, found)] += number
        known, total = every, sums
    for at, whole, kept in wholes():
        codes[at : at + len(whole)] = np.where(kept, np.searchsorted(known, whole), NOBODY)
    return known // width, known % width - 1, total
