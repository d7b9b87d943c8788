"""A file as its distinct cells with counts, rolled up to any combination of levels.

Notation: a node is one level per variable that has a hierarchy. Its classes are the cells that agree on the groups of
those levels, and on all other keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.frames.columns import F64, I64, Column
from confide.frames.distinct import Distinct, dense
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.hierarchies.tree import Tree
from confide.measure.risk.file_risks.sensitive import Classes

Node = tuple[int, ...]
INSIDE = ""
"""The name under which cells hold what is counted inside of classes."""
KEPT = 128
"""Rolled-up tables that are kept, so that coarser nodes are counted from them and not from the file."""


@dataclass(frozen=True, eq=False)
class Ladder:
    """One variable that has a hierarchy, met with the file.

    `codes`: the place of each record's value among the values that occur, the last for a missing one, shape (n,).
    `groups`: by level, the group of each of these places; a missing value is a group of its own until the variable is
    left out.
    """

    hierarchy: Hierarchy
    tree: Tree
    codes: I64
    groups: tuple[I64, ...]

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy) -> Ladder:
        """Refused where the hierarchy is not nested or lacks values."""
        tree = hierarchy.tree(column)
        many = len(tree.levels[0])
        there = ~column.missing
        codes = np.full(len(column), many, dtype=np.int64)
        codes[there] = np.unique(column.values[there], return_inverse=True)[1]
        groups = [np.append(c, len(g)) for c, g in zip(tree.codes, tree.levels, strict=True)]
        if hierarchy.leaves_out:
            groups[-1] = np.zeros(many + 1, dtype=np.int64)
        return cls(hierarchy, tree, codes, tuple(groups))

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return len(self.groups)

    def left_out(self, level: int) -> bool:
        """Whether a level leaves the variable out."""
        return self.hierarchy.leaves_out and level == self.levels - 1

    def shares(self, level: int, weight: F64 | None) -> F64:
        """Shares of the groups of a level."""
        count = np.bincount(self.groups[level][self.codes], weights=weight).astype(np.float64)
        return np.asarray(count / count.sum())


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct rows. `codes`: by variable, a value of each row, shape (d,); `count`: records, shape (d,)."""

    codes: Mapping[str, I64]
    count: F64

    @classmethod
    def of(cls, codes: Mapping[str, I64], n: int) -> Cells:
        """The distinct rows of n records."""
        return cls(codes, np.ones(n)).merged(list(codes.values()))

    def merged(self, keys: Sequence[I64]) -> Cells:
        """Rows that agree on the keys as one; each keeps the codes of one of them."""
        found = Distinct.rows(keys, len(self.count), self.count)
        return Cells({v: c[found.first] for v, c in self.codes.items()}, found.count)

    def __len__(self) -> int:
        return len(self.count)


@dataclass(eq=False)
class Rollup:
    """Counts of classes at any node, for variables that have a hierarchy (`names`) and keys that stay (`fixed`).

    `sensitive`: codes of a variable that is counted inside of classes, -1 for missing. `hidden`: whether there is one
    that is not released.
    """

    ladders: Mapping[str, Ladder]
    names: tuple[str, ...]
    fixed: Mapping[str, I64]
    n: int
    sensitive: I64 | None = None
    hidden: bool = False
    kept: dict[Node, Cells] = field(default_factory=dict)

    def __post_init__(self) -> None:
        codes = {v: self.ladders[v].codes for v in self.names} | {v: dense(c)[0] for v, c in self.fixed.items()}
        inside = {} if self.sensitive is None else {INSIDE: self.sensitive}
        self.kept[(0,) * len(self.names)] = Cells.of({**codes, **inside}, self.n)

    def at(self, node: Mapping[str, int]) -> Classes:
        """The classes of a node; which of them each record is in is not kept."""
        levels = tuple(node[v] for v in self.names)
        cells = self._cells(levels)
        none = np.zeros(0, dtype=np.int64)
        if self.sensitive is None:
            return Classes(none, cells.count, none, none, np.zeros(0), 0, self.hidden)
        found = Distinct.rows(self._keys(cells, levels), len(cells), cells.count)
        value = cells.codes[INSIDE]
        order = np.lexsort((value, found.of))
        order = order[value[order] >= 0]
        many = int(self.sensitive.max(initial=-1)) + 1
        return Classes(none, found.count, found.of[order], value[order], cells.count[order], many)

    def _cells(self, levels: Node) -> Cells:
        """Rolled up from the smallest table that is kept of a node below."""
        if levels in self.kept:
            return self.kept[levels]
        below = (c for k, c in self.kept.items() if all(a <= b for a, b in zip(k, levels, strict=True)))
        cells = min(below, key=len)
        inside = [] if self.sensitive is None else [cells.codes[INSIDE]]
        made = cells.merged([*self._keys(cells, levels), *inside])
        if len(self.kept) >= KEPT:
            self.kept.pop(next(k for k in self.kept if any(k)))
        self.kept[levels] = made
        return made

    def _keys(self, cells: Cells, levels: Node) -> list[I64]:
        keys = [self.ladders[v].groups[k][cells.codes[v]] for v, k in zip(self.names, levels, strict=True)]
        return [*keys, *(cells.codes[v] for v in self.fixed)]
