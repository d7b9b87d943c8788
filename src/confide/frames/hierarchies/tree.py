"""A hierarchy met with the values of a variable: groups of every level, and the broader group that each lies in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.frames.columns import I64


@dataclass(frozen=True, eq=False)
class Tree:
    """Groups of V values in L levels, from the values themselves to the broadest.

    `names`: of the levels. `levels`: by level, the names of its groups; the first has the V values in their order.
    `codes`: by level, the group of each value, shape (V,). `parents`: for each level but the last, the group of the
    next level that each of its groups lies in, shape (groups,).

    >>> tree = Tree.of(["as it is", "by colour"], [["red", "pink", "blue"], ["warm", "warm", "cold"]])
    >>> tree.levels[1], tree.parents[0].tolist(), tree.codes[1].tolist()
    (('warm', 'cold'), [0, 0, 1], [0, 0, 1])
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: tuple[I64, ...]
    parents: tuple[I64, ...]

    @classmethod
    def of(cls, names: Sequence[str], groups: Iterable[Sequence[Any]], where: str = "Hierarchy") -> Tree:
        """From the group of each value at each level; refused where groups are not nested."""
        levels, codes = [], []
        for each in groups:
            known = {g: i for i, g in enumerate(dict.fromkeys(each))}
            levels.append(tuple(known))
            codes.append(np.array([known[g] for g in each], dtype=np.int64))
        parents = [parents_of(codes[k], codes[k + 1], (names[k], names[k + 1]), where) for k in range(len(codes) - 1)]
        return cls(tuple(names), tuple(levels), tuple(codes), tuple(parents))

    @property
    def height(self) -> int:
        """How many levels lie above the values."""
        return len(self.levels) - 1

    def __repr__(self) -> str:
        return f"Tree: {', '.join(f'{len(g):,} {n}' for n, g in zip(self.names, self.levels, strict=True))}"


def parents_of(finer: I64, coarser: I64, names: tuple[str, str], where: str) -> I64:
    """The coarser group that each finer one lies in, given both for each value; -1 for one that nothing lies in.

    Refused where a finer group lies in two: then a release at the coarser level would tell what one at the finer does
    not, and no search could rely on coarser being safer.

    >>> parents_of(np.array([0, 0, 1]), np.array([0, 1, 1]), ("in twos", "in threes"), 'Hierarchy of "age"')
    Traceback (most recent call last):
    confide.InputError: Hierarchy of "age" is not nested: 1 of 2 groups of the level "in twos" lies in several groups \
of the level "in threes". Each group must lie in one broader group as a whole.
    """
    size = int(finer.max(initial=-1)) + 1
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, -1, dtype=np.int64)
    np.minimum.at(low, finer, coarser)
    np.maximum.at(high, finer, coarser)
    split = int((low < high).sum())
    if split:
        lie = "lies" if split == 1 else "lie"
        raise InputError(
            f'{where} is not nested: {split} of {size} groups of the level "{names[0]}" {lie} '
            f'in several groups of the level "{names[1]}". Each group must lie in one broader group as a whole.'
        )
    return high
