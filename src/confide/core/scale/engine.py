"""Where work on files larger than memory is done: on this machine, or on a cluster. An engine knows no statistics.

It counts rows that are alike, in both files and as pairs of an original row with its own released one, and writes one
row for each again in the end. What is computed between the two is the same whatever engine counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from confide.core.run.progress import Progress

if TYPE_CHECKING:
    import polars as pl

I64 = NDArray[np.int64]
COUNT = "__count"
"""The column of tables of distinct rows that says how many rows are alike."""


class File(Protocol):
    """A file that is read in batches: `Scan`."""

    @property
    def height(self) -> int: ...

    @property
    def files(self) -> tuple[Path, ...]: ...

    @property
    def offsets(self) -> tuple[int, ...]: ...

    @property
    def types(self) -> dict[str, pl.DataType]: ...

    def batches(self, columns: Iterable[str] | None = None, rows: int = 0) -> Iterator[tuple[int, pl.DataFrame]]: ...


class Linked(Protocol):
    """A release of which it is known whose each row is: `ScannedRelease`."""

    @property
    def original(self) -> File: ...

    @property
    def released(self) -> File: ...

    @property
    def link_files(self) -> tuple[Path, ...]: ...

    def links(self) -> Iterator[I64]: ...


@dataclass(frozen=True)
class Asked:
    """What is counted of a release: the variables of both files that make rows alike; `added`: variables of which sums
    are taken by distinct row; `everybody`: original rows count as well that were not released."""

    original: Sequence[str]
    released: Sequence[str]
    original_added: Sequence[str] = ()
    added: Sequence[str] = ()
    everybody: bool = False


@dataclass(frozen=True, eq=False)
class Counted:
    """Distinct rows of both files, in any order, with how many are alike (`COUNT`) and sums; and distinct pairs: the
    place of the original row, that of its own released row (-1: none), and how many people have both."""

    original: pl.DataFrame
    released: pl.DataFrame
    pair_original: I64
    pair_released: I64
    pair_count: NDArray[np.float64] = field(repr=False)


class Counting(Protocol):
    """Rows that were counted, and can be told apart again."""

    @property
    def counted(self) -> Counted: ...

    def pairs_of(self, rows: I64) -> I64:
        """The places of original rows among the pairs; all rows must have been asked for (`everybody`)."""

    def spread(self, table: pl.DataFrame, out: Path, progress: Progress) -> None:
        """Write one row for each person who counted, in the order of the original file: the row of `table` that
        belongs to the pair, with the number of the person as the first column, `target`."""


class Engine(Protocol):
    """Where files are counted and results are written; `in_bytes`: the memory that may be taken here."""

    @property
    def in_bytes(self) -> int: ...

    def counting(self, release: Linked, asked: Asked, progress: Progress) -> AbstractContextManager[Counting]: ...
