"""A worker: a process that takes one task after the other, tells how far it is, and gives back plain data."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LOG = "log.txt"
TASKS = {
    "facts": "confide.app.work.facts", "look": "confide.app.work.look",
    "effect": "confide.app.work.effect", "improve": "confide.app.work.improve",
    "compare": "confide.app.work.compare", "verdict": "confide.app.work.verdict",
    "report": "confide.app.work.report", "propose": "confide.app.work.propose",
    "draw": "confide.app.work.draw", "write": "confide.app.work.write", "offers": "confide.app.work.offers",
    "table": "confide.app.work.table", "schemes": "confide.app.work.schemes", "publish": "confide.app.work.publish",
}  # fmt: skip
"""Tasks by name, each a file with `run(work)`."""


@dataclass(frozen=True)
class Work:
    """What a task is given: the project's folder, what it is about, and how to tell of progress or a first answer."""

    folder: Path
    given: Mapping[str, Any]
    progress: Callable[[int, int, str], None]
    preview: Callable[[Any], None]


def serve_lane(pipe: Connection) -> None:
    """Take tasks until nobody gives any."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's; it ends its workers itself
    warm()
    while True:
        try:
            task, folder, given = pipe.recv()
        except (EOFError, OSError):
            return
        with contextlib.suppress(OSError):
            pipe.send(_done(pipe, task, Path(folder), given))
        give_back()


def _done(pipe: Connection, task: str, folder: Path, given: Mapping[str, Any]) -> tuple[str, Any]:
    """The answer to one task: what it found, or sentences that say why it found nothing."""
    import confide as cf

    last = [0.0]

    def progress(done: int, total: int, what: str) -> None:
        now = time.monotonic()
        if now - last[0] > 0.1 or done == total:
            last[0] = now
            pipe.send(("progress", done, total, what))

    work = Work(folder, given, progress, lambda found: pipe.send(("preview", found)))
    try:
        return "done", import_module(TASKS[task]).run(work)
    except cf.InputError as error:
        return "refused", list(error.problems) or [str(error)]
    except MemoryError:
        return "refused", ["There is not enough memory for this. Close other programs, or try fewer things at once."]
    except Exception as error:
        note_failure(folder, task)
        return "refused", [
            f"confide itself failed here ({type(error).__name__} in {task}); {LOG} in the project says where."
        ]


def give_back() -> None:
    """Memory that a task left free goes back to the system, where that can be asked for."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def note_failure(folder: Path, task: str, error: BaseException | None = None) -> None:
    """Where it failed, for those who mend it: in a private folder alone, and no value of the data."""
    told = traceback.format_exc() if error is None else "".join(traceback.format_exception(error))
    kind = told.strip().splitlines()
    where = [line for line in kind if line.lstrip().startswith("File ")]
    with contextlib.suppress(OSError):
        place = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with open(place, "a", encoding="utf-8") as out:
            out.write("\n".join([f"{time.strftime('%Y-%m-%d %H:%M:%S')} {task}", *where, ""]))


def warm() -> None:
    """Load what every task needs, so that the first one does not wait for it."""
    import confide as cf

    cf.Plan, cf.Study, cf.roles  # noqa: B018 - their modules are what is wanted
