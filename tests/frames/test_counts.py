"""Counts of one variable: everybody once, no rare value named, ranges with round ends."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from itertools import pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confide as cf

HEADS = cf.demo("heads").head(2_000)


@given(
    st.lists(st.one_of(st.none(), st.sampled_from("abcdefgh")), min_size=1, max_size=60),
    st.integers(2, 6),
    st.integers(1, 5),
)
def test_categories_are_counted_and_rare_ones_never_named(values: list[str | None], bins: int, fewest: int) -> None:
    frame = cf.counts(pl.DataFrame({"x": pl.Series(values, dtype=pl.String)}), "x", bins, fewest).frame
    true = Counter(v for v in values if v is not None)
    assert frame["people"].sum() == len(values)
    assert frame.height <= bins + 1
    found = dict(frame.select("value", "people").rows())
    assert found.pop("missing", 0) == values.count(None)
    rest = found.pop("all others", 0)
    assert all(true[v] == n >= fewest for v, n in found.items())
    assert rest == sum(true.values()) - sum(found.values())
    assert min(found.values(), default=10**9) >= max((n for v, n in true.items() if v not in found), default=0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=200), st.integers(2, 20))
def test_numbers_are_counted_in_ranges(values: list[float], bins: int) -> None:
    frame = cf.counts(pl.DataFrame({"x": values}), "x", bins).frame
    assert frame["people"].sum() == len(values)
    assert frame.height <= bins
    if frame["low"].is_null().all():
        return
    cuts = frame["high"].drop_nulls().to_list()
    assert cuts == frame["low"].drop_nulls().to_list() == sorted(cuts)
    ends = [float("-inf"), *cuts, float("inf")]
    twin = [sum(a <= v < b for v in values) for a, b in pairwise(ends)]
    assert frame["people"].to_list() == twin


def test_numbers_with_few_values_stand_in_their_order() -> None:
    frame = cf.counts(HEADS, "n_persons").frame
    named = [int(v) for v in frame["value"] if v != "all others"]
    assert named == sorted(named)
    assert frame["people"].sum() == 2_000


def test_whole_numbers_have_whole_ends() -> None:
    frame = cf.counts(pl.DataFrame({"x": [*range(25)] * 4}), "x").frame
    assert all(float(c).is_integer() for c in frame["high"].drop_nulls())
    assert cf.counts(HEADS, "age").frame["value"][0].startswith("below ")


def test_dates_count_by_year_and_what_is_missing_is_told() -> None:
    days = [dt.date(1990 + k % 40, 1 + k % 12, 3) for k in range(400)]
    frame = cf.counts(pl.DataFrame({"born": [*days, None]}), "born", bins=5).frame
    assert frame.row(-1) == ("missing", None, None, 1)
    assert 1990 < frame["high"][0] < 2030


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ([True, True, False, True, False, False], [("False", 3), ("True", 3)]),
        ([None, None], [("missing", 2)]),
        (["a"] * 5 + ["b"], [("all others", 6)]),
        ([float("nan"), 1.0, 1.0, 1.0], [("1", 3), ("missing", 1)]),
    ],
)
def test_small_columns(values: list[Any], rows: list[tuple[str, int]]) -> None:
    column = pl.Series(values) if any(v is not None for v in values) else pl.Series(values, dtype=pl.String)
    found = cf.counts(pl.DataFrame({"x": column}), "x").frame
    assert sorted(found.select("value", "people").rows()) == sorted(rows)


def test_bad_input() -> None:
    with pytest.raises(cf.InputError, match='Did you mean "race"'):
        cf.counts(HEADS, "raze")
    with pytest.raises(cf.InputError, match="bins is a whole number from 2"):
        cf.counts(HEADS, "race", bins=1)
    with pytest.raises(cf.InputError, match="fewest is a whole number from 1"):
        cf.counts(HEADS, "race", fewest=0)
