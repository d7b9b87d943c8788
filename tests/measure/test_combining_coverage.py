"""How often intervals from copies cover the truth."""

from __future__ import annotations

import numpy as np
import pytest

from confide.measure.combining import combine

# coverage


def coverage(found, truth):
    return np.mean((found.low <= truth) & (truth <= found.high))


def fully_synthetic(m, times, repetitions=2000, n=100, seed=1):
    """Means and variances of m synthetic samples, `times` as large as the sample; one column a repetition."""
    rng = np.random.default_rng(seed)
    y = rng.normal(3.0, 2.0, size=(repetitions, n))
    sigma2 = (n - 1) * y.var(axis=1, ddof=1) / rng.chisquare(n - 1, size=(m, repetitions))
    mu = y.mean(axis=1) + np.sqrt(sigma2 / n) * rng.normal(size=(m, repetitions))
    size = n * times
    q = mu + np.sqrt(sigma2 / size) * rng.normal(size=(m, repetitions))  # mean and variance of a normal sample
    return q, sigma2 * rng.chisquare(size - 1, size=(m, repetitions)) / (size - 1) / size


def test_full_covers_with_ten_large_copies():
    q, u = fully_synthetic(m=10, times=10)
    assert 0.93 < coverage(combine(q, u, "full", ratio=10.0), 3.0) < 0.97


def test_full_covers_with_many_copies_and_multiple_over_covers():
    q, u = fully_synthetic(m=100, times=1)
    full, multiple = combine(q, u, "full"), combine(q, u, "multiple")
    assert 0.93 < coverage(full, 3.0) < 0.97
    assert coverage(multiple, 3.0) > 0.99
    assert full.variance.mean() == pytest.approx(full.estimate.var(), rel=0.1)
    assert multiple.variance.mean() > 2.5 * full.estimate.var()


def test_full_is_cautious_with_ten_copies_of_the_same_size():
    """The variance is right, but the t approximation with so few degrees of freedom makes intervals too wide."""
    q, u = fully_synthetic(m=10, times=1)
    found, b, within = combine(q, u, "full"), q.var(axis=0, ddof=1), u.mean(axis=0)
    assert (1.1 * b - within).mean() == pytest.approx(found.estimate.var(), rel=0.1)
    assert coverage(found, 3.0) > 0.98
    assert 0.02 < found.adjusted.mean() < 0.2


def partially_synthetic(m, posterior, n=100, repetitions=2000, seed=2):
    """(mean, slope): estimates and variances where y2 is replaced by its regression on y1; one column a repetition."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(repetitions, n))
    y = 1.0 + 0.7 * x + rng.normal(size=(repetitions, n))
    x -= x.mean(axis=1, keepdims=True)
    sxx = (x**2).sum(axis=1)
    level, slope = y.mean(axis=1), (x * y).sum(axis=1) / sxx
    s2 = ((y - level[:, None] - slope[:, None] * x) ** 2).sum(axis=1) / (n - 2)
    out = []
    for _ in range(m):
        if posterior:
            v = (n - 2) * s2 / rng.chisquare(n - 2, size=repetitions)
            a = level + np.sqrt(v / n) * rng.normal(size=repetitions)
            b = slope + np.sqrt(v / sxx) * rng.normal(size=repetitions)
        else:
            v, a, b = s2, level, slope
        z = a[:, None] + b[:, None] * x + np.sqrt(v)[:, None] * rng.normal(size=(repetitions, n))
        fit = (x * z).sum(axis=1) / sxx
        left = ((z - z.mean(axis=1, keepdims=True) - fit[:, None] * x) ** 2).sum(axis=1) / (n - 2)
        out.append((z.mean(axis=1), z.var(axis=1, ddof=1) / n, fit, left / sxx))
    q1, u1, q2, u2 = np.array(out).transpose(1, 0, 2)
    return (q1, u1), (q2, u2)


@pytest.mark.parametrize("posterior", [True, False])
@pytest.mark.parametrize("m", [5, 10])
def test_partial_covers_and_multiple_overstates(m, posterior):
    for (q, u), truth in zip(partially_synthetic(m, posterior), (1.0, 0.7), strict=True):
        partial, multiple = combine(q, u, "partial"), combine(q, u, "multiple")
        assert 0.93 < coverage(partial, truth) < 0.97
        assert partial.variance.mean() == pytest.approx(partial.estimate.var(), rel=0.12)
        assert (multiple.variance > partial.variance).all()
        assert coverage(multiple, truth) > 0.97


def test_partial_in_a_small_file_needs_the_complete_degrees_of_freedom():
    _, (q, u) = partially_synthetic(m=10, posterior=False, n=10, repetitions=4000)
    assert coverage(combine(q, u), 0.7) < 0.93
    assert 0.935 < coverage(combine(q, u, complete=8), 0.7) < 0.965
