"""Whose turn it is: evaluations beside each other as long as memory suffices, else one after another.

How much an evaluation takes is learnt from those of its kind: by how much the most that the process ever had rose
while it worked. Only the order of work depends on it, never a result.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from threading import Condition

from confide.study.advise.room import most_taken, taken, tight


class Turns:
    """Evaluations that share so much memory (`limit`, in bytes; None: any)."""

    def __init__(self, limit: int | None) -> None:
        self.limit = limit
        self.takes: dict[Hashable, float] = {}
        self._changed = Condition()
        self._working: list[Hashable] = []
        self._waiting, self._alone, self._before = 0, False, 0

    @contextmanager
    def turn(self, kind: Hashable, alone: bool) -> Iterator[bool]:
        """Work in here; it says whether that is alone. Evaluations of one `kind` take about as much. Those that must be
        `alone` are where memory is limited, and so is one that would not fit beside others; nobody else begins before
        it."""
        alone = self.limit is not None and (alone or tight(self.limit))
        with self._changed:
            alone = alone or not self._fits(kind)
            self._waiting += alone
            self._changed.wait_for(lambda: not self._alone and not (self._working if alone else self._waiting))
            self._waiting -= alone
            if not self._working:
                self._before = taken()
            self._working.append(kind)
            self._alone, most = alone, most_taken()
        try:
            yield alone
        finally:
            with self._changed:
                self._learn(kind, most)
                self._working.remove(kind)
                self._alone = False
                self._changed.notify_all()

    def _fits(self, kind: Hashable) -> bool:
        """Whether all who work, and one more, would take less than the limit."""
        if self.limit is None or not self._working:
            return True
        return self._before + sum(self.takes.get(k, 0.0) for k in (*self._working, kind)) <= self.limit

    def _learn(self, kind: Hashable, before: int) -> None:
        """What one evaluation took, those beside it as much."""
        most = most_taken()
        if most > before:
            each = (most - self._before) / len(self._working)
            self.takes[kind] = max(self.takes.get(kind, 0.0), each)
