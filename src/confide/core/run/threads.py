"""Run pieces of work on threads. Knows no statistics; results never depend on the number of threads."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from confide.core.errors import InputError

_BESIDE: set[int] = set()
"""Threads that work side by side now, by their numbers: they share the cores."""


def thread_count(threads: int | None) -> int:
    """The number of threads to use: what was asked for, else the cores this process may use, shared with those who
    work beside."""
    if threads is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
        return max(cores // max(len(_BESIDE), 1), 1)
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError("threads must be a whole number from 1 upwards.")
    return threads


@contextmanager
def beside() -> Iterator[None]:
    """Within it, this thread is one of several that work side by side."""
    own = threading.get_ident()
    _BESIDE.add(own)
    try:
        yield
    finally:
        _BESIDE.discard(own)


@contextmanager
def idle() -> Iterator[None]:
    """Within it, this thread waits for another one, and leaves its cores to those who work beside."""
    own = threading.get_ident()
    worked = own in _BESIDE
    _BESIDE.discard(own)
    try:
        yield
    finally:
        if worked:
            _BESIDE.add(own)


def run_pieces(
    work: Callable[[int, int], None], pieces: Sequence[tuple[int, int]], threads: int, done: Callable[[int], None]
) -> None:
    """Call `work(first, last)` for every piece; `done` hears how many items each finished piece held."""
    if threads == 1 or len(pieces) <= 1:
        for first, last in pieces:
            work(first, last)
            done(last - first)
        return
    shared = _Shared(work, iter(pieces))
    others = [threading.Thread(target=shared.run) for _ in range(min(threads, len(pieces)) - 1)]
    for thread in others:
        thread.start()
    try:
        shared.run(done)
    finally:
        shared.failed.append(None)  # nobody begins another piece
        for thread in others:
            thread.join()
    for error in shared.failed:
        if error is not None:
            raise error
    shared.tell(done)


class _Shared:
    """Pieces that several threads take one by one, the one who asked for them too."""

    def __init__(self, work: Callable[[int, int], None], pieces: Iterator[tuple[int, int]]) -> None:
        self.work, self.pieces, self.lock = work, pieces, threading.Lock()
        self.failed: list[BaseException | None] = []
        self.finished: deque[int] = deque()

    def run(self, done: Callable[[int], None] | None = None) -> None:
        """Work as long as there are pieces; `done` hears of those that are finished."""
        try:
            while not self.failed:
                with self.lock:
                    piece = next(self.pieces, None)
                if piece is None:
                    return
                self.work(*piece)
                self.finished.append(piece[1] - piece[0])
                if done is not None:
                    self.tell(done)
        except BaseException as error:
            self.failed.append(error)

    def tell(self, done: Callable[[int], None]) -> None:
        """Of all finished pieces that were not told of."""
        while self.finished:
            done(self.finished.popleft())


_BUSY = threading.Lock()
_CALM: list[ExitStack] = []
_DEPTH = [0]


@contextmanager
def calm() -> Iterator[None]:
    """One BLAS thread and no warnings, for all threads, until the last of those who asked for it is done.

    Both are settings of the whole process, so that threads which set and restore them by themselves would leave them
    as one of the others had set them.
    """
    with _BUSY:
        if not _DEPTH[0]:
            held = ExitStack()
            held.enter_context(warnings.catch_warnings())
            held.enter_context(one_blas_thread())
            warnings.simplefilter("ignore")
            _CALM.append(held)
        _DEPTH[0] += 1
    try:
        yield
    finally:
        with _BUSY:
            _DEPTH[0] -= 1
            if not _DEPTH[0]:
                _CALM.pop().close()


def one_blas_thread() -> Any:
    """Small matrices are slowed by many threads, and sums must not depend on how many there are."""
    return _libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> Any:
    """The BLAS libraries that are there; looked for again when more modules are, which may have brought others."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
