"""Results that are kept: by content, and bulky ones never in place of small ones."""

from __future__ import annotations

import numpy as np
import pytest

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
