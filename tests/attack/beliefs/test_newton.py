"""Large regressions: the minimum itself, whatever the order, the parts and the threads."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import confide.attack.beliefs.newton as newton
from confide.attack.beliefs.combined_columns import Columns
from confide.attack.beliefs.multinomial import fit_coefficients, log_probabilities
from confide.attack.beliefs.newton import minimised


def regression(n: int, k: int, seed: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Indicators of four predictors, one of which nearly says the category, and counts."""
    g = np.random.default_rng(seed)
    codes = [g.integers(0, size, n) for size in (2, 5, 9, 30)]
    eta = g.normal(size=(30, k))[codes[3]] + 4.0 * (codes[1][:, None] == np.arange(k)) + g.normal(size=(2, k))[codes[0]]
    shares = np.exp(eta - eta.max(axis=1, keepdims=True))
    counts = np.array([g.multinomial(g.integers(1, 3), p / p.sum()) for p in shares], dtype=float)
    each = [sp.csr_matrix((np.ones(n), (np.arange(n), c)), shape=(n, c.max() + 1)) for c in codes]
    return sp.hstack(each).tocsr(), counts


def plain_newton(x: sp.csr_matrix, counts: np.ndarray, penalty: float) -> np.ndarray:
    """log Pr(k given g): Newton steps with all second derivatives in one matrix, straight from the formula."""
    z = np.hstack([np.ones((x.shape[0], 1)), x.toarray()])
    c, k = z.shape[1], counts.shape[1]
    rows, ridge = counts.sum(axis=1), np.repeat(np.r_[1e-8, np.full(c - 1, penalty)], k)

    def at(b: np.ndarray) -> tuple[float, np.ndarray]:
        eta = z @ b.reshape(c, k)
        eta -= np.log(np.exp(eta).sum(axis=1, keepdims=True))
        return float(-(counts * eta).sum() + 0.5 * (ridge * b * b).sum()), eta

    b = np.zeros(c * k)
    for _ in range(60):
        value, log_p = at(b)
        p = np.exp(log_p)
        slope = (z.T @ (rows[:, None] * p - counts)).ravel() + ridge * b
        each = np.einsum("g,gk,kl->gkl", rows, p, np.eye(k)) - np.einsum("g,gk,gl->gkl", rows, p, p)
        h = np.einsum("ga,gkl,gb->akbl", z, each, z, optimize=True).reshape(c * k, c * k)
        step, size = np.linalg.solve(h + np.diag(ridge + 1e-9), slope), 1.0
        while at(b - size * step)[0] > value and size > 1e-4:
            size *= 0.5
        b = b - size * step
    return at(b)[1]


@pytest.mark.parametrize(("k", "penalty"), [(2, 3.0), (6, 0.1)])
def test_the_minimum_is_that_of_plain_newton_steps(k: int, penalty: float) -> None:
    x, counts = regression(500, k, 1)
    found = log_probabilities(x, minimised(x, counts, penalty, enough=1e-18))
    np.testing.assert_allclose(found, plain_newton(x, counts, penalty), rtol=0, atol=1e-9)


def test_what_counts_as_exact_leaves_little() -> None:
    x, counts = regression(2000, 5, 2)
    rough, exact = (log_probabilities(x, minimised(x, counts, 0.1, enough=e)) for e in (newton.EXACT, 1e-18))
    np.testing.assert_allclose(rough, exact, rtol=0, atol=1e-4)


def test_order_parts_blocks_and_start_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts = regression(3000, 4, 3)
    whole = log_probabilities(x, minimised(x, counts, 1.0, enough=1e-18))
    order = np.random.default_rng(4).permutation(3000)
    back = np.argsort(order)
    for name, value in (("PIECE", 500), ("WIDEST", 11), ("PATTERNS", 300)):
        monkeypatch.setattr(newton, name, value)
        other = minimised(x[order], counts[order], 1.0, enough=1e-18)
        np.testing.assert_allclose(log_probabilities(x[order], other)[back], whole, rtol=0, atol=1e-9)


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts = regression(3000, 4, 5)
    monkeypatch.setattr(newton, "PIECE", 500)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(newton, "thread_count", lambda _, threads=threads: threads)
        found.append(minimised(x, counts, 1.0))
    np.testing.assert_array_equal(*found)


def test_large_fits_are_at_least_as_good_as_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts = regression(4000, 6, 6)
    penalty = 0.1

    def loss(b: np.ndarray) -> float:
        return float(-(counts * log_probabilities(x, b)).sum() + 0.5 * penalty * (b[1:] ** 2).sum())

    slow = loss(fit_coefficients(x, counts, penalty))
    monkeypatch.setattr("confide.attack.beliefs.multinomial.LARGE", 0)
    fast = loss(fit_coefficients(x, counts, penalty))
    assert fast <= slow
    assert slow - fast < 1e-4 * slow


def test_a_design_without_columns_gives_shares() -> None:
    _, counts = regression(400, 3, 7)
    found = log_probabilities(sp.csr_matrix((400, 0)), minimised(sp.csr_matrix((400, 0)), counts, 1.0))
    np.testing.assert_allclose(np.exp(found[0]), counts.sum(axis=0) / counts.sum(), atol=1e-6)


@pytest.mark.parametrize("combined", [1, 32, 10_000])
def test_combinations_of_columns_are_the_columns(combined: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.attack.beliefs.combined_columns.COMBINED", combined)
    x, _ = regression(600, 2, 8)
    made = Columns.of(x)
    which = sp.csr_matrix((np.ones(len(made.at)), made.at, made.start), shape=(600, made.joined.shape[0]))
    assert (which @ made.joined != x).nnz == 0
    assert (made.back != made.joined.T).nnz == 0
