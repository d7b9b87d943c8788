"""Which sums of a table's cells are published, and how they nest.

Notation: `m` cells in C order, `Q` published quantities, each the sum of a set of cells. A `Part` is one margin: sets
that do not meet. Nesting decides which algorithm is exact: one tree of sets (laminar), two trees (a flow), or neither.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNBOUNDED = 2**62
"""Stands for no upper bound."""


@dataclass(frozen=True, eq=False)
class Part:
    """One published margin. `name`: its variables, () for the total; `levels`: the labels along each of them.

    `entry` (m): the entry of the margin that each cell belongs to, -1 for none; `size`: the number of entries.
    """

    name: tuple[str, ...]
    entry: Ints
    size: int
    levels: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def members(self) -> Ints:
        """The number of cells in each entry."""
        return np.bincount(self.entry[self.entry >= 0], minlength=self.size).astype(np.int64)

    @cached_property
    def firsts(self) -> Ints:
        """One cell of each entry; 0 for an entry without any."""
        out = np.zeros(self.size, dtype=np.int64)
        inside = np.flatnonzero(self.entry >= 0)
        out[self.entry[inside]] = inside
        return out


@dataclass(frozen=True, eq=False)
class Tree:
    """Nested sets. Nodes come with children before parents; `parent` is -1 at the top.

    `quantity`: the published quantity of each node; `of_cell` (m): the smallest set that holds each cell, or -1.
    """

    quantity: Ints
    parent: Ints
    of_cell: Ints

    @property
    def size(self) -> int:
        return len(self.quantity)


@dataclass(frozen=True, eq=False)
class Layout:
    """All published margins of a table, as sets of its `cells` cells."""

    cells: int
    parts: tuple[Part, ...]

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each part lies among the quantities."""
        ends = np.cumsum([0, *(p.size for p in self.parts)])
        return tuple(slice(int(a), int(b)) for a, b in itertools.pairwise(ends))

    @property
    def quantities(self) -> int:
        return sum(p.size for p in self.parts)

    @cached_property
    def matrix(self) -> Any:
        """Q x m, one where a cell belongs to a quantity (scipy CSR)."""
        from scipy.sparse import csr_matrix

        rows, columns = [], []
        for part, where in zip(self.parts, self.slices, strict=True):
            inside = np.flatnonzero(part.entry >= 0)
            rows.append(part.entry[inside] + where.start)
            columns.append(inside)
        if not rows:
            return csr_matrix((0, self.cells), dtype=np.int64)
        r, c = np.concatenate(rows), np.concatenate(columns)
        return csr_matrix((np.ones(len(r), dtype=np.int64), (r, c)), shape=(self.quantities, self.cells))

    def sums(self, counts: Ints) -> Ints:
        """The quantities of tables of counts (..., m): (..., Q)."""
        flat = counts.reshape(-1, self.cells)
        out = np.zeros((len(flat), self.quantities), dtype=np.int64)
        for part, where in zip(self.parts, self.slices, strict=True):
            out[:, where] = _part_sums(part, flat)
        return out.reshape(*counts.shape[:-1], self.quantities)

    @cached_property
    def single(self) -> Ints:
        """For each quantity that is one cell, that cell; else -1."""
        out = np.full(self.quantities, -1, dtype=np.int64)
        for part, where in zip(self.parts, self.slices, strict=True):
            inside = np.flatnonzero(part.entry >= 0)
            alone = inside[part.members[part.entry[inside]] == 1]
            out[where][part.entry[alone]] = alone
        return out

    @cached_property
    def alone(self) -> Bools:
        """Quantities that are one cell which nothing else that is published holds."""
        held = np.asarray(self.matrix.sum(axis=0)).ravel()
        return np.asarray((self.single >= 0) & (held[np.maximum(self.single, 0)] == 1))

    @cached_property
    def finer(self) -> tuple[int, ...]:
        """For each part the coarsest other one whose entries divide its own, -1 where there is none."""
        order = sorted(range(len(self.parts)), key=lambda i: self.parts[i].size)
        return tuple(next((i for i in order if self._divides(self.parts[i], p)), -1) for p in self.parts)

    @staticmethod
    def _divides(fine: Part, coarse: Part) -> bool:
        if fine.size <= coarse.size or bool(np.any(fine.entry < 0)):
            return False
        return bool(np.all(coarse.entry == coarse.entry[fine.firsts][fine.entry]))

    @cached_property
    def families(self) -> tuple[Tree, ...] | None:
        """One tree if all sets nest, two if they fall into two nested families, else None."""
        wide = [i for i, p in enumerate(self.parts) if p.size and p.members.max(initial=0) > 1]
        sides = _two_sides([self.parts[i] for i in wide])
        if sides is None:
            return None
        first = self._tree([i for i, s in zip(wide, sides, strict=True) if s == 0])
        if not any(sides):
            return (first,)
        return (first, self._tree([i for i, s in zip(wide, sides, strict=True) if s == 1]))

    @property
    def laminar(self) -> bool:
        return self.families is not None and len(self.families) == 1

    @cached_property
    def chains(self) -> tuple[Tree, ...]:
        """Trees that hold every set, each with all parts that nest in it: a total is in every one."""
        wide = [i for i, p in enumerate(self.parts) if p.members.max(initial=0) > 1]
        fits = {i: {j for j in wide if nested(self.parts[i], self.parts[j])} for i in wide}
        groups: list[list[int]] = []
        for i in wide:
            home = next((g for g in groups if all(j in fits[i] for j in g)), None)
            groups.append([i]) if home is None else home.append(i)
        for g in groups:
            for i in wide:
                if i not in g and all(j in fits[i] for j in g):
                    g.append(i)
        return tuple(self._tree(g) for g in groups)

    def _tree(self, which: Sequence[int]) -> Tree:
        order = sorted(which, key=lambda i: (int(self.parts[i].members.max()), -self.parts[i].size))
        pieces = [(self.parts[i].entry, self.slices[i].start + np.arange(self.parts[i].size)) for i in order]
        tree = _stack(pieces, self.single, self.cells)
        if tree is None:  # parts that nest set by set but not part by part
            sets = [(q, np.flatnonzero(e == k)) for e, of in pieces for k, q in enumerate(of)]
            sets.sort(key=lambda s: len(s[1]))
            alone = [(_only(s, self.cells), np.array([q])) for q, s in sets if len(s)]
            tree = _stack(alone, self.single, self.cells)
        assert tree is not None, "the sets of one family nest"
        return tree


def _part_sums(part: Part, flat: Ints) -> Ints:
    if part.size == len(part.entry) and np.array_equal(part.entry, np.arange(part.size)):
        return flat
    inside = np.flatnonzero(part.entry >= 0)
    order = inside[np.argsort(part.entry[inside], kind="stable")]
    out = np.zeros((len(flat), part.size), dtype=np.int64)
    if not len(order):
        return out
    entries = part.entry[order]
    starts = np.flatnonzero(np.diff(entries, prepend=-1))
    out[:, entries[starts]] = np.add.reduceat(flat[:, order], starts, axis=1)
    return out


def nested(a: Part, b: Part) -> bool:
    """Whether any two sets of the parts that meet lie one within the other."""
    both = (a.entry >= 0) & (b.entry >= 0)
    pair, common = np.unique(a.entry[both] * b.size + b.entry[both], return_counts=True)
    return bool(np.all((common == a.members[pair // b.size]) | (common == b.members[pair % b.size])))


def _two_sides(parts: Sequence[Part]) -> list[int] | None:
    """Each part's side, so that parts on one side nest; None where two sides do not suffice."""
    crossing = [[j for j, b in enumerate(parts) if j != i and not nested(a, b)] for i, a in enumerate(parts)]
    side = [-1] * len(parts)
    for start in range(len(parts)):
        if side[start] >= 0:
            continue
        side[start], todo = 0, [start]
        while todo:
            i = todo.pop()
            for j in crossing[i]:
                if side[j] == side[i]:
                    return None
                if side[j] < 0:
                    side[j] = 1 - side[i]
                    todo.append(j)
    return side


def _only(cells: Ints, m: int) -> Ints:
    entry = np.full(m, -1, dtype=np.int64)
    entry[cells] = 0
    return entry


def _stack(pieces: Sequence[tuple[Ints, Ints]], single: Ints, m: int) -> Tree | None:
    """Build a tree from below; None where a set cuts through one that is there already."""
    quantity: list[int] = []
    parent: list[int] = []
    of_cell = np.full(m, -1, dtype=np.int64)
    top = np.full(m, -1, dtype=np.int64)  # the topmost node so far that holds a cell
    for entry, of in pieces:
        inside = np.flatnonzero((entry >= 0) & (single[of[np.maximum(entry, 0)]] < 0))
        if not len(inside):
            continue
        used, place = np.unique(entry[inside], return_inverse=True)
        node = len(quantity) + place
        held = top[inside] >= 0
        below, first = np.unique(top[inside][held], return_index=True)
        above = node[held][first]
        covered = np.bincount(top[top >= 0], minlength=len(quantity))[below]
        inside_now = np.bincount(top[inside][held], minlength=len(quantity))[below]
        match = np.full(len(quantity) + 1, -1, dtype=np.int64)
        match[below] = above
        if np.any(covered != inside_now) or np.any(match[top[inside][held]] != node[held]):
            return None
        for b, a in zip(below, above, strict=True):
            parent[b] = int(a)
        quantity.extend(int(q) for q in of[used])
        parent.extend([-1] * len(used))
        fresh = inside[~held]
        of_cell[fresh] = node[~held]
        top[inside] = node
    return Tree(np.array(quantity, dtype=np.int64), np.array(parent, dtype=np.int64), of_cell)
