"""Where classes do not tell the risk, the best few nodes are attacked."""

from __future__ import annotations

import pytest

import confide as cf

HEADS = cf.demo("heads").head(600)
LEVELS = {"race": cf.Hierarchy(), "age": cf.Hierarchy(widths=[10, 20])}
WHO = cf.Intruder(knows=["sex", "race", "age"])


def test_random_steps_are_attacked_with_seeds() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.6)], identifiers="id")
    found = cf.generalise(
        HEADS, hierarchies=LEVELS, until={"expected_matches": 30}, intruders=WHO, plan=plan, seed=1, repeats=2
    )
    assert found.optimum is not None
    assert found.optimum.risks["expected_matches"].mean <= 30
    assert found.frame["attacked_meets"].drop_nulls().any()
    assert "Attacks were needed, since the plan has steps that are not coarsenings." in found.reason
    tried = found.frame.filter(found.frame["attacked_meets"])
    assert found.loss == pytest.approx(tried["attacked_entropy_lost"].min())
    assert found.chart().to_dict()
    assert not found.complete
    race = [s for s in found.plan.steps if isinstance(s, cf.Swap)]
    assert bool(race) == (found.best["race"] == "as it is")


def test_few_tries_are_told() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.1)], identifiers="id")
    found = cf.generalise(
        HEADS, hierarchies=LEVELS, until={"found_share": 0.01}, intruders={"near": WHO}, plan=plan, seed=1, repeats=2,
        tries=1,
    )  # fmt: skip
    assert "2 of them attacked" in found.reason
    assert "that may lose less were not" in found.reason


def test_an_unsure_intruder_is_attacked() -> None:
    who = cf.Intruder(knows=["sex", "age"], membership=cf.Unsure(total=12_000))
    found = cf.generalise(
        HEADS, hierarchies={"age": LEVELS["age"]}, until={"found": 5}, intruders=who, seed=1, repeats=1
    )
    assert "does not know for certain who is in the file" in found.reason
    levels = {0: [], 1: [cf.Recode("age", width=10)], 2: [cf.Recode("age", width=20)]}
    risks = {k: who.attack(cf.Plan(steps).protect(HEADS, seed=1)).summary().found for k, steps in levels.items()}
    best = min(k for k, risk in risks.items() if risk is not None and risk <= 5)
    assert best < 2  # by coarsening alone nothing but leaving age out would do
    assert found.levels["number"].to_list() == [best]


def test_limits_that_no_attack_meets() -> None:
    plan = cf.Plan([cf.Swap("race", rate=0.1)], identifiers="id")
    with pytest.raises(cf.InputError, match="expected_matches"):
        cf.generalise(
            HEADS, hierarchies={"age": cf.Hierarchy(widths=[5], hide=False)}, until={"expected_matches": 1},
            intruders=WHO, plan=plan, seed=1, repeats=1, tries=2,
        )  # fmt: skip


FIVE = cf.demo("heads").sample(500, seed=3)
V = ["age", "sex", "race"]
THREE = {"age": cf.Hierarchy(widths=[5, 10, 20]), "sex": cf.Hierarchy(), "race": cf.Hierarchy()}


@pytest.mark.parametrize("limit", [3, 14, 20])
def test_a_step_goes_on_without_a_key_that_is_left_out(limit: float) -> None:
    plan = cf.Plan([cf.LocalSuppression(V, k=3, importance={"age": 2})], identifiers="id")
    found = cf.generalise(
        FIVE, hierarchies=THREE, until={"expected_matches": limit}, intruders=cf.Intruder(knows=V), plan=plan, seed=1,
        repeats=1, tries=1,
    )  # fmt: skip
    assert found.best["age"] == "left out"
    (step,) = found.plan.steps
    assert isinstance(step, cf.LocalSuppression)
    assert set(step.variables) == {v for v in V if found.best[v] != "left out"}
    assert step.importance is None
    attack = cf.Intruder(knows=list(step.variables)).attack(found.plan.protect(FIVE, seed=5))
    assert attack.summary().expected_matches <= limit
    assert "could not be attacked" not in found.reason


def test_a_joint_swap_goes_on_too() -> None:
    plan = cf.Plan([cf.Swap(["race", "age"], rate=0.3)], identifiers="id")
    found = cf.generalise(
        HEADS, hierarchies=LEVELS, until={"expected_matches": 20}, intruders=WHO, plan=plan, seed=1, repeats=1, tries=1
    )
    assert found.best == {"race": "as it is", "age": "left out"}
    assert found.plan.steps == (cf.Swap("race", rate=0.3),)


NOISE = cf.Noise(["age", "hh_income"], sd={"age": 3, "hh_income": 100}, correlation=[[1, 0.3], [0.3, 1]])


def test_nodes_that_cannot_be_carried_out_are_told_and_passed_over() -> None:
    plan = cf.Plan([NOISE], identifiers="id")
    levels = {"sex": cf.Hierarchy(), "race": cf.Hierarchy(), "age": cf.Hierarchy()}
    for limit in (13, 25):
        found = cf.generalise(
            HEADS, hierarchies=levels, until={"expected_matches": limit}, intruders=WHO, plan=plan, seed=1, repeats=1
        )
        assert found.best["age"] != "left out"
        assert "could not be attacked, since the plan cannot be carried out there; the first: Noise" in found.reason


def test_a_limit_that_is_met_nowhere_tells_of_nodes_that_could_not_be_attacked() -> None:
    plan = cf.Plan([NOISE], identifiers="id")
    with pytest.raises(cf.InputError, match=r"expected_matches is .* could not be attacked"):
        cf.generalise(
            HEADS, hierarchies={"age": cf.Hierarchy()}, until={"expected_matches": 1.5}, intruders=WHO,
            plan=plan, seed=1, repeats=1,
        )  # fmt: skip


def test_coarser_nodes_are_attacked_where_coarsening_alone_misleads() -> None:
    plan = cf.Plan([cf.Sample(0.5)], identifiers="id")
    levels = {"age": cf.Hierarchy(widths=[5, 10, 20]), "sex": cf.Hierarchy(), "race": cf.Hierarchy()}
    who = cf.Intruder(knows=V)
    limit = 30  # ages in twenties have fewer in the file, and more in a sample of it
    coarse = cf.Plan([cf.Recode("age", width=20), cf.Sample(0.5)], identifiers="id").protect(HEADS, seed=1)
    assert who.attack(coarse).summary().over_threshold > limit
    found = cf.generalise(
        HEADS, hierarchies=levels, until={"over_threshold": limit}, intruders=who, plan=plan, seed=1, repeats=2, tries=6
    )
    assert found.best["age"] == "left out"
    assert found.optimum is not None
    assert found.optimum.risks["over_threshold"].mean <= limit
    assert "but not with the plan, so that coarser ones were attacked too" in found.reason
    with pytest.raises(cf.InputError, match=r"comes nearest: .* of 20 combinations of levels were attacked"):
        cf.generalise(
            HEADS, hierarchies=levels, until={"expected_matches": 0}, intruders=who, plan=plan, seed=1, repeats=1,
            tries=6,
        )  # fmt: skip
