"""Results that are kept: by content, and bulky ones never in place of small ones."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from confide.core.errors import InputError
from confide.core.run import memory
from confide.frames.columns import F64


def test_bulky_results_leave_small_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "BULKY", 1_000)
    monkeypatch.setattr(memory, "LARGEST", 20_000)
    calls: list[int] = []

    def made(n: int, size: int) -> F64:
        calls.append(n)
        return np.full(size, float(n))

    memory.remembered(made, -1, 10)
    for n in range(5):
        memory.remembered(made, n, 1_000)
    assert memory.remembered(made, -1, 10)[0] == -1
    assert memory.remembered(made, 4, 1_000)[0] == 4
    assert calls == [-1, 0, 1, 2, 3, 4]
    memory.remembered(made, 0, 1_000)  # made room for others
    assert calls[-1] == 0


def test_a_result_may_be_kept_by_what_it_follows_from() -> None:
    calls: list[int] = []

    def made(n: int, told: str) -> F64:
        calls.append(n)
        assert told
        return np.full(3, float(n))

    for told in ("one", "two"):
        memory.remembered(made, 7, told, by=[7, "told of nothing"])
    assert calls == [7]


def test_what_was_cheap_to_make_takes_no_place_of_what_was_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LARGEST", 20_000)
    calls: list[int] = []

    def cheap_or_dear(n: int) -> F64:
        calls.append(n)
        return np.full(1_000, float(n))

    memory.remembered(cheap_or_dear, -1)
    for n in range(5):
        memory.remembered(cheap_or_dear, n, bulky=True)
    assert memory.remembered(cheap_or_dear, -1)[0] == -1
    assert memory.remembered(cheap_or_dear, 4)[0] == 4
    assert calls == [-1, 0, 1, 2, 3, 4]


def test_what_two_threads_ask_for_at_once_is_made_once() -> None:
    made: list[int] = []
    begun, free = threading.Event(), threading.Event()

    def slow(x: F64) -> F64:
        made.append(threading.get_ident())
        begun.set()
        assert free.wait(20)
        return x + 1

    given = np.arange(5.0)
    found: list[F64] = []
    threads = [threading.Thread(target=lambda: found.append(memory.remembered(slow, given))) for _ in range(3)]
    threads[0].start()
    assert begun.wait(20)
    for thread in threads[1:]:
        thread.start()
    free.set()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert all(np.array_equal(f, given + 1) for f in found)


def test_what_failed_is_made_again_by_those_who_waited() -> None:
    tried: list[F64] = []

    def failing(x: F64) -> F64:
        tried.append(x)
        raise InputError("no")

    for _ in range(2):
        with pytest.raises(InputError):
            memory.remembered(failing, np.arange(3.0))
    assert len(tried) == 2
