"""The tree behind CartSynthesis: how it reads predictors, and the values that its leaves hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from confide.frames.columns import F64, I64, Column, Records, codes_in
from confide.protect.methods.synthesis.cart.grower import Nodes, grow

SPLIT = 3
"""A node is split if it holds so many times the records of the smallest leaf, as customary trees have it."""
GAIN = 1e-8
"""The least share of the file's impurity that a split takes away, as customary in synthesis."""


@dataclass(frozen=True, eq=False)
class _Number:
    """One numeric predictor: where a missing value is put, and whether there is a column that says so."""

    name: str
    middle: float
    gaps: bool

    @property
    def levels(self) -> list[int]:
        return [0, 2] if self.gaps else [0]

    def columns(self, column: Column) -> list[F64]:
        missing = column.missing
        values = np.where(missing, self.middle, column.values) if missing.any() else column.values
        return [values, missing.astype(float)] if self.gaps else [values]


@dataclass(frozen=True, eq=False)
class _Category:
    """One categorical predictor; missing is one more category, and stands for those that the file does not have."""

    name: str
    reference: Column

    @property
    def levels(self) -> list[int]:
        return [len(self.reference.levels) + 1]

    def columns(self, column: Column) -> list[F64]:
        return [(codes_in(column, self.reference) % (len(self.reference.levels) + 1)).astype(float)]


@dataclass(frozen=True, eq=False)
class Read:
    """Predictors as a tree reads them, learnt on one file and used on another: numbers, and codes of categories.

    Missing is a category; a missing number is at the mean, with a column that says so.
    """

    parts: tuple[_Number | _Category, ...]

    @classmethod
    def of(cls, records: Records, names: Sequence[str]) -> Read:
        return cls(tuple(_part(records[v]) for v in names))

    @property
    def levels(self) -> I64:
        """Categories of each row of the matrix, 0 for numbers."""
        return np.array([n for part in self.parts for n in part.levels], dtype=np.int64)

    def matrix(self, records: Records) -> F64:
        """Shape (p, n)."""
        return np.stack([c for part in self.parts for c in part.columns(records[part.name])])


def _part(column: Column) -> _Number | _Category:
    if column.kind == "categorical":
        return _Category(column.name, column.codebook())
    there = column.values[~column.missing]
    return _Number(column.name, float(there.mean()) if len(there) else 0.0, 0 < len(there) < len(column))


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree with the file's values in its leaves.

    `values`: leaf after leaf, sorted inside each; `starts`: where each leaf begins, and the end. `nodes`: None for one
    leaf alone; `number`: of each node that is a leaf, counted from 0.
    """

    read: Read
    nodes: Nodes | None
    number: I64
    values: NDArray[Any]
    starts: I64

    @classmethod
    def of(cls, records: Records, names: Sequence[str], y: NDArray[Any], leaf: int, numbers: bool) -> Tree:
        """Grown on these records and their values of the target, with at least `leaf` records in each leaf."""
        read = Read.of(records, names)
        if not read.parts or len(y) < 2 * leaf:
            return cls(read, None, np.zeros(1, dtype=np.int64), np.sort(y), np.array([0, len(y)]))
        x = read.matrix(records)
        target, classes = (scores(y), 0) if numbers else _classes(y)
        nodes = grow(x, read.levels, target, classes, leaf, SPLIT * leaf, GAIN * impurity(target, classes))
        number = np.full(len(nodes.feature), -1, dtype=np.int64)
        number[nodes.leaves] = np.arange(len(nodes.leaves))
        of = number[nodes.ends(x)]
        starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(nodes.leaves)))])
        return cls(read, nodes, number, y[np.lexsort((y, of))], starts)

    def leaves(self, records: Records) -> I64:
        """The leaf of each record, counted from 0."""
        if self.nodes is None:
            return np.zeros(records.n, dtype=np.int64)
        return np.asarray(self.number[self.nodes.ends(self.read.matrix(records))])


def scores(y: F64) -> F64:
    """Normal scores of numbers, ties at the middle of their ranks, centred: so that few large values decide nothing."""
    _, at, count = np.unique(y, return_inverse=True, return_counts=True)
    found = ndtri((np.cumsum(count) - 0.5 * count) / len(y))[at]
    return np.asarray(found - found.mean())


def _classes(y: NDArray[Any]) -> tuple[F64, int]:
    found, of = np.unique(y, return_inverse=True)
    return of.astype(float), len(found)


def impurity(y: F64, classes: int) -> float:
    """Sum of squares of a centred number, or records times the Gini index."""
    if not classes:
        return float((y**2).sum())
    count = np.bincount(y.astype(np.int64))
    return float(len(y) - (count**2).sum() / len(y))
