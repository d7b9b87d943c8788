"""What a unit's other rows say of a target: Pr(z_{u,-j} given y_j = t) / Pr(z_{u,-j} given z_j), step by step.

That is a number for each row and each home, of which a step may have a hundred. Of a large file it is worked out when
the rows of a block are asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from confide.attack.beliefs.homes import CategoryHome, NumberHome
from confide.attack.beliefs.homes_of_rows import CategoryHomes, Homes, NumberHomes
from confide.attack.engine.scene import Scene
from confide.attack.evidence.gather import Uncertain
from confide.frames.columns import F64, I64, Bools

TOGETHER = 500_000
"""Rows times homes that are worked on together."""
HELD = 100_000_000
"""Rows times homes that are kept, eight bytes each."""

Part = tuple[I64 | slice, F64, F64]
"""Places of some rows among those asked about; (rows, G) what their units' other rows say of homes, relative to the
largest; and the log of that, (rows)."""


@dataclass(frozen=True, eq=False)
class Together:
    """Released rows by unit: `order`, and where each unit begins in it (`start`, with the end); of each row its unit
    and its place in that order."""

    order: I64
    start: I64
    unit: I64
    place: I64

    @classmethod
    def of(cls, unit: I64) -> Together:
        """`unit`: of all released rows."""
        order = np.argsort(unit, kind="stable")
        start = np.append(np.flatnonzero(np.diff(unit[order], prepend=-1)), len(order))
        place, number = np.empty_like(order), np.empty_like(order)
        place[order] = np.arange(len(order))
        number[order] = np.repeat(np.arange(len(start) - 1), np.diff(start))
        return cls(order, start, number, place)

    def rows(self, units: I64) -> tuple[I64, I64]:
        """All rows of some units, one unit after the other, and where each begins."""
        size = self.start[units + 1] - self.start[units]
        first = np.cumsum(size) - size
        return self.order[np.arange(int(size.sum())) + np.repeat(self.start[units] - first, size)], first


@dataclass(frozen=True, eq=False)
class OtherRows:
    """What units' other rows say of one step; `silent`: rows that are left aside. `whole`: of the candidates, where
    there is room, with the `place` of each row among them; else it is worked out where it is asked for, again for each
    block that a unit has rows in."""

    homes: Homes
    together: Together
    silent: Bools
    place: I64
    whole: tuple[F64, F64] | None = None

    @classmethod
    def of(cls, homes: Homes, together: Together, silent: Bools, rows: I64, held: int) -> OtherRows:
        """With what is kept, at most so many numbers, of rows that are candidates."""
        place = np.zeros(len(silent), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        made, n = cls(homes, together, silent, place), len(rows)
        if n * homes.size > held:
            return made
        others, log_top = np.empty((n, homes.size)), np.empty(n)
        for at, some, top in made._parts(rows):
            others[at], log_top[at] = some, top
        return replace(made, whole=(others, log_top))

    def asked(self, scene: Scene, u: Uncertain) -> OtherRows:
        """The same for other targets."""
        return replace(self, homes=self.homes.asked(u.met(scene.targets.select(u.variables)), scene.cell_t))

    def log(self, t: I64, rows: I64) -> F64:
        """log of the second factor for targets t and rows of the release, shape (len(t), len(rows))."""
        out, given = np.empty((len(t), len(rows))), np.exp(self.homes.log_given(t))
        for at, others, log_top in self._said(rows):
            with np.errstate(divide="ignore"):
                out[:, at] = np.log(given @ others.T) + log_top
        return out

    def _said(self, rows: I64) -> Iterator[Part]:
        if self.whole is None:
            yield from self._parts(rows)
        else:
            others, log_top = self.whole
            at = self.place[rows]
            yield slice(None), others[at], log_top[at]

    def _parts(self, rows: I64) -> Iterator[Part]:
        units, of = np.unique(self.together.unit[rows], return_inverse=True)
        many = np.cumsum(self.together.start[units + 1] - self.together.start[units])
        part = (many * self.homes.size // TOGETHER)[of]
        order = np.argsort(part, kind="stable")
        for at in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            yield at, *self._others(rows[at])

    def _others(self, rows: I64) -> tuple[F64, F64]:
        """Pr(z_{u,-j} given h) / Pr(z_{u,-j} given z_j) relative to the largest, and the log of that."""
        units, of = np.unique(self.together.unit[rows], return_inverse=True)
        every, first = self.together.rows(units)
        seen = self.homes.log_seen(every)
        seen[self.silent[every]] = 0.0
        total = np.add.reduceat(seen, first, axis=0)[of]
        own = seen[first[of] + self.together.place[rows] - self.together.start[units[of]]]
        prior = self.homes.log_prior(rows)
        mine = logsumexp(prior + own, axis=1)
        logs = total - own - (logsumexp(prior + total, axis=1) - mine)[:, None]
        top = logs.max(axis=1)
        return np.exp(logs - top[:, None]), top


def other_rows(scene: Scene, unit: I64, held: int | None = None) -> list[OtherRows]:
    """What the other rows of units say, of every step that tells something of them. `unit`: of all rows of the case;
    `held`: how many numbers may be kept (by default `HELD`)."""
    if not scene.fit.homes:
        return []
    together, rows = Together.of(unit), np.flatnonzero(scene.knowledge.eligible)
    cell = np.full(scene.case.released.n, -1, dtype=np.int64)
    cell[rows] = scene.fit.believed.cells.place([c.released[rows] for c in scene.knowledge.certain], len(rows))
    room = HELD if held is None else held
    return [
        OtherRows.of(_placed(scene, scene.uncertain[i], home, cell), together, cell < 0, scene.rows, room)
        for i, home in scene.fit.homes.items()
    ]


def asked_again(says: Sequence[OtherRows], scene: Scene) -> list[OtherRows]:
    """What the same rows say of other targets."""
    return [s.asked(scene, scene.uncertain[i]) for s, i in zip(says, scene.fit.homes, strict=True)]


def _placed(scene: Scene, u: Uncertain, home: CategoryHome | NumberHome, cell: I64) -> Homes:
    targets = u.met(scene.targets.select(u.variables))
    if isinstance(home, NumberHome):
        return NumberHomes.of(u, home, cell, targets, scene.cell_t)
    return CategoryHomes.of(u, home, cell, targets, scene.cell_t)
