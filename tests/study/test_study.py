"""Studies: every number equals what its parts give alone; mistakes are said at once."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.study.evaluate import BINS, RISKS, evaluate, is_random, repeat_seed
from confide.study.groups import FIFTHS, Groups

HEADS = cf.demo("heads").head(600)
WHO = {"near": cf.Intruder(knows=["sex", "race", "age"]), "far": cf.Intruder(knows=["sex", "race"])}
SWAP = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"], weight="weight")
COARSE = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"], weight="weight")


def study(**changes) -> cf.Study:
    stated = {
        "data": HEADS, "plans": {"swap": SWAP, "coarse": COARSE}, "intruders": WHO,
        "utility": ["hellinger", cf.Means("hh_income")], "repeats": 3, "seed": 5,
    }  # fmt: skip
    return cf.Study(**(stated | changes))


@pytest.fixture(scope="module")
def result() -> cf.StudyResult:
    return study().run()


def test_the_frame_is_one_row_a_plan_intruder_and_repeat(result: cf.StudyResult) -> None:
    frame = result.frame
    assert frame.columns == ["plan", "sweep", "setting", "value", "intruder", "repeat", *RISKS, "hellinger", "means"]
    count = frame.group_by("plan", maintain_order=True).len()
    assert count.rows() == [("release everything", 2), ("swap", 6), ("coarse", 2)]
    assert frame.filter(plan="swap")["repeat"].to_list() == [0, 0, 1, 1, 2, 2]


def test_every_number_is_what_protect_attack_and_utility_say(result: cf.StudyResult) -> None:
    for repeat in range(3):
        release = SWAP.protect(HEADS, seed=repeat_seed(5, repeat))
        loss = cf.utility(release, ["hellinger", cf.Means("hh_income")])["value"].to_list()
        for name, who in WHO.items():
            row = result.frame.row(
                by_predicate=(pl.col("plan") == "swap") & (pl.col("intruder") == name) & (pl.col("repeat") == repeat),
                named=True,
            )
            said = who.attack(release).summary(0.2).to_dict()
            assert {k: row[k] for k in RISKS} == {k: said[k] for k in RISKS}
            assert [row["hellinger"], row["means"]] == pytest.approx(loss, abs=1e-12)


def test_releasing_everything_is_best_for_analysts_and_worst_for_people(result: cf.StudyResult) -> None:
    anchor = result.frame.filter(plan="release everything")
    assert anchor["hellinger"].to_list() == [0.0, 0.0]
    worst = result.frame.group_by("intruder").agg(pl.col("expected_matches").max()).sort("intruder")
    assert anchor.sort("intruder")["expected_matches"].to_list() == worst["expected_matches"].to_list()


def test_repeats_have_seeds_of_their_own_shared_by_plans() -> None:
    twice = study(plans={"a": SWAP, "b": SWAP}).run().frame.drop("plan")
    assert twice[2:8].equals(twice[8:])
    assert twice[2:8]["expected_matches"].n_unique() > 2


def test_a_study_repeats_itself_whatever_the_threads(result: cf.StudyResult) -> None:
    again = study().run(threads=1)
    assert_frame_equal(again.frame, result.frame, check_exact=True)
    assert_frame_equal(again.groups, result.groups, check_exact=True)
    assert not study(seed=6).run().frame.equals(result.frame)


def test_adding_a_plan_changes_no_other(result: cf.StudyResult) -> None:
    more = study(
        plans={"other": cf.Plan([cf.Topcode("age", at=60)], identifiers=["id"], weight="weight"), "swap": SWAP}
    )
    wanted = result.frame.filter(plan="swap")
    assert_frame_equal(more.run().frame.filter(plan="swap"), wanted, check_exact=True)


def test_targets_are_counted_in_ranges_and_groups(result: cf.StudyResult) -> None:
    bins = result.distribution.filter(plan="swap", intruder="near")
    assert bins["bin"].to_list() == list(BINS)
    assert bins["targets"].sum() == pytest.approx(600)
    by_plan = result.frame.filter(plan="swap", intruder="near")
    groups = result.groups.filter(plan="swap", intruder="near")
    assert set(groups["variable"]) == {"sex", "race", "age"}
    for _, part in groups.group_by("variable"):
        assert part["targets"].sum() == pytest.approx(600)
        for risk in ("over_threshold", "expected_matches"):
            assert part[risk].sum() == pytest.approx(by_plan[risk].mean())
    assert set(groups.filter(variable="age")["level"]) <= set(FIFTHS)


def test_groups_of_a_release_by_hand() -> None:
    release = COARSE.protect(HEADS, seed=1)
    attack = WHO["far"].attack(release)
    rows = Groups.of(HEADS, [WHO["far"]]).rows([attack], WHO["far"], 0.2)
    women = attack.units.with_columns(sex=HEADS["sex"].gather(attack.truth)).filter(pl.col("sex") == "female")
    mine = next(r for r in rows if r[:2] == ["sex", "female"])
    assert mine[2:4] == [women.height, (women["p_max"] > 0.2).sum()]
    assert mine[4] == pytest.approx((women["hit"] / women["n_max"]).sum())


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("v", [None] * 30, dtype=pl.Float64),
        pl.Series("v", [None, *(float(i) for i in range(29))]),
        pl.Series("v", [f"code {i}" for i in range(30)]),
        pl.Series("v", [True, False, None] * 10),
        pl.Series("v", [float("nan")] + [1.0] * 29),
    ],
)
def test_groups_hold_everybody_and_no_number_of_the_file(values: pl.Series) -> None:
    groups = Groups.of(pl.DataFrame([values]), [cf.Intruder(knows=["v"])])
    codes, names = groups.codes["v"], groups.levels["v"]
    assert len(codes) == 30
    assert codes.min() >= 0
    assert codes.max() < len(names)
    assert len(set(names)) == len(names) <= 22


def test_plans_that_only_coarsen_are_met_once() -> None:
    assert is_random(SWAP)
    assert not is_random(COARSE)
    assert not is_random(cf.Plan([cf.MeasurementError("age", noise_sd=1)]))
    assert is_random(cf.Plan([cf.Sample(0.5)]))


def test_copies_are_attacked_and_measured_together() -> None:
    plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers=["id"])
    made = study(plans={"synthetic": plan}, copies={"synthetic": 2}, repeats=1, utility=[cf.Means("hh_income")])
    row = made.run().frame.filter(plan="synthetic", intruder="near")
    copies = plan.protect(HEADS, seed=repeat_seed(5, 0), copies=2)
    assert row["means"][0] == pytest.approx(cf.utility(copies, cf.Means("hh_income"))["value"][0])
    assert row["expected_matches"][0] == WHO["near"].attack(copies).summary().expected_matches


def test_what_cannot_be_computed_for_one_plan_is_left_out_with_its_reason() -> None:
    formula = {"measure": "ci_overlap", "formula": "hh_income ~ age"}
    found = study(utility=[formula], repeats=1).run()
    assert found.frame.filter(plan="coarse")["ci_overlap"].to_list() == [None, None]
    assert "age" in found.details.filter(plan="coarse", measure="ci_overlap")["detail"][0]


def test_a_measure_that_the_original_does_not_allow_is_an_error() -> None:
    with pytest.raises(cf.InputError, match=r'utility "means": .*"incom"'):
        study(utility=[cf.Means("incom")]).run()


def test_a_plan_that_cannot_be_carried_out_is_named() -> None:
    empty = HEADS.with_columns(pl.lit(None, dtype=pl.String).alias("note"))
    plans = {"ok": SWAP, "bad": cf.Plan([cf.Swap("note", rate=0.1)], identifiers=["id"])}
    with pytest.raises(cf.InputError, match=r'plan "bad": .*missing in every record'):
        study(data=empty, plans=plans, repeats=1).run()


def test_evaluate_keeps_no_record() -> None:
    found = evaluate(HEADS, SWAP, WHO, [cf.Means("age")], seed=1, groups=Groups.of(HEADS, WHO.values()))
    assert set(found.to_dict()) == {"risks", "utility", "details", "refused", "distribution", "groups", "seconds"}
    assert sum(len(v) for v in found.groups.values()) < 60


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": HEADS.head(0)}, "no rows"),
        ({"data": "heads.csv"}, "data"),
        ({"plans": {}}, "at least one Plan or Sweep"),
        ({"plans": SWAP}, "give each a name"),
        ({"plans": {"a": cf.Swap("race", rate=0.3)}}, '"a" is Swap, not a Plan or Sweep'),
        ({"plans": {"release everything": SWAP}}, "name of the anchor"),
        ({"plans": {"a": cf.Plan([cf.Swap("rase", rate=0.3)])}}, 'plan "a": .*"race"'),
        ({"intruders": {}}, "at least one Intruder"),
        ({"intruders": {"n": cf.Intruder(knows=["sexx"])}}, 'intruder "n": .*"sex"'),
        ({"intruders": {"n": cf.Intruder()}}, "knows nothing"),
        ({"intruders": {"n": cf.Intruder(knows=["sex"], membership=cf.Unsure(weights="wt"))}}, 'no column "wt"'),
        ({"utility": []}, "at least one measure"),
        ({"utility": ["mean"]}, 'Did you mean "means"'),
        ({"utility": 3}, "list of measures"),
        ({"utility": ["means", cf.Means("age")]}, 'two measures are named "means"'),
        ({"repeats": 0}, "repeats is how often"),
        ({"repeats": 2.0}, "repeats is how often"),
        ({"seed": -1}, "seed must be"),
        ({"threshold": 20}, "for 20 percent write 0.2"),
        ({"threshold": 0}, "above 0"),
        ({"copies": {"swip": 2}}, 'Did you mean "swap"'),
        ({"copies": {"swap": 1.5}}, 'copies of "swap"'),
        ({"copies": 3}, "table by plan"),
    ],
)
def test_mistakes_get_a_sentence(changes, said) -> None:
    with pytest.raises(cf.InputError, match=said):
        study(**changes)


def test_all_mistakes_are_said_together() -> None:
    with pytest.raises(cf.InputError) as e:
        study(repeats=0, threshold=20, utility=["mean"], plans={"a": cf.Plan([cf.Swap("x", rate=0.1)])})
    assert str(e.value).count("\n  - ") == 4
