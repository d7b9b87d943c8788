"""Which counts to hide beside the small ones, so that these cannot be worked out.

Notation: `true` counts (Q); a move d (m) changes the cells so that every quantity stays within what an intruder knows
of it. Moves at hand prove that a pattern holds: a count is safe if moves spread it over the width that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints, Layout
from confide.tables.solve.programme import Answer, Programme, whole

SECONDS = 10.0
"""Time limit of one move."""

ATTEMPTS = 3_000
"""Moves that the search for needless secondaries may try."""

GAP = 2.0
"""A whole-number move need not be the very cheapest: hiding costs about 1 to 10 a quantity."""


def opposed(count: int) -> Iterator[Ints]:
    """Signs for so many things, each with its opposite, such that any two of them differ in some: by their bits."""
    place = np.arange(count)
    for bit in range(max(count - 1, 1).bit_length()):
        signs = np.where((place >> bit) & 1, 1, -1)
        yield signs
        yield -signs


class Pattern:
    """Which further counts to hide. `primary`, `may` (be hidden), `low` and `high` (if hidden) are of length Q.

    Columns of the programme: moves d (m), then what each quantity would rise and fall by if it had to be hidden (2 Q).
    Row q: a_q d - rise_q + fall_q lies within what an intruder knows of a hidden q, or is 0 if q is shown.
    """

    def __init__(
        self, layout: Layout, counts: Ints, free: Bools, primary: Bools, may: Bools, low: Ints, high: Ints, width: int
    ) -> None:
        self.layout, self.counts, self.free, self.may, self.width = layout, counts, free, may, width
        self.primary = primary
        true = layout.sums(counts)
        self.up = np.where(high >= UNBOUNDED, UNBOUNDED, high - true)  # how far each may rise, once hidden
        self.down = true - low
        self.price = 1.0 + np.log1p(true)
        self.hidden = primary.copy()
        self.open = True  # whether more may be hidden
        self.moves: Ints = np.zeros((1, layout.quantities), dtype=np.int64)
        self.most: Ints = self.moves[0]  # how far up and down the moves at hand bring each quantity
        self.least: Ints = self.moves[0]
        self.stopped = False  # whether a time limit left something open
        self.objective = np.concatenate([np.zeros(layout.cells), self.price, self.price])
        self.programme = self._made(integer=False)

    def search(self) -> int:
        """Hide until every primary quantity is safe; returns how many cannot be."""
        wide = np.minimum(self.up, UNBOUNDED // 2) + self.down >= self.width
        order = np.flatnonzero(self.primary & ~(self.layout.alone & wide))  # nothing tells of a count that is alone
        order = order[np.argsort(-self.price[order], kind="stable")]
        self._move_many(order)
        failed = sum(not self._protect(int(q)) for q in order)
        if not failed:
            self._show_needless()
        return failed

    def _move_many(self, which: Ints) -> None:
        """Moves of several at once, some up and others down, that need nothing more to be hidden."""
        if len(which) < 2:
            return
        was_open, self.open = self.open, False
        programme = self._made(integer=False)
        self.open = was_open
        programme.rows(
            np.where(self.hidden, -np.minimum(self.down, self.width), 0),
            np.where(self.hidden, np.minimum(self.up, self.width), 0),
        )
        for signs in opposed(len(which)):
            if bool((self._spread()[which] >= self.width).all()):
                break
            target = np.zeros(programme.size)
            target[: self.layout.cells] = self.layout.matrix[which].T @ signs
            move = self._checked(programme.maximise(target))
            if move is not None:
                self._keep(move[None])

    def _protect(self, q: int) -> bool:
        """Find moves that spread q over the width; hide what they need."""
        if self._spread()[q] >= self.width:
            return True
        for splits in self._splits(q):
            ways = [way for up, down in splits if (way := self._way(q, up, down)) is not None]
            if ways:
                way = min(ways, key=lambda w: float(self.price[self._needs(w)].sum()))
                self._hide(np.flatnonzero(self._needs(way)))
                self._keep(way)
                return True
        return False

    def _way(self, q: int, up: int, down: int) -> Ints | None:
        """Moves (2 x Q) that let q rise and fall so far, or None."""
        rise = self._move(q, up)
        fall = None if rise is None else self._move(q, -down)
        return None if rise is None or fall is None else np.vstack([rise, fall])

    def _needs(self, way: Ints) -> Bools:
        """What has to be hidden for some moves, and is not yet."""
        return np.asarray(way.any(axis=0) & ~self.hidden)

    def _splits(self, q: int) -> Iterator[list[tuple[int, int]]]:
        """Ways to part the width into a rise and a fall: all of it one way if possible, else every other way."""
        most_up, most_down = min(self.width, int(self.up[q])), min(self.width, int(self.down[q]))
        ends = {(most_up, self.width - most_up), (self.width - most_down, most_down)}
        yield sorted(e for e in ends if e[0] <= most_up and e[1] <= most_down)
        if most_up + most_down - self.width > 1:  # there are others
            reach_up, reach_down = self._reach(q, most_up), -self._reach(q, -most_down)
            for up in range(self.width - reach_down, reach_up + 1):
                if (up, self.width - up) not in ends:
                    yield [(up, self.width - up)]

    def _reach(self, q: int, by: int) -> int:
        """How far q can move up (by > 0) or down, at most `by`, in fractions; rounded towards 0."""
        target = np.zeros(self.layout.cells + 2 * self.layout.quantities)
        target[: self.layout.cells] = self.layout.matrix[[q]].toarray()[0]
        self._bound(q, min(by, 0), max(by, 0))
        answer = self.programme.maximise(target) if by > 0 else self.programme.minimise(target)
        self._release(q)
        return int(np.trunc(answer.value + np.sign(by) * 1e-6)) if answer.status == "optimal" else 0

    def _move(self, q: int, by: int) -> Ints | None:
        """What changes (Q) in the cheapest move of q at least so far up (by > 0) or down; nothing if one is at hand."""
        if self.most[q] >= by > 0 or self.least[q] <= by <= 0:
            return np.zeros(self.layout.quantities, dtype=np.int64)
        self._bound(q, by if by > 0 else -int(self.down[q]), by if by < 0 else int(self.up[q]))
        answer = self.programme.minimise(self.objective)
        move = self._checked(answer)
        if move is None and answer.status != "infeasible":  # a fraction of a move is none
            answer = self._made(integer=True, at=(q, by)).minimise(self.objective)
            move = self._checked(answer)
            self.stopped |= move is None and answer.status == "unproven"
        self._release(q)
        return move

    def _checked(self, answer: Answer) -> Ints | None:
        """What changes in an answer, if it is a move in whole numbers."""
        d = whole(answer.x[: self.layout.cells]) if answer.found else None
        if d is None or bool(np.any(d < -self.counts)) or bool(d[~self.free].any()):
            return None
        sums = self.layout.sums(d)
        fits = (sums <= self.up) & (sums >= -self.down) & (self.hidden | (self.may & self.open))
        return sums if bool(fits[sums != 0].all()) else None

    def _show_needless(self) -> None:
        """Show secondaries again, dearest first, where moves without them protect as well."""
        self.open = False
        self.programme = self._made(integer=False)
        secondary = np.flatnonzero(self.hidden & ~self.primary)
        left = ATTEMPTS
        for q in secondary[np.argsort(-self.price[secondary], kind="stable")]:
            before = self.moves
            self._only(before[before[:, q] == 0])
            self.hidden[q] = False
            self._release(int(q))
            bare = np.flatnonzero(self.primary & ~self.layout.alone & (self._spread() < self.width))
            left -= len(bare)
            if left < 0 or not all(self._protect(int(p)) for p in bare):
                self._only(before)
                self.hidden[q] = True
                self._release(int(q))

    def _keep(self, moves: Ints) -> None:
        """Add moves to those at hand."""
        self.moves = np.vstack([self.moves, moves[moves.any(axis=1)]])
        self.most, self.least = np.maximum(self.most, moves.max(axis=0)), np.minimum(self.least, moves.min(axis=0))

    def _only(self, moves: Ints) -> None:
        """Nothing but these moves is at hand."""
        self.moves, self.most, self.least = moves, moves.max(axis=0), moves.min(axis=0)

    def _spread(self) -> Ints:
        """How far apart the moves at hand bring each quantity; the first of them is to stay."""
        return np.asarray(self.most - self.least)

    def _made(self, integer: bool, at: tuple[int, int] | None = None) -> Programme:
        from scipy.sparse import csr_matrix, hstack, identity

        one = identity(self.layout.quantities, dtype=np.int64, format="csr")
        matrix = csr_matrix(hstack([self.layout.matrix, -one, one]))
        low, high = np.where(self.hidden, -self.down, 0), np.where(self.hidden, self.up, 0)
        if at is not None:
            q, by = at
            low[q], high[q] = (by, high[q]) if by > 0 else (low[q], by)
        rise, fall = self._margins(np.arange(self.layout.quantities))
        none = np.zeros(len(rise), dtype=np.int64)
        lower = np.concatenate([np.where(self.free, -self.counts, 0), none, none])
        upper = np.concatenate([np.where(self.free, UNBOUNDED, 0), rise, fall])
        kinds = (np.arange(len(lower)) < self.layout.cells) & integer
        return Programme(matrix, low, high, lower, upper, kinds, SECONDS, gap=GAP)

    def _margins(self, at: Ints) -> tuple[Ints, Ints]:
        """How far quantities may rise and fall if they were hidden for it."""
        could = self.may[at] & ~self.hidden[at] & self.open
        return np.where(could, self.up[at], 0), np.where(could, self.down[at], 0)

    def _hide(self, at: Ints) -> None:
        self.hidden[at] = True
        none = np.zeros(2 * len(at), dtype=np.int64)
        self.programme.rows(-self.down[at], self.up[at], at=at)
        first = self.layout.cells
        self.programme.columns(none, none, at=np.concatenate([first + at, first + self.layout.quantities + at]))

    def _bound(self, q: int, low: int, high: int) -> None:
        self.programme.rows([low], [high], at=[q])

    def _release(self, q: int) -> None:
        """Back to what an intruder knows of q."""
        self._bound(q, -int(self.down[q]) if self.hidden[q] else 0, int(self.up[q]) if self.hidden[q] else 0)
