"""A caliper of the intruder's own choice: from counts of rows that are alike as from all rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.protect.methods.synthesis.quantile.caliper import NEAR, POWER, typical


def plain(values: np.ndarray, usable: np.ndarray, own: np.ndarray, cell: np.ndarray) -> float:
    """Row by row: the distance of the k-th nearest value of its own cell, and the median of these."""
    found = []
    for point, mine in zip(own, cell, strict=True):
        others = values[usable & (cell == mine)]
        if len(others):
            k = int(min(max(NEAR, len(others) ** POWER), len(others)))
            found.append(np.sort(np.abs(others - point))[k - 1])
    return float(np.median(found)) if found else 0.0


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_counts_say_what_all_rows_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, digits = int(rng.integers(1, 40)), int(rng.integers(0, 3))
    values = np.where(rng.random(n) < 0.2, np.nan, rng.normal(10, 5, n).round(digits))
    usable = ~np.isnan(values) & (rng.random(n) < 0.9)
    own, cell = rng.normal(10, 8, n).round(digits), rng.integers(0, 3, n)
    count = rng.integers(1, 8, n)
    rows = np.repeat(np.arange(n), count)
    each = np.ones(len(rows))
    wanted = plain(values[rows], usable[rows], own[rows], cell[rows])
    assert typical(values, usable, own, cell, count.astype(float)) == wanted
    assert typical(values[rows], usable[rows], own[rows], cell[rows], each) == wanted


def test_nobody_has_a_value() -> None:
    none = np.zeros(3, dtype=bool)
    assert typical(np.full(3, np.nan), none, np.zeros(3), np.zeros(3, dtype=np.int64), np.ones(3)) == 0


@pytest.mark.parametrize("count", [1.0, 2.0])
def test_the_middle_of_an_even_number(count: float) -> None:
    """Ten records and fewer are all inside: the farthest of each."""
    values = np.array([0.0, 1.0, 5.0, 9.0])
    found = typical(values, np.ones(4, dtype=bool), values, np.zeros(4, dtype=np.int64), np.full(4, count))
    assert found == (8.0 + 9.0) / 2
