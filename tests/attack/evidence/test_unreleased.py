"""Variables that the intruder knows and the release does not have: no evidence, and the attack goes on with the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from tests.helpers.panels import panel

HEADS = cf.demo("heads").head(800)
KEYS = ["sex", "race", "marital", "age"]
SWAPPED = [cf.Recode("age", width=10), cf.Swap("race", rate=0.3)]
DROPPED = cf.Plan(SWAPPED, identifiers="id", drop="state").protect(HEADS, seed=1)
ENDS = HEADS.with_columns(low=pl.lit(0), high=(pl.col("hh_income") > 50_000) * 1_000_000 + 50_000)


def same(stated: dict[str, Any], left: dict[str, Any], release: Any = DROPPED, **given: Any) -> cf.Attack:
    """An attack on what is left is that of somebody who knows no more."""
    found = cf.Intruder(**stated).attack(release, **given)
    assert isinstance(found, cf.Attack)
    expected = cf.Intruder(**left).attack(release, **given)
    assert_frame_equal(found.units, expected.units, rel_tol=1e-12, abs_tol=0)
    return found


@pytest.mark.parametrize("level", ["informed", "exact", "naive"])
@pytest.mark.parametrize("membership", ["certain", "in_file", cf.Unsure(total=5_000), cf.Unsure(population=HEADS)])
def test_as_somebody_who_does_not_know_it(level: str, membership: Any) -> None:
    how = {"available": level, "unavailable": level, "others": level, "membership": membership}
    found = same({"knows": ["state", *KEYS], **how}, {"knows": KEYS, **how})
    assert found.intruder.knows == ("state", *KEYS)


def test_mistakes_and_missing_values_of_it_are_left_out_too() -> None:
    known = {"errors": {"state": 0.1, "age": 2.0}, "knows_missing": ["state"]}
    same({"knows": ["state", *KEYS], **known}, {"knows": KEYS, "errors": {"age": 2.0}, "knows_missing": False})


def test_intervals_of_others_go_on() -> None:
    between = {"hh_income": ("low", "high")}
    same({"knows": ["state", *KEYS], "between": between}, {"knows": KEYS, "between": between}, targets=ENDS)
    release = cf.Plan(SWAPPED, identifiers="id", drop="hh_income").protect(HEADS, seed=1)
    found = same({"knows": KEYS, "between": between}, {"knows": KEYS}, release, targets=ENDS)
    assert ("hh_income", "interval") in [(t.variable, t.knowledge) for t in found.treatments]


def test_units_and_copies_go_on() -> None:
    frame = panel(100)
    plan = cf.Plan([cf.Swap("job", rate=0.2)], drop="region", unit="household")
    same({"knows": ["region", "sex", "job"]}, {"knows": ["sex", "job"]}, plan.protect(frame, seed=1))
    copies = cf.Plan(SWAPPED, identifiers="id", drop="state").protect(HEADS, seed=1, copies=2)
    same({"knows": ["state", *KEYS]}, {"knows": KEYS}, copies)


def test_a_group_that_is_not_released_is_no_evidence() -> None:
    release = cf.Plan([cf.Swap("race", rate=0.3, within="state")], identifiers="id", drop="state").protect(
        HEADS, seed=1
    )
    same({"knows": ["state", *KEYS]}, {"knows": KEYS}, release)


@pytest.mark.parametrize("membership", ["certain", "in_file", cf.Unsure(total=8_000)])
@pytest.mark.parametrize("level", ["informed", "exact", "naive"])
def test_nothing_left_makes_everybody_a_candidate(membership: Any, level: str) -> None:
    release = cf.Plan([cf.Swap("hh_income", rate=0.3)], identifiers="id", drop=KEYS).protect(HEADS, seed=1)
    attack = cf.Intruder.at(level, knows=KEYS, membership=membership).attack(release)
    share = 0.1 if isinstance(membership, cf.Unsure) else 1.0
    assert (attack.units["candidates"] == 800).all()
    np.testing.assert_allclose(attack.units["p_max"], share / 800, rtol=1e-9)
    assert attack.summary().found == pytest.approx(share)
    assert attack.posterior(3).height == 800


def test_the_printout_says_so() -> None:
    lines = str(cf.Intruder(knows=["state", *KEYS]).attack(DROPPED)).splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("state")] == [
        "state known not released no evidence"
    ]


def test_an_adopted_file_that_lacks_a_variable() -> None:
    released = HEADS.select("sex", "race", "age")
    release = cf.Release.adopt(HEADS, released, cf.Plan([]), link=np.arange(800))
    same({"knows": ["sex", "race", "marital"]}, {"knows": ["sex", "race"]}, release)
    blind = cf.Release.adopt(HEADS, released, link=np.arange(800))
    same({"knows": ["sex", "marital"], "available": "naive"}, {"knows": ["sex"], "available": "naive"}, blind)


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(cf.InputError, match=r'no column "stat"\. Did you mean "state"'):
        cf.Intruder(knows=["stat", "sex"]).attack(DROPPED)
    with pytest.raises(cf.InputError, match='"id" is an identifier'):
        cf.Intruder(knows=["id", "sex"]).attack(DROPPED)
    renamed = cf.Release.adopt(HEADS, HEADS.select("sex", Age="age"), link=np.arange(800))
    with pytest.raises(cf.InputError, match='"age" is not released, but "Age" is'):
        cf.Intruder(knows=["age", "sex"], available="naive").attack(renamed)


@pytest.mark.slow
@pytest.mark.parametrize("drop", ["state", "age"])
@pytest.mark.parametrize("level", ["informed", "exact"])
def test_claims_are_right_where_a_known_variable_is_dropped(drop: str, level: str) -> None:
    heads = cf.demo("heads").head(12_000)
    steps = [cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
    plan = cf.Plan(steps, identifiers="id", drop=[drop])
    who = cf.Intruder.at(level, knows=[*KEYS, "state"])
    units = [who.attack(plan.protect(heads, seed=seed)).units for seed in range(4)]
    found = cf.calibrate(units)
    assert abs(found.z) < 3.5
    assert abs(found.claimed / found.true - 1) < 0.1
