"""On a terminal compiling says what it does, in one line per loop that was called; in a pipe it is silent."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.places import ROOT

CODE = "from tests.helpers.cached_loop import doubled; doubled(1.0); doubled(2.0)"


def on_a_terminal(kept: Path) -> str:
    """What a process writes to standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    env = os.environ | {"NUMBA_CACHE_DIR": str(kept)}
    done = subprocess.run([sys.executable, "-c", CODE], env=env, cwd=ROOT, stderr=theirs, timeout=120)
    os.close(theirs)
    assert done.returncode == 0
    try:
        return os.read(ours, 10_000).decode().replace("\r\n", "\n")
    except OSError:  # nothing was written
        return ""
    finally:
        os.close(ours)


@pytest.mark.slow
def test_compiling_is_said_once_on_a_terminal(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert on_a_terminal(kept) == "confide: compiling, once: doubled ...\n"
    assert on_a_terminal(kept) == ""


@pytest.mark.slow
def test_it_is_silent_in_a_pipe(tmp_path: Path) -> None:
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    done = subprocess.run([sys.executable, "-c", CODE], env=env, cwd=ROOT, capture_output=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_threads_may_all_compile_at_once() -> None:
    """As in a notebook: several threads call a loop that none has compiled, and one that another has."""
    from confide.core.run.compile import compiled, unfused

    @compiled
    def one(x: float) -> float:
        return x + 1.0

    @unfused
    def two(x: float) -> float:
        return one(x) + 1.0

    start = threading.Barrier(4)

    def work(i: int) -> float:
        start.wait()
        answer: float = two(float(i)) if i % 2 else one(float(i))
        return answer

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [1.0, 3.0, 3.0, 5.0]


def test_it_works_inside_a_running_loop_of_events() -> None:
    """As in a notebook, whose cells run inside one; and in two threads of it at once."""
    import confide as cf

    people = {"id": [*range(40)], "sex": ["f", "m"] * 20, "income": [float(i * i) for i in range(40)]}
    plan = cf.Plan([cf.Noise("income", sd=3.0)], identifiers=["id"])

    def found() -> float:
        attack = cf.Intruder(knows=["sex", "income"]).attack(plan.protect(people, seed=1), threads=2)
        return float(attack.summary().expected_matches)

    async def cell() -> list[float]:
        return [found(), *await asyncio.gather(asyncio.to_thread(found), asyncio.to_thread(found))]

    with ThreadPoolExecutor(1) as pool:  # a thread of its own: this one may have a loop that a browser test left
        first, second, third = pool.submit(lambda: asyncio.run(cell())).result()
    assert first == second == third > 0
