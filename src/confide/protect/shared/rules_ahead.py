"""Rules that later draws are to keep: whether what is drawn so far leaves any record's values that would keep them all.

A *way* is what one record of the file has in the variables still to come. Whoever draws only values that leave a way
open finds one at every later draw too: the next value of that way. So no rule is broken that can be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.frames.columns import Bools, Records
from confide.frames.distinct import Distinct
from confide.protect.shared.rules import Clause, Held

RISING, FALLING = ("<", "<="), (">", ">=")
MOST = 500
"""Ways that are looked at; of more, so many at even distances."""


@dataclass(frozen=True, eq=False)
class Ahead:
    """`rules`: those of variables to come. `ways`: records of the file, one of all that are alike to these rules, the
    most frequent first."""

    rules: tuple[Held, ...]
    ways: Records

    @classmethod
    def of(cls, rules: Sequence[Held], original: Records, done: Sequence[str]) -> Ahead:
        """Ways that a file shows. `done`: variables that are drawn by then."""
        names = tuple(dict.fromkeys(v for r in rules for v in r.names if v not in done))
        late = original.select(names)
        sides = [_side(c, late) for r in rules for c in (r.given, r.then) if c is not None]
        marks = [m for side in sides for m in side.marks]
        sizes = [s for side in sides for s in side.sizes]
        groups = Distinct.rows(marks, late.n)
        kept = _foremost(groups.of, np.array(sizes).reshape(len(sizes), late.n))
        first = kept[np.argsort(-groups.count[groups.of[kept]], kind="stable")]
        if len(first) > MOST:
            first = first[np.linspace(0, len(first) - 1, MOST).astype(np.int64)]
        return cls(tuple(rules), late.take(first))

    def early(self, columns: Records) -> list[str]:
        """Those of the variables given that the rules speak of."""
        return [v for v in columns if any(v in r.names for r in self.rules)]

    def open(self, columns: Records) -> Bools:
        """Where values drawn so far leave a way that keeps all rules, shape (n,)."""
        known = Distinct.rows([c.values for c in columns.values()], columns.n)
        here, found = columns.take(known.first), np.zeros(len(known.first), dtype=bool)
        left = np.arange(len(found))
        for way in range(self.ways.n):
            if not len(left):
                break
            both = {**here.take(left), **self.ways.take(np.full(len(left), way))}
            keeps = np.logical_and.reduce([r.holds(both) for r in self.rules])
            found[left[keeps]] = True
            left = left[~keeps]
        return np.asarray(found[known.of])


@dataclass(frozen=True, eq=False)
class _Side:
    """What one clause asks of the variables to come: `marks`, which must be alike; `sizes`, of which more is better."""

    marks: list[NDArray[np.float64]]
    sizes: list[NDArray[np.float64]]


def _side(clause: Clause, late: Records) -> _Side:
    mine = [v for v in clause.names if v in late]
    if len(mine) == len(clause.names):
        return _Side([clause.holds(late, unknown).astype(float) for unknown in (False, True)], [])
    if not mine:
        return _Side([], [])
    column = late[mine[0]]
    there = (column.usable if column.kind == "numeric" else ~column.missing).astype(float)
    values = np.where(there > 0, column.values, 0.0)
    up = (clause.sign in RISING) == (mine[0] == clause.other)
    if column.kind != "numeric" or clause.sign not in (*RISING, *FALLING):
        return _Side([there, values], [])
    return _Side([there], [values if up else -values])


def _foremost(group: NDArray[np.int64], sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows of each group that no other row of it exceeds in one size without falling behind in another."""
    order = np.lexsort((*(-s for s in sizes[::-1]), group))
    best = order[np.unique(group[order], return_index=True)[1]]
    if len(sizes) < 2:
        return best
    kept: list[int] = []
    for i in best:
        mine = order[np.searchsorted(group[order], group[i]) : np.searchsorted(group[order], group[i], side="right")]
        mine = mine[Distinct.rows(list(sizes[:, mine]), len(mine)).first[::-1]]
        while len(mine):  # each in turn that is left, and without those that it is no worse than
            kept.append(int(mine[0]))
            mine = mine[(sizes[:, mine] > sizes[:, mine[:1]]).any(axis=0)]
    return np.array(kept, dtype=np.int64)
