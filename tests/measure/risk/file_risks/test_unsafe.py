"""Unsafe combinations by brute force, the practice guide's example, invariants, and bad input."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measures import UnsafeCombinations
from tests.helpers.guide import NAMES, guide

cells = st.sampled_from(["a", "b", None])
files = st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=10)
SCHEMA = dict.fromkeys("uvw", pl.String)


def twin(rows: list[tuple[Any, ...]], dimension: int, below: list[int]) -> tuple[list[int], list[int]]:
    """By the definition: unsafe and minimal unsafe sets of each record."""
    unsafe, minimal = [], []
    for own in rows:
        bad: list[tuple[int, ...]] = []
        least = 0
        for size in range(1, dimension + 1):
            for s in combinations(range(3), size):
                if any(own[k] is None for k in s):
                    continue
                if sum(all(r[k] == own[k] for k in s) for r in rows) < below[size - 1]:
                    least += not any(set(b) < set(s) for b in bad)
                    bad.append(s)
        unsafe.append(len(bad))
        minimal.append(least)
    return unsafe, minimal


@settings(max_examples=60, deadline=None)
@given(files, st.integers(1, 3), st.lists(st.integers(2, 4), min_size=3, max_size=3))
def test_equals_the_twin(rows: list[tuple[Any, ...]], dimension: int, below: list[int]) -> None:
    rows = [("a", "a", "a"), *rows]
    risk = UnsafeCombinations(["u", "v", "w"], dimension=dimension, below=below[:dimension])
    found = risk.of(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    assert (found.frame["unsafe"].to_list(), found.frame["minimal"].to_list()) == twin(rows, dimension, below)
    assert found.value == sum(u > 0 for u in twin(rows, dimension, below)[0])


def test_thresholds_of_two_are_minimal_sample_uniques() -> None:
    """With below=2 minimal unsafe combinations are SUDA's minimal sample uniques: 0,0,1,0,... on the guide's example."""
    found = UnsafeCombinations(NAMES, dimension=4, below=2).of(guide())
    assert found.frame["minimal"].to_list() == [0, 0, 1, 0, 4, 0, 1, 3, 0, 0]
    assert found.value == 4


def test_one_combination_is_hidden_by_coarsening() -> None:
    heads = cf.demo("heads").head(3000)
    keys = ["sex", "race", "marital", "age"]
    raw = UnsafeCombinations(keys, below=3).of(heads)
    banded = UnsafeCombinations(keys, below=3).of(heads.with_columns(age=pl.col("age") // 10))
    assert banded.value < raw.value  # type: ignore[operator]
    assert raw.table.height == 14
    assert raw.table["size"].max() == 3
    assert raw.numbers["minimal"] == raw.frame["minimal"].sum()
    assert raw.bars["what"].to_list() == keys


def test_no_more_keys_are_combined_than_there_are() -> None:
    assert UnsafeCombinations(["sex", "race"], dimension=10**9).below == (3, 3)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: UnsafeCombinations(["sex", "race"], dimension=0), "a whole number from 1"),
        (lambda: UnsafeCombinations(["sex", "race"], dimension=2, below=1), "below is a number of records"),
        (
            lambda: UnsafeCombinations(["sex", "race"], dimension=2, below=[3]),
            "one for each number of keys from 1 to 2",
        ),
        (lambda: UnsafeCombinations(["sex", "race"], dimension=2, below=0.1), "a whole number from 2"),
        (lambda: UnsafeCombinations([f"v{k}" for k in range(60)], dimension=5), "name fewer keys"),
        (lambda: UnsafeCombinations(["sex", "id"], dimension=2), "as many values as there are rows"),
    ],
)
def test_bad_input(made: Any, said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        made().of(cf.demo("heads").head(300))
