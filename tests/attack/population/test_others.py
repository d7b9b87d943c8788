"""E(1/F) and what N_t adds to the records of a cell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from confide.attack.population.others import expected_others, mean_inverse
from tests.helpers import people_twin


def inverse(f: float, x: float, spread: float = 0.0) -> float:
    return float(mean_inverse(np.array([f]), np.array([x]), np.array([spread]))[0])


def test_worked_numbers() -> None:
    """lambda 2, pi 0.1."""
    assert inverse(1, 1.8) == pytest.approx(0.4637, abs=5e-5)
    assert inverse(3, 1.8) == pytest.approx(0.2245, abs=5e-5)
    assert inverse(1, 1.8) == pytest.approx(-np.expm1(-1.8) / 1.8, rel=1e-13)


@pytest.mark.parametrize("f", [1, 2, 10, 300, 5000])
@pytest.mark.parametrize("x", [1e-9, 1e-3, 0.1, 1.8, 20, 1000, 1e5])
def test_against_quadrature(f: int, x: float) -> None:
    for spread in (0.0, 1e-6, 0.01, 0.5, 3.0, 50.0, 1000.0):
        ends = [0.0, *np.logspace(-9, 0, 40)]

        def of(u: float, spread: float = spread) -> float:
            return float((1 - u) ** (f - 1) * np.exp(-x * (np.log1p(spread * u) / spread if spread else u)))

        parts = [quad(of, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(ends)]
        assert inverse(f, x, spread) == pytest.approx(sum(parts), rel=1e-10)


@pytest.mark.parametrize(("f", "x", "spread"), [(1, 1.8, 0.3), (2, 30.0, 4.0), (7, 0.4, 0.2), (40, 200.0, 1.5)])
def test_against_the_sum_over_all_sizes(f: int, x: float, spread: float) -> None:
    assert inverse(f, x, spread) == pytest.approx(people_twin.mean_inverse(f, x, spread), rel=1e-10)


def test_two_directions() -> None:
    f, x, none = np.array([1.0, 1.0, 4.0]), np.array([0.0, 3.0, 90.0]), np.zeros(3)
    from_population, behind = expected_others(f, x, none, False), expected_others(f, x, none, True)
    np.testing.assert_array_equal(from_population, x)
    assert behind[0] == pytest.approx(0.0, abs=1e-12)
    assert (behind[1:] < x[1:]).all()
    wider = expected_others(f, x, np.array([0.0, 1.0, 5.0]), True)
    assert (wider[1:] < behind[1:]).all()
