"""Work in a process of its own that is killed at a moment that chance chooses, again and again.

One process imports everything and forks a child for each try, so that a try costs no more than the work.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOOP = """
import os, sys
{imports}
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            {work}
            code = 0
        except BaseException as e:
            print(repr(e), file=sys.stderr)
        finally:
            os._exit(code)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Tries:
    """`run` does the work, killed after so many seconds (None: not at all), and gives the seconds it took and how the
    process ended."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        self.running = running

    def run(self, after: float | None) -> tuple[float, int]:
        assert self.running.stdin is not None
        assert self.running.stdout is not None
        began = time.perf_counter()
        print("go", file=self.running.stdin, flush=True)
        child = int(self.running.stdout.readline())
        if after is not None:
            timer = threading.Timer(after, _killed, [child])
            timer.start()
        code = int(self.running.stdout.readline())
        if after is not None:
            timer.cancel()
        return time.perf_counter() - began, code


def _killed(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


@contextlib.contextmanager
def tries(imports: str, work: str) -> Iterator[Tries]:
    code = LOOP.format(imports=imports, work=work)
    places = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": places},
    ) as running:  # fmt: skip
        try:
            yield Tries(running)
        finally:
            running.kill()


def moments(whole: float, many: int, seed: int = 1) -> list[float]:
    """Times at which to kill, from the beginning to the end of work that takes so long."""
    chance = random.Random(seed)
    return [whole * (k + chance.random()) / many for k in range(many)]
