"""Sums of tilted exponentials by moments of boxes are those over points."""

from __future__ import annotations

import numpy as np
import pytest

from confide.attack.beliefs import tilted_sums
from confide.attack.beliefs.tilted_sums import LEAST, log_tilted_sums, plain


def case(d: int, spread: float, points: int = 6_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    base, s = 5 * rng.normal(size=points), rng.normal(1.0, 2.0, (d, points))
    return base, s, rng.normal(-30.0, 1.0, (d, LEAST + 5)) * [[spread]] + rng.normal(size=(d, 1))


@pytest.mark.parametrize("spread", [0.0, 0.03, 0.4])
@pytest.mark.parametrize("d", [1, 2])
def test_boxes_give_the_sums_over_points(d: int, spread: float) -> None:
    base, s, theta = case(d, spread)
    found = tilted_sums._by_boxes(base, s, theta, at_once=10_000)
    assert found is not None
    np.testing.assert_allclose(found, plain(base, s, theta, at_once=50_000), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(log_tilted_sums(base, s, theta, at_once=10_000), found)


@pytest.mark.parametrize(("d", "spread"), [(2, 3.0), (3, 0.1)])
def test_far_tilts_and_three_directions_are_added_up_point_by_point(d: int, spread: float) -> None:
    base, s, theta = case(d, spread, points=500)
    by_hand = [np.logaddexp.reduce(base + t @ s) for t in theta.T]
    np.testing.assert_allclose(log_tilted_sums(base, s, theta), by_hand, rtol=0, atol=1e-9)


def test_few_tilts_need_no_boxes() -> None:
    base, s, theta = case(2, 0.1)
    np.testing.assert_array_equal(log_tilted_sums(base, s, theta[:, :9]), plain(base, s, theta[:, :9]))
