"""The strongest intruder is booked, membership counts, and claims stand beside the truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.results.stronger import levels_of
from confide.core.errors import InputError
from confide.study.cautions import cautions
from confide.study.evaluate import repeat_seed
from confide.study.levels import booked, contenders
from confide.study.meeting import Met
from confide.study.statement.checks import RISKS
from tests.helpers.misleading import CELL, DECK, misleading
from tests.helpers.misleading import KNOWS as FEW

HEADS = cf.demo("heads").head(600)
KNOWS = ["sex", "race", "marital", "age"]
SWAPS = cf.Plan([cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], identifiers=["id"])


def met(found: float) -> Met:
    return Met(dict.fromkeys(RISKS, found), [], [], [])


def test_the_level_that_is_right_most_often_is_booked_and_named() -> None:
    result = cf.Study(HEADS, {"swaps": SWAPS}, {"near": cf.Intruder(knows=KNOWS)}, ["hellinger"], 2, seed=3).run()
    tried = result.levels.filter(plan="swaps").group_by("level").agg(pl.col("found").mean(), pl.len())
    full = tried.filter(pl.col("len") == 2)
    best = full.sort("found", descending=True)["level"][0]
    rows = result.frame.filter(plan="swaps")
    assert set(rows["level"]) == {best}
    assert rows["found"].mean() == pytest.approx(full["found"].max())
    assert set(tried["level"]) == {"informed", "exact", "unaltered", "naive"}
    for repeat, found in rows.select("repeat", "found").iter_rows():
        release = SWAPS.protect(HEADS, seed=repeat_seed(3, repeat), draws="shared")
        attack = levels_of(result.intruders["near"])[best].attack(release)
        assert attack.summary().found == pytest.approx(found)
    assert best in str(result)


def test_only_the_stated_level_is_tried_where_the_study_says_so() -> None:
    who = {"near": cf.Intruder(knows=KNOWS)}
    result = cf.Study(HEADS, {"swaps": SWAPS}, who, ["hellinger"], 2, seed=3, strongest=False).run()
    assert set(result.levels["level"]) == {"informed"} == set(result.frame["level"])


def test_a_level_far_behind_in_the_first_repeat_is_not_tried_again() -> None:
    assert contenders({"a": {"informed": met(100.0), "exact": met(120.0), "naive": met(20.0)}}) == {
        "a": ["informed", "exact"]
    }
    assert booked([{"x": met(1.0), "y": met(3.0)}, {"x": met(9.0)}]) == "x"
    assert booked([{}]) is None


@pytest.mark.parametrize(
    ("naive", "informed", "books"),
    [
        ([1536.0, 1540.0, 1532.6], [1533.0, 1529.0, 1536.7], "informed"),  # a tie over draws
        ([1536.0, 1540.0, 1544.0], [1533.0, 1537.1, 1540.9], "naive"),  # a little, and in every draw
        ([1536.0, 1300.0, 1700.0], [1200.0, 1400.0, 1500.0], "naive"),  # a tenth is no tie, however draws differ
        ([103.0], [100.0], "informed"),  # one draw: within what a count can differ by
        ([40_300.0], [39_000.0], "naive"),
        ([10.0, 11.0], [12.0, 12.0], "informed"),
    ],
)
def test_a_naive_intruder_is_booked_where_it_is_ahead_beyond_chance(
    naive: list[float], informed: list[float], books: str
) -> None:
    repeats = [{"naive": met(a), "informed": met(b), "exact": met(b - 5)} for a, b in zip(naive, informed, strict=True)]
    assert booked(repeats) == books
    assert booked([{"naive": m["naive"]} for m in repeats]) == "naive"
    exact = [{"informed": met(b), "exact": met(b + 1)} for b in informed]
    assert booked(exact) == "exact"  # of two whose claims can be believed, the one that finds more


@pytest.mark.parametrize(
    ("aside", "informed", "books"),
    [
        ([80.0, 80.0], [3.0, 2.0], "unaltered"),  # misled
        ([80.0], [40.0], "unaltered"),
        ([80.0], [60.0], "informed"),  # one draw: within what a count can differ by
        ([80.0, 80.0], [78.0, 79.0], "informed"),  # a tie
        ([8_000.0] * 5, [7_700.0] * 5, "informed"),  # less than a twentieth
        ([8_000.0] * 5, [7_500.0] * 5, "unaltered"),
        ([10.0], [12.0], "informed"),
    ],
)
def test_one_who_leaves_altered_values_aside_is_booked_where_all_others_are_misled(
    aside: list[float], informed: list[float], books: str
) -> None:
    each = zip(aside, informed, strict=True)
    repeats = [{"informed": met(b), "exact": met(b - 1), "unaltered": met(a), "naive": met(b / 2)} for a, b in each]
    assert booked(repeats) == books
    naive = [{**m, "naive": met(2 * (m["unaltered"].risks["found"] or 0) + 100)} for m in repeats]
    assert booked(naive) == "naive"  # whoever finds most of those who are ahead for a reason
    assert booked([{"unaltered": m["unaltered"]} for m in repeats]) == "unaltered"


def test_a_plan_that_misleads_every_other_level_is_booked_at_what_guesses_find() -> None:
    data = misleading()
    swap = cf.Plan([cf.Swap("area", rate=0.1)])
    study = cf.Study(data, {"deck": DECK, "swap": swap}, {"near": cf.Intruder(knows=FEW)}, ["hellinger"], 2, seed=1)
    result = study.run()
    rows, tried = result.frame.filter(plan="deck"), result.levels.filter(plan="deck", repeat=0)
    cells = data.n_unique(CELL)  # somebody who guesses in a cell finds one of it
    assert set(rows["level"]) == {"unaltered"}
    assert rows["found"].to_list() == pytest.approx([cells] * 2)
    assert rows["claimed_matches"].to_list() == pytest.approx([cells] * 2)
    assert tried.filter(pl.col("level") != "unaltered")["found"].max() < 0.75 * cells
    assert set(tried["level"]) == {"informed", "exact", "unaltered", "naive"}
    assert set(result.frame.filter(plan="swap")["level"]) <= {"informed", "exact"}
    assert "near, unaltered" in str(result)
    assert "misleads whoever reads what it altered" in " ".join(str(result).split())


def test_leaving_altered_values_aside_counts_absence_by_what_is_unaltered() -> None:
    people, data = misleading(1200), misleading(1200).head(300)
    who = cf.Intruder(knows=FEW, membership=cf.Unsure(population=people))
    result = cf.Study(data, {"deck": DECK}, {"near": who}, ["hellinger"], seed=1).run()
    tried = dict(result.levels.filter(plan="deck").select("level", "found").iter_rows())
    count = people.group_by(CELL).len("N")
    customary = (1 / data.join(count, on=CELL)["N"]).sum()
    assert tried["unaltered"] == pytest.approx(customary)
    assert "naive" not in tried


def test_sampling_protects_people_of_whom_it_is_not_known_that_they_are_in_the_file() -> None:
    """For a file that nothing was done to, what is found is the sum of 1 / N_t."""
    people = cf.demo("heads").head(4000)
    plans = {"a tenth": cf.Plan([cf.Sample(fraction=0.1)], identifiers=["id"])}
    who = {
        "sure": cf.Intruder(knows=KNOWS),
        "unsure": cf.Intruder(knows=KNOWS, membership=cf.Unsure(population=people)),
    }
    result = cf.Study(people, plans, who, ["hellinger"], 2, seed=1).run()
    means = dict(result.frame.filter(plan="a tenth").group_by("intruder").agg(pl.col("found").mean()).iter_rows())
    release = plans["a tenth"].protect(people, seed=repeat_seed(1, 0), draws="shared")
    count = people.group_by(KNOWS).len()
    customary = (1 / release.frame.join(count, on=KNOWS, how="left")["len"]).sum()
    first = result.frame.filter(plan="a tenth", intruder="unsure", repeat=0)
    assert first["found"].item() == pytest.approx(customary)
    assert first["found_share"].item() == pytest.approx(customary / release.frame.height)
    assert means["unsure"] < 0.5 * means["sure"]
    by_sex = result.groups.filter(plan="a tenth", intruder="unsure", variable="sex")
    assert by_sex["found"].sum() == pytest.approx(means["unsure"])
    assert not result.cautions()
    certain = result.frame.filter(intruder="sure")
    assert np.allclose(certain["found"], certain["expected_matches"])


def test_claims_beside_the_truth_and_a_caution_where_they_differ() -> None:
    naive = cf.Intruder.at("naive", knows=KNOWS)
    result = cf.Study(HEADS, {"swaps": SWAPS}, {"naive": naive}, ["hellinger"], 2, seed=3).run()
    row = result.claims.filter(plan="swaps").row(0, named=True)
    rows = result.frame.filter(plan="swaps")
    assert row["claimed"] == pytest.approx(rows["claimed_matches"].mean())
    assert row["true"] == pytest.approx(rows["expected_matches"].mean())
    assert row["z"] < -3
    (said,) = result.cautions()
    assert said.startswith('"swaps", "naive"')
    assert "overstated" in said
    assert "Caution" in str(result)
    bins = result.calibration.filter(plan="swaps")
    assert 0 < bins["targets"].sum() <= 2 * HEADS.height  # a naive intruder may find no candidate
    assert bins["claimed"].sum() == pytest.approx(2 * row["claimed"])
    assert bins["high"].is_sorted()


def test_a_caution_says_which_way_risk_is_misjudged() -> None:
    claims = pl.DataFrame({"plan": ["p", "q", "r"], "intruder": "i", "level": "informed", "targets": 100.0,
                           "claimed": [10.0, 30.0, 10.0], "true": [30.0, 10.0, 10.5], "error": 2.0})  # fmt: skip
    under, over = sorted(cautions(claims))
    assert under.startswith('"p"')
    assert "understated" in under
    assert over.startswith('"q"')
    assert "overstated" in over


def test_an_intruder_who_knows_what_is_dropped_has_a_risk() -> None:
    plans = {"no age": cf.Plan([], identifiers=["id"], drop=["age"]), "all": cf.Plan([], identifiers=["id"])}
    result = cf.Study(HEADS, plans, {"near": cf.Intruder(knows=KNOWS)}, ["hellinger"], seed=1).run()
    found = dict(result.frame.select("plan", "found").iter_rows())
    cells = HEADS.select("sex", "race", "marital").n_unique()
    assert found["no age"] == pytest.approx(cells)
    assert found["no age"] < 0.2 * found["all"]
    assert result.choose({"found": "20%"}, by="hellinger").plan == "no age"
    shares = result.distributions.filter(plan="no age", variable="age")
    assert shares["after"].to_list()[-1] == 1.0


def test_shares_and_floors_are_understood_and_repeated() -> None:
    plans = {"tens": cf.Plan([cf.Recode("age", width=10)], identifiers=["id"]), "swaps": SWAPS}
    study = cf.Study(HEADS, plans, {"near": cf.Intruder(knows=KNOWS)}, ["hellinger", "entropy"], 2, seed=1)
    result = study.run()
    choice = result.choose({"found": "40%"}, by="hellinger", min_utility={"entropy": 0.5})
    assert choice.limits == {"found_share": 0.4}
    assert choice.floors == {"entropy": 0.5}
    assert "found_share at most 40% (240 of 600)" in choice.asked
    assert "entropy at most 0.5" in choice.asked
    assert choice.asked in choice.reason
    by_count = result.choose({"found": 240}, by="hellinger", min_utility={"entropy": 0.5})
    assert by_count.plan == choice.plan
    with pytest.raises(
        InputError, match=r"but none of them the utility that is asked for.*entropy is .* at most 1e-05"
    ):
        result.choose({"found": "40%"}, by="hellinger", min_utility={"entropy": 0.00001})


def test_intervals_stay_within_what_a_number_can_be() -> None:
    noisy = cf.Plan([cf.Swap("race", rate=0.9)], identifiers=["id"])
    heads = cf.demo("heads").head(40)
    result = cf.Study(heads, {"noisy": noisy}, {"near": cf.Intruder(knows=["race"])}, ["hellinger"],
                      repeats=2, seed=1).run()  # fmt: skip
    numbers = result.summary().filter(plan="noisy")
    assert (numbers["low"] >= 0).all()
    shares = numbers.filter(pl.col("measure").is_in(["found_share", "hellinger"]))
    assert (shares["high"] <= 1).all()
    assert (numbers.filter(measure="found")["high"] <= 40).all()


def test_the_kinds_that_were_used_are_printed() -> None:
    plan = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"], categorical=["n_persons"])
    result = cf.Study(HEADS, {"tens": plan}, {"near": cf.Intruder(knows=["sex"])}, ["hellinger"], seed=1).run()
    assert dict(result.kinds.select("variable", "kind").iter_rows())["n_persons"] == "categorical"
    assert "id" not in result.kinds["variable"]
    assert "numeric: age" in str(result)


def test_codes_that_a_plan_names_as_categories_are_groups_one_by_one() -> None:
    rng = np.random.default_rng(1)
    areas = np.arange(30) * 37 + 1101
    frame = pl.DataFrame({"area": rng.choice(areas, 900), "sex": rng.choice(["f", "m"], 900),
                          "age": rng.integers(18, 90, 900)})  # fmt: skip
    plans = {"swap": cf.Plan([cf.Swap("area", rate=0.2)], categorical=["area"]),
             "left out": cf.Plan([], categorical=["area"], drop=["area"])}  # fmt: skip
    who = {"near": cf.Intruder(knows=["area", "sex", "age"])}
    result = cf.Study(frame, plans, who, ["hellinger"], seed=1).run()
    levels = result.groups.filter(plan="swap", variable="area")["level"].to_list()
    assert len(levels) == 21
    assert {int(v) for v in levels if v != "(other)"} < set(areas.tolist())
    assert all("to" in v or "over" in v for v in result.groups.filter(plan="swap", variable="age")["level"])
    for plan, after in (("swap", 1 / 30), ("left out", 0)):
        shares = result.distributions.filter(plan=plan, variable="area").filter(pl.col("level").str.contains("^[0-9]"))
        assert shares.height == 20
        assert shares["before"].to_list() == pytest.approx([1 / 30] * 20, abs=0.02)
        assert shares["after"].to_list() == pytest.approx([after] * 20, abs=0.02)
