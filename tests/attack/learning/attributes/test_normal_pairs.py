"""Logs of areas by polynomials agree with the areas themselves, near and far."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_ndtr

from confide.attack.engine import kernels
from confide.attack.learning.attributes.normal_pairs import of_records


@pytest.mark.parametrize("sd", [3.0, 12.0, 90.0, 700.0, 5_000.0, 40_000.0])
def test_areas_near_and_far(sd: float) -> None:
    rng = np.random.default_rng(1)
    middle = np.sort(np.concatenate([rng.normal(0, 300_000, 300), rng.normal(0, 5 * sd, 300)])).round()
    record = {"low": middle - 0.5, "high": middle + 0.5, "inside": np.ones(600, dtype=bool)}
    y = np.array([0.0, 1_234.0, -90_000.0])
    found = np.zeros((3, 600))
    true = y, np.ones(3, dtype=bool), np.zeros(3), np.full(3, sd)
    kernels.add_normal_pairs(0, 3, true, of_records(record), found)
    # On the side where both ends are negative: log(Phi(b) - Phi(a)), from logs of tails.
    off = -np.abs(middle - y[:, None])
    a, b = log_ndtr((off - 0.5) / sd), log_ndtr((off + 0.5) / sd)
    near = np.abs(off) < 30 * sd
    twin = b + np.log(-np.expm1(a - b))
    np.testing.assert_allclose(found[near], twin[near], rtol=2e-8, atol=2e-8)
