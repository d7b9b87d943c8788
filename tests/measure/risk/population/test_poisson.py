"""Poisson models of cells: moments, weights, order of levels, and tables that are too large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.frames.columns import F64, I64
from confide.measure.risk.population.cells import Cells
from confide.measure.risk.population.estimates import Sample, estimate
from confide.measure.risk.population.poisson import INDEPENDENCE, PAIRS, SEARCH, fit_poisson, unique_inverse
from tests.helpers import people_twin
from tests.helpers.population_twin import inverse_moments


@pytest.mark.parametrize("x", [0.0, 1e-9, 1e-3, 0.3, 0.4999, 0.5, 1.8, 30.0, 480.0, 499.0, 501.0, 2_000.0])
def test_moments_of_one_over_the_size(x: float) -> None:
    first, second = unique_inverse(np.array([x]))
    one, two = inverse_moments(x)
    assert first[0] == pytest.approx(one, rel=1e-9)
    assert second[0] == pytest.approx(two, rel=1e-6 if x > 400 else 1e-9)


def drawn(seed: int, n: int = 400) -> list[I64]:
    rng = np.random.default_rng(seed)
    a = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    b = (a + rng.choice(4, n, p=[0.7, 0.1, 0.1, 0.1])) % 4
    return [a, b, rng.choice(5, n, p=[0.4, 0.3, 0.2, 0.07, 0.03])]


def sample(codes: list[I64], weights: F64) -> Sample:
    cells = Cells.of(codes, weights)
    return Sample(cells, [c[cells.first] for c in codes], [False] * len(codes))


@pytest.mark.parametrize("model", [SEARCH, INDEPENDENCE, PAIRS])
def test_the_same_as_in_plain_loops(model: str) -> None:
    codes = drawn(1)
    mine = sample(codes, np.full(400, 20.0))
    fit = fit_poisson(mine.cells, mine.codes, mine.ordered, model)
    table = dict.fromkeys(np.ndindex(3, 4, 5), 0.0)
    for key in zip(*(c.tolist() for c in codes), strict=True):
        table[key] += 1
    mu = people_twin.fit(table, fit.pairs)
    keys = zip(*(c.tolist() for c in mine.codes), strict=True)
    np.testing.assert_allclose(fit.x, [mu[key] * 19 for key in keys], rtol=1e-6)
    np.testing.assert_allclose((fit.z1, fit.z2), people_twin.z_of(table, mu, 0.05), rtol=5e-3, atol=5e-3)
    x = fit.x[mine.cells.unique]
    found = estimate(model, mine)
    assert found.tau1 == pytest.approx(np.exp(-x).sum(), rel=1e-9)
    assert found.tau2 == pytest.approx(sum(inverse_moments(v)[0] for v in x), rel=1e-9)
    assert found.dis == pytest.approx(len(x) / (1 + x).sum(), rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.permutations(range(3)))
def test_order_of_levels_variables_and_rows_changes_nothing(seed: int, order: list[int]) -> None:
    codes, rng = drawn(seed), np.random.default_rng(seed)
    mixed = [rng.permutation(int(codes[v].max()) + 1)[codes[v]] for v in order]
    rows = rng.permutation(400)
    one = estimate(SEARCH, sample(codes, np.full(400, 10.0)))
    two = estimate(SEARCH, sample([c[rows] for c in mixed], np.full(400, 10.0)))
    assert two.tau1 == pytest.approx(one.tau1, rel=1e-3, abs=1e-3)
    assert two.tau2 == pytest.approx(one.tau2, rel=1e-3, abs=1e-3)


def test_weights_count_where_they_differ() -> None:
    codes = drawn(5)
    equal = estimate(SEARCH, sample(codes, np.full(400, 12.0)))
    heavy = np.where(codes[2] >= 3, 30.0, 12 - 18 * (codes[2] >= 3).sum() / (codes[2] < 3).sum())
    other = estimate(SEARCH, sample(codes, heavy))
    assert equal.tau1 is not None
    assert other.tau1 is not None
    assert other.tau1 < equal.tau1  # the rare values, where uniques are, stand for more people


def test_a_table_that_is_too_large_is_fitted_in_bins() -> None:
    rng = np.random.default_rng(2)
    codes = [np.floor(rng.gamma(2, 20, 4_000)).astype(np.int64) for _ in range(4)]
    mine = sample(codes, np.full(4_000, 5.0))
    fit = fit_poisson(mine.cells, mine.codes, [True] * 4, INDEPENDENCE)
    assert fit.table <= 320_000
    assert fit.binned
    assert np.isfinite(fit.x).all()
