"""Cheaper patterns by annealing: moves of a crossed table are changed by boxes, in whole numbers, a million times.

With all margins a table with D variables is a grid in which each variable has one more level, its total. A box takes
two levels of every variable and changes its 2^D counts by 1, with signs that alternate, but not between a level and a
total. A move plus a box is a move again. So the moves that prove a pattern change box by box, within what an intruder
knows, as long as some move changes each small count; what no move changes any longer is shown again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.tables.layout import Bools, Ints, Layout
from confide.tables.schemes.suppress.boxes_kernel import annealed
from confide.tables.schemes.suppress.moves import Things
from confide.tables.solve.programme import Floats

EACH = 9.0
"""What hiding a count costs beside its people: as much as nine of them."""

ROOM = 60_000_000
"""Moves times counts at most: beyond, nothing is tried."""

HOT, COLD = 1.5, 0.3
"""Temperatures at first and in the end, in people."""

LONG = (0.02, 0.002)
"""What a count costs each move that changes it, at first and in the end, as a share of 1 + price / 15: it keeps moves
short, and large counts out of them."""


@dataclass(frozen=True, eq=False)
class Grid:
    """`shape` (D): levels of each variable, the total included; `at` (Q): the place of each published quantity."""

    shape: Ints
    at: Ints

    @classmethod
    def of(cls, layout: Layout) -> Grid | None:
        """None where the layout is not all margins of a crossed table."""
        alone = {p.name[0]: p for p in layout.parts if len(p.name) == 1}
        names = max((p.name for p in layout.parts), key=len, default=())
        if len(names) < 2 or set(names) != set(alone) or len({p.name for p in layout.parts}) != 2 ** len(names):
            return None
        levels = np.array([alone[name].size for name in names], dtype=np.int64)
        code = [alone[name].entry for name in names]
        if len(layout.parts) != 2 ** len(names) or layout.cells != levels.prod() or min(map(np.min, code)) < 0:
            return None
        places = []
        for part in layout.parts:
            first = [c[part.firsts] if name in part.name else n for name, c, n in zip(names, code, levels, strict=True)]
            own = [np.broadcast_to(f, part.size) for f in first]
            places.append(np.ravel_multi_index(own, tuple(levels + 1)))
        at = np.concatenate(places)
        return cls(levels + 1, at) if len(np.unique(at)) == len(at) == (levels + 1).prod() else None

    @property
    def size(self) -> int:
        return int(self.shape.prod())

    @property
    def codes(self) -> Ints:
        """The level of each variable at each place (places x D)."""
        return np.stack(np.unravel_index(np.arange(self.size), tuple(self.shape)), axis=1).astype(np.int64)


def exchanged(grid: Grid, things: Things, people: Ints, moves: Ints, needed: Bools, tries: int) -> Ints | None:
    """Moves (moves x n) with which less is hidden; None where these are none.

    `people` (n) is the true count of each thing; each of `needed` (n) stays changed by some move; `tries`: boxes that
    are tried for each move. Less hidden is fewer counts and fewer people, or one of the two and the other as before.
    """
    if np.any(things.quantity < 0) or len(moves) * grid.size > ROOM or not len(moves):
        return None
    place = grid.at[things.quantity]
    tables = np.zeros((len(moves), grid.size), dtype=np.int64)
    tables[:, place] = moves
    price = np.where(things.primary, 0.0, people + EACH)
    fields = (_spread(grid, place, f) for f in (things.up, things.down, price, needed))
    annealed(grid.shape, grid.codes, *fields, tables, _heats(len(moves) * tries))
    found = tables[:, place]
    found = found[found.any(axis=1)]
    fits = all(things.fits(move) for move in found) and bool(np.all(found.any(axis=0) | ~needed))
    return found if fits and _less(things, people, moves, found) else None


def _less(things: Things, people: Ints, before: Ints, after: Ints) -> bool:
    """Whether neither the hidden counts nor their people are more, and one of the two is less."""
    old, new = (moves.any(axis=0) & ~things.primary for moves in (before, after))
    cells, persons = int(new.sum()) - int(old.sum()), int(people[new].sum()) - int(people[old].sum())
    return cells <= 0 and persons <= 0 and cells + persons < 0


def _spread(grid: Grid, place: Ints, values: NDArray[Any]) -> NDArray[Any]:
    """Values of things at their places of the grid; 0 at others: known to be 0, they never change."""
    out = np.zeros(grid.size, dtype=values.dtype)
    out[place] = values
    return out


def _heats(steps: int) -> Floats:
    """Temperature and price of length (rounds x 2), in rounds of 4,096 steps."""
    rounds = max(steps // 4_096, 2)
    return np.stack([np.geomspace(HOT, COLD, rounds), np.geomspace(*LONG, rounds)], axis=1)
