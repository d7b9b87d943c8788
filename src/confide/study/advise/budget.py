"""How much a search may do: a number of evaluations, or a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Hashable
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

from confide.core.errors import InputError

R = TypeVar("R")

UNITS = {"s": 1, "sec": 1, "second": 1, "seconds": 1, "min": 60, "minute": 60, "minutes": 60, "m": 60, "h": 3600,
         "hour": 3600, "hours": 3600}  # fmt: skip
LONG, QUICK = 600.0, 60.0
"""Seconds of a search for which nobody says how long it may take."""
END = 0.6
"""Of the time, what the study at the end may ask for at most."""


def stated_budget(budget: Any, quick: bool = False) -> int | float:
    """A budget as a whole number of evaluations, or as seconds.

    >>> stated_budget(200), stated_budget("10 min"), stated_budget("90 s"), stated_budget(None, quick=True)
    (200, 600.0, 90.0, 60.0)
    """
    if budget is None:
        return QUICK if quick else LONG
    if isinstance(budget, timedelta):
        budget = f"{budget.total_seconds()} s"
    if isinstance(budget, int) and not isinstance(budget, bool) and budget >= 1:
        return budget
    m = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", budget.lower()) if isinstance(budget, str) else None
    if m is not None and m[2] in UNITS and float(m[1]) > 0:
        return float(m[1]) * UNITS[m[2]]
    raise InputError('budget is a whole number of evaluations, as 200, or a time, as "10 min", "90 s" or a timedelta.')


class Budget:
    """What is left. `limit`: evaluations (a whole number), or seconds. `end`: of the seconds, those that are kept for
    the study at the end; a search says anew after each wave. Time decides only how many evaluations begin: one that
    would not end in time, by what others like it took, does not begin."""

    def __init__(self, limit: int | float, done: Callable[[int], None] = lambda _: None) -> None:
        self.limit, self.end, self.done = limit, 0.0, done
        self.begun, self.shown = 0, 0.0
        self.seconds: dict[Hashable, list[float]] = {}
        self.started = time.perf_counter()
        self._lock = Lock()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float | None:
        """Seconds that are left of all; None where evaluations are counted."""
        return None if isinstance(self.limit, int) else self.limit - self.elapsed

    def begin(self, kind: Hashable = None, expected: float = 0.0) -> bool:
        """Whether one more evaluation may begin; if so it is counted. `kind`: others of it take about as long;
        `expected`: seconds that it takes at least, by what is known of it."""
        if isinstance(self.limit, int):
            more = self.begun < self.limit
        else:
            takes = max(self._takes(kind), expected)
            more = not self.begun or self.elapsed + takes + min(self.end, END * self.limit) < self.limit
        self.begun += more
        return more

    def timed(self, work: Callable[[], R], kind: Hashable = None) -> R:
        """Do something, and note how long it took."""
        began = time.perf_counter()
        found = work()
        with self._lock:
            self.seconds.setdefault(kind, []).append(time.perf_counter() - began)
            step = 1 if isinstance(self.limit, int) else self.elapsed - self.shown
            self.shown += step
            self.done(round(step) if isinstance(self.limit, int) else int(self.shown) - int(self.shown - step))
        return found

    def _takes(self, kind: Hashable) -> float:
        """Seconds that an evaluation takes; one of a kind that was never made, as long as the longest so far."""
        with self._lock:
            mine = self.seconds.get(kind)
            every = [x for each in self.seconds.values() for x in each]
            return sum(mine) / len(mine) if mine else max(every, default=0.0)
