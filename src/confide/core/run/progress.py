"""How far a call has come: a bar on a terminal, or somebody's own function."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confide.core.errors import InputError

Progress = bool | Callable[[int, int, str], None] | None
"""What `progress` may be: True (a bar), False (silence), None (a bar on a terminal, silence in a pipe), or a function
that is called as `progress(done, total, what)`."""

PAUSE = 0.05
"""Seconds between two calls of such a function; the last of a piece of work does not wait."""


def checked_progress(progress: Progress) -> Progress:
    """The same; anything else is refused.

    >>> checked_progress("yes")
    Traceback (most recent call last):
    confide.InputError: progress is True, False, None (a bar on a terminal), or a function that is called as \
progress(done, total, what).
    """
    if progress is None or isinstance(progress, bool) or (callable(progress) and not isinstance(progress, type)):
        return progress
    raise InputError(
        "progress is True, False, None (a bar on a terminal), or a function that is called as "
        "progress(done, total, what)."
    )


@contextmanager
def progress_bar(what: str, total: int, show: Progress) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal (standard error), silence in a pipe, or calls of a function. Yields what advances it."""
    checked_progress(show)
    if total < 1:
        yield lambda _: None
    elif callable(show):
        told = _Told(show, what, total)
        yield told.advance
        told.end()
    elif show or (show is None and sys.stderr.isatty()):
        with _bar() as bar:
            task = bar.add_task(what, total=total)
            yield lambda n: bar.advance(task, n)
    else:
        yield lambda _: None


class _Told:
    """Calls of somebody's function: one at a time, from whichever thread advances, and not too many.

    What it raises ends the work: it is raised where the work advances, and again wherever else it would, so that no
    part of the work can take it for a failure of its own and go on.
    """

    def __init__(self, tell: Callable[[int, int, str], None], what: str, total: int) -> None:
        self.tell, self.what, self.total = tell, what, int(total)
        self.done, self.told, self.at = 0, -1, 0.0
        self.lock = threading.Lock()
        self.raised: BaseException | None = None
        with self.lock:
            self._say()

    def advance(self, n: int) -> None:
        """So many more are done."""
        with self.lock:
            self.done = min(self.done + int(n), self.total)
            if self.raised is not None:
                raise self.raised
            if self.done == self.total or time.monotonic() - self.at >= PAUSE:
                self._say()

    def end(self) -> None:
        """The work is over: tell what was not told yet."""
        with self.lock:
            if self.raised is not None:
                raise self.raised
            self._say()

    def _say(self) -> None:
        if self.done == self.told:
            return
        self.told = self.done
        try:
            self.tell(self.done, self.total, self.what)
        except BaseException as error:
            self.raised = error
            error.by_progress = True  # type: ignore[attr-defined]
            raise
        self.at = time.monotonic()


def _bar() -> Any:
    """Of rich, on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns: tuple[Any, ...] = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Bar(*columns, console=Console(stderr=True), transient=True)
