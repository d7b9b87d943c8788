"""Inverses of symmetric matrices that are given on and below the diagonal."""

from __future__ import annotations

import numpy as np
import pytest

from confide.attack.beliefs.own_records import inverse_below


@pytest.mark.parametrize("first", [None, -5.0])
def test_inverse_below_the_diagonal(first: float | None) -> None:
    """Also of a matrix that is not positive, as rounding can leave one."""
    x = np.random.default_rng(0).normal(size=(40, 30))
    m = x.T @ x + np.eye(30)
    m[0, 0] = m[0, 0] if first is None else first
    np.testing.assert_allclose(np.tril(inverse_below(np.tril(m))), np.tril(np.linalg.inv(m)), atol=1e-12)
