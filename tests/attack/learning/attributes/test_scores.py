"""Relations of a number with what is known, by one compiled pass over people, beside the formulas in plain NumPy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from confide.attack.learning.attributes.cells import Feature
from confide.attack.learning.attributes.scores import RIDGE, ScoreFit
from confide.frames.columns import Column, encode_column


def indicators(codes: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    columns = [np.ones(len(codes[0]))]
    columns += [(c == k).astype(float) for c, size in zip(codes, sizes, strict=True) for k in range(size)]
    return np.stack(columns, axis=1)


def test_scores_are_least_squares_with_each_person_left_out() -> None:
    rng = np.random.default_rng(3)
    n, bins, sizes = 90, 6, [3, 5]
    codes = [rng.integers(-1, size, n) for size in sizes]
    y, many = np.clip(codes[1] + rng.integers(0, 3, n), 0, bins - 1), rng.integers(1, 4, n).astype(float)
    fit = ScoreFit.fit(codes, sizes, y, bins, many)
    x = indicators(codes, sizes)
    inverse = np.linalg.inv(x.T @ (many[:, None] * x) + RIDGE * np.eye(x.shape[1]))
    np.testing.assert_allclose(fit.inverse, inverse, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(fit.beta, inverse @ x.T @ (many * fit.score[y]), rtol=1e-9, atol=1e-12)
    own = np.where(rng.random(n) < 0.7, y, -1)
    mu, h = x @ fit.beta, np.einsum("ij,jk,ik->i", x, inverse, x)
    left = np.where(own >= 0, (mu - h * fit.score[own]) / (1 - h), mu)
    p = np.diff(ndtr((fit.edges - left[:, None]) / fit.tau), axis=1)
    before = rng.dirichlet(np.ones(bins + 1), n)
    out = before.copy()
    fit.mix(out, codes, own, 0.75)
    np.testing.assert_allclose(out[:, :-1], 0.75 * p * (1 - before[:, -1:]) + 0.25 * before[:, :-1], rtol=1e-9)
    assert np.array_equal(out[:, -1], before[:, -1])
    left = (mu - h * fit.score[y]) / (1 - h)
    twin = ndtr((fit.edges[y + 1] - left) / fit.tau) - ndtr((fit.edges[y] - left) / fit.tau)
    np.testing.assert_allclose(fit.own(codes, y), twin, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 60, 997])
@pytest.mark.parametrize("whole", [False, True])
def test_bins_of_known_numbers_are_quantiles(n: int, whole: bool) -> None:
    rng = np.random.default_rng(n)
    x = rng.integers(-30, 30, n).astype(float) if whole else rng.normal(size=n)
    column: Column = encode_column(pl.Series("x", [None, *x], dtype=pl.Float64), "numeric")
    found = Feature.of(column, [24, 6])
    values = np.unique(x)
    for feature, most in zip(found, [24, 6] if len(values) > 24 else [None], strict=True):
        assert np.array_equal(feature.column.values, values)
        if most is None:
            assert feature.cuts is None
            continue
        cuts = np.unique(np.quantile(x, np.arange(1, most) / most))
        assert feature.cuts is not None
        assert np.array_equal(feature.cuts, cuts)
        assert feature.size == len(cuts) + 2
