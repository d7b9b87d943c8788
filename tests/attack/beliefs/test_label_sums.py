"""Compiled sums behind labels are those of plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from confide.attack.beliefs import label_sums
from confide.frames.columns import F64

RNG = np.random.default_rng(5)
G, K, R, V, C, ALIKE = 40, 4, 3, 5, 9, 4


def design() -> sp.csr_matrix:
    """A constant, three columns of which each pattern has one, and five of which it has one."""
    x = np.zeros((G, C))
    x[:, 0] = 1
    x[np.arange(G), RNG.integers(1, ALIKE, G)] = 1
    x[np.arange(G), RNG.integers(ALIKE, C, G)] = 1
    return sp.csr_matrix(x)


def places(x: sp.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    return x.indptr.astype(np.int64), x.indices.astype(np.int64)


def log_p(eta: F64) -> F64:
    return np.asarray(eta - np.log(np.exp(eta).sum(axis=1, keepdims=True)))


def test_means_of_functions_over_the_records_of_patterns() -> None:
    each, label = RNG.integers(0, 3, (G, K)).astype(float), RNG.integers(0, 2, G)
    phi, some = RNG.normal(size=(2, K, R)), np.arange(0, G, 3)
    n, out = each.sum(axis=1), np.zeros((len(some), R))
    label_sums.means(some, label, n, each, phi, out)
    wanted = [each[g] @ phi[label[g]] / max(n[g], 1) for g in some]
    assert out == pytest.approx(np.array(wanted), abs=1e-14)


def test_products_of_indicators() -> None:
    x, rows, seen = design(), RNG.integers(0, 4, G).astype(float), RNG.normal(size=(G, R))
    gram, moment = np.zeros((C, C)), np.zeros((C, R))
    label_sums.products(*places(x), rows, seen, gram, moment)
    full = x.toarray()
    assert np.array_equal(gram, full.T @ (rows[:, None] * full))  # of whole numbers, exactly
    assert moment == pytest.approx(full.T @ (rows[:, None] * seen), abs=1e-12)


def test_what_is_expected_and_the_leverages_of_both_parts() -> None:
    x, b, half = design(), RNG.normal(size=(C, R)), RNG.normal(size=(C, C))
    inverse = half @ half.T
    first, rest, own = np.zeros((G, R)), np.zeros((G, R)), np.zeros((3, G))
    label_sums.expected(*places(x), ALIKE, b, inverse, first, rest, own)
    one, two = x.toarray(), x.toarray()
    one[:, ALIKE:], two[:, :ALIKE] = 0, 0
    assert first == pytest.approx(one @ b)
    assert rest == pytest.approx(two @ b)
    wanted = [np.einsum("gc,cd,gd->g", a, inverse, c) for a, c in ((one, one), (two, two), (one, two))]
    assert own == pytest.approx(np.array(wanted))


def test_the_likelihood_of_exponents_with_its_derivatives() -> None:
    features, m = RNG.normal(size=(G, V, K)), RNG.integers(0, 3, (G, K)).astype(float)
    m[0] = [1, 0, 0, 0]
    base = np.log(RNG.dirichlet(np.ones(K), G))
    base[0, 3] = -np.inf
    beta, slope, bent = 0.3 * RNG.normal(size=V), np.zeros(V), np.zeros((V, V))
    m = m[m.sum(axis=1) > 0]
    features, base = features[: len(m)], base[: len(m)]
    value = label_sums.logit(features, m, base, beta, slope, bent)
    found = log_p(base + np.einsum("v,gvk->gk", beta, features))
    p, rows = np.exp(found), m.sum(axis=1)
    mean = np.einsum("gvk,gk->gv", features, p)
    assert value == pytest.approx(float(m[m > 0] @ found[m > 0]))
    assert slope == pytest.approx(np.einsum("gvk,gk->v", features, m) - rows @ mean)
    both = np.einsum("g,gk,gvk,guk->vu", rows, p, features, features)
    assert bent == pytest.approx(both - np.einsum("g,gv,gu->vu", rows, mean, mean))


def test_probabilities_of_values_at_the_places_of_their_patterns() -> None:
    label, some = RNG.integers(0, 2, G), np.array([7, 3, 20])
    tilt, spread = RNG.normal(size=(3, R)), RNG.normal(size=(2, K, R))
    base = np.log(RNG.dirichlet(np.ones(K), 2))
    base[1, 2] = -np.inf
    out = np.full((K, G), 9.0)
    label_sums.tilted(some, label, tilt, spread, base, out)
    wanted = np.array(
        [log_p((base[label[g]] + spread[label[g]] @ t)[None])[0] for g, t in zip(some, tilt, strict=True)]
    )
    assert np.allclose(out[:, some].T, wanted)
    assert (np.delete(out, some, axis=1) == 9.0).all()


def test_features_are_sums_over_the_functions_of_an_exponent() -> None:
    label, spread = RNG.integers(0, 2, G), RNG.normal(size=(2, K, R))
    first, rest = RNG.normal(size=(2, G, R))
    exponent, place = np.array([0, 1, 1]), np.array([4, -1, 5])
    out = np.zeros((G, 6, K))
    label_sums.features(label, first, rest, exponent, place, spread, out)
    for g in range(G):
        each = spread[label[g]]  # (K, R)
        wanted = [each[:, exponent == e] @ part[g, exponent == e] for part in (first, rest) for e in (0, 1)]
        assert out[g] == pytest.approx(np.array([*wanted, each[:, 0], each[:, 2]]), abs=1e-14)
