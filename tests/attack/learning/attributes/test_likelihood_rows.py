"""Compiled passes over likelihoods agree with plain NumPy."""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.likelihood_rows import beside_beliefs, without_records
from confide.attack.learning.attributes.likelihood_table import Table
from confide.attack.learning.attributes.novel import FAR
from confide.attack.learning.attributes.row_sums import added_up
from confide.attack.learning.attributes.support import Nodes
from confide.attack.learning.attributes.table_rows import whole_windows


def test_weights_beside_beliefs() -> None:
    rng = np.random.default_rng(1)
    like = rng.random((6, 5)) * (rng.random((6, 5)) < 0.7)
    base, weight = rng.random((8, 5)) * (rng.random((8, 5)) < 0.8), rng.random((3, 5))
    of, at, more = rng.integers(0, 3, 8), rng.integers(-1, 6, 8), rng.normal(0, 0.1, 8)
    base[0], at[0], more[0] = like[2], 2, -1.0  # all that was believed is taken away
    d = base.copy()
    m = np.empty_like(d)
    lost = beside_beliefs(d, weight, of, more, at, (like, whole_windows(*like.shape)), m)
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


def test_a_table_of_likelihoods_is_that_of_plain_sums() -> None:
    rng = np.random.default_rng(3)
    logs = np.where(rng.random((9, 6)) < 0.7, rng.normal(0, 4, (9, 6)), -np.inf)
    logs[:, 5] = -np.inf  # a record that nobody could have become
    logs[:, 4] = [-9.0, -9, -9, 2, -9, -9, -9, -np.inf, 1]  # one person is in reach of this one
    bins, share, count = np.array([0, 0, 1, 1, 1, 2, 2, 2]), rng.random(8), rng.integers(1, 3, 8).astype(float)
    values, count[3] = np.sort(rng.normal(0, 50, 8)), 1.0
    nodes = Nodes(values, bins, share, np.zeros(0, dtype=np.int64), np.zeros(0), count)
    table = Table.of(logs.copy(), nodes)
    top = logs.max(axis=0)
    like = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    np.testing.assert_allclose(table.turned, like, rtol=1e-12)
    for k in range(3):
        mine = bins == k
        np.testing.assert_allclose(table.bins[k], share[mine] @ like[:-1][mine], rtol=1e-12)
        np.testing.assert_allclose(
            table.sums[2 * k + 1], (share * values)[mine] @ like[:-1][mine], rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(table.bins[3], like[-1])
    near = np.isfinite(logs[:-1]) & (logs[:-1] >= logs[:-1].max(axis=0) - FAR)
    few = np.flatnonzero(count @ near == 1)
    assert 0 < len(few) < 6
    np.testing.assert_array_equal(table.few, few)
    np.testing.assert_array_equal(table.near, near[:, few].T)
