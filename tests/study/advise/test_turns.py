"""Evaluations that share memory: who works beside whom."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import pytest

from confide.study.advise.turns import Turns


def test_who_must_be_alone_is_alone_and_others_work_beside_each_other() -> None:
    turns, inside, seen, both = Turns(10**15), [0], list[tuple[bool, int]](), Barrier(2, timeout=20)

    def work(alone: bool) -> None:
        with turns.turn("kind", alone) as mine:
            inside[0] += 1
            if not mine:
                both.wait()  # two are in here at a time, else this breaks
            sleep(0.01)
            seen.append((mine, inside[0]))
            inside[0] -= 1

    for pair in (False, False), (True, True):
        with ThreadPoolExecutor(2) as pool:
            assert [f.exception() for f in [pool.submit(work, alone) for alone in pair]] == [None, None]
    assert [many for mine, many in seen if mine] == [1, 1]
    assert len(seen) == 4


def test_what_would_not_fit_beside_others_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    most = [500]
    monkeypatch.setattr("confide.study.advise.turns.taken", lambda: 300)
    monkeypatch.setattr("confide.study.advise.turns.most_taken", lambda: most[0])
    monkeypatch.setattr("confide.study.advise.turns.tight", lambda _: False)
    turns, said = Turns(1_000), list[bool]()
    with turns.turn("large", False):
        most[0] = 700
    assert turns.takes == {"large": 400.0}
    with turns.turn("small", False):
        pass
    assert turns.takes == {"large": 400.0}  # nothing rose while it worked

    def beside(kind: str) -> None:
        with turns.turn(kind, False) as alone:
            said.append(alone)

    with ThreadPoolExecutor(1) as pool:
        with turns.turn("large", False):
            pool.submit(beside, "small").result(20)  # 300 and 400 leave room
            late = pool.submit(beside, "large")
            with pytest.raises(TimeoutError):
                late.result(0.05)
        late.result(20)
    assert said == [False, True]
