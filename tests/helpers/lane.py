"""A worker for tests: the real loop, with tasks that answer, wait, count, refuse or fill memory."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from typing import Any

import confide as cf
from confide.app import worker


def serve(pipe: Connection) -> None:
    """The worker's own loop with our tasks."""
    worker.TASKS.update(dict.fromkeys(("echo", "refuse", "count", "sleep", "fill"), "tests.helpers.lane"))
    worker.warm = lambda: None
    worker.import_module = lambda _: _Tasks  # type: ignore[assignment]
    worker.serve_lane(pipe)


class _Tasks:
    @staticmethod
    def run(work: worker.Work) -> Any:
        """Whatever the job says."""
        if work.given.get("value") is not None:
            return {"value": work.given["value"]}
        return _slow(work)


def _slow(work: worker.Work) -> Any:
    task = work.given.get("what", "")
    if task == "refuse":
        raise cf.InputError("No. Never.", ["No.", "Never."])
    held = []
    for k in range(1000):
        if task == "count":
            work.progress(k, 1000, "counting")
        if task == "fill":
            held.append(bytearray(b"x" * 20_000_000))
        time.sleep(0.05)
    return {}
