"""Progress: a bar, silence, or somebody's own function, which is called in order, seldom, and may end the work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import confide as cf
from confide.core.run import progress as mine
from confide.core.run.progress import progress_bar
from confide.core.run.threads import run_pieces

HEADS = cf.demo("heads").head(120)
PLAN = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
WHO = {"a": cf.Intruder(knows=["sex", "race"])}


class Stopped(Exception):
    """What somebody raises who has seen enough."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that the test moves."""
    now = [0.0]
    monkeypatch.setattr(mine.time, "monotonic", lambda: now[0])
    return now


def test_it_is_told_in_order_and_not_too_often(clock: list[float]) -> None:
    told: list[tuple[int, int, str]] = []
    with progress_bar("counting", 100, lambda *now: told.append(now)) as done:
        for _ in range(100):
            done(1)
            clock[0] += 0.02
    assert told[0] == (0, 100, "counting")
    assert told[-1] == (100, 100, "counting")
    assert [n for n, _, _ in told[1:-1]] == list(range(4, 100, 3))


def test_the_last_is_told_though_the_work_ended_early_or_went_beyond(clock: list[float]) -> None:
    for n, last in ((3, 3), (12, 10)):
        told: list[int] = []
        with progress_bar("counting", 10, lambda at, *_: told.append(at)) as done:  # noqa: B023
            for _ in range(n):
                done(np.int64(1))  # type: ignore[arg-type]
        assert told == [0, last]
        assert type(told[-1]) is int
    assert clock == [0.0]


def test_nothing_to_do_is_not_told() -> None:
    with progress_bar("counting", 0, lambda *_: pytest.fail("called")) as done:
        done(1)


def test_many_threads_call_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "PAUSE", 0.0)
    inside, told = threading.Lock(), []

    def tell(done: int, _total: int, _what: str) -> None:
        assert inside.acquire(blocking=False), "two at once"
        told.append(done)
        inside.release()

    with progress_bar("counting", 2000, tell) as done, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: done(1), range(2000)))
    assert told == list(range(2001))


@pytest.mark.parametrize("threads", [1, 3])
def test_what_it_raises_ends_the_work(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mine, "PAUSE", 0.0)
    begun: list[int] = []

    def tell(done: int, _total: int, _what: str) -> None:
        if done >= 5:
            raise Stopped

    with pytest.raises(Stopped), progress_bar("counting", 100_000, tell) as done:
        run_pieces(lambda a, _: begun.append(a), [(i, i + 1) for i in range(100_000)], threads, done)
    assert 5 <= len(begun) < 100_000


def test_no_part_of_the_work_can_take_it_for_its_own_failure() -> None:
    def tell(done: int, _total: int, _what: str) -> None:
        if done:
            raise cf.InputError("I have seen enough.")

    heard = []

    def work() -> None:
        with progress_bar("counting", 3, tell) as done:
            for _ in range(3):
                try:
                    done(3)
                except cf.InputError:
                    heard.append(True)

    with pytest.raises(cf.InputError, match="seen enough"):
        work()
    assert heard == [True] * 3


def calls() -> dict[str, Callable[[Any], object]]:
    """Public calls that take long, by name."""
    release = PLAN.protect(HEADS, seed=1)
    attack = WHO["a"].attack(release, progress=False)
    tables = cf.Tables(np.arange(24).reshape(4, 2, 3), names=["a", "b"])
    published = tables.publish(cf.RoundCells(3), seed=1, progress=False)
    study = cf.Study(HEADS, {"p": PLAN}, WHO, ["hellinger"], repeats=2, seed=1)
    asked: dict[str, Any] = {"intruders": WHO, "utility": ["hellinger"], "seed": 1}
    share = {"max_risk": {"found": "90%"}}
    sweep = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.5])
    few = HEADS.select("sex", "race", "age")
    return {
        "attack": lambda p: WHO["a"].attack(release, progress=p),
        "grid": lambda p: attack.grid(progress=p),
        "contributions": lambda p: attack.contributions(progress=p),
        "clearing": lambda p: attack.clearing(0.01, progress=p),
        "one_to_one": lambda p: attack.one_to_one(seed=1, progress=p),
        "study": lambda p: study.run(progress=p),
        "advise": lambda p: cf.advise(few, ["sex", "age"], **share, budget=3, repeats=1, seed=1, progress=p),
        "improve": lambda p: cf.improve(HEADS, PLAN, **asked, max_risk={"found": "1%"}, repeats=1, progress=p),
        "optimise": lambda p: cf.optimise(HEADS, sweep, **asked, **share, repeats=1, rounds=0, progress=p),
        "synthesise": lambda p: cf.synthesise(few, seed=1, progress=p),
        "generalise": lambda p: cf.generalise(
            few, hierarchies={"age": cf.Hierarchy(widths=[10, 50])}, until={"k": 2}, goal="hellinger", progress=p
        ),
        "publish": lambda p: tables.publish(cf.ControlledRounding(3), seed=1, progress=p),
        "bounds": lambda p: published.bounds(progress=p),
        "sap": lambda p: cf.sap(published, known=1, progress=p),
    }  # fmt: skip


SLOW = {"improve", "one_to_one", "sap"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in sorted(calls())])
def test_public_calls_are_watched_and_stopped(name: str) -> None:
    call = calls()[name]
    told: list[tuple[int, int, str]] = []
    call(lambda *now: told.append(now))
    begins = [k for k, (done, _, _) in enumerate(told) if not done]
    assert begins[0] == 0
    for first, after in zip(begins, [*begins[1:], len(told)], strict=True):
        part = told[first:after]
        assert len({(total, what) for _, total, what in part}) == 1
        assert [n for n, _, _ in part] == sorted({n for n, _, _ in part})
    assert told[-1][0] == told[-1][1]

    def stop(done: int, _total: int, _what: str) -> None:
        if done:
            raise Stopped

    with pytest.raises(Stopped):
        call(stop)
    with pytest.raises(cf.InputError, match=r"^(generalise: )?progress is True, False, None"):
        call("yes")


def test_progress_is_judged_where_none_is_needed() -> None:
    with pytest.raises(cf.InputError, match="progress is True"):
        cf.Tables(np.ones((2, 2), dtype=int), names=["a"]).publish(cf.RoundCells(3), seed=1, progress=3)  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match="progress is True"):
        cf.generalise(HEADS, hierarchies={"age": cf.Hierarchy(widths=[50])}, until={"k": 2}, progress="no")  # type: ignore[arg-type]
