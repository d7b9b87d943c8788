"""What is kept beside arrays: known by the very arrays, for as long as these are there."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

from confide.core.run import alongside as module
from confide.core.run.alongside import alongside
from confide.frames.columns import F64


def counting() -> tuple[Callable[..., F64], list[int]]:
    """A function, and a list that gets longer with each of its calls."""
    calls: list[int] = []

    def made(*arrays: F64) -> F64:
        calls.append(len(arrays))
        return np.concatenate(arrays) + 1.0

    return made, calls


def added(values: F64, more: float) -> F64:
    return np.asarray(values + more)


def test_a_result_is_made_once_for_the_very_arrays_and_cannot_be_changed() -> None:
    (made, calls), one, other = counting(), np.arange(3.0), np.arange(3.0)
    assert alongside(made, one) is alongside(made, one)
    assert len(calls) == 1
    assert alongside(made, other) is not alongside(made, one)  # the same numbers in another array
    assert alongside(made, one, other) is alongside(made, one, other)
    assert len(calls) == 3
    with pytest.raises(ValueError, match="read-only"):
        alongside(made, one)[0] = 7.0


def test_what_else_is_given_is_part_of_the_key() -> None:
    values = np.arange(3.0)
    first = alongside(added, values, also=1.0, given=(1.0,))
    assert alongside(added, values, also=2.0, given=(2.0,)).tolist() == [2.0, 3.0, 4.0]
    assert alongside(added, values, also=1.0, given=(1.0,)) is first


def test_a_result_goes_with_its_array() -> None:
    (made, calls), values = counting(), np.arange(1000.0)
    alongside(made, values)
    held = module._BYTES[0]
    del values
    gc.collect()
    assert module._BYTES[0] <= held - 8000
    for _ in range(20):  # an array at the same place in memory is another one
        alongside(made, np.arange(1000.0))
    assert len(calls) == 21


def test_there_is_room_for_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROOM", 20_000)
    (made, calls), arrays = counting(), [np.full(1000, float(i)) for i in range(4)]
    for a in arrays:
        alongside(made, a)
    assert module._BYTES[0] <= 20_000
    alongside(made, arrays[3])
    assert len(calls) == 4
    alongside(made, arrays[0])  # made room for others
    assert len(calls) == 5


def test_what_is_the_array_itself_is_not_kept() -> None:
    values = np.arange(5.0)
    assert alongside(np.asarray, values) is values
    assert values.flags.writeable
