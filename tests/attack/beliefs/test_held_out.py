"""How many of so many equal records are held out."""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom

from confide.attack.beliefs.held_out import HELD_OUT, _quantile


def test_held_out_records_are_binomial_quantiles() -> None:
    rng = np.random.default_rng(3)
    even, count = rng.random(20_000), np.concatenate([rng.integers(2, 6, 10_000), rng.integers(2, 3_000, 10_000)])
    even[:3] = 1e-300, 2.0**-53, 1 - 2.0**-53
    np.testing.assert_array_equal(_quantile(even, count.astype(float)), binom.ppf(even, count, HELD_OUT))


def test_a_number_that_a_quantile_meets_exactly_is_not_rounded_up() -> None:
    rng = np.random.default_rng(4)
    count = rng.integers(2, 3_000, 20_000)
    held = np.round(count * HELD_OUT + rng.normal(0, 3, 20_000)).clip(0, count)
    even = bdtr(held, count, HELD_OUT)
    met = (even < 1) & (binom.pmf(held, count, HELD_OUT) > 1e-9)
    np.testing.assert_array_equal(_quantile(even[met], count[met].astype(float)), held[met])
