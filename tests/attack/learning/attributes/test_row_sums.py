"""Compiled passes along laws agree with plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from confide.attack.learning.attributes.coarse import coarse_rows, coarse_without
from confide.attack.learning.attributes.likelihood_table import Table
from confide.attack.learning.attributes.people import on_nodes
from confide.attack.learning.attributes.row_sums import medians, medians_less, sums_upto
from confide.attack.learning.attributes.support import Nodes


def laws(n: int = 30, values: int = 9, seed: int = 0) -> np.ndarray:
    p = np.random.default_rng(seed).integers(0, 4, (n, values)).astype(float)
    p[0], p[1, :], p[2, -1] = 0.0, 1.0, 50.0
    p[0, 3] = 1.0
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("cut", [0, 1])
def test_medians(cut: int) -> None:
    """Also of rows that are part of a wider array."""
    p, values = np.pad(laws(), ((0, 0), (0, 1)))[:, : 10 - cut], np.array([-5.0, 0, 1, 2, 4, 8, 16, 32, 64, 99])
    guess, expected = medians(values[: p.shape[1]], p, 1e-9)
    for i, row in enumerate(p):
        below = np.cumsum(row)
        low, high = (min(int((below < 0.5 + s).sum()), len(row) - 1) for s in (-1e-9, 1e-9))
        assert guess[i] == 0.5 * (values[low] + values[high])
        assert expected[i] == pytest.approx((row * np.abs(values[: len(row)] - guess[i])).sum(), abs=1e-9)


def test_no_value_has_no_median() -> None:
    assert np.isnan(medians(np.zeros(0), np.zeros((3, 0)), 1e-9)).all()


def test_sums_upto() -> None:
    p, rng = laws(), np.random.default_rng(1)
    of, at = rng.integers(0, len(p), 200), rng.integers(0, 10, 200)
    twin = [p[i, :k].sum() for i, k in zip(of, at, strict=True)]
    np.testing.assert_allclose(sums_upto(p, of, at), twin, atol=1e-12)


def test_belief_in_bins_is_belief_on_nodes() -> None:
    nodes = Nodes(
        np.arange(5.0), np.array([0, 0, 1, 2, 2]), np.array([0.3, 0.7, 1, 0.5, 0.5]), np.arange(5), np.ones(5)
    )
    like, e = np.random.default_rng(2).random((7, 6)), laws(6, 4)
    table = Table(like.T, np.zeros(0, dtype=np.int64), np.zeros((0, 5), dtype=bool), nodes)
    np.testing.assert_allclose(e @ table.bins, on_nodes(e, nodes) @ like.T, atol=1e-12)


def test_coarse_laws_by_the_formula() -> None:
    """Sum over sets of weights times beliefs within each; a set in which nobody believes says nothing."""
    rng = np.random.default_rng(3)
    bins, share = np.array([0, 0, 1, 1, 2, 3]), np.array([0.4, 0.6, 0.5, 0.5, 1.0, 1.0])
    code = np.array([0, 1, 1, -1, 2, 3])
    e = rng.dirichlet(np.ones(4), 5)
    e[0] = 0.5, 0.5, 0.0, 0.0
    weight, absent, own = rng.random((5, 4)), np.array([0.0, 0.3, 0.0, 1.0, 0.2]), np.array([2, -1, 1, 3, 0])
    mine, after = 0.5 * weight[np.arange(5), own] * (own >= 0), np.array([0.1, 0.3, 0.0, 0.9, 0.0])
    p, d, lost = coarse_rows(e, (bins, share, code), weight, absent)
    left = np.array([0.5, 1.0, 0.9, 0.0, 0.4])
    rest = coarse_without((e, weight, d, lost), (bins, share, code), np.arange(5), own, mine, after, left)
    for i in range(5):
        y = e[i, bins] * share

        def law(w: np.ndarray, gone: float, y: np.ndarray = y) -> np.ndarray:
            out = gone * y
            for c in range(4):
                inside = np.where(code == c, y, 0.0)
                out = out + w[c] * (inside / inside.sum() if inside.sum() > 0 else y)
            return out

        np.testing.assert_allclose(p[i], law(weight[i], absent[i]), atol=1e-12)
        fewer = weight[i] - mine[i] * (np.arange(4) == own[i])
        twin = law(fewer, after[i])
        np.testing.assert_allclose(rest[i], twin / twin.sum() if left[i] > 0 else y, atol=1e-12)


def test_medians_of_rows_that_have_lost_a_share() -> None:
    """As medians of the rows themselves, less the share and divided by what is left."""
    p, rng, values = laws(), np.random.default_rng(4), np.array([-5.0, 0, 1, 2, 4, 8, 16, 32, 64])
    of, at = rng.integers(0, len(p), 300), rng.integers(0, 9, 300)
    share = rng.choice([0.0, 0.3, 0.7, 0.99], 300) * p[of, at]
    rows = p[of].copy()
    rows[np.arange(300), at] -= share
    twin = medians(values, rows / rows.sum(axis=1, keepdims=True), 1e-9)[0]
    np.testing.assert_array_equal(medians_less(values, p, of, at, share, 1e-9), twin)
    assert np.isnan(medians_less(values[:0], p[:, :0], of, at, share, 1e-9)).all()
