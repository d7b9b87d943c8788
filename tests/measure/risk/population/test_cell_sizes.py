"""Pitman, Ewens, Zayatz and SNB against products and sums, and where they say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.measure.risk.population.cell_sizes import ewens, pitman, pitman_as_arx, pitman_parameters, zayatz
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.shifted_binomial import (
    _alpha,
    _log_uniques,
    cells_of_population,
    shifted_binomial,
    shifted_binomial_as_arx,
)
from tests.helpers import population_twin as twin

SIZES = st.lists(st.integers(1, 9), min_size=2, max_size=15).filter(lambda s: max(s) > 1)


def cells(sizes: list[int], total: float) -> Cells:
    n = sum(sizes)
    return Cells.of([np.repeat(np.arange(len(sizes)), sizes)], np.full(n, total / n))


def test_pitman_is_the_most_likely() -> None:
    sizes = [1] * 30 + [2] * 9 + [3] * 5 + [8, 20, 31]
    found = cells(sizes, 900)
    theta, alpha = pitman_parameters(*found.sizes)
    best = twin.pitman_log(sizes, theta, alpha)
    near = [(theta * a, alpha * b) for a in (0.99, 1, 1.01) for b in (0.99, 1, 1.01)]
    assert all(twin.pitman_log(sizes, *at) <= best + 1e-12 for at in near)
    for at in np.linspace(0.02, 0.98, 13):
        for more in np.geomspace(0.1, 1e4, 25):
            assert twin.pitman_log(sizes, more - at, at) <= best + 1e-9
    assert pitman(found) == pytest.approx(twin.pitman_uniques(900, theta, alpha), rel=1e-9)
    assert pitman_as_arx(found) == pytest.approx(pitman(found), rel=0.05)


@settings(max_examples=40, deadline=None)
@given(SIZES, st.integers(2, 40))
def test_ewens_solves_its_equation_and_all_lie_within_bounds(sizes: list[int], times: int) -> None:
    total = float(sum(sizes) * times)
    found = cells(sizes, total)
    assert 0 <= ewens(found) <= total
    assert -1e-9 <= pitman(found) <= total
    theta = ewens(found) * (total - 1) / (total - ewens(found))
    assert sum(theta / (theta + i) for i in range(sum(sizes))) == pytest.approx(len(sizes), rel=1e-6)


@settings(deadline=None)
@given(SIZES.filter(lambda s: 1 in s), st.integers(2, 6))
def test_zayatz_by_binomial_coefficients(sizes: list[int], times: int) -> None:
    total = sum(sizes) * times
    assert zayatz(cells(sizes, total)) == pytest.approx(twin.zayatz(sizes, total), rel=1e-8)


@pytest.mark.parametrize(("pi", "alpha", "beta"), [(0.1, 0.4, 0.05), (0.05, 1.7, 0.3), (0.5, 0.2, 0.6)])
def test_expected_uniques_and_doubles(pi: float, alpha: float, beta: float) -> None:
    one, two = twin.shifted(pi, alpha, beta)
    assert np.exp(_log_uniques(1.0, pi, alpha, beta)) == pytest.approx(one, rel=1e-9)
    count = 10**9
    assert _alpha(beta, pi, round(one * count), round(two * count)) == pytest.approx(alpha, rel=1e-5)


def test_snb_meets_the_sample() -> None:
    found = cells([1] * 60 + [2] * 15 + [3] * 8 + [4] * 5 + [7] * 4 + [15] * 3, 2_000)
    uniques = shifted_binomial(found)
    assert uniques is not None
    assert 0 < uniques < cells_of_population(found)


def test_arx_agrees_where_nothing_is_left_out_and_fails_elsewhere() -> None:
    """With nearly everybody sampled the factor that ARX misplaces is 1, so that its equations are nearly the right ones."""
    sizes = [1] * 600 + [2] * 150 + [3] * 120 + [4] * 90 + [7] * 80 + [9] * 80
    near = cells(sizes, sum(sizes) * 1.0001)
    right, theirs = shifted_binomial(near), shifted_binomial_as_arx(near)
    assert right is not None
    assert theirs == pytest.approx(right, rel=0.02)
    far = cells(sizes, sum(sizes) * 20)
    assert shifted_binomial(far) is not None
    assert shifted_binomial_as_arx(far) is None


def test_no_doubles_no_snb() -> None:
    assert shifted_binomial(cells([1, 1, 3, 4], 90)) is None
    assert shifted_binomial_as_arx(cells([2, 2, 3, 4], 90)) is None
    assert zayatz(cells([2, 2, 3, 4], 90)) == 0
    assert ewens(cells([9], 90)) == 0
