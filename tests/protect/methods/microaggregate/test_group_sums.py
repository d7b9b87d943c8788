"""Compiled sums of the model of groups beside plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from confide.protect.methods.microaggregate.group_choice import first_theta, moments
from confide.protect.methods.microaggregate.group_likelihood import Grouped
from confide.protect.methods.microaggregate.group_means import Means


def test_means_and_covariances_of_features_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    person = np.sort(np.append(np.arange(20), rng.integers(0, 20, 180)))
    x = rng.normal(size=(200, 9)) * (rng.random((200, 9)) < 0.4)
    p = rng.random(200)
    p /= np.bincount(person, weights=p)[person]
    starts = np.searchsorted(person, np.arange(21))
    mean, curved = moments(sp.csr_matrix(x), starts, p)
    own = np.array([p[person == g] @ x[person == g] for g in range(20)])
    np.testing.assert_allclose(mean, own.sum(axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(curved, x.T @ (p[:, None] * x) - own.T @ own, rtol=0, atol=1e-12)


@pytest.mark.parametrize("q", [1, 2])
def test_every_pair_at_once_is_what_each_pair_is(q):
    rng = np.random.default_rng(q)
    y = np.round(rng.lognormal(3, 3, (150, q)))  # near and far, and some that are the same
    nobody, shown = np.zeros(300, dtype=np.int64), y[rng.integers(0, 150, 300)] + 0.5 * (rng.random((300, q)) < 0.5)
    means = Means.of_rows(shown, list(range(q)), nobody, nobody, np.ones(q), 3)
    theta = first_theta(q) + rng.normal(size=len(first_theta(q)))
    like = Grouped(means, lambda: theta, lambda _: (y, means.scopes(np.zeros(len(y), dtype=np.int64), y)))
    t, z = like.target(None), like.record
    i, j = (a.ravel() for a in np.meshgrid(np.arange(150), np.arange(300), indexing="ij"))
    each = like.log({k: v[i] for k, v in t.items()}, {k: v[j] for k, v in z.items()})
    np.testing.assert_allclose(like.log_every(t, z).ravel(), each, rtol=0, atol=1e-12)
