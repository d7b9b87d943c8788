"""MDAV: the fast way gives exactly the groups of the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.protect.methods.microaggregate.mdav import mdav
from tests.helpers.mdav_twin import plain_mdav

KINDS = {
    "numbers": lambda rng, n, p: rng.normal(size=(n, p)),
    "skewed": lambda rng, n, p: np.exp(3 * rng.normal(size=(n, p))),
    "few values": lambda rng, n, p: rng.integers(0, 4, (n, p)).astype(float),
    "duplicates": lambda rng, n, p: np.repeat(rng.normal(size=(n // 5 + 1, p)), 5, axis=0)[rng.permutation(n)],
    "a constant column": lambda rng, n, p: np.column_stack([np.full(n, 3.0), rng.normal(size=(n, p))]),
    "all the same": lambda rng, n, p: np.full((n, p), rng.normal()),
    "rounded, then scaled": lambda rng, n, p: np.round(rng.normal(size=(n, p)), 1) / 1.7,
    "on a line": lambda rng, n, p: rng.permutation(n)[:, None] * np.ones(p),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=12)
@given(n=st.integers(3, 160), p=st.integers(1, 4), k=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_the_same_groups_as_the_definition(kind, n, p, k, seed):
    x = KINDS[kind](np.random.default_rng(seed), n, p)
    k = min(k, n)
    found = mdav(x, k)
    assert np.array_equal(found, plain_mdav(x, k))
    size = np.bincount(found)
    assert size.min() >= k
    assert size.max() <= max(2 * k - 1, 1)
    assert (size == k).sum() >= len(size) - 1  # only the last group is larger


@pytest.mark.slow
def test_the_same_groups_on_real_data_with_many_ties():
    x = cf.demo("heads").head(3000).select("hh_income", "property_value", "age").to_numpy().astype(float)
    for columns, k in (([0, 1], 3), ([1], 4), ([0, 1, 2], 10), ([2], 7)):
        part = x[:, columns] / x[:, columns].std(axis=0)
        assert np.array_equal(mdav(part, k), plain_mdav(part, k))


def test_the_first_of_equals_in_the_file_comes_first():
    assert mdav(np.zeros((7, 2)), 3).tolist() == [0, 0, 0, 1, 1, 1, 1]
    # Both ends are as far from the middle: the first row is r. Then s is at the other end.
    assert mdav(np.array([[0.0], [10.0], [5.0], [1.0], [9.0], [5.0], [2.0], [8.0], [5.0]]), 3).tolist() == [
        0, 1, 2, 0, 1, 2, 0, 1, 2,
    ]  # fmt: skip


def test_between_two_and_three_groups_are_left():
    # Five of k = 2: r and its nearest, then the other three, since 5 < 3k.
    found = mdav(np.array([[0.0], [1.0], [2.0], [3.0], [9.0]]), 2)
    assert found.tolist() == [1, 1, 1, 0, 0]
    assert mdav(np.array([[0.0], [1.0], [9.0]]), 2).tolist() == [0, 0, 0]
