"""Nearest donors against plain loops: who is nearest, who ties, and that cells are never left."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from confide.core.random.draws import Counter
from confide.protect.methods.synthesis.hotdeck.donors import Whitening, cell_donors

some = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def ties(point, pool):
    """Rows at the smallest distance, by a loop."""
    distance = [float(np.sqrt(sum((a - b) ** 2 for a, b in zip(point, row, strict=True)))) for row in pool]
    least = min(distance)
    return {j for j, x in enumerate(distance) if x <= least + 1e-12 * (1 + np.abs(point).max(initial=0.0) + least)}


def in_cells(points, pool, cells, pool_cells):
    return cell_donors(points, pool, cells, pool_cells, Counter(bytes([3]) * 16), np.arange(len(points)))


def nearest_donors(points, pool):
    return in_cells(points, pool, np.zeros(len(points), dtype=np.int64), np.zeros(len(pool), dtype=np.int64))


def lattice(rng, n, d, top=3):
    return rng.integers(0, top, (n, d)).astype(float)


@pytest.mark.parametrize("d", [1, 2, 3, 8, 9, 12])
def test_brute_force(d):
    rng = np.random.default_rng(d)
    for points, pool in [
        (rng.normal(size=(60, d)), rng.normal(size=(80, d))),
        (lattice(rng, 60, d), lattice(rng, 80, d)),
        (lattice(rng, 60, d, 2) + 0.5, lattice(rng, 300, d, 3)),
        (rng.normal(size=(20, d)), rng.normal(size=(1, d))),
        (1e6 + rng.normal(size=(60, d)), 1e6 + rng.normal(size=(80, d))),
        (rng.normal(size=(60, d)), rng.standard_cauchy(size=(80, d)) * 1e4),
    ]:
        donors = nearest_donors(points, pool)
        for i, j in enumerate(donors):
            assert int(j) in ties(points[i], pool)


@some
@given(n=st.integers(1, 30), m=st.integers(1, 30), d=st.integers(0, 10), top=st.integers(1, 4), seed=st.integers(0, 99))
def test_any_small_integers_in_cells(n, m, d, top, seed):
    rng = np.random.default_rng(seed)
    points, pool = lattice(rng, n, d, top), lattice(rng, m, d, top)
    cells, pool_cells = rng.integers(-2, 4, n), rng.integers(-2, 4, m)
    donors = in_cells(points, pool, cells, pool_cells)
    for i, j in enumerate(donors):
        rows = np.flatnonzero(pool_cells == cells[i])
        if len(rows):
            assert j in rows[sorted(ties(points[i], pool[rows]))]
        else:
            assert j == -1


@pytest.mark.parametrize("d", [0, 1, 2, 3, 8, 12])
def test_all_ties_are_equally_likely(d):
    """A point in the middle of a lattice cell whose corners are in the pool once, twice, three times."""
    rng = np.random.default_rng(20 + d)
    corners = np.array(list(product([0.0, 1.0], repeat=min(d, 5))))
    corners = np.hstack([corners, np.zeros((len(corners), d - corners.shape[1]))])
    pool = np.repeat(corners, 1 + np.arange(len(corners)) % 3, axis=0)
    pool = np.vstack([pool, pool + 5.0]) if d else pool
    pool = pool[rng.permutation(len(pool))]
    near = np.flatnonzero((pool < 2).all(axis=1))
    point = np.hstack([np.full(min(d, 5), 0.5), np.zeros(d - min(d, 5))])
    runs = 300 * len(near)
    drawn = nearest_donors(np.tile(point, (runs, 1)), pool)
    count = np.bincount(drawn, minlength=len(pool))
    assert count.sum() == count[near].sum()
    assert ((count[near] - 300.0) ** 2 / 300).sum() < chi2.ppf(1 - 1e-6, max(len(near) - 1, 1))


def test_ties_that_differ_by_rounding():
    """Thirds and tenths: distances equal on paper but not in the last digit still tie."""
    for d in (2, 12):
        steps = np.zeros((5, d))
        steps[:4, :2] = [[0.1, 0.2], [-0.1, 0.2], [0.2, -0.1], [-0.2, -0.1]]
        steps[4] = 7.0
        pool = steps + 1 / 3
        drawn = nearest_donors(np.full((4000, d), 1 / 3), pool)
        assert (np.bincount(drawn, minlength=5)[:4] > 850).all()


@pytest.mark.parametrize("d", [2, 12])
def test_cells_are_never_left(d):
    rng = np.random.default_rng(40)
    points, pool = rng.normal(size=(3000, d)), rng.normal(size=(2000, d))
    cells, pool_cells = rng.integers(0, 40, 3000), rng.integers(5, 60, 2000)
    donors = in_cells(points, pool, cells, pool_cells)
    found = donors >= 0
    assert (pool_cells[donors[found]] == cells[found]).all()
    assert (found == np.isin(cells, pool_cells)).all()
    for i in np.flatnonzero(found)[:200]:
        rows = np.flatnonzero(pool_cells == cells[i])
        distance = np.linalg.norm(pool[rows] - points[i], axis=1)
        assert donors[i] == rows[distance.argmin()]


def test_one_donor_next_to_a_crowded_cell():
    rng = np.random.default_rng(41)
    pool = np.vstack([[[50.0, 50.0]], rng.normal(size=(5000, 2))])
    pool_cells = np.r_[7, np.full(5000, 8)]
    donors = in_cells(rng.normal(size=(5000, 2)), pool, np.full(5000, 7), pool_cells)
    assert (donors == 0).all()


def test_heavy_ties_spread_over_all_rows():
    rng = np.random.default_rng(42)
    x = rng.integers(0, 5, (10_000, 1)).astype(float)
    donors = nearest_donors(x, x)
    assert (x[donors] == x).all()
    assert len(np.unique(donors)) > 6000


def test_nothing_to_do_and_nothing_to_match_on():
    assert nearest_donors(np.zeros((0, 3)), np.zeros((2, 3))).shape == (0,)
    drawn = nearest_donors(np.zeros((3000, 0)), np.zeros((3, 0)))
    assert (np.bincount(drawn) > 850).all()
    none = in_cells(np.zeros((3, 2)), np.zeros((0, 2)), np.zeros(3, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert none.tolist() == [-1, -1, -1]


def test_the_same_seed_gives_the_same_donors():
    rng = np.random.default_rng(44)
    for d in (3, 12):
        points, pool = lattice(rng, 400, d), lattice(rng, 300, d)
        a, b = (nearest_donors(points, pool) for _ in range(2))
        assert (a == b).all()


def test_whitened_distance_is_mahalanobis():
    rng = np.random.default_rng(50)
    x = rng.normal(size=(500, 4)) @ rng.normal(size=(4, 4)) * [1, 100, 1e-3, 1e6] + [1e3, 0, 5, -1e6]
    points = Whitening.of(x).points(x)
    assert points.shape == (500, 4)
    inverse = np.linalg.inv(np.cov(x.T))
    for i, j in rng.integers(0, 500, (50, 2)):
        gap = x[i] - x[j]
        assert ((points[i] - points[j]) ** 2).sum() == pytest.approx(gap @ inverse @ gap, rel=1e-6)
    np.testing.assert_allclose(np.cov(points.T), np.eye(4), atol=1e-8)


def test_directions_without_variance_are_left_out():
    rng = np.random.default_rng(51)
    a = rng.normal(size=(300, 2)) * [1, 50]
    x = np.column_stack([a, a.sum(axis=1), np.full(300, 0.1), 2 * a[:, 0] + 1e5])
    points = Whitening.of(x).points(x)
    assert points.shape == (300, 2)
    inverse = np.linalg.inv(np.cov(a.T))
    for i, j in rng.integers(0, 300, (50, 2)):
        gap = a[i] - a[j]
        assert ((points[i] - points[j]) ** 2).sum() == pytest.approx(gap @ inverse @ gap, rel=1e-6, abs=1e-12)
    for flat in (np.full((40, 3), 0.1), np.ones((1, 2)), np.zeros((0, 2)), np.zeros((5, 0))):
        assert Whitening.of(flat).points(flat).shape == (len(flat), 0)


def test_whitening_is_reproducible_and_keeps_duplicates():
    rng = np.random.default_rng(52)
    x = lattice(rng, 400, 5, 3)
    white = Whitening.of(x)
    again = Whitening.of(np.ascontiguousarray(x[::-1])[::-1])
    np.testing.assert_allclose(white.axes, again.axes, rtol=1e-9)
    main = np.abs(white.axes * x.std(axis=0)[:, None]).argmax(axis=0)
    assert (white.axes[main, np.arange(5)] > 0).all()
    points = white.points(x)
    assert len(np.unique(points, axis=0)) == len(np.unique(x, axis=0))
    assert (white.points(x[7:11]) == points[7:11]).all()
    donors = nearest_donors(points, points)
    assert (x[donors] == x).all()
