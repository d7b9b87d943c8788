"""What only confide's methods can say of a plan: its words, what is wrong with it, what can be stated. The methods and
what they compute with take much memory, so that a server asks a process of its own; without one it is read here."""

from __future__ import annotations

import contextlib
import json
import multiprocessing as mp
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import confide as cf

KEPT = 2_000
"""Answers that are remembered: they depend on what is asked alone."""


def words(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """The steps of a plan in words; none where it is no plan."""
    try:
        return [s.words for s in cf.Plan.from_dict({"steps": [dict(s) for s in steps]}).steps]
    except cf.InputError:
        return []


def problems(plan: Mapping[str, Any]) -> list[str]:
    """What is wrong with a plan, in sentences."""
    try:
        cf.Plan.from_dict(dict(plan)).kinds  # noqa: B018 - refused where kinds differ
    except cf.InputError as error:
        return list(error.problems)
    return []


def schemas() -> dict[str, Any]:
    """Schemas of all methods by name."""
    found: Any = cf.Plan.json_schema()["$defs"]
    return {k.removeprefix("method-"): v for k, v in found.items() if k.startswith("method-")}


READS: Mapping[str, Callable[..., Any]] = {"words": words, "problems": problems, "schemas": schemas}


class Reader:
    """The process that reads; begun when it is first asked, and again where it ended."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.process: Any = None
        self.pipe: Connection | None = None

    def ask(self, what: str, *given: Any) -> Any:
        """Its answer; read here where it cannot give one."""
        with self.lock:
            for _ in range(2):
                with contextlib.suppress(EOFError, OSError):
                    return self._asked(what, given)
                self._end()
        return READS[what](*given)

    def close(self) -> None:
        """End the process."""
        with self.lock:
            self._end()

    def _asked(self, what: str, given: Sequence[Any]) -> Any:
        if self.process is None or not self.process.is_alive():
            own, other = mp.get_context("spawn").Pipe()
            self.process = mp.get_context("spawn").Process(target=_read, args=(other,), daemon=True)
            self.process.start()
            other.close()
            self.pipe = own
        assert self.pipe is not None
        self.pipe.send((what, given))
        return self.pipe.recv()

    def _end(self) -> None:
        if self.process is not None and self.process.is_alive():
            self.process.kill()
            self.process.join(2)
        if self.pipe is not None:
            self.pipe.close()
        self.process, self.pipe = None, None


_READER: list[Reader] = []


def aside(reader: Reader | None) -> None:
    """Read in a process of its own from now on; None: here."""
    _READER[:] = [] if reader is None else [reader]


def read(what: str, *given: Any) -> Any:
    """One of `READS`, asked once for the same."""
    return json.loads(_remembered(what, json.dumps(given)))


@lru_cache(maxsize=KEPT)
def _remembered(what: str, given: str) -> str:
    answer = _READER[0].ask if _READER else lambda name, *asked: READS[name](*asked)
    return json.dumps(answer(what, *json.loads(given)))


def _read(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            what, given = pipe.recv()
        except (EOFError, OSError):
            return
        with contextlib.suppress(OSError):
            pipe.send(READS[what](*given))
