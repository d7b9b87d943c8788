"""Regressions of beliefs: the minimum itself, whatever the data, the order, the parts and the threads."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp

from confide.attack.beliefs import newton, preconditioner, whole_newton
from confide.attack.beliefs.class_factors import indicators
from confide.attack.beliefs.combined_columns import Columns
from confide.attack.beliefs.multinomial import log_probabilities
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


def plain_newton(
    x: sp.csr_matrix, counts: np.ndarray, penalty: float, until: float = 1e-20
) -> tuple[np.ndarray, np.ndarray]:
    """log Pr(k given g) and coefficients: Newton steps with all second derivatives in one matrix, straight from the formula."""
    z = np.hstack([np.ones((x.shape[0], 1)), x.toarray()])
    c, k = z.shape[1], counts.shape[1]
    rows, ridge = counts.sum(axis=1), np.repeat(np.r_[1e-8, np.full(c - 1, penalty)], k)

    def at(b: np.ndarray) -> tuple[float, np.ndarray]:
        eta = z @ b.reshape(c, k)
        eta = eta - logsumexp(eta, axis=1, keepdims=True)
        return float(-(counts * eta).sum() + 0.5 * (ridge * b * b).sum()), eta

    b = np.zeros(c * k)
    for _ in range(60):
        value, log_p = at(b)
        p = np.exp(log_p)
        slope = (z.T @ (rows[:, None] * p - counts)).ravel() + ridge * b
        h = np.zeros((c, k, c, k))
        for i in range(k):
            for j in range(k):
                h[:, i, :, j] = z.T @ ((rows * p[:, i] * ((i == j) - p[:, j]))[:, None] * z)
        h = h.reshape(c * k, c * k)
        step, size = np.linalg.solve(h + np.diag(ridge + 1e-9), slope), 1.0
        while at(b - size * step)[0] > value and size > 1e-4:
            size *= 0.5
        b = b - size * step
        if float(slope @ step) < until * value:
            break
    return at(b)[1], b.reshape(c, k)


def loss(counts: np.ndarray, penalty: float, log_p: np.ndarray, b: np.ndarray) -> float:
    """The penalised loss per record, of coefficients that sum to 0 over categories."""
    b = b - b.mean(axis=1, keepdims=True)
    return float((-(counts * log_p).sum() + 0.5 * penalty * (b[1:] ** 2).sum()) / counts.sum())


ways = pytest.mark.parametrize("whole", [0, 10**9], ids=["iterated", "in one matrix"])


@ways
@pytest.mark.parametrize(("k", "penalty"), [(2, 3.0), (6, 0.1)])
def test_the_minimum_is_that_of_plain_newton_steps(
    k: int, penalty: float, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_newton, "WHOLE", whole)
    x, counts = regression(200, k, 1)
    found = log_probabilities(x, minimised(x, counts, penalty, enough=1e-22))
    np.testing.assert_allclose(found, plain_newton(x, counts, penalty)[0], rtol=0, atol=1e-9)


N = 100


def odd(case: str) -> tuple[sp.csr_matrix, np.ndarray]:
    """Data that a solver may stumble over."""
    g = np.random.default_rng(11)
    x, counts = regression(N, 4, 9)
    if case == "separable":
        counts = 5.0 * np.eye(4)[np.arange(N) % 4]
        x = sp.csr_matrix(indicators(np.arange(N) % 4, 4))
    if case == "constant columns":
        x = sp.hstack([x, np.ones((N, 2)), sp.csr_matrix((N, 3)), x]).tocsr()
    if case == "one pattern":
        x, counts = x[:1], np.array([[3.0, 0.0, 5.0, 1.0]])
    if case == "one class":
        counts = counts * [1.0, 0.0, 0.0, 0.0]
    if case == "a class without records":
        counts = counts * [1.0, 1.0, 0.0, 1.0]
    if case == "huge counts":
        counts = counts * 1e6
    if case == "more columns than patterns":
        x = sp.hstack([x, indicators(np.arange(N), N)]).tocsr()
    if case == "weights":
        counts = counts * g.gamma(0.5, size=counts.shape)
    return x, counts


@lru_cache
def slow(case: str, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    return plain_newton(*odd(case), penalty, 1e-13)


@ways
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize(
    "case",
    [
        "plain", "separable", "constant columns", "one pattern", "one class", "a class without records", "huge counts",
        "more columns than patterns", "weights",
    ],
)  # fmt: skip
def test_a_fit_ends_within_1e_8_nats_per_record_of_the_minimum(
    case: str, penalty: float, whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_newton, "WHOLE", whole)
    monkeypatch.setattr(preconditioner, "WIDEST", 20)
    x, counts = odd(case)
    b = minimised(x, counts, penalty)
    log_p, best = slow(case, penalty)
    found = loss(counts, penalty, log_probabilities(x, b), b)
    assert abs(found - loss(counts, penalty, log_p, best)) < 1e-8
    assert np.isfinite(b).all()


def test_a_matrix_that_rounding_left_without_a_factor_is_raised() -> None:
    z = np.random.default_rng(0).normal(size=(3, 9))
    singular = z.T @ z  # of rank 3
    held = np.stack([np.eye(9), singular - 1e-13 * np.eye(9)])
    found = whole_newton.factored(held)
    np.testing.assert_array_equal(found[0], np.eye(9))
    np.testing.assert_allclose(found[1] @ found[1].T, singular, atol=1e-9)


def test_what_counts_as_exact_leaves_little() -> None:
    x, counts = regression(2000, 5, 2)
    rough, exact = (log_probabilities(x, minimised(x, counts, 0.1, enough=e)) for e in (newton.EXACT, 1e-22))
    np.testing.assert_allclose(rough, exact, rtol=0, atol=1e-4)


def test_order_parts_blocks_and_start_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts = regression(3000, 4, 3)
    monkeypatch.setattr(whole_newton, "WHOLE", 0)
    whole = log_probabilities(x, minimised(x, counts, 1.0, enough=1e-22))
    order = np.random.default_rng(4).permutation(3000)
    back = np.argsort(order)
    for where, name, value in (
        (newton, "PIECE", 500),
        (preconditioner, "WIDEST", 11),
        (preconditioner, "PATTERNS", 300),
    ):
        monkeypatch.setattr(where, name, value)
        other = minimised(x[order], counts[order], 1.0, enough=1e-22)
        np.testing.assert_allclose(log_probabilities(x[order], other)[back], whole, rtol=0, atol=1e-9)


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    x, counts = regression(3000, 4, 5)
    monkeypatch.setattr(newton, "PIECE", 500)
    monkeypatch.setattr(preconditioner, "ALONE", 0)
    monkeypatch.setattr(whole_newton, "WHOLE", 0)
    found = []
    for threads in (1, 3):
        for where in (newton, preconditioner):
            monkeypatch.setattr(where, "thread_count", lambda _, threads=threads: threads)
        found.append(minimised(x, counts, 1.0))
    np.testing.assert_array_equal(*found)


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
