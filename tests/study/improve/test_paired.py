"""Which of two changes does more: told apart only beyond noise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.study.improve.paired import Against

REPEATS = 6


def against(risks: list[list[float]], losses: list[list[float]], random: bool = True) -> Against:
    rows = [
        {"plan": f"p{k}", "intruder": "i", "repeat": r, "found": risk[r], "hellinger": loss[r], "targets": 100.0}
        for k, (risk, loss) in enumerate(zip(risks, losses, strict=True))
        for r in range(len(risk))
    ]
    limits = {"found": np.inf}
    return Against.of(pl.DataFrame(rows), {f"p{k}": random for k in range(9)}, limits, "found", cf.Hellinger())


def noisy(mean: float, sd: float, seed: int) -> list[float]:
    x = np.random.default_rng(seed).normal(size=REPEATS)
    return list(mean + sd * (x - x.mean()) / x.std(ddof=1))


def test_changes_that_differ_by_noise_share_a_rank_and_others_do_not() -> None:
    flat = [0.1] * REPEATS
    near = against(
        [[50.0] * REPEATS, noisy(30, 3, 1), noisy(29, 3, 2), noisy(45, 1, 3)],
        [flat, noisy(0.2, 0.002, 4), noisy(0.2, 0.002, 5), noisy(0.2, 0.002, 6)],
    )
    order = near.ordered([1, 2, 3], back=False)
    assert order == [2, 1, 3]
    assert near.ranks(order, back=False) == [1, 1, 3]


def test_the_order_is_by_risk_per_utility_lost_not_by_risk() -> None:
    sure = against([[50.0], [40.0], [20.0]], [[0.1], [0.11], [0.5]], random=False)
    assert sure.ordered([1, 2], back=False) == [1, 2]  # 10 per 0.01 against 30 per 0.4
    assert sure.ranks([1, 2], back=False) == [1, 2]
    assert sure.above(1, 2)
    assert not sure.above(2, 1)


def test_noise_of_the_draws_that_all_share_does_not_hide_a_difference() -> None:
    common = np.random.default_rng(7).normal(0, 20, REPEATS)
    sure = against([list(100 + common), list(95 + common), list(90 + common)], [[0.1] * REPEATS] * 3)
    assert sure.difference(sure.lowered, 1).low == pytest.approx(5.0)
    assert sure.ranks(sure.ordered([1, 2], back=False), back=False) == [1, 2]


def test_intervals_hold_together() -> None:
    """In pure noise, some change is told to differ in 5 percent of cases at most, however many there are."""
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(400):
        made = rng.normal(50, 5, (9, REPEATS))
        one = against(made.tolist(), [[0.1] * REPEATS] * 9)
        ends = [one.difference(one.lowered, k) for k in one.changes]
        wrong += any(e.low > 0 or e.high < 0 for e in ends if e.low is not None and e.high is not None)
    assert wrong / 400 <= 0.05
