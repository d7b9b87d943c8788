"""The person's own value is not handed back: beliefs, margins and shares count the others only."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf


def guessed(file: pl.DataFrame, steps: list[Any], variable: str, loss: Any = None, knows: str = "k") -> cf.Guess:
    numeric = [variable] if file[variable].dtype.is_numeric() else []
    release = cf.Plan(steps, numeric=numeric).protect(file, seed=1)
    return cf.Intruder(knows=knows).attack(release).guess(variable, loss)


def far_away() -> pl.DataFrame:
    """500 people between 100 and 599, and one whom nobody is near."""
    return pl.DataFrame({"k": [f"p{i}" for i in range(501)], "y": [*map(float, range(100, 600)), 123456.0]})


@pytest.mark.parametrize(
    ("step", "point"), [(cf.Topcode("y", at=1000), 1000.0), (cf.Recode("y", width=1000), 123500.0)]
)
def test_a_value_that_nobody_else_has(step: Any, point: float) -> None:
    """The limit of a topcode, the middle of a group: what the method says, and no more."""
    found = guessed(far_away(), [step], "y")
    assert found.predictive(500).rows() == [(point, pytest.approx(1.0))]
    assert found.frame["loss"][500] == pytest.approx(abs(123456 - point))
    assert found.frame["p_true_value"][500] == 0
    assert found.rest["p_relations"][500] == found.rest["p_margin"][500] == 0


def test_noise_on_a_value_that_nobody_is_near() -> None:
    release = cf.Plan([cf.Noise("y", sd=5000)], numeric=["y"]).protect(far_away(), seed=1)
    shown = float(release.data.filter(pl.col("k") == "p500")["y"][0])
    found = cf.Intruder(knows="k").attack(release).guess("y")
    assert shown != 123456
    assert found.predictive(500).rows() == [(shown, pytest.approx(1.0))]
    assert found.rest["p_margin"][500] == 0


def test_values_below_a_topcode_are_still_said() -> None:
    found = guessed(far_away(), [cf.Topcode("y", at=1000)], "y")
    assert found.frame["loss"][:500].max() == 0
    assert found.frame["p_true_value"][:500].to_numpy() == pytest.approx(1.0)


def test_a_category_of_one_person() -> None:
    file = pl.DataFrame({"k": [f"p{i}" for i in range(60)], "job": ["nurse"] * 30 + ["cook"] * 29 + ["astronaut"]})
    both = guessed(file, [cf.Recode("job", mapping={"astronaut": "other", "cook": "other"})], "job")
    assert both.predictive(59).rows() == [("cook", pytest.approx(1.0))]
    alone = guessed(file, [cf.Recode("job", mapping={"astronaut": "other"})], "job")
    assert alone.predictive(59)["value"].to_list() == ["cook", "nurse"]  # what is believed
    assert alone.frame["p_true_value"][59] == alone.rest["p_relations"][59] == alone.rest["p_margin"][59] == 0
    shown = guessed(file, [cf.Recode("job", mapping={"cook": "other"})], "job")
    assert shown.predictive(59).rows() == [("astronaut", pytest.approx(1.0))]  # released as it is


@pytest.mark.parametrize("step", [cf.Noise("y", sd=5000), cf.Recode("y", width=20_000), cf.Topcode("y", at=60_000)])
def test_unique_numbers_have_no_mass_of_their_own(step: Any) -> None:
    """Everybody's value is unique: nothing but the own row holds it, in bins, nodes and shares."""
    y = np.round(np.random.default_rng(3).lognormal(10, 1, 700), 2)
    found = guessed(pl.DataFrame({"k": [f"p{i}" for i in range(700)], "y": y}), [step], "y")
    hidden = np.ones(700, dtype=bool) if not isinstance(step, cf.Topcode) else y > 60_000
    assert len(np.unique(y)) == 700
    assert found.frame["p_true_value"].to_numpy()[hidden].max() == 0
    assert found.rest["p_margin"].max() == found.rest["p_relations"].max() == 0
    assert found.frame["loss"].to_numpy()[hidden].min() > 0


def test_the_margin_of_the_others_within_a_bin() -> None:
    """(n_y - 1[y = y_t]) / (n - 1), smoothed by one record over the bins as ever."""
    y = np.repeat(np.arange(1.0, 101), 3)
    found = guessed(pl.DataFrame({"k": [f"p{i}" for i in range(300)], "y": y}), [], "y")
    assert found.rest["p_margin"] == pytest.approx(2 / 299, rel=0.2)
    law = guessed(pl.DataFrame({"k": [f"p{i}" for i in range(300)], "y": y}), [cf.Topcode("y", at=90)], "y")
    assert dict(law.predictive(299).iter_rows())[100.0] == pytest.approx(2 / 32, rel=0.25)


@pytest.mark.parametrize("n", [400, 1000, 3000])
def test_a_topcoded_tail_keeps_its_values(n: int) -> None:
    """20 above the topcode: each of the other 19 and the limit, whatever lies below, and expected loss as true loss."""
    y = np.round(np.random.default_rng(3).lognormal(10, 1, n), 2)
    limit = float(np.sort(y)[-21])
    found = guessed(pl.DataFrame({"k": [f"p{i}" for i in range(n)], "y": y}), [cf.Topcode("y", at=limit)], "y")
    above = np.flatnonzero(y > limit)
    assert len(found.predictive(int(above[0]))) == 20
    rows = found.frame[above]
    assert rows["expected_loss"].min() > 0
    assert rows["expected_loss"].sum() == pytest.approx(rows["loss"].sum(), rel=0.25)
