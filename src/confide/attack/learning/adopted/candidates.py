"""The candidates of each target, never all at once: rows in its box, or the rows that are nearest to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from confide.attack.learning.adopted.search import TIE, in_balls, in_boxes, nearest_distances, pair_distances
from confide.attack.learning.adopted.tree import Tree
from confide.core.run.threads import run_pieces, thread_count
from confide.frames.columns import F64, I64, Bools

PIECE = 1024
"""Targets of one piece of work."""

Stretches = tuple[I64, I64, I64]
"""Where the stretches of each target begin among all of them; the first and one past the last row of each stretch."""


class Candidates(Protocol):
    """Who may be whom: for n targets, positions in `tree.rows`."""

    @property
    def tree(self) -> Tree:
        """The released rows."""

    def walk(self, a: int, b: int, ptr: I64, begins: I64, ends: I64, rows: I64, write: bool) -> None:
        """Count the stretches and rows of the targets a to b, or write the stretches."""

    def holds(self, which: I64, rows: I64) -> Bools:
        """Whether released rows, -1 for none, are among the candidates of the targets `which`."""

    def without(self, which: I64, rows: I64) -> Candidates:
        """The same search for the targets `which`, in a release without a row for each of them, -1 for none: where that
        row changes who else is a candidate, others are; it may itself still be found."""

    def __len__(self) -> int:
        """How many targets there are."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """Rows between `lows` and `highs`, both of shape (n, d)."""

    tree: Tree
    lows: F64
    highs: F64

    def walk(self, a: int, b: int, ptr: I64, begins: I64, ends: I64, rows: I64, write: bool) -> None:
        """As `Candidates` says."""
        in_boxes(self.tree.parts, self.lows, self.highs, a, b, ptr, begins, ends, rows, write)

    def holds(self, which: I64, rows: I64) -> Bools:
        """As `Candidates` says."""
        own = self.tree.points[point_of(self.tree, np.maximum(rows, 0))]
        outside = (own < self.lows[which]) | (own > self.highs[which])
        return np.asarray((rows >= 0) & ~outside.any(axis=1))

    def without(self, which: I64, rows: I64) -> Boxes:  # noqa: ARG002
        """As `Candidates` says: a box is what it is, whoever lies in it."""
        return Boxes(self.tree, self.lows[which], self.highs[which])

    def __len__(self) -> int:
        return len(self.lows)


@dataclass(frozen=True, eq=False)
class Balls:
    """Rows no farther than the k-th nearest, k = `nearest`, and all that tie with it; `reach`: that distance, (n,);
    `limit`: another distance up to which rows are looked for, None for that one."""

    tree: Tree
    targets: F64
    categories: Bools
    unit: F64
    power: int
    nearest: int
    reach: F64
    threads: int
    limit: F64 | None = None

    @classmethod
    def of(
        cls, tree: Tree, targets: F64, categories: Bools, unit: F64, power: int, nearest: int, threads: int | None,
        skip: I64 | None = None,
    ) -> Balls:  # fmt: skip
        """Of targets with these coordinates, shape (n, d); `skip`: a row of each that is not there, -1 for none."""
        n, reach, cores = len(targets), np.empty(len(targets)), thread_count(threads)
        left_out = np.full(n, -1, dtype=np.int64) if skip is None else np.where(skip < 0, -1, tree.place[skip])

        def work(a: int, b: int) -> None:
            nearest_distances(tree.parts, targets, (categories, unit, power), nearest, left_out, a, b, reach)

        run_pieces(work, pieces(n), cores, lambda _: None)
        return cls(tree, targets, categories, unit, power, nearest, reach, cores)

    @property
    def measure(self) -> tuple[Bools, F64, int]:
        """How distances are measured."""
        return self.categories, self.unit, self.power

    @property
    def limits(self) -> F64:
        """The largest distance that still counts as equal to the k-th nearest."""
        return farther(self.reach, self.power) if self.limit is None else self.limit

    def walk(self, a: int, b: int, ptr: I64, begins: I64, ends: I64, rows: I64, write: bool) -> None:
        """As `Candidates` says."""
        in_balls(self.tree.parts, self.targets, self.measure, self.limits, a, b, ptr, begins, ends, rows, write)

    def holds(self, which: I64, rows: I64) -> Bools:
        """As `Candidates` says."""
        point = np.where(rows < 0, -1, point_of(self.tree, np.maximum(rows, 0)))
        out = np.empty(len(rows))
        pair_distances(self.tree.points, point, self.targets[which], self.measure, out)
        return np.asarray((rows >= 0) & (out <= self.limits[which]))

    def without(self, which: I64, rows: I64) -> Balls:
        """As `Candidates` says: without its own row, another may be the nearest."""
        how = (self.categories, self.unit, self.power, self.nearest, self.threads)
        return Balls.of(self.tree, self.targets[which], *how, skip=rows)

    def __len__(self) -> int:
        return len(self.targets)


def farther(distances: F64, power: int) -> F64:
    """Distances, or their squares, with all that counts as equal to them."""
    if power == 2:
        return np.asarray((np.sqrt(distances) * (1 + TIE) + TIE) ** 2)
    return np.asarray(distances * (1 + TIE) + TIE)


def nearer(distances: F64, power: int) -> F64:
    """Distances, or their squares, up to which a row is strictly nearer; below 0 where none is."""
    if power == 2:
        inner = np.sqrt(distances) * (1 - TIE) - TIE
        return np.asarray(np.where(inner < 0, -1.0, inner**2))
    return np.asarray(distances * (1 - TIE) - TIE)


def point_of(tree: Tree, rows: I64) -> I64:
    """The point of each released row."""
    return np.asarray(np.searchsorted(tree.first, tree.place[rows], side="right") - 1)


def pieces(n: int, size: int = PIECE) -> list[tuple[int, int]]:
    """n targets in pieces of work."""
    return [(a, min(a + size, n)) for a in range(0, n, size)]


def counted(found: Candidates, threads: int | None = None) -> I64:
    """How many candidates each target has, shape (n,)."""
    rows = np.zeros(len(found), dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)

    def work(a: int, b: int) -> None:
        found.walk(a, b, np.zeros(b - a + 1, dtype=np.int64), none, none, rows[a:b], False)

    run_pieces(work, pieces(len(found)), thread_count(threads), lambda _: None)
    return rows


def stretches(found: Candidates, a: int, b: int) -> Stretches:
    """The stretches of the targets a to b; the first of target t is at ptr[t - a]."""
    none = np.zeros(0, dtype=np.int64)
    ptr, rows = np.zeros(b - a + 1, dtype=np.int64), np.empty(b - a, dtype=np.int64)
    found.walk(a, b, ptr, none, none, rows, False)
    ptr = np.cumsum(ptr)
    begins, ends = (np.empty(ptr[-1], dtype=np.int64) for _ in range(2))
    found.walk(a, b, ptr, begins, ends, rows, True)
    return ptr, begins, ends


def in_turn(found: Candidates, work: Callable[..., Any], threads: int | None, size: int = PIECE) -> None:
    """Call `work(a, b, ptr, begins, ends)` for pieces of the targets: the memory is that of a few pieces."""

    def one(a: int, b: int) -> None:
        work(a, b, *stretches(found, a, b))

    run_pieces(one, pieces(len(found), size), thread_count(threads), lambda _: None)
