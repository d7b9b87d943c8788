"""Minimal unique sets agree with the definition enumerated, and keep what follows from it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confide as cf
from confide.frames.encoded import Encoded
from confide.frames.minimal_sets import Agreement, minimal_sets
from tests.helpers.minimal import alike, minimal_unique_sets

FILES = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.lists(st.integers(0, 2), min_size=d, max_size=d), min_size=1, max_size=12)
)


def records(rows: list[list[int]]) -> cf.frames.columns.Records:
    names = [f"v{k}" for k in range(len(rows[0]))]
    return Encoded(pl.DataFrame(rows, schema=names, orient="row")).records(names, {})


@given(FILES, st.data())
def test_the_same_as_enumerated(rows: list[list[int]], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    found = minimal_sets(records(rows), row)
    assert {tuple(int(v[1:]) for v in s) for s in found} == minimal_unique_sets(rows, row)
    assert [len(s) for s in found] == sorted(len(s) for s in found)
    few = minimal_sets(records(rows), row, most=2)
    assert few == [s for s in found if len(s) <= 2]


@given(FILES, st.data(), st.integers(1, 3))
def test_counts_of_rows_and_of_units(rows: list[list[int]], data: st.DataObject, limit: int) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    unit = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    agrees = np.array(rows) == np.array(rows[row])
    found = dict(Agreement(agrees).minimal(alike=limit))
    assert set(found) == minimal_unique_sets(rows, row, limit)
    assert all(n == alike(rows, row, s) for s, n in found.items())
    units = Agreement(agrees, unit=unit)
    for s in ((), (0,), tuple(range(len(rows[0])))):
        assert units.alike(s) == len(set(unit[agrees[:, list(s)].all(axis=1)]))


@given(FILES, st.data())
def test_row_order_does_not_matter_and_a_copy_undoes_all(rows: list[list[int]], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    assert minimal_sets(records(rows[::-1]), len(rows) - 1 - row) == minimal_sets(records(rows), row)
    assert minimal_sets(records([*rows, rows[row]]), row) == []


def test_missing_is_a_value_and_other_people_have_none() -> None:
    file = Encoded(pl.DataFrame({"sex": ["f", "f", None], "income": [1.5, None, None]}))
    people = file.records(["sex", "income"], {})
    assert [minimal_sets(people, row) for row in range(3)] == [[("income",)], [("sex", "income")], [("sex",)]]


def test_a_row_that_is_not_there() -> None:
    with pytest.raises(cf.InputError, match="from 0 to 1"):
        minimal_sets(records([[0], [1]]), 2)
    with pytest.raises(cf.InputError, match="62 variables at most"):
        Agreement(np.ones((2, 63), dtype=bool))
