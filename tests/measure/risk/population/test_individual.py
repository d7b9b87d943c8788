"""Individual risk: exact where sums as printed lose all digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.measure.risk.population.individual import _fill, mean_inverse
from tests.helpers.population_twin import individual


def risk(f: float, p: float) -> float:
    return float(mean_inverse(np.array([f]), np.array([f / p]))[0])


@pytest.mark.parametrize(
    ("f", "p", "value"), [(1, 0.1, 0.255843), (2, 0.1, 0.082684), (3, 0.1, 0.046368), (20, 0.9, 0.045216)]
)
def test_worked_numbers(f: int, p: float, value: float) -> None:
    assert risk(f, p) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize("f", [1, 2, 3, 5, 20, 39, 40, 41, 100, 300])
@pytest.mark.parametrize("p", [1e-6, 1e-3, 0.05, 0.3, 0.4999, 0.5, 0.5001, 0.9, 0.999, 1 - 1e-9])
def test_against_quadrature(f: int, p: float) -> None:
    assert risk(f, p) == pytest.approx(individual(f, p), rel=1e-9)


def test_weights_of_one_leave_nothing_to_guess() -> None:
    np.testing.assert_array_equal(mean_inverse(np.array([1.0, 4.0]), np.array([1.0, 3.0])), [1.0, 0.25])


@settings(deadline=None)
@given(st.integers(1, 500), st.floats(1e-9, 1.0), st.floats(1.0, 10.0))
def test_between_the_bounds_and_falling_with_people(f: int, p: float, times: float) -> None:
    """1/E(F) <= E(1/F) <= 1/f (Jensen), and more people are less risk."""
    people = f / p
    here, more = mean_inverse(np.array([f, f], dtype=float), np.array([people, people * times]))
    assert p / f * (1 - 1e-12) <= here <= 1 / f * (1 + 1e-12)
    assert more <= here * (1 + 1e-9)


def test_the_loop_is_what_python_computes() -> None:
    f, people = np.array([1.0, 7.0, 60.0, 3.0]), np.array([20.0, 9.0, 700.0, 2.0])
    slow = np.empty(4)
    _fill.py_func(f, people, slow)
    np.testing.assert_allclose(mean_inverse(f, people), slow, rtol=1e-13)
