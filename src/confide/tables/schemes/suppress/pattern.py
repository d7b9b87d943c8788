"""Which counts to hide beside the small ones, so that these cannot be worked out.

A first pattern for all small counts together (`joint`), then proof: moves in whole numbers. A count is safe if moves at
hand spread it over the width that is asked for; what a move needs beyond the pattern is hidden too. In the end
secondaries are shown again where moves without them protect as well, or cheaper ones do, by programmes and by `boxes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.schemes.suppress.boxes import Grid, exchanged
from confide.tables.schemes.suppress.elimination import started
from confide.tables.schemes.suppress.joint import proposed
from confide.tables.schemes.suppress.moves import POWER, Things
from confide.tables.solve.programme import Answer, Floats, Programme

SECONDS = 10.0
"""Time limit of one move."""

EXCHANGES = 140
"""Moves that may be searched for to replace secondaries by others, or by nothing."""

WORK = 310_000
"""The same times things, at most: large tables have fewer."""

MANY = 500
"""The same in tables of more than TOGETHER things, where nothing dearer than the secondary is looked at."""

FEW = {True: (6, UNBOUNDED), False: (1, 2, 4, 6)}
"""Small counts that may be bare without a secondary, at first and later, in the same two kinds of tables: more are
rarely protected for less."""

TRIES = 20_000
"""Boxes that are tried for each move."""

TOGETHER = 1_000
"""Things up to which a first pattern is one move of all small counts together (`joint`); beyond, it needs long moves,
and elimination is better and faster."""

SMALL = 400
"""Things up to which it is made sure, in whole numbers, that no secondary is needless."""

GAP = 2.0
"""A whole-number move need not be the very cheapest: hiding costs 5 or more a quantity."""

CHEAP = 1_000.0
"""Price up to which further things are tried first: counts of about 100."""


class Pass(NamedTuple):
    """How moves are searched for, of all small counts that are not safe yet.

    `free`: what a move of a thing by 1 costs beside its price; short moves are whole more often, and prove as much.
    `largest`: counts up to which further things are hidden. `steps` of the simplex for one move, then another method if
    `patient`; if not, the next pass: where one move is hard to find, others may do its work.
    """

    free: float
    largest: float
    steps: int
    patient: bool


PASSES = {
    True: (Pass(0.5, np.inf, 1_500, True),),
    False: (
        Pass(5.0, np.inf, 1_500, False),
        Pass(5.0, 0, 4_000, False),
        Pass(5.0, 12, 3_000, True),
        Pass(5.0, 30, 1_500, True),
        Pass(5.0, 100, 1_500, True),
        Pass(20.0, np.inf, 1_500, True),
        Pass(80.0, np.inf, 1_500, True),
    ),
}
"""In tables of at most TOGETHER things, and in others. What is left after the last is searched for in whole numbers.
With few things that may be hidden a programme is small, and most counts that the first pass leaves need nothing
further, or little. Short moves (20, 80) are dear: for the last only."""


class Pattern:
    """Which further counts to hide. `primary`, `may` (be hidden), `low` and `high` (if hidden) are of length Q.

    `hidden` (Q) is the pattern; `moves` (moves x n): changes of the true table that fit it, in whole
    numbers.
    """

    def __init__(
        self, layout: Layout, counts: Ints, free: Bools, primary: Bools, may: Bools, low: Ints, high: Ints, width: int
    ) -> None:
        self.things = Things.of(layout, counts, free, primary, may, low, high)
        self.layout, self.counts, self.width = layout, counts, width
        self.primary, self.alone = primary, layout.alone
        self.wide = np.where(high >= UNBOUNDED, width, np.minimum(high, UNBOUNDED) - low) >= width
        self.open = self.things.primary | (self.things.quantity < 0)  # what is hidden, among the things
        self.needed = self.open.copy()  # without secondaries
        self.moves: Ints = np.zeros((0, self.things.size), dtype=np.int64)
        self.most = self.least = np.zeros(self.things.size, dtype=np.int64)
        self.stopped = False  # whether a time limit left something open
        self.together = self.things.size <= TOGETHER
        first = PASSES[self.together][0]
        self.free, self.largest = first.free, np.inf  # price up to which things may be hidden
        self.programme = self.things.programme(self.things.down, False, SECONDS, GAP, first.steps)

    @cached_property
    def integer(self) -> Programme:
        return self.things.programme(self.things.down, True, SECONDS, GAP)

    @property
    def hidden(self) -> Bools:
        out = self.primary.copy()
        at = self.things.quantity[self.open]
        out[at[at >= 0]] = True
        return out

    @property
    def tables(self) -> Ints:
        """Tables of counts (tables x m) that are to show that the pattern holds; the first is the true one."""
        out = np.tile(self.counts, (1 + len(self.moves), 1))
        for table, move in zip(out[1:], self.moves, strict=True):
            table[self.things.cells] += move[: len(self.things.cells)]
        return out

    def search(self) -> int:
        """Hide until every primary quantity is safe; returns how many cannot be."""
        order = self._threatened()
        failed = int((self.primary & ~self.alone).sum()) - len(order)
        if self.width == 1 and len(order) > 1 and self.together:
            hide = proposed(self.things, SECONDS * 6)
            if hide is not None:
                self._hide(np.flatnonzero(hide & ~self.open))
        begun = self.width == 1 and len(order) > 1 and not self.together
        if begun:
            self._start(order)
        left = order
        for each in PASSES[self.together]:
            self._limit(each.largest**POWER)
            self.free, self.programme.steps, self.programme.patient = each.free, each.steps, each.patient
            left = left[[not self._protect(int(k), False) for k in left]]
        self._limit(np.inf)
        self.free = PASSES[self.together][0].free
        failed += sum(not self._protect(int(k), True) for k in left)
        if not failed:
            self.open = self._used()
            if not begun:
                self._exchange(order)
                self._exchange_boxes(order)
            self._show_needless(order)
        return failed

    def _start(self, order: Ints) -> None:
        """Moves by elimination, and the pattern that they need."""
        self._keep(list(started(self.layout, self.things, self._people, order)))
        self._hide(np.flatnonzero(self._used() & ~self.open))

    @property
    def _people(self) -> Ints:
        """The true count of each thing; of a cell that is not published none."""
        return np.where(self.things.quantity < 0, 0, self.layout.sums(self.counts)[np.maximum(self.things.quantity, 0)])

    def _threatened(self) -> Ints:
        """Primary things that others speak of, the smallest counts first: they move one way only."""
        at = np.flatnonzero(self.things.primary)
        q = self.things.quantity[at]
        at = at[~(self.alone[q] & self.wide[q])]
        return at[np.argsort(self.things.price[at], kind="stable")]

    def _protect(self, k: int, exact: bool) -> bool:
        """Find moves that spread thing k over the width; hide what they need. `exact`: by programmes in whole numbers
        where linear ones give fractions."""
        if self.most[k] - self.least[k] >= self.width:
            return True
        for splits in self._splits(k):
            ways: list[list[Ints]] = []
            for up, down in splits:
                way = self._way(k, up, down, exact)
                ways += [] if way is None else [way]
                if way is not None and not self._needs(way).any():
                    break
            if ways:
                way = min(ways, key=lambda w: float(self.things.price[self._needs(w)].sum()))
                self._hide(np.flatnonzero(self._needs(way)))
                self._keep(way)
                return True
        return False

    def _way(self, k: int, up: int, down: int, exact: bool) -> list[Ints] | None:
        """Moves that let k rise and fall so far, or None."""
        rise = self._move(k, up, exact)
        fall = None if rise is None else self._move(k, -down, exact)
        return None if rise is None or fall is None else [rise, fall]

    def _needs(self, way: list[Ints]) -> Bools:
        """What has to be hidden for some moves, and is not yet."""
        return np.asarray(np.any([move != 0 for move in way], axis=0) & ~self.open)

    def _splits(self, k: int) -> Iterator[list[tuple[int, int]]]:
        """Ways to part the width into a rise and a fall: all of it one way if possible, else every other way."""
        most_up, most_down = (int(min(self.width, b[k])) for b in (self.things.up, self.things.down))
        ends = {(most_up, self.width - most_up), (self.width - most_down, most_down)}
        yield sorted(e for e in ends if e[0] <= most_up and e[1] <= most_down)
        if most_up + most_down - self.width > 1:  # there are others
            reach_up, reach_down = self._reach(k, most_up), self._reach(k, -most_down)
            for up in range(self.width - reach_down, reach_up + 1):
                if (up, self.width - up) not in ends:
                    yield [(up, self.width - up)]

    def _reach(self, k: int, by: int) -> int:
        """How far k can rise (by > 0) or fall, at most so far, in fractions; rounded down."""
        column = k if by > 0 else self.things.size + k
        other = self.things.size + k if by > 0 else k
        target = np.zeros(2 * self.things.size)
        target[column] = 1.0
        self.programme.columns([0, 0], [abs(by), 0], at=[column, other])
        answer = self.programme.maximise(target)
        self._release(np.array([k]))
        return int(answer.value + 1e-6) if answer.status == "optimal" else 0

    def _move(self, k: int, by: int, exact: bool) -> Ints | None:
        """The cheapest move of k at least so far up (by > 0) or down; nothing if one is at hand. `exact`: if need be,
        by a programme in whole numbers."""
        if self.most[k] >= by > 0 or self.least[k] <= by <= 0:
            return np.zeros(self.things.size, dtype=np.int64)
        column, other = (k, self.things.size + k) if by > 0 else (self.things.size + k, k)
        room = int((self.things.up if by > 0 else self.things.down)[k])
        answer, move = self._forced(self.programme, column, other, abs(by), room)
        if move is None and answer.status != "infeasible" and exact:
            for largest in (w for w in (0.0, CHEAP, np.inf) if w <= self.largest):
                can = self.open | (self.things.price <= largest)
                up, down = np.where(can, self.things.up, 0), np.where(can, self.things.down, 0)
                self.integer.columns(np.zeros(2 * len(can)), np.concatenate([up, down]))
                answer, move = self._forced(self.integer, column, other, abs(by), room)
                if move is not None:
                    break
            self.stopped |= move is None and answer.status == "unproven"
        self._release(np.array([k]))
        return move

    def _forced(self, programme: Programme, column: int, other: int, by: int, room: int) -> tuple[Answer, Ints | None]:
        programme.columns([by, 0], [room, 0], at=[column, other])
        answer = programme.minimise(self._cost())
        n = self.things.size
        return answer, self.things.scaled(answer.x[:n] - answer.x[n:]) if answer.found else None

    def _cost(self) -> Floats:
        each = np.where(self.open, 0.0, self.things.price) + self.free
        return np.concatenate([each, each])

    def _exchange(self, order: Ints) -> None:
        """Hide others instead of a secondary, or nothing, where that is cheaper: the dearest first, and first those
        that few moves need, again and again."""
        left = min(EXCHANGES, WORK // max(self.things.size, 1)) if self.together else MANY
        self.programme.patient = self.together
        for most in FEW[self.together]:
            gained = True
            while gained and left > 0:
                gained = False
                for k in self._secondaries():
                    if left > 0 and self.open[k]:
                        spent, cheaper = self._without(k, order, most)
                        left, gained = left - spent, gained | cheaper

    def _exchange_boxes(self, order: Ints) -> None:
        """The same by boxes, all moves at a time, in tables with all margins that are not small."""
        grid = Grid.of(self.layout) if self.width == 1 and self.things.size > SMALL else None
        if grid is None or len(order) == 0:
            return
        needed = np.zeros(self.things.size, dtype=bool)
        needed[order] = True
        moves = exchanged(grid, self.things, self._people, self.moves, needed, TRIES)
        if moves is not None:
            self._only(moves)
            self.open = self._used()

    def _secondaries(self) -> Ints:
        at = np.flatnonzero(self.open & ~self.things.primary & (self.things.quantity >= 0))
        return at[np.argsort(-self.things.price[at], kind="stable")]

    def _show_needless(self, order: Ints) -> None:
        """Show again, the dearest first, what is not needed even if nothing else is hidden for it, as programmes in
        whole numbers find: an exchange looks for fractions alone. In small tables, where these programmes are cheap."""
        if self.things.size <= SMALL:
            for k in self._secondaries():
                if self.open[k]:
                    self._without(k, order, UNBOUNDED, alone=True)

    def _without(self, k: int, order: Ints, most: int, alone: bool = False) -> tuple[int, bool]:
        """Show thing k again if that is cheaper, whatever is hidden instead, and if at most so many small counts are
        bare then; how many moves were looked for, and whether it is shown. `alone`: nothing is hidden instead, and
        moves are looked for in whole numbers."""
        moves, hidden, cost, spent = self.moves, self.open, self._price(), 0
        bare = self._bare(k, order)
        if len(bare) > most:
            return 0, False
        self._only(moves[moves[:, k] == 0])
        self.open = hidden.copy() if alone else self._used()
        self.open[k] = False
        self._limit(0.0 if alone else np.inf if self.together else float(self.things.price[k]))
        self.programme.columns([0, 0], [0, 0], at=[k, self.things.size + k])
        safe = True
        for p in bare:
            spent += 1
            safe = self._protect(int(p), alone) and self._price() < cost
            if not safe:
                break
        self._release(np.array([k]))
        if not safe or self._price() >= cost:
            self._only(moves)
            self.open = hidden
            return spent, False
        return spent, True

    def _bare(self, k: int, order: Ints) -> Ints:
        """Which small counts the moves that leave thing k alone do not protect."""
        with_it = self.moves[:, k] != 0
        at = order[np.any(self.moves[np.ix_(with_it, order)], axis=0)]
        left = self.moves[np.ix_(~with_it, at)]
        return np.asarray(at[left.max(axis=0, initial=0) - left.min(axis=0, initial=0) < self.width])

    def _used(self) -> Bools:
        """What moves at hand change, and what is hidden anyway."""
        return np.asarray(self.needed | (self.most != 0) | (self.least != 0))

    def _price(self) -> float:
        return float(self.things.price[self.open & ~self.things.primary].sum())

    def _keep(self, moves: list[Ints]) -> None:
        """Add moves to those at hand."""
        for move in moves:
            if move.any():
                self.moves = np.vstack([self.moves, move])
                self.most, self.least = np.maximum(self.most, move), np.minimum(self.least, move)

    def _only(self, moves: Ints) -> None:
        """Nothing but these moves (moves x n) is at hand."""
        self.moves = moves
        self.most, self.least = moves.max(axis=0, initial=0), moves.min(axis=0, initial=0)

    def _hide(self, at: Ints) -> None:
        self.open[at] = True
        self._release(at)

    def _limit(self, largest: float) -> None:
        """Hide nothing further that is dearer, for now."""
        self.largest = largest
        self._release(np.arange(self.things.size))

    def _release(self, at: Ints) -> None:
        """Back to what an intruder knows of things, if they may be hidden."""
        can = self.open[at] | (self.things.price[at] <= self.largest)
        up, down = np.where(can, self.things.up[at], 0), np.where(can, self.things.down[at], 0)
        columns = np.concatenate([at, self.things.size + at])
        self.programme.columns(np.zeros(len(columns)), np.concatenate([up, down]), at=columns)
