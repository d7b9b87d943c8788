"""How many people could be the target: estimated, in proportion, counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError

PEOPLE = 1_016_437
KEYS = ["state", "sex", "race", "marital", "age"]
FIVES, TENS = cf.Recode("age", width=5), cf.Recode("age", width=10)
PLANS: dict[str, list[Any]] = {
    "fives": [FIVES],
    "tens": [TENS],
    "fives, swap state 10": [FIVES, cf.Swap("state", rate=0.1)],
    "fives, swap state 50": [FIVES, cf.Swap("state", rate=0.5)],
    "fives, swap race 10": [FIVES, cf.Swap("race", rate=0.1)],
    "fives, pram marital": [FIVES, cf.Pram("marital", retention=0.8)],
    "sample, fives": [cf.Sample(0.5), FIVES],
    "sample, tens, swap state 20": [cf.Sample(0.5), TENS, cf.Swap("state", rate=0.2)],
}


def claimed(release: cf.Release, membership: cf.Unsure) -> float:
    units = cf.Intruder(knows=KEYS, membership=membership).attack(release, threads=1).units
    return float(units["p_max"].sum())


@pytest.mark.slow
def test_claims_and_the_order_of_plans_are_those_of_the_true_population() -> None:
    heads, population = cf.demo("heads"), cf.demo("heads_population")
    found = []
    for steps in PLANS.values():
        per = PEOPLE / heads.height
        release = cf.Plan(steps, identifiers=["id"]).protect(heads.with_columns(weight=pl.lit(per)), seed=1)
        found.append([
            claimed(release, cf.Unsure(population=population, count="n_pop")),
            claimed(release, cf.Unsure(total=PEOPLE)), claimed(release, cf.Unsure(weights="weight")),
            claimed(release, cf.Unsure(total=PEOPLE, model="proportional")),
        ])  # fmt: skip
    truth, total, weights, plain = np.array(found).T
    np.testing.assert_allclose(total, truth, rtol=0.06)
    np.testing.assert_allclose(weights, total, rtol=1e-9)
    np.testing.assert_array_equal(np.argsort(total), np.argsort(truth))
    assert plain[0] < plain[2]
    assert truth[0] > truth[2]


@pytest.mark.parametrize("knows", [["hh_income"], ["property_value"], ["sex", "age", "hh_income"]])
def test_numbers_that_are_released_as_they_are(knows: list[str]) -> None:
    """Heaps and values that one person has: claims are those of the true population, for both kinds of targets."""
    heads = cf.demo("heads")
    release = cf.Plan([], identifiers=["id"]).protect(heads.sample(5_000, seed=3), seed=1)
    known = cf.Unsure(population=heads)
    for targets, within in ((None, 0.09), (heads, 0.09)):
        model = attacked(cf.Unsure(total=heads.height), release, knows, targets=targets)
        truth = attacked(known, release, knows, targets=targets)
        assert model.people[0].binned == (knows[-1],)
        assert model.units["p_max"].sum() == pytest.approx(truth.units["p_max"].sum(), rel=within)


SMALL = cf.demo("heads").head(4_000)
PLAN = cf.Plan([FIVES, cf.Swap("race", rate=0.2)], identifiers=["id"])
RELEASE = PLAN.protect(SMALL, seed=1)
KNOWN = ["state", "sex", "race", "age"]


def attacked(membership: Any, release: cf.Release = RELEASE, knows: Any = KNOWN, **given: Any) -> cf.Attack:
    return cf.Intruder(knows=knows, membership=membership).attack(release, threads=1, **given)


def test_people_behind_records_and_targets_from_the_population() -> None:
    who = cf.Unsure(total=80_000)
    behind = attacked(who)
    again = attacked(who, targets=SMALL.select("id", *KNOWN))
    outside = attacked(who, targets=SMALL.select("id", *KNOWN).with_columns(pl.col("id") + 10**6))
    unknown = attacked(who, targets=SMALL.select(KNOWN))
    assert behind.people[0].behind
    assert again.units["p_max"].to_list() == behind.units["p_max"].to_list()
    assert not outside.people[0].behind
    np.testing.assert_allclose(outside.units["p_max"], unknown.units["p_max"])
    assert (outside.units["p_max"] <= behind.units["p_max"] + 1e-12).all()
    assert outside.units["p_max"].sum() < behind.units["p_max"].sum()


def test_a_posterior_of_one_target_has_the_same_absence() -> None:
    attack = attacked(cf.Unsure(total=80_000))
    for target in (0, 7, 1234):
        p = attack.posterior(target)["p"]
        assert p.max() == pytest.approx(attack.units["p_max"][target])
        assert p.sum() + attack.units["p_absent"][target] == pytest.approx(1)


def test_nothing_certain_is_one_block_of_everybody() -> None:
    release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(SMALL, seed=1)
    one, two = (attacked(cf.Unsure(total=50_000, model=m), release, "race") for m in ("loglinear", "proportional"))
    assert not one.people
    assert one.units.equals(two.units)
    assert "everybody, since nothing that is known is certain" in repr(one)


def test_intervals_and_missing_values() -> None:
    low = SMALL.with_columns(low=pl.col("age") - 3, high=pl.col("age") + 8).head(60)
    targets = low.with_columns(sex=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise("sex"))
    who = cf.Intruder(knows=["state", "sex"], between={"age": ("low", "high")}, membership=cf.Unsure(total=80_000))
    attack = who.attack(RELEASE, targets, threads=1)
    assert len(attack.people) > 5
    assert "The first of" in repr(attack)
    assert attack.units["p_absent"].is_between(0, 1).all()
    assert attack.units["p_absent"].mean() == pytest.approx(0.95, abs=0.02)


def test_what_n_t_rests_on_is_printed() -> None:
    text = " ".join(repr(attacked(cf.Unsure(total=80_000))).split())
    assert "N_t, the people who could be the target: estimated, 1 / E(1/F), for the people behind records" in text
    assert "by a Poisson log-linear model of state, sex, age in the release, 5.00% of the population; pairs:" in text
    assert "z1 " in text
    outside = " ".join(repr(attacked(cf.Unsure(total=80_000), targets=SMALL.select(KNOWN))).split())
    assert "estimated, E(F), for targets from the population" in outside
    assert "80,000 times the share of records" in repr(attacked(cf.Unsure(total=80_000, model="proportional")))
    assert 'weights "weight" of the records' in repr(attacked(cf.Unsure(weights="weight", model="proportional")))
    assert "counted in the population" in repr(attacked(cf.Unsure(population=SMALL)))
    assert "counted in the original file" in repr(attacked("in_file"))
    assert "N_t" not in repr(attacked("certain"))


def test_a_population_that_is_too_small_somewhere_is_told_from_the_first_record() -> None:
    file = pl.DataFrame({"sex": ["f"] * 30 + ["m"] * 3, "age": [40] * 33})
    release = cf.Plan([]).protect(file, seed=1)

    def found(people: pl.DataFrame) -> cf.Attack:
        return cf.Intruder(knows=["sex"], membership=cf.Unsure(population=people)).attack(release)

    few = found(pl.concat([file.head(31), file.head(30)]))
    assert few.short == 3
    assert "For 3 of 33 released records it has fewer people with the same labels" in " ".join(repr(few).split())
    enough = found(pl.concat([file, file]))
    assert enough.short == 0
    assert "fewer people" not in repr(enough)


def test_weights_that_differ_are_people_per_record() -> None:
    attack = attacked(cf.Unsure(weights="weight"))
    assert attack.people[0].fraction == pytest.approx(4_000 / SMALL["weight"].sum())
    assert attack.units["p_absent"].is_between(0.5, 1).all()


@pytest.mark.parametrize("model", ["loglinear", "proportional"])
def test_a_sample_stands_for_the_same_people(model: str) -> None:
    """The weights that are left no longer add up to the population, so they are raised; sampling is no exposure."""
    even = SMALL.with_columns(weight=pl.lit(20.5))
    total = 20.5 * even.height
    for steps in ([], [cf.Sample(0.5)], [cf.Sample(0.5), cf.Sample(0.2)]):
        release = cf.Plan(steps, identifiers=["id"]).protect(even, seed=1)
        attack = attacked(cf.Unsure(weights="weight", model=model), release)
        equal = attacked(cf.Unsure(total=total, model=model), release)
        assert attack.summary().found_share == pytest.approx(equal.summary().found_share, rel=1e-9)
        assert ("so that they add up to those of the whole file" in " ".join(repr(attack).split())) == bool(steps)
        if model == "loglinear":
            assert attack.people[0].fraction == pytest.approx(release.frame.height / total, rel=1e-9)


def test_weights_that_were_raised_elsewhere_are_left_alone() -> None:
    made = cf.Plan([cf.Sample(0.25)], identifiers=["id"]).protect(SMALL, seed=1)
    raised = made.frame.with_columns(pl.col("weight") * (SMALL["weight"].sum() / made.frame["weight"].sum()))
    found = []
    for frame in (made.frame, raised):
        adopted = cf.Release.adopt(SMALL.drop("id"), frame, None, link=made.link)
        who = cf.Intruder.at("naive", knows=KNOWN, membership=cf.Unsure(weights="weight"))
        found.append(who.attack(adopted, threads=1).units["p_max"])
    np.testing.assert_allclose(*found, rtol=1e-9)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"total": 5, "model": "log"}, 'model is one of loglinear, proportional, not "log"'),
        ({"population": SMALL, "model": "proportional"}, "a population is counted"),
    ],
)
def test_models_that_there_are_not(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        cf.Unsure(**wrong)
