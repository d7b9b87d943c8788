"""A first pattern for all small counts together: one move that changes every one of them, and as little else as it can.

Moves that keep to the signs that are allowed (a count at an end of its interval moves one way only) form a cone: added
up, they are one again. So if every small count can move at all, one move d changes all of them, and a pattern is what
it changes. The least sum of price |d| is a linear programme; repeated with price / (|d| + DELTA), it nears the least
price of what is changed at all (Candès, Wakin and Boyd 2008). Fractions and lengths do not matter here, so it is a
proposal.
"""

from __future__ import annotations

import numpy as np

from confide.tables.layout import UNBOUNDED, Bools, Ints
from confide.tables.schemes.suppress.moves import Things
from confide.tables.solve.programme import Answer, Floats

DELTA = 0.2
"""What counts as little in a weight price / (|d| + DELTA)."""

FREE = 1e-3
"""What moving a hidden thing costs beside its price: keeps moves short."""

AGAIN = 60
"""Rounds with weights disturbed a little, each from the best pattern so far."""

PATIENCE = 10
"""Solves without a cheaper pattern after which the search ends."""

EFFORT = 140_000
"""Rounds times things at most: large tables have fewer rounds."""

NONE = 1e-7
WANTED = 300.0
"""What is gained by moving a small count that has no sign yet, in median prices."""


def proposed(things: Things, seconds: float) -> Bools | None:
    """What to hide (n); None where this gives nothing of use."""
    found = _Joint(things, seconds).search()
    return None if found is None else np.asarray(things.primary | (np.abs(found) > NONE))


class _Joint:
    def __init__(self, things: Things, seconds: float) -> None:
        self.things = things
        self.up = np.where(things.up > 0, UNBOUNDED, 0)
        self.down = np.where(things.down > 0, UNBOUNDED, 0)
        self.small = things.primary & ((things.up > 0) | (things.down > 0))
        self.sign = np.where(self.small, (things.down == 0).astype(np.int64) - (things.up == 0), 0)
        self.least = FREE * max(float(np.median(things.price)), 1.0)
        self.programme = things.programme(self.down, False, seconds, 0.0)

    def search(self) -> Floats | None:
        """A move that changes every small count that can move, or None."""
        d = np.zeros(self.things.size)
        for _ in range(2):
            step = self._solved(self._weights(d), *self._bounds())
            if step is None:
                return None
            d = step
        touched = np.abs(d) > NONE
        self._signed(d)
        for way in (1, -1, 1):
            touched |= self._others(way, touched)
        if bool(np.any(self.small & (self.sign == 0))):
            return None
        d = np.where(touched, 5.0 - DELTA, 0.0)  # a fifth of the price for what is there already
        return self._improved(d)

    def _improved(self, d: Floats) -> Floats | None:
        """Again and again, with all signs fixed; weights that are disturbed find patterns that are cheaper."""
        rng = np.random.default_rng(1)
        bounds = self._bounds()
        best: Floats | None = None
        since = 0
        rounds = min(AGAIN, EFFORT // max(self.things.size, 1))
        for k in range(2 + 2 * rounds):
            noise = np.exp(rng.standard_normal(self.things.size)) if k >= 2 and k % 2 == 0 else 1.0
            start = best if best is not None and k % 2 == 0 else d
            step = self._solved(self._weights(start, noise), *bounds)
            if step is None:
                return best
            d = step
            since = 0 if best is None or self._cost(d) < self._cost(best) else since + 1
            if best is None or self._cost(d) <= self._cost(best):
                best = d
            if since > PATIENCE:
                break
        return best

    def _others(self, way: int, touched: Bools) -> Bools:
        """Signs for small counts that have none, by one move in which as many as possible go this way."""
        left = np.asarray(self.small & (self.sign == 0))
        if not left.any():
            return left
        up, down = self.up.copy(), self.down.copy()
        there, back = (up, down) if way > 0 else (down, up)
        there[left] = np.minimum(there[left], 1)
        back[left] = 0
        weight = np.where(touched | self.things.primary, self.least, self.things.price + self.least)
        cost = np.concatenate([weight, weight])
        wanted = np.flatnonzero(left) + (0 if way > 0 else self.things.size)
        cost[wanted] = -WANTED * max(float(np.median(self.things.price)), 1.0)
        zero = np.zeros(self.things.size, dtype=np.int64)
        d = self._solved(cost, zero, zero, up, down)
        if d is None:
            return np.zeros_like(left)
        self._signed(d)
        return np.asarray(np.abs(d) > NONE)

    def _signed(self, d: Floats) -> None:
        new = self.small & (self.sign == 0) & (np.abs(d) > NONE)
        self.sign[new] = np.sign(d[new]).astype(np.int64)

    def _bounds(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Least and largest rise and fall: what has a sign moves that way by at least 1."""
        rises, falls = self.sign > 0, self.sign < 0
        return (
            rises.astype(np.int64),
            falls.astype(np.int64),
            np.where(falls, 0, self.up),
            np.where(rises, 0, self.down),
        )

    def _weights(self, d: Floats, noise: Floats | float = 1.0) -> Floats:
        weight = np.where(self.things.primary, 0.0, noise * self.things.price / (np.abs(d) + DELTA)) + self.least
        return np.concatenate([weight, weight])

    def _cost(self, d: Floats) -> float:
        return float(self.things.price[(np.abs(d) > NONE) & ~self.things.primary].sum())

    def _solved(self, cost: Floats, rise: Ints, fall: Ints, up: Ints, down: Ints) -> Floats | None:
        self.programme.columns(np.concatenate([rise, fall]), np.concatenate([up, down]))
        answer: Answer = self.programme.minimise(cost)
        n = self.things.size
        return answer.x[:n] - answer.x[n:] if answer.status == "optimal" else None
