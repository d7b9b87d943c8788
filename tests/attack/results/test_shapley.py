"""Values shared out: the same as the mean over all orders, whatever the values are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from confide.attack.results.shapley import drawn_orders, exact_shares, shares_by_order
from confide.frames.columns import F64
from tests.helpers.shapley_twin import by_orders

NUMBERS = st.floats(-50, 50, allow_nan=False)


@given(st.integers(1, 5).flatmap(lambda n: arrays(np.float64, (1 << n, 2), elements=NUMBERS)))
def test_shares_are_means_over_all_orders(values: F64) -> None:
    values[0] = 0.0
    n = (len(values) - 1).bit_length()
    found = exact_shares(values)
    assert found.sum(axis=0) == pytest.approx(values[-1], abs=1e-9)
    names = [str(k) for k in range(n)]
    for t in range(2):
        slow = by_orders(lambda s, t=t: float(values[sum(1 << int(k) for k in s), t]), names)  # type: ignore[misc]
        assert found[:, t] == pytest.approx(list(slow.values()), abs=1e-9)


def test_drawn_orders_sum_to_the_whole_and_come_near() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1 << 6, 3)).cumsum(axis=0)
    values[0] = 0.0
    asked: list[int] = []
    pairs = shares_by_order(lambda mask: values[mask], 6, drawn_orders(6, 400), asked.append)
    assert len(asked) == 400
    assert pairs.sum(axis=1) == pytest.approx(np.tile(values[-1], (200, 1)), abs=1e-9)
    error = pairs.std(axis=0, ddof=1) / np.sqrt(len(pairs))
    z = (pairs.mean(axis=0) - exact_shares(values)) / error
    assert np.abs(z).max() < 4
    assert (error > 0).all()


def test_orders_are_the_same_every_time() -> None:
    assert (drawn_orders(12, 100) == drawn_orders(12, 100)).all()
    assert drawn_orders(12, 101).shape == (51, 12)
