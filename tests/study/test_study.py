"""Studies: every number equals what its parts give alone; mistakes are said at once."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import confide as cf
from confide.attack.results.stronger import levels_of
from confide.frames.cut import MANY, MISSING, OTHER
from confide.study.evaluate import evaluate, is_random, repeat_seed
from confide.study.groups import Groups
from confide.study.meeting import BINS, counts_by_bin, mean_risks
from confide.study.statement.checks import RISKS

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
    assert frame.columns == [
        "plan",
        "sweep",
        "setting",
        "value",
        "intruder",
        "level",
        "repeat",
        *RISKS,
        "hellinger",
        "means",
    ]
    count = frame.group_by("plan", maintain_order=True).len()
    assert count.rows() == [("release everything", 2), ("swap", 6), ("coarse", 2)]
    assert frame.filter(plan="swap")["repeat"].to_list() == [0, 0, 1, 1, 2, 2]


def test_every_number_is_what_protect_attack_and_utility_say(result: cf.StudyResult) -> None:
    for repeat in range(3):
        release = SWAP.protect(HEADS, seed=repeat_seed(5, repeat), draws="shared")
        loss = cf.utility(release, ["hellinger", cf.Means("hh_income")])["value"].to_list()
        for name, who in WHO.items():
            row = result.frame.row(
                by_predicate=(pl.col("plan") == "swap") & (pl.col("intruder") == name) & (pl.col("repeat") == repeat),
                named=True,
            )
            found = levels_of(who)[row["level"]].attack(release).summary(0.2)
            said = found.to_dict() | {"found_share": found.found_share}
            assert {k: row[k] for k in RISKS} == {k: said[k] for k in RISKS}
            assert [row["hellinger"], row["means"]] == pytest.approx(loss, abs=1e-12)


def test_releasing_everything_is_best_for_analysts_and_worst_for_people(result: cf.StudyResult) -> None:
    anchor = result.frame.filter(plan="release everything")
    assert anchor["hellinger"].to_list() == [0.0, 0.0]
    worst = dict(result.frame.group_by("intruder").agg(pl.col("found").max()).iter_rows())
    for who, found in anchor.select("intruder", "found").iter_rows():
        assert worst[who] <= found + 3 * found**0.5  # the strongest level is taken after the draw


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
    ages = groups.filter(variable="age")
    assert ages["level"][0].startswith("up to ")
    assert ages["level"][-1].startswith("over ")
    assert ages["targets"].min() > 60


def test_groups_of_a_release_by_hand() -> None:
    release = COARSE.protect(HEADS, seed=1)
    attack = WHO["far"].attack(release)
    rows = Groups.of(HEADS, [WHO["far"]]).rows([attack], WHO["far"], 0.2)
    women = attack.units.with_columns(sex=HEADS["sex"].gather(attack.truth)).filter(pl.col("sex") == "female")
    mine = next(r for r in rows if r[:2] == ["sex", "female"])
    assert mine[2:4] == [women.height, (women["p_max"] > 0.2).sum()]
    assert mine[4] == pytest.approx((women["hit"] / women["n_max"]).sum())
    assert mine[6] == pytest.approx(women["p_max"].sum())


@pytest.mark.parametrize(
    "values",
    [
        pl.Series("count", [f"code {i}" for i in range(30)]),
        pl.Series("v", ["(other)", "(other)", *(f"code {i}" for i in range(28))]),
        pl.Series("v", [None] * 30, dtype=pl.Float64),
        pl.Series("v", [None, *(float(i) for i in range(29))]),
        pl.Series("v", [f"code {i}" for i in range(30)]),
        pl.Series("v", [True, False, None] * 10),
        pl.Series("v", [float("nan")] + [1.0] * 29),
    ],
)
def test_groups_hold_everybody_and_no_number_of_the_file(values: pl.Series) -> None:
    groups = Groups.of(pl.DataFrame([values]), [cf.Intruder(knows=[values.name])])
    codes, names = groups.codes[values.name], groups.levels[values.name]
    assert len(codes) == 30
    assert codes.min() >= 0
    assert codes.max() < len(names)
    assert len(set(names)) == len(names) <= 22


def test_ranges_of_numbers_hold_about_a_fifth_each_and_zero_stands_alone() -> None:
    value = cf.demo("heads")["property_value"]
    groups = Groups.of(pl.DataFrame([value]), [cf.Intruder(knows=["property_value"])])
    codes, names = groups.codes["property_value"], groups.levels["property_value"]
    count = dict(zip(names, [int((codes == i).sum()) for i in range(len(names))], strict=True))
    assert count["zero"] == (value == 0).sum()
    assert count[MISSING] == value.null_count()
    rest = [n for name, n in count.items() if name not in ("zero", MISSING)]
    assert len(rest) == 5
    assert max(rest) < 1.3 * min(rest)
    low, high = names[1].removeprefix("over ").replace(",", "").split(" to ")
    assert count[names[1]] == ((value > float(low)) & (value <= float(high))).sum()


def test_few_numbers_are_one_range_and_missing_ones_a_group() -> None:
    values = pl.Series("v", [7.0] * 8 + [float(i) for i in range(100, 123)] + [None] * 4 + [float("nan")] * 2)
    groups = Groups.of(pl.DataFrame([values]), [cf.Intruder(knows=["v"])])
    names = groups.levels["v"]
    assert (groups.codes["v"] == names.index(MISSING)).sum() == 6
    assert (groups.codes["v"] == names.index(MANY)).sum() == 8
    short = Groups.of(pl.DataFrame({"v": [1.0, float("nan"), None]}), [cf.Intruder(knows=["v"])])
    assert (short.codes["v"] == short.levels["v"].index(MISSING)).sum() == 2


def test_rare_categories_are_taken_together() -> None:
    values = pl.Series("v", [f"code {i % 25}" for i in range(60)])
    groups = Groups.of(pl.DataFrame([values]), [cf.Intruder(knows=["v"])])
    assert (groups.codes["v"] == groups.levels["v"].index(OTHER)).sum() == 10


def test_risk_in_groups_counts_one_in_five_as_the_file_does() -> None:
    five = pl.DataFrame({"sex": ["a"] * 5 + ["b"] * 4, "x": range(9)})
    attack = cf.Intruder(knows=["sex"]).attack(cf.Plan([]).protect(five, seed=1))
    rows = Groups.of(five, [cf.Intruder(knows=["sex"])]).rows([attack], cf.Intruder(knows=["sex"]), 0.2)
    assert [r[1:4] for r in rows] == [["a", 5.0, 0.0], ["b", 4.0, 4.0]]
    assert counts_by_bin(attack.units).tolist() == [0, 0, 0, 5, 4, 0]


def test_a_risk_that_is_unknown_in_one_copy_is_unknown() -> None:
    known = dict.fromkeys(RISKS, 2.0)
    found = mean_risks([known, known | {"expected_matches": None}])
    assert found["expected_matches"] is None
    assert found["unique_matches"] == 2.0


def test_the_anchor_lacks_what_no_plan_releases_and_no_more() -> None:
    plans = {
        "a": cf.Plan([], identifiers=["id", "age"], drop=["state"]),
        "b": cf.Plan([], identifiers=["id"], drop=["state", "educ"]),
    }
    anchor = study(plans=plans).everything.plan
    assert (anchor.identifiers, anchor.drop) == (("id",), ("state",))
    assert study(plans=plans, utility=[cf.Means("age")], repeats=1).run().frame.filter(plan="b")["means"][0] == 0


def test_copies_go_by_the_name_of_the_sweep() -> None:
    plan = cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.2])
    stated = study(plans={"swap": plan, "one": SWAP}, copies={"swap": 2})
    assert [stated.copies_of(c) for c in stated.candidates] == [2, 2, 1]


class Fragile:
    """Fails for every second file that it sees."""

    name, direction, range, best = "fragile", "lower", (0.0, 1.0), 0.0

    def __init__(self, error: Exception, calls: tuple[int, ...]) -> None:
        self.error, self.calls, self.seen = error, calls, 0

    def __call__(self, original, released, *, weight=None, link=None) -> float:  # noqa: ARG002
        self.seen += 1
        if self.seen in self.calls:
            raise self.error
        return 0.0


def test_a_measure_that_fails_says_so_by_kind_and_for_any_repeat() -> None:
    found = study(plans={"swap": SWAP}, utility=[Fragile(ValueError("Secretville"), (5,))]).run(
        threads=1
    )  # 2 to 4: the first repeat
    assert found.frame.filter(plan="swap")["fragile"].null_count() == 2
    said = found.details.filter(plan="swap", measure="fragile")["detail"].to_list()
    assert said == ['Measure "fragile" failed with ValueError.']
    with pytest.raises(cf.InputError, match='utility "fragile": Measure "fragile" failed with KeyError'):
        study(utility=[Fragile(KeyError("Secretville"), (1,))]).run()


def test_a_rule_is_followed_as_it_was_stated(result: cf.StudyResult) -> None:
    ruled = study(choice=cf.Rule({"expected_matches": 1000}, by="hellinger")).run()
    assert ruled.choose().plan == result.choose({"expected_matches": 1000}, by="hellinger").plan
    for changes in ({"by": "means"}, {"intruder": "near"}, {"cautious": True}):
        with pytest.raises(cf.InputError, match="give max_risk"):
            ruled.choose(**changes)


def test_an_intruder_that_no_file_can_hold_can_be_studied(tmp_path) -> None:
    odd = cf.Intruder(knows=["sex", "race"], errors={"race": cf.Pram("race", retention=0.9)})
    made = study(intruders={"odd": odd}, repeats=1)
    assert made.run(tmp_path).frame.equals(made.run().frame)


def test_plans_that_only_coarsen_are_met_once() -> None:
    assert is_random(SWAP)
    assert not is_random(COARSE)
    assert not is_random(cf.Plan([cf.MeasurementError("age", noise_sd=1)]))
    assert is_random(cf.Plan([cf.Sample(0.5)]))


def test_copies_are_attacked_and_measured_together() -> None:
    plan = cf.Plan([cf.NormalSynthesis("hh_income", given=["sex", "age"])], identifiers=["id"])
    made = study(plans={"synthetic": plan}, copies={"synthetic": 2}, repeats=1, utility=[cf.Means("hh_income")])
    row = made.run().frame.filter(plan="synthetic", intruder="near")
    copies = plan.protect(HEADS, seed=repeat_seed(5, 0), draws="shared", copies=2)
    assert row["means"][0] == pytest.approx(cf.utility(copies, cf.Means("hh_income"))["value"][0])
    assert row["expected_matches"][0] == WHO["near"].attack(copies).summary().expected_matches


def test_what_one_plan_coarsens_or_drops_counts_with_its_reason() -> None:
    formula = {"measure": "ci_overlap", "formula": "hh_income ~ age"}
    plans = {"coarse": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]),
             "without": cf.Plan(identifiers=["id"], drop=["age"])}  # fmt: skip
    found = study(utility=[formula], plans=plans, repeats=1).run()
    assert 0.5 < found.frame.filter(plan="coarse")["ci_overlap"][0] < 1
    assert found.frame.filter(plan="without")["ci_overlap"][0] < 0.5
    assert "age (not released)" in found.details.filter(plan="without", measure="ci_overlap")["detail"][0]


def test_a_measure_that_the_original_does_not_allow_is_an_error() -> None:
    with pytest.raises(cf.InputError, match=r'utility "means": .*"incom"'):
        study(utility=[cf.Means("incom")]).run()


def test_a_plan_that_cannot_be_carried_out_is_named() -> None:
    empty = HEADS.with_columns(pl.lit(None, dtype=pl.String).alias("note"))
    plans = {"ok": SWAP, "bad": cf.Plan([cf.Swap("note", rate=0.1)], identifiers=["id"])}
    with pytest.raises(cf.InputError, match=r'plan "bad": .*missing in every record'):
        study(data=empty, plans=plans, repeats=1).run()


SAID = ("met", "utility", "details", "refused", "shares", "traces", "quoted", "size", "parts")


def test_evaluate_keeps_no_record() -> None:
    found = evaluate(HEADS, SWAP, WHO, [cf.Means("age")], seed=1, groups=Groups.of(HEADS, WHO.values()))
    assert set(found.to_dict()) == {*SAID, "seconds"}
    assert found.traces == {}
    assert sum(len(met.groups) for ways in found.met.values() for met in ways.values()) < 60


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": HEADS.head(0)}, "no rows"),
        ({"data": "heads.csv"}, "data"),
        ({"plans": {}}, "at least one Plan or Sweep"),
        ({"plans": SWAP}, "give each a name"),
        ({"plans": {"a": cf.Swap("race", rate=0.3)}}, '"a" is Swap, not a Plan or Sweep'),
        ({"plans": {"release everything": SWAP}}, "is in every study"),
        ({"plans": {"a": cf.Plan([cf.Swap("rase", rate=0.3)])}}, 'plan "a": .*"race"'),
        ({"intruders": {}}, "at least one Intruder"),
        ({"intruders": {"n": cf.Intruder(knows=["sexx"])}}, 'intruder "n": .*"sex"'),
        ({"intruders": {"n": cf.Intruder()}}, "knows nothing"),
        ({"intruders": {"n": cf.Intruder(knows=["sex"], membership=cf.Unsure(weights="wt"))}}, 'no column "wt"'),
        ({"utility": []}, "at least one measure"),
        ({"utility": ["mean"]}, 'Did you mean "means"'),
        ({"utility": 3}, "list of measures"),
        ({"utility": ["means", cf.Means("age")]}, 'two measures are named "means"'),
        ({"utility": [cf.Means("age", label="targets")]}, 'named "targets"'),
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
