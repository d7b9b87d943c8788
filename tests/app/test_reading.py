"""What plans say of themselves, read here or in a process of its own: the same, also after that process ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from confide.app import reading
from confide.app.reading import READS, Reader

SWAP = {"method": "swap", "variable": "race", "rate": 0.1}


@pytest.fixture
def reader() -> Iterator[Reader]:
    made = Reader()
    reading.aside(made)
    reading._remembered.cache_clear()
    yield made
    reading.aside(None)
    reading._remembered.cache_clear()
    made.close()


def test_both_say_the_same(reader: Reader) -> None:
    bad = {"steps": [{**SWAP, "rate": 30}]}
    for what, *given in (("words", [SWAP]), ("problems", bad), ("problems", {"steps": [SWAP]}), ("schemas",)):
        assert reading.read(what, *given) == READS[what](*given)
    assert reading.read("problems", bad) != []
    assert reader.process is not None


def test_a_reader_that_ended_begins_again(reader: Reader) -> None:
    assert reader.ask("words", [SWAP])
    os.kill(reader.process.pid, signal.SIGKILL)
    assert reader.ask("words", [SWAP]) == READS["words"]([SWAP])
