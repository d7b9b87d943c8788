"""Compiled loops beside plain ones that follow the definition row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.protect.methods.local_suppression.bounds import least_distances
from confide.protect.methods.local_suppression.flows import allotted
from confide.protect.methods.local_suppression.merging import merge_small
from confide.protect.methods.local_suppression.pieces import pieces_of
from confide.protect.methods.local_suppression.wildcard_rule import hide_wildcard
from tests.helpers.suppression import plain_merging, plain_wildcard


def file(n: int, many: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, many)) < 0.05, -1, rng.integers(0, 3, (n, many)))


@pytest.mark.parametrize(("credit", "shared"), [(0.0, False), (0.5, False), (0.0, True)])
@settings(deadline=None, max_examples=30)
@given(n=st.integers(6, 30), many=st.integers(1, 4), k=st.integers(2, 5), seed=st.integers(0, 10**6))
def test_merging(credit: float, shared: bool, n: int, many: int, k: int, seed: int) -> None:
    codes = file(n, many, seed)
    rows = [tuple(row) for row in codes.tolist()]
    c = np.random.default_rng(seed).integers(1, 4, many).astype(float)
    found, _ = pieces_of(codes.astype(np.int64), np.ones(n), np.ones(n, dtype=bool))
    x, count = found.codes.copy(), found.count.copy()
    worth = credit * count * least_distances(x, count, count, c, k)
    moves = np.zeros((len(count) + 1, 3), dtype=np.int64)
    w, light = count.astype(float), np.ones(len(count))
    assert merge_small(x, count, w, light, count.copy(), c, k, worth, shared, moves) >= 0
    assert count.tolist() == [len(each) for each in plain_merging(rows, k, c.tolist(), credit, shared)]


@settings(deadline=None, max_examples=30)
@given(n=st.integers(4, 20), many=st.integers(1, 4), k=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_wildcards(n: int, many: int, k: int, seed: int) -> None:
    codes = file(n, many, seed)
    c = np.random.default_rng(seed).integers(1, 4, many).astype(float)
    found, _ = pieces_of(codes.astype(np.int64), np.ones(n), np.ones(n, dtype=bool))
    made = hide_wildcard(found, k, c, range(many))
    ordered = sorted(tuple(row) for row in codes.tolist())
    mine = sorted(tuple(row) for row in np.repeat(made.shown, made.count, axis=0).tolist())
    assert mine == sorted(plain_wildcard(ordered, k, c.tolist()))


def test_people_left_are_allotted_by_proportional_fitting() -> None:
    """Two kinds with 1 and 3 people left, one row that fits both and three that fit the second alone."""
    y, n_y = np.array([[0, 0], [1, 0]]), np.array([1.0, 3.0])
    z, n_z = np.array([[-1, 0], [1, -1]]), np.array([1.0, 3.0])
    true, shown, people = allotted(y, n_y, z, n_z)
    table = {(*a, *b): p for a, b, p in zip(true.tolist(), shown.tolist(), people, strict=True)}
    assert table[0, 0, -1, 0] == pytest.approx(1, abs=1e-6)
    assert table[1, 0, 1, -1] == pytest.approx(3, abs=0.1)
