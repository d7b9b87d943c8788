"""Shares and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import confide as cf
from confide.attack.learning.adopted.rates import Rate, excess, part_of_the_rest


def test_wilson_by_its_equation() -> None:
    """The ends are the shares p for which |x/n - p| = 1.96 sqrt(p (1 - p) / n)."""
    for right, tries in ((0, 20), (3, 20), (20, 20), (12.5, 400)):
        for end in Rate(right, tries).interval():
            assert abs(right / tries - end) == pytest.approx(1.959964 * np.sqrt(end * (1 - end) / tries), abs=1e-6)


@given(st.integers(1, 500), st.integers(1, 500), st.floats(0, 1), st.floats(0, 1))
def test_intervals_hold_the_estimate(n: int, m: int, p: float, q: float) -> None:
    attack, control = Rate(p * n, n), Rate(q * m, m)
    for found in (excess(attack, control), part_of_the_rest(attack, control)):
        if found is not None:
            assert found[1] - 1e-9 <= found[0] <= found[2] + 1e-9


def test_both_intervals_cover() -> None:
    rng = np.random.default_rng(1)
    seen, covered, risky = 4_000, 0, 0
    for x, y in zip(rng.binomial(200, 0.3, seen), rng.binomial(300, 0.2, seen), strict=True):
        gap, part = excess(Rate(x, 200), Rate(y, 300)), part_of_the_rest(Rate(x, 200), Rate(y, 300))
        assert part is not None
        covered += gap[1] <= 0.1 <= gap[2]
        risky += part[1] <= 0.125 <= part[2]
    assert 0.94 < covered / seen < 0.965
    assert 0.94 < risky / seen < 0.965


def test_a_control_that_is_always_right_leaves_nothing_to_say() -> None:
    assert part_of_the_rest(Rate(5, 10), Rate(10, 10)) is None
    assert Rate(0, 0).interval() == (0.0, 1.0)
    with pytest.raises(cf.InputError, match=r"such as 0\.95"):
        Rate(1, 2).interval(1.0)
