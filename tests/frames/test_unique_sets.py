"""Minimal unique sets of all records at once: those of the definition, and of one record by itself."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.encoded import Encoded
from confide.frames.minimal_sets import minimal_sets
from confide.frames.unique_sets import _alone, _level, check_sizes, unique_sets
from tests.helpers.population_twin import minimal_by_size

FILES = st.integers(1, 5).flatmap(
    lambda d: st.lists(st.lists(st.integers(-1, 2), min_size=d, max_size=d), min_size=1, max_size=14)
)
unique_sets([np.zeros(1, dtype=np.int64)], 1)  # compiled before Hypothesis looks at the clock


def columns(rows: list[list[int]]) -> list[np.ndarray]:
    return [np.array(c, dtype=np.int64) for c in zip(*rows, strict=True)]


@settings(deadline=None)
@given(FILES, st.booleans())
def test_the_definition(rows: list[list[int]], counts: bool) -> None:
    found = unique_sets(columns(rows), len(rows), missing_counts=counts)
    assert found.by_size[found.of].tolist() == minimal_by_size(rows, None if counts else -1)
    assert found.count.sum() == found.sizes.sum()
    assert found.unique.tolist() == [rows.count(r) == 1 for r in rows]


@settings(deadline=None)
@given(FILES, st.integers(1, 4))
def test_a_largest_size_only_leaves_larger_sets_out(rows: list[list[int]], largest: int) -> None:
    every, few = (unique_sets(columns(rows), len(rows), most) for most in (None, largest))
    top = few.by_size.shape[1]
    assert top == min(largest, len(rows[0]))
    np.testing.assert_array_equal(few.by_size, every.by_size[:, :top])


@settings(deadline=None)
@given(FILES, st.integers(0, 10**6))
def test_labels_and_rows_in_any_order(rows: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    code = np.array(rows) + 1
    other = np.stack([rng.permutation(4)[code[:, v]] for v in range(code.shape[1])], axis=1)
    order = rng.permutation(len(rows))
    one, two = unique_sets(list(code.T), len(rows)), unique_sets(list(other[order].T), len(rows))
    np.testing.assert_array_equal(one.by_size[one.of][order], two.by_size[two.of])


def test_the_sets_of_one_record_by_itself() -> None:
    heads, keys = cf.demo("heads").head(400), ["state", "race", "educ", "age"]
    records = Encoded(heads).records(keys, {})
    found = unique_sets([np.unique(c.values, return_inverse=True)[1] for c in records.values()], 400)
    for row in range(0, 400, 23):
        sizes = [len(s) for s in minimal_sets(records, row)]
        assert found.by_size[found.of[row]].tolist() == [sizes.count(s) for s in (1, 2, 3, 4)]


def test_the_loop_is_what_python_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 9, 90) for _ in range(4)]
    fast = unique_sets(codes, 90)
    monkeypatch.setattr("confide.frames.unique_sets._alone", _alone.py_func)
    monkeypatch.setattr("confide.frames.unique_sets._level", _level.py_func)
    with np.errstate(over="ignore"):
        slow = unique_sets(codes, 90)
    np.testing.assert_array_equal(fast.by_size, slow.by_size)
    assert fast.sets == slow.sets


def test_too_many_sets() -> None:
    with pytest.raises(cf.InputError, match=r"8,192 sets of them.*such as largest=4 \(up to 13 is possible here\)"):
        check_sizes(13, None)
    with pytest.raises(cf.InputError, match=r"35,442 sets of up to 5; 10,000 .* Say largest=4"):
        check_sizes(22, 5)
    assert check_sizes(13, 13) == 13


def test_nobody_and_no_variable() -> None:
    assert unique_sets([], 3).by_size.sum() == 0
    assert pl.Series(unique_sets([np.zeros(1, dtype=np.int64)], 1).by_size.ravel()).to_list() == [1]
