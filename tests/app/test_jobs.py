"""Work in processes: answers, refusals, cancelling, a worker that is killed or takes too much memory."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from confide.app import jobs as jobs_module
from confide.app.jobs import CANCELLED, DIED, DONE, REFUSED, RUNNING, Job, Jobs, resident

SLOW = 60


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Jobs]:
    from tests.helpers.lane import serve

    monkeypatch.setattr(jobs_module, "serve_lane", serve)
    made = Jobs(0, lambda _: None)
    made.start()
    yield made
    made.close()


def job(key: str, folder: Path, lane: str = "quick", **given: Any) -> Job:
    task = given.pop("task", "echo")
    return Job(key, task, lane, folder, {**given, "what": task})


def until(done: Any, seconds: float = SLOW) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def test_an_answer_comes_back_and_the_same_is_not_done_twice(jobs: Jobs, tmp_path: Path) -> None:
    first = jobs.submit(job("a", tmp_path, value=3))
    assert jobs.submit(job("a", tmp_path, value=3)) is first
    until(lambda: first.over)
    assert (first.state, first.result) == (DONE, {"value": 3})
    assert first.seconds > 0


def test_a_refusal_brings_its_sentences(jobs: Jobs, tmp_path: Path) -> None:
    asked = jobs.submit(job("r", tmp_path, task="refuse"))
    until(lambda: asked.over)
    assert (asked.state, asked.said) == (REFUSED, ("No.", "Never."))


def test_progress_is_told_with_the_time_left(jobs: Jobs, tmp_path: Path) -> None:
    asked = jobs.submit(job("p", tmp_path, task="count"))
    until(lambda: asked.done >= 3)
    assert asked.left is not None
    assert asked.total == 1000
    jobs.cancel("p")


def test_cancel_ends_it_at_once_and_the_lane_goes_on(jobs: Jobs, tmp_path: Path) -> None:
    asked = jobs.submit(job("s", tmp_path, task="sleep"))
    until(lambda: asked.state == RUNNING)
    behind = jobs.submit(job("b", tmp_path, value=1))
    began = time.monotonic()
    jobs.cancel("s")
    assert time.monotonic() - began < 5
    assert asked.state == CANCELLED
    until(lambda: behind.state == DONE)


def test_what_waits_can_be_cancelled_too(jobs: Jobs, tmp_path: Path) -> None:
    jobs.submit(job("s", tmp_path, task="sleep"))
    until(lambda: jobs.jobs["s"].state == RUNNING)
    behind = jobs.submit(job("b", tmp_path, value=1))
    jobs.cancel("b")
    assert behind.state == CANCELLED
    jobs.cancel("s")


def test_a_killed_worker_is_told_and_another_takes_its_place(jobs: Jobs, tmp_path: Path) -> None:
    asked = jobs.submit(job("s", tmp_path, task="sleep"))
    until(lambda: asked.state == RUNNING and jobs.lanes["quick"].process is not None)
    os.kill(jobs.lanes["quick"].process.pid, signal.SIGKILL)
    until(lambda: asked.over)
    assert asked.state == DIED
    assert "Your steps are safe" in asked.said[0]
    again = jobs.submit(job("s", tmp_path, value=2))
    until(lambda: again.over)
    assert again.state == DONE


def test_lanes_do_not_wait_for_each_other(jobs: Jobs, tmp_path: Path) -> None:
    slow = jobs.submit(job("s", tmp_path, lane="long", task="sleep"))
    until(lambda: slow.state == RUNNING)
    quick = jobs.submit(job("q", tmp_path, value=1))
    until(lambda: quick.state == DONE)
    assert slow.state == RUNNING
    jobs.cancel("s")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what a process holds")
def test_a_worker_that_takes_more_than_it_may_is_ended(jobs: Jobs, tmp_path: Path) -> None:
    for lane in jobs.lanes.values():
        lane.memory = 300_000_000
    asked = jobs.submit(job("m", tmp_path, task="fill"))
    until(lambda: asked.over)
    assert asked.state == DIED
    assert "memory" in asked.said[0].lower()
    assert resident(os.getpid()) > 1_000_000
