"""Compiled passes over likelihoods agree with plain NumPy."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.likelihood_rows import beside_beliefs, without_records
from confide.attack.learning.attributes.row_sums import added_up


def test_weights_beside_beliefs() -> None:
    rng = np.random.default_rng(1)
    like = rng.random((6, 5)) * (rng.random((6, 5)) < 0.7)
    base, weight = rng.random((8, 5)) * (rng.random((8, 5)) < 0.8), rng.random((3, 5))
    of, at, more = rng.integers(0, 3, 8), rng.integers(-1, 6, 8), rng.normal(0, 0.1, 8)
    base[0], at[0], more[0] = like[2], 2, -1.0  # all that was believed is taken away
    d = base.copy()
    m, lost = beside_beliefs(d, weight, of, more, at, like)
    twin = base + np.where((at >= 0)[:, None], more[:, None] * like[at], 0.0)
    twin = np.where((at < 0)[:, None] | (twin > 1e-12 * base), twin, 0.0)
    np.testing.assert_allclose(d, twin, atol=1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_allclose(m, np.where(twin > 0, weight[of] / twin, 0.0), rtol=1e-9)
    np.testing.assert_allclose(lost, np.where(twin > 0, 0.0, weight[of]).sum(axis=1), atol=1e-12)
    assert lost[0] > 0


def test_laws_without_a_record() -> None:
    rng = np.random.default_rng(2)
    p, e, like = rng.random((4, 6)), rng.dirichlet(np.ones(6), 4), rng.random((3, 6))
    of, own = rng.integers(0, 4, 12), rng.integers(-1, 3, 12)
    more, scale, flat = rng.random(12), rng.random(12), rng.random(12) * (rng.random(12) < 0.5)
    left, total = rng.random(12) + 0.1, np.ones(12)
    left[3], more[4], scale[4], flat[4] = 0.0, -99.0, 0.0, 0.0
    found = without_records(p, e, of, more, like, own, scale, flat, left, total)
    for u in range(12):
        cut = 0.0 if own[u] < 0 else scale[u] * like[own[u]]
        twin = np.maximum(p[of[u]] + e[of[u]] * (more[u] - flat[u] - cut), 0.0)
        alone = left[u] == 0 or twin.sum() == 0
        np.testing.assert_allclose(found[u], e[of[u]] if alone else twin / twin.sum(), atol=1e-12)


def test_columns_added_up() -> None:
    rng = np.random.default_rng(3)
    w, kind, count, of = (
        rng.random((4, 3)),
        rng.integers(0, 3, 9),
        rng.integers(1, 4, 9).astype(float),
        np.arange(9) % 4,
    )
    twin = (w[:, kind] * count) @ (of[:, None] == np.arange(5))
    np.testing.assert_allclose(added_up(w, kind, count, of, 5), twin, atol=1e-12)
