"""What a unit's other rows say of a target: Pr(z_{u,-j} given y_j = t) / Pr(z_{u,-j} given z_j), step by step.

That is a number for each row and each home, of which a step may have a hundred. Of a large file it is worked out when
the rows of a block are asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from confide.attack.beliefs.homes import Homes, Places, category_homes, number_homes
from confide.attack.engine.scene import Scene
from confide.attack.evidence.gather import Uncertain
from confide.attack.evidence.grouping import Grouping
from confide.attack.intruder import Uniform
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
    """What units' other rows say of one step; `silent`: rows that are left aside. `whole`: of all rows, where there is
    room; else it is worked out where it is asked for, again for each block that a unit has rows in."""

    homes: Homes
    together: Together
    silent: Bools
    whole: tuple[F64, F64] | None = None

    @classmethod
    def of(cls, homes: Homes, together: Together, silent: Bools) -> OtherRows:
        """With what is kept."""
        made, n = cls(homes, together, silent), len(silent)
        if n * homes.size > HELD:
            return made
        others, log_top = np.empty((n, homes.size)), np.empty(n)
        for at, some, top in made._parts(np.arange(n)):
            others[at], log_top[at] = some, top
        return replace(made, whole=(others, log_top))

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
            yield slice(None), others[rows], log_top[rows]

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


def other_rows(scene: Scene, groups: Grouping) -> list[OtherRows]:
    """What the other rows of units say, of every step that tells something of them."""
    case, out = scene.case, []
    c, _, a = case.intruder.levels
    if c in ("naive", "ignore") or a == "ignore" or isinstance(case.intruder.beliefs, Uniform):
        return []
    at, together = _places(scene, groups), Together.of(groups.released)
    for i, (u, number) in enumerate(zip(scene.uncertain, scene.fit.numeric, strict=True)):
        if not _speaks(scene, u, number):
            continue
        reference, targets = (u.met(file.select(u.variables)) for file in (case.original, scene.targets))
        if case.intruder.beliefs == "released":
            reference = case.released.select(u.variables)
        if number:
            homes: Homes | None = number_homes(u, reference, targets, at)
        else:
            alike = scene.classes.steps[i]
            p = _by_value(np.exp(np.asarray(scene.fit.believed.log_pi)), alike.of, len(alike))
            homes = category_homes(u, scene.classes.frames[i].take(alike.first), p, reference, targets, at)
        if homes is not None:
            out.append(OtherRows.of(homes, together, at.released < 0))
    return out


def _places(scene: Scene, groups: Grouping) -> Places:
    """Where all rows stand among the cells of beliefs."""
    cells, certain = scene.fit.believed.cells, scene.knowledge.certain
    rows, released = np.flatnonzero(scene.knowledge.eligible), np.full(scene.case.released.n, -1, dtype=np.int64)
    released[rows] = cells.place([c.released[rows] for c in certain], len(rows))
    if scene.case.intruder.beliefs == "released":
        return Places(cells.design, released, released, scene.cell_t, groups.released)
    original = cells.place([c.of(scene.case.original) for c in certain], scene.case.original.n)
    return Places(cells.design, original, released, scene.cell_t, groups.original)


def _by_value(p: F64, of: I64, size: int) -> F64:
    """Class probabilities added up over classes that a step's variables do not tell apart, shape (cells, size)."""
    k = len(of)
    return np.asarray(p @ sp.csr_matrix((np.ones(k), (np.arange(k), of)), shape=(k, size)))


def _speaks(scene: Scene, u: Uncertain, number: bool) -> bool:
    """Whether other rows say something of what a step altered."""
    at = scene.case.compiled.way(u.variables[0]).random
    if at is None or u.direct or u.silent or u.mistakes or not all(u.known) or u.like_a is None:
        return False
    if scene.case.compiled.steps[at].per_unit:
        return False
    return not number or (len(u.variables) == 1 and u.like.scale is not None)
