"""A study's result on a terminal: what is printed of intervals, shares and doubts."""

from __future__ import annotations

import polars as pl
import pytest

from confide.show.text.studies import _cell, _spread_words
from confide.study.tradeoff.repeats import interval


def cell(values: list[float], form: str = ".4g", ends: tuple[float, float] = (0.0, 1.0)) -> str:
    found = interval(values, ends=ends)
    assert found is not None
    return _cell(pl.DataFrame({"mean": [found.mean], "low": [found.low], "high": [found.high]}), form)


def test_rounding_is_no_spread() -> None:
    assert cell([1951.0, 1951.0 + 4.5e-13, 1951.0 - 4.5e-13], ",.1f", (0, 3000)) == "1,951.0"
    assert cell([0.5, 0.5 + 1.4e-15]) == "0.5"
    assert cell([0.0, 0.0]) == "0"
    assert "+-" in cell([0.5, 0.5 + 1e-9])


def test_an_interval_that_is_cut_off_is_printed_by_its_ends() -> None:
    assert cell([0.6, 0.68]) == "0.64 [0.1318 to 1]"
    assert cell([0.6, 0.68], ends=(-10, 10)) == "0.64 +- 0.51"


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("swap [rate=0.4 to b]  0.5", ""),
        ("a  0.5 +- 0.1", " +- half the width of the 95 percent interval"),
        ("a  0.5 [0 to 1]", " [ends of the 95 percent interval], where one is the least or the largest value possible"),
    ],
)
def test_how_intervals_are_read_is_said_where_there_are_any(table: str, said: str) -> None:
    assert _spread_words(table) == said
