"""How much a search may do: a number of evaluations, or a time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Lock
from typing import Any, TypeVar

from confide.core.errors import InputError

R = TypeVar("R")

UNITS = {"s": 1, "sec": 1, "second": 1, "seconds": 1, "min": 60, "minute": 60, "minutes": 60, "m": 60, "h": 3600,
         "hour": 3600, "hours": 3600}  # fmt: skip
LONG, QUICK = 600.0, 60.0
"""Seconds of a search for which nobody says how long it may take."""


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
    """What is left. `limit`: evaluations (a whole number), or seconds, of which `end` are kept for the study at the
    end: so many evaluations of all targets, divided among threads. Time decides only how many evaluations begin."""

    def __init__(self, limit: int | float, end: float = 0.0, done: Callable[[int], None] = lambda _: None) -> None:
        self.limit, self.end, self.done = limit, end, done
        self.begun, self.spent, self.shown = 0, 0.0, 0.0
        self.seconds: dict[bool, list[float]] = {True: [], False: []}
        self.started = time.perf_counter()
        self._lock = Lock()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def begin(self) -> bool:
        """Whether one more evaluation may begin; if so it is counted."""
        if isinstance(self.limit, int):
            more = self.begun < self.limit
        else:
            more = not self.begun or self.elapsed + self._end() < self.limit
        self.begun += more
        return more

    def timed(self, work: Callable[[], R], whole: bool = True) -> R:
        """Do something, and note how long it took; `whole`: whether it is such an evaluation as the end has."""
        began = time.perf_counter()
        found = work()
        with self._lock:
            self.seconds[whole].append(time.perf_counter() - began)
            step = 1 if isinstance(self.limit, int) else self.elapsed - self.shown
            self.shown += step
            self.done(round(step) if isinstance(self.limit, int) else int(self.shown) - int(self.shown - step))
        return found

    def _end(self) -> float:
        """Seconds that the study at the end may take, half as much again as evaluations like its own took."""
        with self._lock:
            times = self.seconds[True] or self.seconds[False]
            each = sum(times) / len(times) if times else 0.0
        return min(1.5 * each * self.end, 0.6 * self.limit)
