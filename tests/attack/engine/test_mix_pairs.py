"""Averages over classes for pairs, in one loop: against logsumexp."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from confide.attack.engine import kernels
from confide.attack.engine.kernels.known_pairs import FEW


@pytest.mark.parametrize("classes", [1, 2, FEW, FEW + 1, 70])
def test_the_loop_is_the_sum_over_classes(classes: int) -> None:
    rng = np.random.default_rng(classes)
    log_e = np.log(rng.dirichlet(np.ones(classes), 12)) - 400.0 * (rng.random((12, classes)) < 0.3)
    unknown = rng.normal(0, 200, (15, classes))
    log_e[rng.random((12, classes)) < 0.3] = -np.inf
    unknown[rng.random((15, classes)) < 0.3] = -np.inf
    log_e[3], unknown[4] = -np.inf, -np.inf
    who, which = rng.integers(0, 12, 300), rng.integers(0, 15, 300)
    out = np.empty(300)
    kernels.log_mix_pairs(log_e, unknown, who, which, out)
    with np.errstate(divide="ignore", invalid="ignore"):
        plainly = logsumexp(log_e[who] + unknown[which], axis=1)
    assert (out[who == 3] == -np.inf).all()
    assert (out[which == 4] == -np.inf).all()
    assert (out > -np.inf).any()
    np.testing.assert_allclose(out, plainly, rtol=1e-13, atol=1e-13)
