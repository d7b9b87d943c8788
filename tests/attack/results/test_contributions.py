"""Contributions and coarsenings of a whole file: the same as person by person, and as releases made anew."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.results import contributions as contributions_file
from confide.attack.results.attack import Attack

KEYS = ["sex", "race", "age"]
SWAPS = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3)]


@cache
def heads(n: int = 300) -> pl.DataFrame:
    return cf.demo("heads").head(n)


def attacked(steps: list[Any], **options: Any) -> Attack:
    release = cf.Plan(steps, identifiers=["id"]).protect(options.pop("data", heads()), seed=1)
    found = cf.Intruder(knows=options.pop("knows", KEYS), **options).attack(release)
    assert isinstance(found, Attack)
    return found


def test_the_file_has_the_mean_over_people() -> None:
    attack = attacked(SWAPS, data=heads(60))
    found = attack.contributions("race")
    each = [dict(attack.explain(t).nats.frame.select("variable", "nats").rows()) for t in range(60)]
    race = heads(60)["race"].gather(attack.truth).to_list()
    for by, group, people, looked, total, variable, nats, error in found.frame.rows():
        mine = [e[variable] for e, r in zip(each, race, strict=True) if by is None or r == group]
        assert (people, looked, error) == (len(mine), len(mine), 0.0)
        assert nats == pytest.approx(np.mean(mine), abs=1e-9)
        part = found.frame.filter(pl.col("group") == group, pl.col("by").eq_missing(by))
        assert part["nats"].sum() == pytest.approx(total, abs=1e-9)
    assert found.summary()["nats"].is_sorted(descending=True)
    assert found.out == 0


def test_a_sample_comes_near_and_knows_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    attack = attacked(SWAPS, data=heads(1_500))
    every = attack.contributions("race", most=None).frame
    monkeypatch.setattr(contributions_file, "LEAST", 100)
    some = attack.contributions("race", most=200).frame
    both = every.join(some, on=["by", "group", "variable"], nulls_equal=True, suffix="_some")
    assert both.height == every.height
    assert (both["looked_at_some"] < both["people"]).any()
    assert ((both["nats"] - both["nats_some"]).abs() <= 4.5 * both["error_some"] + 1e-9).all()
    small = some.filter(pl.col("people") <= 100)
    assert small.height
    assert set(small["error"]) == {0.0}  # all of its people were looked at
    text = str(attack.contributions(most=50))
    assert "50 of them at random" in text
    assert "+-" in text


def test_targets_of_one_s_own_and_people_who_are_not_there() -> None:
    release = cf.Plan(SWAPS, identifiers=["id"]).protect(heads(), seed=1)
    targets = heads().head(12)
    attack = cf.Intruder(knows=KEYS).attack(release, targets, truth=[-1, *range(1, 12)])
    found = attack.contributions("race")
    assert (found.out, found.targets) == (1, 12)
    assert "Left out: 1 of 12" in str(found)
    expected = np.mean([attack.explain(t).nats.total for t in range(1, 12)])
    assert found.frame["total"][0] == pytest.approx(expected, abs=1e-9)


def test_what_the_release_adds_beyond_the_known_variables_comes_last() -> None:
    attack = attacked([cf.Noise("age", sd=3), cf.Swap("marital", rate=0.3)], knows=["sex", "age"])
    found = attack.contributions()
    assert found.frame["variable"][-1] == "(not known)"
    assert found.frame["nats"].sum() == pytest.approx(found.frame["total"][0], abs=1e-9)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "rage"}, 'no column "rage" in the original. Did you mean'),
        ({"by": 3}, "by"),
        ({"most": 3}, "most is a whole number from 10"),
        ({"most": True}, "most is a whole number from 10"),
    ],
)
def test_mistakes_are_said(options: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said):
        attacked([]).contributions(**options)


def test_without_truth_there_is_nothing_to_explain() -> None:
    release = cf.Release.adopt(heads(), heads().drop("id"))
    attack = cf.Intruder.at("naive", knows=KEYS).attack(release)
    with pytest.raises(cf.InputError, match="own record"):
        attack.contributions()


def test_clearing_is_what_a_release_with_the_step_shows() -> None:
    attack = attacked([cf.Recode("race", mapping={"Black": "other", "Asian or Pacific": "other"})], data=heads(600))
    found = attack.clearing(0.25)
    over = attack.units["p_max"].to_numpy() > 0.25 * (1 + 1e-9)
    assert found.over == over.sum()
    assert found.frame.height > 8
    assert attack.release.plan is not None
    for row, step in zip(found.frame.drop("coarsening").rows(), found.steps, strict=True):
        variable, cleared, raised, left, p_max = row
        plan = attack.release.plan
        knows = [v for v in KEYS if step is not None or v != variable]
        again = cf.Plan([*plan.steps, *([step] if step else [])], identifiers=["id"]).protect(heads(600), seed=9)
        units = cf.Intruder(knows=knows).attack(again).units
        still = units["p_max"].to_numpy() > 0.25 * (1 + 1e-9)
        assert (cleared, raised, left) == ((over & ~still).sum(), (still & ~over).sum(), still.sum())
        assert p_max == pytest.approx(units["p_max"].max())
    assert found.best["variable"].is_unique().all()
    assert found.best["over"].is_sorted()


def test_a_wider_recode_takes_the_place_of_the_narrow_one() -> None:
    attack = attacked(SWAPS)
    found = attack.clearing(0.05)
    ages = found.frame.filter(variable="age")
    assert ages["coarsening"].to_list() == ["age in steps of 20", "age in steps of 50", "age left out"]
    assert found.over - ages["cleared"][-1] + ages["raised"][-1] == ages["over"][-1]
    assert "are above 0.05" in str(found)


def test_nobody_over_the_limit_and_variables_that_cannot_change() -> None:
    calm = attacked([cf.Recode("age", width=50)], knows=["sex", "age"]).clearing(0.9)
    assert calm.frame.is_empty()
    assert "nobody" in str(calm)
    fixed = attacked([cf.Swap("race", rate=0.3, within=["sex"])]).clearing(0.05)
    assert set(fixed.refused) == {"sex"}
    assert "Not tried: sex made coarser: Swap reads it." in str(fixed)
    noisy = attacked([cf.Noise("hh_income", sd=900, bounds=(0, 90_000), keep_zeros=True), cf.Topcode("hh_income", at=90_000)],
                     knows=["sex", "hh_income"]).clearing(0.05)  # fmt: skip
    assert "Not tried: hh_income made coarser: Noise" in str(noisy)
    assert "hh_income left out" in noisy.frame["coarsening"].to_list()
    unknown = cf.Intruder.at("naive", knows=KEYS).attack(cf.Release.adopt(heads(), heads().drop("id")))
    assert set(unknown.clearing(0.1).refused) == set(KEYS)
    with pytest.raises(cf.InputError, match="limit"):
        attacked([]).clearing(20)
    with pytest.raises(cf.InputError, match="limit must be above 0"):
        attacked([]).clearing(0)
    for orders in (-1, 0, True):
        with pytest.raises(cf.InputError, match="orders is a whole number from 4"):
            attacked([]).contributions(orders=orders)


def test_clearing_of_a_plan_that_draws_says_that_figures_are_of_this_release() -> None:
    drawn, certain = attacked(SWAPS).clearing(0.05), attacked([]).clearing(0.2)
    assert drawn.best.height
    assert certain.best.height
    assert "a plan with the step added draws anew" in str(drawn)
    assert "a plan with the step added draws anew" in drawn._repr_html_()
    assert "draws anew" not in str(certain) + certain._repr_html_()


def test_pictures_are_drawn() -> None:
    attack = attacked(SWAPS)
    for result in (attack.contributions(), attack.contributions("race"), attack.clearing(0.1), attack.explain(3).nats):
        assert result.chart().to_dict()["title"]["text"]
        assert "<table" in result._repr_html_()
    many = attacked([], knows=["sex", "race", "age", "marital", "educ", "tenure", "state"])
    parts = many.contributions("sex").chart().to_dict()
    assert "(others)" in str(parts)
    assert attacked([cf.Recode("age", width=50)], knows=["sex"]).clearing(0.9).chart().to_dict()
