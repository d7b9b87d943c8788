"""Data intrusion simulation: its printed case, weights, and its standard error by simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.columns import F64
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.intrusion import intrusion
from tests.helpers.population_twin import intrusion_error

NEARLY_ALL = 0.9999999999999999
"""A fraction whose weight, 1 + 2e-16, is 1 but for rounding: the sample is the population."""
FRACTIONS = st.floats(0.01, 0.999) | st.sampled_from([NEARLY_ALL, 1.0])
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=12)


def cells(sizes: list[int], weights: F64) -> Cells:
    return Cells.of([np.repeat(np.arange(len(sizes)), sizes)], weights)


def test_worked_number() -> None:
    found = intrusion(cells([1] * 4 + [2] * 3, np.full(10, 10.0)))
    assert found.theta == pytest.approx(0.0690, abs=5e-5)
    assert found.standard_error == pytest.approx(0.0381, abs=5e-5)
    assert found.note == ""


@settings(deadline=None)
@given(SIZES, FRACTIONS)
@example([1, 2], NEARLY_ALL)
def test_one_weight_for_all_is_the_formula_for_a_fraction(sizes: list[int], pi: float) -> None:
    n1, n2, n3 = (sizes.count(k) for k in (1, 2, 3))
    found = intrusion(cells(sizes, np.full(sum(sizes), 1 / pi)))
    if not n1:
        assert found.theta is None
        assert "no record is unique" in found.note
        return
    theta = pi * n1 / (pi * n1 + 2 * (1 - pi) * n2)
    variance = theta**4 / n1**2 * 2 * (1 - pi) / pi**2 * ((2 - pi) * n2 + 3 * (1 - pi) * n3)
    assert found.theta == pytest.approx(theta, rel=1e-9)
    assert found.standard_error == pytest.approx(np.sqrt(max(variance, 0)), rel=1e-6, abs=1e-7)
    assert bool(found.note) == (n2 == 0 or pi >= NEARLY_ALL)


@pytest.mark.parametrize("pi", [[0.1, 0.5, 0.8], [0.3] * 4, [0.05, 0.2, 0.4, 0.6, 0.9]])
def test_the_variance_is_unbiased_for_unequal_weights(pi: list[float]) -> None:
    """One cell of the population, drawn again and again: D has the right mean, and V its variance on average."""
    rng, draws = np.random.default_rng(3), 200_000
    mean, variance = intrusion_error(pi, draws, 4)
    a = 1 / np.array(pi) - 1
    drawn = rng.random((draws, len(pi))) < np.array(pi)
    size, sums, squares = drawn.sum(axis=1), (drawn * a).sum(axis=1), (drawn * a * a).sum(axis=1)
    v = np.where(size == 2, sums**2 + sums, np.where(size == 3, sums**2 - squares, 0.0))
    assert abs(mean) < 4 * np.sqrt(variance / draws)
    assert v.mean() == pytest.approx(variance, rel=0.05)


def test_standard_errors_are_those_of_samples() -> None:
    """60 samples of the shipped population: the errors are as large as said."""
    keys = ["sex", "race", "marital", "age"]
    people = cf.demo("heads_population").group_by(keys, maintain_order=True).agg(pl.col("n_pop").sum())
    population, n, rng = people["n_pop"].to_numpy(), 51_016, np.random.default_rng(1)
    errors, said = [], []
    for _ in range(60):
        f = rng.multivariate_hypergeometric(population, n, method="marginals")
        one, on, w = f == 1, f > 0, population.sum() / n
        sample = Cells(f[on].astype(float), f[on] * w, f[on] * w * w, np.flatnonzero(on), np.empty(n, dtype=np.int64))
        found = intrusion(sample)
        assert found.theta is not None
        assert found.standard_error is not None
        errors.append(found.theta - one.sum() / population[one].sum())
        said.append(found.standard_error)
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(0.00338, rel=0.25)
    assert np.mean(said) == pytest.approx(0.00338, rel=0.05)
