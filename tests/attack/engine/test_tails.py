"""The tail of the normal distribution from a table."""

from __future__ import annotations

import numpy as np
from scipy.special import erfc

from confide.attack.engine.kernels import tails
from confide.core.run.compile import compiled


@compiled
def asked(x, out):
    for i in range(len(x)):
        out[i] = tails.erfc(x[i])


def test_the_table_is_the_function() -> None:
    x = np.concatenate([np.linspace(-9, 9, 40_001), [0.0, -0.0, 6.0, np.nextafter(6.0, 0), np.inf, -np.inf, np.nan]])
    found = np.empty_like(x)
    asked(x, found)
    true = erfc(x)
    assert np.array_equal(np.isnan(found), np.isnan(true))
    assert np.allclose(found, true, rtol=3e-11, atol=0, equal_nan=True)
    near = np.abs(x) < 2
    assert np.allclose(found[near], true[near], rtol=4e-15, atol=0)
