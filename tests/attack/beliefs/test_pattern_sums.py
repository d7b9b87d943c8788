"""Compiled sums over patterns against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.sparse as sp

from confide.attack.beliefs import pattern_sums
from confide.attack.beliefs.whole_newton import balanced_basis


def drawn(k, columns=23):
    rng = np.random.default_rng(k)
    x = sp.csr_matrix((rng.random((400, columns)) < 0.3).astype(float))
    return x, x.indptr.astype(np.int64), x.indices.astype(np.int64), rng


@pytest.mark.parametrize("k", [2, 5, 11])
def test_linear_predictors_to_the_last_bit(k):
    x, start, at, rng = drawn(k)
    b = 3 * rng.normal(size=(23, k))
    eta, found = np.asarray(x @ b), np.empty((400, k))
    top = pattern_sums.linear(0, 400, start, at, b, found)
    assert np.array_equal(top, eta.max(axis=1))
    assert np.array_equal(found, eta - eta.max(axis=1, keepdims=True))


@pytest.mark.parametrize("k", [2, 3, 7])
def test_second_derivatives_are_those_of_the_formula(k):
    x, start, at, rng = drawn(k, 9)
    rows, p, q = rng.integers(0, 4, 400).astype(float), rng.dirichlet(np.ones(k), 400), balanced_basis(k)
    found = np.zeros((9 * (k - 1), 9 * (k - 1)))
    pattern_sums.curvatures(start, at, rows, p, q, found)
    z, slow = x.toarray(), np.zeros_like(found)
    for g in range(400):
        each = q @ (np.diag(p[g]) - np.outer(p[g], p[g])) @ q.T
        slow += rows[g] * np.kron(np.outer(z[g], z[g]), each)
    np.testing.assert_allclose(np.tril(found), np.tril(slow), rtol=0, atol=1e-10)


@pytest.mark.parametrize("k", [2, 6])
def test_the_basis_is_orthonormal_and_sums_to_nothing(k):
    q = balanced_basis(k)
    np.testing.assert_allclose(q @ q.T, np.eye(k - 1), atol=1e-14)
    np.testing.assert_allclose(q.sum(axis=1), 0, atol=1e-14)


def test_products_of_columns_with_each_other_and_with_others():
    x, start, at, rng = drawn(4)
    z, others, beside, _ = drawn(5, 12)
    w = rng.random((400, 3))
    held, between = np.zeros((1, 23, 23, 3)), np.zeros((23, 12), dtype=np.float32)
    pattern_sums.blocks(0, 3, start, np.zeros_like(at), at, w, held)
    pattern_sums.crossed(1, start, at, others, beside, w, between)
    for k in range(3):
        slow = (x.T @ sp.diags(w[:, k]) @ x).toarray()
        np.testing.assert_allclose(np.tril(held[0, :, :, k]), np.tril(slow), atol=1e-10)
    np.testing.assert_allclose(between, (x.T @ sp.diags(w[:, 1]) @ z).toarray(), rtol=1e-4)
