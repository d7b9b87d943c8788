"""Baselines of a balanced variable: leaving a person out does not tip the mode to the other side."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf

LOSSES = ("loss", "loss_margin", "loss_relations", "loss_without_person")


def means(y: list[Any], region: list[str], loss: Any = None) -> list[float]:
    file = pl.DataFrame({"region": region, "y": y})
    release = cf.Plan([], numeric=["y"] if file["y"].dtype.is_numeric() else []).protect(file, seed=1)
    found = cf.Intruder(knows="region").attack(release).guess("y", loss)
    return [float(found.frame[n].mean()) for n in LOSSES]  # type: ignore[arg-type]


def regions(n: int, size: int) -> list[str]:
    return [f"r{i // size}" for i in range(n)]


@pytest.mark.parametrize("size", [20, 100, 1000])
def test_as_many_of_each(size: int) -> None:
    """500 and 500, half in every region: 0.5 each, and nothing is added."""
    assert means(["yes", "no"] * 500, regions(1000, size)) == pytest.approx([0.5] * 4)


def test_one_more_of_one() -> None:
    """501 and 500: the margin guesses the larger one."""
    found = means([*["yes", "no"] * 500, "yes"], ["r"] * 1001)
    assert found[:2] == pytest.approx([500 / 1001] * 2)


def test_three_of_each_value() -> None:
    assert means(["a", "b", "c"] * 300, regions(900, 90)) == pytest.approx([2 / 3] * 4)


def test_half_above_a_limit() -> None:
    """Declared half: a right one gains what a wrong one costs."""
    assert means([1.0, 2.0] * 500, regions(1000, 20), cf.Exceeds(limit=1.5, cost=1, gain=1)) == pytest.approx([0.0] * 4)


def test_unique_people_without_their_record() -> None:
    """No record is left without the own one: what is believed, which knows no side either."""
    found = means(["yes", "no"] * 200, [f"r{i}" for i in range(400)])
    assert found == pytest.approx([0.0, 0.5, 0.5, 0.5])


def test_clear_modes_stay() -> None:
    """Three quarters yes: guesses of all baselines are as before."""
    y = np.array(["yes", "yes", "no", "yes"] * 100).tolist()
    assert means(y, regions(400, 40)) == pytest.approx([0.25] * 4)
