"""Which counts to hide beside the small ones, so that these cannot be worked out.

A first pattern for all small counts together (`joint`), then proof: moves in whole numbers. A count is safe if moves at
hand spread it over the width that is asked for; what a move needs beyond the pattern is hidden too. In the end
secondaries are shown again where moves without them protect as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.schemes.suppress.joint import proposed
from confide.tables.schemes.suppress.moves import Things
from confide.tables.solve.programme import Answer, Floats, Programme, whole

SECONDS = 10.0
"""Time limit of one move."""

ATTEMPTS = 60_000
"""Moves times things that the search for needless secondaries may try, and at most 3,000 moves."""

GAP = 2.0
"""A whole-number move need not be the very cheapest: hiding costs 5 or more a quantity."""

CHEAP = 1_000.0
"""Price up to which further things are tried first: counts of about 100."""

FREE = 0.05
"""What a move of a hidden thing by 1 costs: short moves are whole more often, and prove as much."""


class Pattern:
    """Which further counts to hide. `primary`, `may` (be hidden), `low` and `high` (if hidden) are of length Q.

    `hidden` (Q) is the pattern; `moves`: changes (n) of the true table that fit it, in whole numbers.
    """

    def __init__(
        self, layout: Layout, counts: Ints, free: Bools, primary: Bools, may: Bools, low: Ints, high: Ints, width: int
    ) -> None:
        self.things = Things.of(layout, counts, free, primary, may, low, high)
        self.layout, self.counts, self.width = layout, counts, width
        self.primary, self.alone = primary, layout.alone
        self.wide = np.where(high >= UNBOUNDED, width, np.minimum(high, UNBOUNDED) - low) >= width
        self.open = self.things.primary | (self.things.quantity < 0)  # what is hidden, among the things
        self.may = True  # whether more may be hidden
        self.moves: list[Ints] = []
        self.most = self.least = np.zeros(self.things.size, dtype=np.int64)
        self.fraction = False  # whether a move was found in fractions only
        self.stopped = False  # whether a time limit left something open
        self.programme = self.things.programme(self.things.down, False, SECONDS, GAP)

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
        if self.width == 1 and len(order) > 1:
            hide = proposed(self.things, SECONDS * 6)
            if hide is not None:
                self._hide(np.flatnonzero(hide & ~self.open))
        failed += sum(not self._protect(int(k)) for k in order)
        if not failed:
            self._only(self.moves)
            self._show_needless(order)
        return failed

    def _threatened(self) -> Ints:
        """Primary things that others speak of, the smallest counts first: they move one way only."""
        at = np.flatnonzero(self.things.primary)
        q = self.things.quantity[at]
        at = at[~(self.alone[q] & self.wide[q])]
        return at[np.argsort(self.things.price[at], kind="stable")]

    def _protect(self, k: int) -> bool:
        """Find moves that spread thing k over the width; hide what they need."""
        if self.most[k] - self.least[k] >= self.width:
            return True
        self.fraction = False
        for exact in (False, True):  # a fraction of a move is none: then whole numbers are searched for
            for splits in self._splits(k) if self.fraction or not exact else ():
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
        by
        a programme in whole numbers."""
        if self.most[k] >= by > 0 or self.least[k] <= by <= 0:
            return np.zeros(self.things.size, dtype=np.int64)
        column, other = (k, self.things.size + k) if by > 0 else (self.things.size + k, k)
        room = int((self.things.up if by > 0 else self.things.down)[k])
        answer, move = self._forced(self.programme, column, other, abs(by), room)
        self.fraction |= move is None and answer.status != "infeasible"
        if move is None and answer.status != "infeasible" and exact:
            for largest in (0.0, CHEAP, np.inf) if self.may else (0.0,):
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
        move = whole(answer.x[:n] - answer.x[n:]) if answer.found else None
        if move is not None and self.things.fits(move) and (self.may or not bool(move[~self.open].any())):
            return answer, move
        return answer, None

    def _cost(self) -> Floats:
        each = np.where(self.open, 0.0, self.things.price) + FREE
        return np.concatenate([each, each])

    def _show_needless(self, order: Ints) -> None:
        """Show secondaries again, dearest first, where moves without them protect as well."""
        self.may = False
        self._release(np.arange(self.things.size))
        secondary = np.flatnonzero(self.open & ~self.things.primary & (self.things.quantity >= 0))
        left = min(3_000, ATTEMPTS // max(self.things.size, 1))
        for k in secondary[np.argsort(-self.things.price[secondary], kind="stable")]:
            before = self.moves
            self._only([move for move in before if move[k] == 0])
            self.open[k] = False
            self._release(np.array([k]))
            bare = order[(self.most - self.least)[order] < self.width]
            left -= len(bare)
            if left < 0 or not all(self._protect(int(p)) for p in bare):
                self._only(before)
                self.open[k] = True
                self._release(np.array([k]))

    def _keep(self, moves: list[Ints]) -> None:
        """Add moves to those at hand."""
        for move in moves:
            if move.any():
                self.moves = [*self.moves, move]
                self.most, self.least = np.maximum(self.most, move), np.minimum(self.least, move)

    def _only(self, moves: list[Ints]) -> None:
        """Nothing but these moves is at hand."""
        self.moves = moves
        self.most = np.max([np.zeros(self.things.size, dtype=np.int64), *moves], axis=0)
        self.least = np.min([np.zeros(self.things.size, dtype=np.int64), *moves], axis=0)

    def _hide(self, at: Ints) -> None:
        self.open[at] = True

    def _release(self, at: Ints) -> None:
        """Back to what an intruder knows of things."""
        can = self.open[at] | self.may
        up, down = np.where(can, self.things.up[at], 0), np.where(can, self.things.down[at], 0)
        columns = np.concatenate([at, self.things.size + at])
        self.programme.columns(np.zeros(len(columns)), np.concatenate([up, down]), at=columns)
