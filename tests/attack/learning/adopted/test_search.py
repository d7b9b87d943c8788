"""Searches in the tree against brute force: every pair of a target and a row, straight from the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.attack.learning.adopted.candidates import Balls, Boxes, counted, nearer, pieces, stretches
from confide.attack.learning.adopted.tree import plant

CATEGORIES = np.array([True, False, False, True])
UNIT = np.array([1.0, 0.3, 1.0, 0.7])


def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
    """Rows with two categories and two numbers, many equal, some NaN."""
    columns = [rng.integers(0, 3, n), rng.integers(0, 9, n), rng.normal(size=n).round(1), rng.integers(0, 4, n)]
    cells = np.column_stack(columns).astype(float)
    cells[rng.random(cells.shape) < 0.08] = np.nan
    return cells


def distances(targets: np.ndarray, rows: np.ndarray, power: int) -> np.ndarray:
    """Every distance by the definition, shape (n, r)."""
    t, z = targets[:, None], rows[None]
    gap = np.where(CATEGORIES, (z != t) * UNIT, (np.abs(z - t) * UNIT) ** power)
    return np.where(np.isnan(z) | np.isnan(t), 0.0, gap).sum(axis=2)


def found(candidates: Balls | Boxes, t: int) -> list[int]:
    """The rows of one target."""
    _, begins, ends = stretches(candidates, t, t + 1)
    rows = [candidates.tree.rows[a:b] for a, b in zip(begins, ends, strict=True)]
    return sorted(np.concatenate(rows).tolist()) if rows else []


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), r=st.integers(1, 90))
def test_boxes_are_those_of_brute_force(seed: int, r: int) -> None:
    rng = np.random.default_rng(seed)
    rows, targets = drawn(rng, r), drawn(rng, 15)
    reach = np.array([0.0, 1.0, 0.5, 0.0])
    lows = np.where(np.isnan(targets), -np.inf, targets - reach)
    highs = np.where(np.isnan(targets), np.inf, targets + reach)
    inside = (((rows >= lows[:, None]) & (rows <= highs[:, None])) | np.isnan(rows)).all(axis=2)
    boxes = Boxes(plant(rows, CATEGORIES, UNIT), lows, highs)
    assert counted(boxes).tolist() == inside.sum(axis=1).tolist()
    assert [found(boxes, t) for t in range(15)] == [np.flatnonzero(i).tolist() for i in inside]
    own = rng.integers(-1, r, 15)
    expected = (own >= 0) & inside[np.arange(15), own]
    assert boxes.holds(np.arange(15), own).tolist() == expected.tolist()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), r=st.integers(4, 90), power=st.sampled_from([1, 2]), k=st.integers(1, 4))
def test_balls_are_those_of_brute_force(seed: int, r: int, power: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    rows, targets = drawn(rng, r), drawn(rng, 15)
    tree, every = plant(rows, CATEGORIES, UNIT), distances(targets, rows, power)
    balls = Balls.of(tree, targets, CATEGORIES, UNIT, power, k, 1)
    kth = np.sort(every, axis=1)[:, k - 1]
    np.testing.assert_allclose(balls.reach, kth, atol=1e-12)
    root = 1 / power
    near = every**root <= (kth**root)[:, None] * (1 + 1e-9) + 1e-9
    assert [found(balls, t) for t in range(15)] == [np.flatnonzero(i).tolist() for i in near]
    own = rng.integers(-1, r, 15)
    assert balls.holds(np.arange(15), own).tolist() == ((own >= 0) & near[np.arange(15), own]).tolist()
    closer = every <= nearer(kth, power)[:, None]
    assert (closer.sum(axis=1) < k).all()
    every[own >= 0, own[own >= 0]] = np.inf
    without = balls.without(np.arange(15), own)
    np.testing.assert_allclose(without.reach, np.sort(every, axis=1)[:, k - 1], atol=1e-12)


def test_pieces_and_threads_change_nothing() -> None:
    rng = np.random.default_rng(3)
    rows, targets = drawn(rng, 3_000), drawn(rng, 2_500)
    tree = plant(rows, CATEGORIES, UNIT)
    one, two = (Balls.of(tree, targets, CATEGORIES, UNIT, 2, 1, threads) for threads in (1, 2))
    assert np.array_equal(one.reach, two.reach)
    assert np.array_equal(counted(one, 1), counted(two, 2))
    assert pieces(2_500, 1_000) == [(0, 1_000), (1_000, 2_000), (2_000, 2_500)]


@pytest.mark.parametrize("rows", [np.full((7, 2), np.nan), np.zeros((300, 2)), np.array([[1.0, np.nan]] * 40)])
def test_rows_that_are_all_alike(rows: np.ndarray) -> None:
    tree = plant(rows, np.array([True, False]), np.ones(2))
    assert len(tree.points) == 1
    assert counted(Balls.of(tree, np.array([[1.0, 5.0]]), np.array([True, False]), np.ones(2), 2, 1, 1)).tolist() == [
        len(rows)
    ]
