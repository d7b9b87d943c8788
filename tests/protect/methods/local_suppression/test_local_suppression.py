"""LocalSuppression as a step of a plan: what it refuses, what it releases, and what its attack claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.intruder import Intruder
from confide.protect.methods.local_suppression import reading

KEYS = ["sex", "race", "marital", "age"]
HEADS = cf.demo("heads")
SMALL = HEADS.head(1_500)


def protected(frame: pl.DataFrame = SMALL, before: tuple[Any, ...] = (), drop: tuple[str, ...] = (), **how: Any):  # type: ignore[no-untyped-def]
    step = cf.LocalSuppression(how.pop("keys", KEYS), **how)
    return cf.Plan([*before, step], identifiers=["id"], drop=list(drop)).protect(frame, seed=1)


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"k": 1}, "from 2 upwards"),
        ({"k": 0.05}, "a whole number, as 3"),
        ({"k": True}, "a whole number, as 3"),
        ({"rule": "all"}, 'rule is "own" or "wildcard"'),
        ({"how": "best"}, 'how is "greedy" or "exact"'),
        ({"importance": {"educ": 2}}, 'importance names "educ", which is no key'),
        ({"importance": {"sex": -1}}, 'importance of "sex" must be above zero'),
        ({"importance": [1, 2, 3, 4]}, "importance is a table"),
        ({"risk": "p", "above": 10}, "for 10 percent write 0.1"),
        ({"risk": "p"}, "risk goes with above"),
        ({"above": 0.1}, "risk goes with above"),
        ({"subsets": {5: 3}}, "sets of 5 keys, but the step has 4"),
        ({"subsets": {2: 1}}, "k of sets of 2"),
        ({"subsets": {"two": 3}}, "sizes of sets of keys, whole numbers"),
        ({"subsets": 3}, "subsets must be a table"),
        ({"subsets": {}}, "as {3: 5, 2: 10}"),
        ({"how": "exact", "rule": "wildcard"}, 'worked out for rule="own"'),
        ({"how": "exact", "subsets": {2: 3}}, "not for subsets"),
        ({"weight": "age"}, "age cannot be hidden and read at once"),
        ({"weight": 3}, "weight takes the name of a column"),
        ({"risk": [[1.0]], "above": 0.1}, "risk is a column, or one number per record"),
    ],
)
def test_bad_statements_are_sentences(how: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError) as error:
        cf.LocalSuppression(KEYS, **how)
    assert said in str(error.value)


def test_several_mistakes_are_told_together() -> None:
    with pytest.raises(cf.InputError) as error:
        cf.LocalSuppression(KEYS, k=1, rule="all", importance={"sex": 0})
    assert len(error.value.problems) == 3


@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({}, {"k": 5_000}, "more than the 1500 records"),
        ({}, {"keys": ["sex", "id_like"]}, 'no column "id_like"'),
        ({"age": pl.int_range(1_500)}, {}, '"age" has as many values as records'),
        ({"sex": pl.lit(None, dtype=pl.String)}, {}, '"sex" is missing in every record'),
        ({"weight": pl.lit(0.0)}, {"weight": "weight"}, "a number above zero for every record"),
        ({"p": pl.lit("much")}, {"risk": "p", "above": 0.1}, "numbers are needed there"),
        ({"p": pl.lit(None, dtype=pl.Float64)}, {"risk": "p", "above": 0.1}, "an unknown risk is not a low one"),
        ({}, {"risk": [0.5, 0.1], "above": 0.1}, "risk has 2 numbers, but the file has 1500 records"),
        ({}, {"risk": [0.5] * 1_501, "above": 0.1}, "risk has 1501 numbers, but the file has 1500 records"),
        ({}, {"how": "exact"}, "is for small files"),
    ],
)
def test_bad_data_are_sentences(change: dict[str, Any], how: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError) as error:
        protected(SMALL.with_columns(**change), drop=("p",) if "p" in change else (), **how)
    assert said in str(error.value)


def test_an_unknown_risk_is_no_low_one() -> None:
    with pytest.raises(cf.InputError, match="the risk of 1 records is missing"):
        protected(risk=[float("nan"), *[0.1] * 1_499], above=0.2)


def test_a_risk_is_not_released() -> None:
    with pytest.raises(cf.InputError, match='"p"'):
        protected(SMALL.with_columns(p=pl.lit(0.5)), risk="p", above=0.1)


def test_nothing_coarsens_afterwards() -> None:
    with pytest.raises(cf.InputError, match="Coarsen before values are hidden"):
        cf.Plan([cf.LocalSuppression(KEYS), cf.Recode("age", width=5)])


@pytest.mark.parametrize("after", [cf.Sample(0.5), cf.MatrixMask(like=cf.Sample(0.5))])
def test_no_records_leave_afterwards(after: Any) -> None:
    with pytest.raises(cf.InputError, match=f"Put {type(after).__name__} before the step that hides values"):
        cf.Plan([cf.LocalSuppression(KEYS), after])


def test_too_many_variables_for_wildcards() -> None:
    names = [f"v{i}" for i in range(15)]
    with pytest.raises(cf.InputError, match="15 variables are too many"):
        cf.LocalSuppression(names, rule="wildcard")
    cf.LocalSuppression(names, rule="wildcard", subsets={3: 2})


# -- what is released ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
def test_released_values_are_true_or_missing(k: int) -> None:
    release = protected(k=k)
    was, now = SMALL[KEYS][release.link], release.data[KEYS]
    for v in KEYS:
        assert bool((now[v].is_null() | (now[v] == was[v])).all())
    assert int(now.group_by(KEYS).len()["len"].min()) >= k  # type: ignore[arg-type]
    assert release.data["tenure"].to_list() == SMALL["tenure"][release.link].to_list()
    (found,) = release.details
    assert found["hidden"] == {v: now[v].null_count() for v in KEYS}


def test_missing_values_count_as_they_are_released() -> None:
    gaps = SMALL.with_columns(marital=pl.when(pl.col("age") % 7 == 0).then(None).otherwise("marital"))
    release = protected(gaps)
    assert int(release.data.group_by(KEYS).len()["len"].min()) >= 3  # type: ignore[arg-type]
    was = gaps["marital"][release.link]
    assert release.details[0]["hidden"]["marital"] == int((release.data["marital"].is_null() & was.is_not_null()).sum())
    attack = cf.Intruder(knows=KEYS).attack(release)
    assert attack.units["p_max"].max() <= 1 / 3 + 1e-12  # type: ignore[operator]
    assert abs(attack.calibration().z) < 3


def test_importance_and_weights_decide_what_is_hidden() -> None:
    plain, careful = protected().details[0], protected(importance={"age": 50.0}).details[0]
    assert careful["hidden"]["age"] < plain["hidden"]["age"] / 4
    assert careful["below_k"]["own"] == 0
    heavy = SMALL.with_columns(w=pl.when(pl.col("id") % 2 == 0).then(20.0).otherwise(1.0))
    gone = pl.sum_horizontal(pl.col(KEYS).is_null()) * pl.col("w")
    release = protected(heavy, weight="w")
    weighted, every = (each.data.select(gone).sum().item() for each in (release, protected(heavy)))
    assert weighted == pytest.approx(release.details[0]["cost"])
    assert weighted < every


def test_nobody_to_protect_has_no_least_number_of_candidates() -> None:
    release = protected(risk=[0.1] * SMALL.height, above=0.9, rule="wildcard")
    assert release.details[0]["people"] == 0
    assert release.details[0]["least_candidates"] is None
    assert "for some only" not in repr(release)


def test_a_threshold_on_a_risk() -> None:
    attack = cf.Intruder(knows=KEYS).attack(cf.Plan([], identifiers=["id"]).protect(SMALL, seed=1))
    risk = attack.units["p_true"].to_list()
    release = protected(risk=risk, above=0.9)
    high = np.asarray(risk)[release.link] > 0.9
    size = release.data.with_columns(n=pl.len().over(KEYS))["n"].to_numpy()
    assert size[high].min() >= 3
    assert release.details[0]["cells"] < protected().details[0]["cells"]
    assert release.details[0]["people"] == int(high.sum())
    column = SMALL.with_columns(p=pl.Series(risk))
    assert protected(column, risk="p", above=0.9, drop=("p",)).details == release.details


def test_subsets_of_a_size() -> None:
    release = protected(k=3, subsets={4: 2, 2: 8})
    for a in KEYS:
        for b in KEYS:
            if a < b:
                assert int(release.data.group_by([a, b]).len()["len"].min()) >= 8  # type: ignore[arg-type]
    assert int(release.data.group_by(KEYS).len()["len"].min()) >= 2  # type: ignore[arg-type]


@pytest.mark.parametrize("subsets", [{2: 5}, {4: 3, 2: 5}, {3: 3, 2: 5}])
def test_subsets_bound_no_probability_and_say_so(subsets: dict[int, int]) -> None:
    release = protected(HEADS.head(600), subsets=subsets)
    surest = cf.Intruder(knows=["sex", "age"]).attack(release).units["p_max"].max()
    assert surest == pytest.approx(1 / 3)
    (said,) = (each for each in release.cautions if "values are hidden" not in each)  # most ages are, which is said too
    least = int(release.data.group_by(KEYS).len()["len"].min())  # type: ignore[arg-type]
    assert f"only {least} rows show the same in all 4 keys" in said
    assert "surer than 1/5. subsets={4: 5} holds everybody to it." in said
    assert said in repr(release)


@pytest.mark.parametrize("subsets", [{4: 5}, {4: 5, 2: 5}])
def test_k_of_all_keys_bounds_and_is_not_cautioned_against(subsets: dict[int, int]) -> None:
    release = protected(HEADS.head(600), subsets=subsets)
    assert all("values are hidden" in said for said in release.cautions)
    for knows in (["sex", "age"], KEYS[:3], KEYS):
        assert cf.Intruder(knows=knows).attack(release).units["p_max"].max() <= 0.2 + 1e-12  # type: ignore[operator]


def test_plan_files_hold_all_of_it() -> None:
    step = cf.LocalSuppression(KEYS, rule="own", subsets={3: 5, 2: 9}, importance={"age": 0.5}, weight="weight")
    plan = cf.Plan([step])
    assert cf.Plan.from_dict(plan.to_dict()) == plan
    assert plan.to_dict()["steps"][0]["method"] == "local_suppression"


def test_the_private_record_says_what_was_done_and_the_public_one_does_not() -> None:
    release = protected(rule="wildcard")
    assert release.record(private=True)["private"]["details"][0]["below_k"]["wildcard"] == 0
    assert "details" not in str(release.record())
    assert "least_candidates" not in str(release.record())


def test_wildcards_are_cautioned_against() -> None:
    release = protected(rule="wildcard")
    (said,) = release.cautions
    assert "does not protect people whose keys are known" in said
    assert said in repr(release)
    assert "for some only 1." in said
    assert protected().cautions == ()


def test_adopted_releases_are_checked() -> None:
    plan = cf.Plan([cf.LocalSuppression(["sex", "age"], k=2)])
    y = pl.DataFrame({"sex": ["f", "f", "m", "m"], "age": ["a", "b", "a", "a"]})
    fine = y.with_columns(age=pl.Series([None, None, "a", "a"]))
    cf.Release.adopt(y, fine, plan, link=range(4))
    with pytest.raises(cf.InputError, match="2 released rows show another value than their original"):
        cf.Release.adopt(y, fine.with_columns(sex=pl.Series(["m", "m", "m", "m"])), plan, link=range(4))


# -- the attack ------------------------------------------------------------------------------------------------------

WHO = {
    "all keys": KEYS, "three": KEYS[:3], "two": ["race", "age"], "and the state": [*KEYS, "state"],
    "some and others": ["sex", "age", "tenure", "hispanic"],
}  # fmt: skip


@pytest.mark.parametrize("rule", ["own", "wildcard"])
@pytest.mark.parametrize("who", WHO)
def test_claims_are_right(who: str, rule: str) -> None:
    release = protected(HEADS.head(4_000), rule=rule, k=4)
    attack = cf.Intruder(knows=WHO[who]).attack(release)
    assert abs(attack.calibration().z) < 2.6
    if rule == "own" and set(WHO[who]) <= set(KEYS):
        assert attack.units["p_max"].max() <= 0.25 + 1e-12  # type: ignore[operator]


def test_at_level_exact_other_variables_help_and_claims_are_nearly_right() -> None:
    release = protected(HEADS.head(1_500), (cf.Recode("age", width=10),), ("weight", "state"))
    found = Intruder.at("exact", knows=KEYS).attack(release).calibration()
    informed = Intruder.at("sdl", knows=KEYS).attack(release).calibration()
    assert found.true > informed.true - 5
    assert found.claimed == pytest.approx(found.true, rel=0.12)


@pytest.mark.parametrize("level", ["sdl", "average", "naive"])
def test_nobody_is_surer_than_one_in_k(level: str) -> None:
    release = protected(k=5)
    for knows in (KEYS, KEYS[:2], ["marital", "age"]):
        attack = (
            Intruder.at(level, knows=knows).attack(release)
            if level != "naive"
            else cf.Intruder(knows=knows, available="naive").attack(release)
        )
        if level == "naive" and "age" in knows:
            continue  # who takes the nearest number to be true may claim anything
        assert attack.units["p_max"].max() <= 0.2 + 1e-12  # type: ignore[operator]


@pytest.mark.parametrize("level", ["sdl", "average", "exact"])
def test_more_joint_values_than_a_belief_can_hold(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release = protected(k=3)
    expected = cf.Intruder(knows=KEYS).attack(release).units["p_max"].to_numpy()
    monkeypatch.setattr(reading, "CLASSES", 50)
    monkeypatch.setattr(reading, "EXACT", 50)
    attack = Intruder.at(level, knows=KEYS).attack(release)
    assert attack.units["p_max"].max() <= 1 / 3 + 1e-12  # type: ignore[operator]
    if level != "average":
        assert attack.units["p_max"].to_numpy() == pytest.approx(expected)
    found = attack.guess("tenure").summary()
    assert abs(found.z) < 3


def test_k_holds_in_a_sample_drawn_before() -> None:
    plan = cf.Plan([cf.Sample(0.5), cf.LocalSuppression(KEYS, k=3)], identifiers=["id"])
    release = plan.protect(HEADS.head(4_000), seed=1)
    assert int(release.data.group_by(KEYS).len()["len"].min()) >= 3  # type: ignore[arg-type]
    attack = cf.Intruder(knows=KEYS).attack(release)
    assert attack.units["p_max"].max() <= 1 / 3 + 1e-12  # type: ignore[operator]
    assert abs(attack.calibration().z) < 3


def test_values_that_may_be_mistaken_and_intervals() -> None:
    release = protected(HEADS.head(400), (cf.Recode("age", width=20),), k=3)
    sure = cf.Intruder(knows=KEYS).attack(release).summary().expected_matches
    vague = cf.Intruder(knows=KEYS, errors={"race": 0.2}).attack(release)
    assert vague.summary().claimed_matches < sure
    assert vague.units["p_max"].max() <= 1 / 3 + 1e-12  # type: ignore[operator]
    wide = protected(HEADS.head(400), (cf.Round("age", base=5),), k=3)
    targets = HEADS.head(400).with_columns(low=pl.col("age") - 2, high=pl.col("age") + 2)
    between = cf.Intruder(knows=KEYS[:3], between={"age": ("low", "high")}).attack(wide, targets=targets)
    assert between.units["p_max"].max() <= 1 / 3 + 1e-12  # type: ignore[operator]
    less = cf.Intruder(knows=KEYS[:3]).attack(wide).summary().expected_matches
    assert between.summary().expected_matches > less


def test_beside_other_steps() -> None:
    steps = [cf.Recode("age", width=5), cf.LocalSuppression(KEYS, k=3), cf.Swap("tenure", rate=0.2)]
    release = cf.Plan(steps, identifiers=["id"]).protect(HEADS.head(3_000), seed=1)
    assert abs(cf.Intruder(knows=[*KEYS, "tenure"]).attack(release).calibration().z) < 2.6


@pytest.mark.parametrize(
    "step", [cf.LocalSuppression(KEYS, k=3), cf.LocalSuppression(["sex", "age"], k=4, rule="wildcard")]
)
def test_the_method_keeps_what_it_states(step: cf.LocalSuppression) -> None:
    assert cf.extend.check_mechanism(step, HEADS.head(500), knows="tenure").ok


def test_what_is_learnt_of_hidden_values_is_calibrated() -> None:
    release = protected(HEADS.head(2_500), (cf.Recode("age", width=10),), k=5)
    for knows in (["sex", "race", "age"], ["sex", "age", "state"]):
        found = cf.Intruder(knows=knows).attack(release).guess("marital").summary()
        assert "altered at random" in str(found)
        assert abs(found.z) < 2.6


# -- what analysts lose ----------------------------------------------------------------------------------------------


def test_more_hidden_is_more_lost() -> None:
    lost: dict[str, list[float]] = {"variation": [], "loss": [], "hellinger": []}
    for k in (2, 5, 15, 60):
        data = protected(k=k).data
        before = SMALL.drop("id")
        lost["variation"].append(cf.TotalVariation(KEYS)(before, data))
        lost["hellinger"].append(cf.measures.Hellinger(KEYS)(before, data))
    for values in (lost["variation"], lost["hellinger"]):
        assert values == sorted(values)
        assert values[0] < values[-1]
