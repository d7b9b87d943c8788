"""A part of the targets: sums are those of a summary, and estimates are right on average."""

from __future__ import annotations

import numpy as np
import pytest

import confide as cf
from confide.attack.results.units import all_released
from confide.measure.risk.identification import summarise
from confide.study.improve.glimpse import Drawn, Looking, per_target
from confide.study.statement.study import Study

HEADS = cf.demo("heads").head(400)
PLAN = cf.Plan([cf.Swap("race", rate=0.3), cf.Recode("age", width=5)], identifiers=["id"], weight="weight")
RISKS = ("found", "expected_matches", "over_threshold", "claimed_matches", "unique_declared", "unique_matches")


@pytest.mark.parametrize("membership", ["certain", "in_file", cf.Unsure(weights="weight")], ids=str)
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_what_targets_add_is_what_a_summary_has(membership: object, share: float) -> None:
    plan = PLAN if share == 1 else cf.Plan([*PLAN.steps, cf.Sample(share)], identifiers=["id"], weight="weight")
    who = cf.Intruder(knows=["sex", "race", "age"], membership=membership)  # type: ignore[arg-type]
    units = who.attack(plan.protect(HEADS, seed=1)).units
    numbers = summarise(units, 0.2).to_dict()
    for risk in RISKS:
        assert per_target(units, risk, 0.2, all_released(units)).sum() == pytest.approx(numbers[risk])


@pytest.mark.parametrize("membership", ["certain", "in_file", cf.Unsure(weights="weight")], ids=str)
def test_all_targets_give_the_very_risk(membership: object) -> None:
    who = cf.Intruder.at("naive", knows=["sex", "race", "age"], membership="certain")
    if membership != "certain":
        who = cf.Intruder(knows=["sex", "age"], membership=membership)  # type: ignore[arg-type]
    plan = cf.Plan([*PLAN.steps, cf.Sample(0.5)], identifiers=["id"], weight="weight")
    study = Study(HEADS, {"a": plan}, {"who": who}, ["hellinger"], seed=1)
    everybody = Drawn(np.arange(400), np.ones(400))
    release = plan.protect(study.source, seed=5, draws="shared")
    summary = who.attack(release).summary(0.2)
    seen = Looking(study, "found", study.measures[0]).at(plan, everybody, 5, 1)
    assert seen.risk == pytest.approx(summary.found)
    share = Looking(study, "found_share", study.measures[0]).at(plan, everybody, 5, 1)
    assert share.risk == pytest.approx(summary.found_share)


def test_the_strongest_level_is_that_of_all_people() -> None:
    """Those at risk are drawn more often, and must not decide which level finds most."""
    who = cf.Intruder(knows=["sex", "race", "age"])
    study = Study(HEADS, {"a": PLAN}, {"who": who}, ["hellinger"], seed=1)
    release, rows = PLAN.protect(study.source, seed=5, draws="shared"), np.arange(0, 400, 3)
    weight = np.linspace(1, 9, len(rows))
    seen, added, _ = next(Looking(study, "found", study.measures[0])._levels(who, release, rows, weight, 1, True))
    assert seen == pytest.approx(added @ weight)


def test_estimates_are_right_on_average_and_errors_as_stated() -> None:
    rng = np.random.default_rng(1)
    before, after = rng.random(2000) ** 4, rng.random(2000) ** 6
    found, errors = [], []
    for seed in range(300):
        drawn = Drawn.of(before, 200, seed)
        gap = (before - after)[drawn.rows] / drawn.chance
        found.append(gap.sum())
        errors.append((gap**2).sum())
    truth = (before - after).sum()
    assert np.mean(found) == pytest.approx(truth, abs=4 * np.std(found) / 300**0.5)
    assert 0.9 < np.var(found) / np.mean(errors) < 1.1 + 0.2
    assert np.sqrt(np.mean(errors)) > 0.9 * np.std(found)


def test_those_at_risk_are_drawn_more_often() -> None:
    risk = np.where(np.arange(10_000) < 100, 1.0, 0.0)
    drawn = Drawn.of(risk, 500, 1)
    assert 300 < len(drawn.rows) < 400  # half of 500 by risk, of whom there are only 100
    assert (drawn.rows < 100).sum() == 100  # each has a chance above 1
    assert Drawn.of(risk, 20_000, 1).chance.min() == 1
