"""The cells of a sample: records that have the same keys, how many there are, and how many people they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct


@dataclass(frozen=True, eq=False)
class Cells:
    """`f`: (d,) records of each cell; `people`, `squares`: (d,) sums of their weights, and of squared weights.

    `first`: (d,) a record of each; `of_row`: each record's cell, or that of every different row of them.

    >>> cells = Cells.of([np.array([0, 0, 1]), np.array([2, 2, 2])], np.array([10.0, 20.0, 5.0]))
    >>> cells.f, cells.people, cells.sizes
    (array([2., 1.]), array([30.,  5.]), (array([1., 2.]), array([1, 1])))
    """

    f: F64
    people: F64
    squares: F64
    first: I64
    of_row: I64

    @classmethod
    def of(cls, keys: Sequence[I64], weights: F64, count: F64 | None = None) -> Cells:
        """Of records with these codes, one array per key, and weights; `count`: how many records a row stands for."""
        found = Distinct.rows(keys, len(weights), count)
        sums = (weights, weights * weights) if count is None else (weights * count, weights * weights * count)
        people, squares = (np.bincount(found.of, w, len(found)).astype(float) for w in sums)
        return cls(found.count, people, squares, found.first, found.of)

    @property
    def n(self) -> int:
        """Records."""
        return int(self.f.sum())

    @property
    def total(self) -> float:
        """People: the sum of all weights."""
        return float(self.people.sum())

    @property
    def fraction(self) -> float:
        """Records per person."""
        return min(self.n / self.total, 1.0)

    @property
    def whole(self) -> bool:
        """Whether the sample is the population."""
        return self.total <= self.n * (1 + 1e-12)

    @property
    def unique(self) -> Bools:
        """(d,) where a cell has one record."""
        return np.asarray(self.f == 1)

    @cached_property
    def sizes(self) -> tuple[F64, I64]:
        """Sizes of cells that there are, rising, and how many cells have each."""
        size, cells = np.unique(self.f, return_counts=True)
        return size, cells.astype(np.int64)

    def having(self, size: int) -> int:
        """How many cells have so many records."""
        return int((self.f == size).sum())
