"""Work on Spark whose worker dies, or waits, in the first attempt of one task."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from confide.attack.scanned.spark_work import AttackBucket, Labelled
from confide.protect.scanned.spark_aside import SpillBatch
from confide.protect.scanned.spark_work import WritePart

MARK, HOW = "CONFIDE_TEST_MARK", "CONFIDE_TEST_HOW"
"""Variables of the environment: a file that the first to come makes, and what it does then."""


class _Dying:
    """Whoever makes the file `mark` first does not finish; `after`: it does its work first."""

    mark = ""
    how = ""
    after = False

    @classmethod
    def made(cls, *args: Any) -> Any:
        """With what the environment says."""
        work = cls(*args)
        for name, value in (("mark", os.environ[MARK]), ("how", os.environ[HOW])):
            object.__setattr__(work, name, value)
        return work

    def __call__(self, given: Any) -> Any:
        if self.how == "error" or (self.how == "others" and Path(self.mark).exists()):
            raise ValueError("hh_income")
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return super().__call__(given)  # type: ignore[misc]
        if self.after:
            super().__call__(given)  # type: ignore[misc]
        if self.how == "others":
            return super().__call__(given)  # type: ignore[misc]
        if self.how == "worker":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "executor":
            os.kill(_parent(os.getppid()), signal.SIGKILL)
        time.sleep(300)
        return None


class Dying(_Dying, AttackBucket):
    """As `AttackBucket`."""


class DyingLabels(_Dying, Labelled):
    """As `Labelled`."""


class DyingSpill(_Dying, SpillBatch):
    """As `SpillBatch`."""


class DyingPart(_Dying, WritePart):
    """As `WritePart`, and dies when its files are written."""

    after = True


def interrupted_at(mark: Path) -> threading.Thread:
    """Ctrl-C for this process as soon as somebody has made the file `mark`."""

    def wait() -> None:
        for _ in range(3000):
            if mark.exists():
                os.kill(os.getpid(), signal.SIGINT)
                break
            time.sleep(0.02)

    made = threading.Thread(target=wait)
    made.start()
    return made


def _parent(process: int) -> int:
    """The process that started another: that of the daemon of Python workers is the executor."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
