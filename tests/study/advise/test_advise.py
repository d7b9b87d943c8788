"""Advice on small files: the same again, honest where plans are alike, and a sentence where nothing can be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.study.advise.aside import found_aside
from confide.study.advise.trials import Job, Trial, Work
from tests.helpers.misleading import CELL, DECK, misleading

KEYS = ["sex", "area", "age"]


def people(n: int = 160, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, n)
    return pl.DataFrame({
        "sex": rng.choice(["f", "m"], n), "area": rng.choice(list("ABCDE"), n, p=[0.4, 0.3, 0.2, 0.06, 0.04]),
        "age": age, "pay": np.round(np.exp(rng.normal(8, 0.5, n) + age / 60), -1),
    })  # fmt: skip


def advised(data: pl.DataFrame | None = None, **options: Any) -> cf.Advice:
    given = {"keys": KEYS, "max_risk": {"found": "15%"}, "budget": 30, "repeats": 2, "seed": 1} | options
    return cf.advise(people() if data is None else data, **given)


@pytest.fixture(scope="module")
def advice() -> cf.Advice:
    return advised(threads=1)


def same(a: cf.Advice, b: cf.Advice) -> bool:
    tables = ("frame", "confirmed", "families", "untried")
    return a.name == b.name and a.reason == b.reason and all(getattr(a, t).equals(getattr(b, t)) for t in tables)


def test_the_plan_keeps_the_limit_on_draws_that_chose_nothing(advice: cf.Advice) -> None:
    assert advice.plan is not None
    assert advice.name is not None
    assert advice.choice is not None
    assert advice.plan == advice.study.plans[advice.name]
    found = dict(advice.confirmed.filter(kind="risk").select("measure", "mean").iter_rows())
    assert found["found_share"] <= 0.15
    # the confirmed number is neither the study's nor the search's
    mine = advice.study.frame.filter(plan=advice.name)["hellinger_pairs"].mean()
    assert advice.confirmed.filter(measure="hellinger_pairs")["mean"].item() != mine
    assert "fresh draws that chose nothing" in advice.reason


def test_every_candidate_has_a_status_and_evaluations_add_up(advice: cf.Advice) -> None:
    frame = advice.frame
    assert frame["evaluations"].sum() == advice.evaluations == 30
    first = set(frame["status"].str.split(" by ").list.first())
    assert first <= {"chosen", "finalist", "breaks the limit", "beaten", "budget", "cannot be carried out"}
    assert frame.filter(status="chosen")["name"].to_list() == [advice.name]
    assert frame.filter(pl.col("rung") == 4).height == len(advice.study.plans) or "as it is" in advice.study.plans


def test_what_is_discarded_is_beaten_or_breaks_the_limit(advice: cf.Advice) -> None:
    loss = dict(advice.frame.select("name", "hellinger_pairs").iter_rows())
    for row in advice.frame.iter_rows(named=True):
        if row["status"].startswith("beaten by "):
            assert loss[row["status"].removeprefix("beaten by ")] < row["hellinger_pairs"]
        if row["status"] == "breaks the limit" and "beyond 3" in row["why"]:
            assert row["share"] > 0.15


@pytest.mark.slow
def test_threads_change_nothing(advice: cf.Advice) -> None:
    assert same(advice, advised(threads=2))


@pytest.mark.slow
def test_a_time_is_rerun_by_its_evaluations() -> None:
    timed = advised(budget="2 s")
    assert timed.evaluations >= 1
    stated = {k: int(n) for k, n in re.findall(r"(repeats|finalists)=(\d+)", timed.script)}
    again = advised(budget=timed.evaluations, **stated)
    assert again.name == timed.name
    assert all(getattr(again, t).equals(getattr(timed, t)) for t in ("frame", "confirmed", "families", "untried"))


@pytest.mark.slow
def test_another_seed_is_another_search(advice: cf.Advice) -> None:
    assert not same(advice, advised(seed=2))


class Stopped(Exception):
    pass


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    state = {"made": 0, "stop": 10_000}
    made = Work._made

    def once(self: Work, job: Job, *more: Any) -> Trial:
        state["made"] += 1
        if state["made"] > state["stop"]:
            raise Stopped
        return made(self, job, *more)

    monkeypatch.setattr(Work, "_made", once)
    return state


@pytest.mark.slow
def test_a_search_that_was_stopped_goes_on(advice: cf.Advice, counted: dict[str, int], tmp_path: Path) -> None:
    counted["stop"] = 18
    with pytest.raises(Stopped):
        advised(folder=tmp_path / "work", threads=1)
    counted |= {"made": 0, "stop": 10_000}
    again = advised(folder=tmp_path / "work", threads=1)
    assert counted["made"] == 12
    assert same(advice, again)
    counted["made"] = 0
    assert same(again, advised(folder=tmp_path / "work"))
    assert counted["made"] == 0
    with pytest.raises(cf.InputError, match="advice on something else"):
        advised(folder=tmp_path / "work", max_risk={"found": "5%"}, threshold=0.3)


def test_no_limit_can_be_met() -> None:
    found = advised(max_risk={"found": 0}, keep=["age"])
    assert found.plan is None
    assert found.name is None
    assert found.choice is None
    assert found.nearest is not None
    assert "No plan meets the limits" in found.reason
    assert found.nearest.name in found.reason
    assert any("Tolerate" in said for said in found.nearest.give_up)
    assert any("age" in said for said in found.nearest.give_up)
    assert any("less than one person of 160" in said for said in found.nearest.give_up)
    assert found.frame["status"][0] == "nearest"


@pytest.mark.slow
def test_on_noise_no_plan_is_called_better() -> None:
    rng = np.random.default_rng(3)
    noise = pl.DataFrame({f"x{k}": rng.choice(list("abcdef"), 300) for k in range(4)})
    swaps = {f"swap x{k}": cf.Plan([cf.Swap(f"x{k}", rate=0.5)]) for k in range(4)}
    found = cf.advise(noise, [f"x{k}" for k in range(4)], max_risk={"found": "75%"}, plans=swaps, budget=8, seed=1)
    assert found.runner_up is not None
    assert not found.runner_up.apart
    assert "cannot be told apart" in found.reason
    assert "neither is better" in found.reason


def test_plans_of_ones_own_take_part_and_what_is_kept_is_released() -> None:
    own = {"last year": cf.Plan([cf.Recode("age", width=25)])}
    found = advised(plans=own, keep=["area"], budget=20)
    assert "last year" in found.frame["name"].to_list()
    assert found.plan is not None
    assert "area" not in {v for s in found.plan.steps for v in s.variables}
    assert "area" not in found.plan.drop
    assert any("area" in said for said in found.asked)


def test_it_says_what_it_cannot_do() -> None:
    with pytest.raises(cf.InputError, match="State them"):
        cf.advise({"q1": [0.5, 1.5, 2.5] * 20, "q2": [1.5, 0.1, 2.2] * 20}, budget=5)
    with pytest.raises(cf.InputError, match="no rows"):
        cf.advise(pl.DataFrame({"sex": []}), ["sex"], budget=5)
    with pytest.raises(cf.InputError, match="No variable is left"):
        cf.advise(people(), KEYS, keep=[*KEYS, "pay"], budget=5)
    with pytest.raises(cf.InputError, match="whole number of evaluations"):
        advised(budget="soon")
    with pytest.raises(cf.InputError, match="know nothing"):
        advised(intruders={"nobody": cf.Intruder()})
    with pytest.raises(cf.InputError, match='Did you mean "area"'):
        advised(keep="arae")


def test_small_and_odd_files() -> None:
    alone = cf.advise(people().select("area"), ["area"], max_risk={"found": "5%"}, budget=12, repeats=2, seed=1)
    assert alone.by == "hellinger"
    assert alone.reason
    constant = people().with_columns(sex=pl.lit("f")).select("sex", "pay")
    flat = cf.advise(constant, ["sex"], max_risk={"found": "5%"}, budget=12, repeats=2, seed=1)
    assert flat.name == "release everything"
    assert any("one value" in said for said in flat.asked)
    fifty = advised(people(50), max_risk={"found": "40%"}, budget=25)
    assert fifty.reason
    gaps = people().with_columns(weight=pl.when(pl.col("age") > 30).then(10.0))
    with pytest.raises(cf.InputError, match="missing"):
        advised(gaps, weight="weight")


@pytest.mark.slow
def test_it_is_saved_and_comes_back(advice: cf.Advice, tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    made = advice.save(tmp_path / "out", data="../people.csv")
    names = {p.name for p in made}
    assert {"plan.toml", "study.toml", "tried.csv", "families.csv", "untried.csv", "result.json"} <= names
    assert cf.Plan.load(tmp_path / "out" / "plan.toml") == advice.plan
    assert set(cf.Study.load(tmp_path / "out" / "study.toml").plans) == set(advice.study.plans)
    assert cf.StudyResult.load(tmp_path / "out").choose().plan == advice.study.choose().plan
    assert advice.report(tmp_path / "board.html").exists()
    assert advice.map() is not None


def test_the_script_does_the_same() -> None:
    own, who = {"last year": cf.Plan([cf.Recode("age", width=25)])}, {"near": cf.Intruder(knows=KEYS)}
    data = people().rename({"pay": 'pay "gross"'})
    given: dict[str, Any] = {"plans": own, "intruders": who, "utility": ["hellinger"]}
    more = {"keep": "area", "min_utility": {"hellinger": 0.9}, "threshold": 0.3, "quick": True, "budget": 12}
    first = advised(data, keys=None, sensitive=['pay "gross"'], **given, **more)
    scope: dict[str, Any] = {"cf": cf, "data": data, **given}
    exec(first.script, scope)
    assert same(first, scope["advice"])
    for said in ("keep=", "min_utility=", "threshold=0.3", "quick=True", "plans=plans", "identifiers=[]"):
        assert said in first.script
    scope = {"cf": cf, "data": people()}  # nothing is named that was not given
    exec(advised(budget=1).script, scope)
    assert scope["advice"].evaluations == 1


def test_limits_and_measures_that_are_empty_are_refused() -> None:
    with pytest.raises(cf.InputError, match="names no risk"):
        advised(max_risk={})
    with pytest.raises(cf.InputError, match="names no measure"):
        advised(utility=[])


def test_what_could_not_be_carried_out_was_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Work._made

    def refused(self: Work, job: Job, *more: Any) -> Trial:
        return Trial(error="it cannot be") if job.what.families == ("recode",) else made(self, job, *more)

    monkeypatch.setattr(Work, "_made", refused)
    found = advised(budget=14)
    lost = found.frame.filter(status="cannot be carried out").height
    assert lost > 0
    assert f"{found.frame.height - lost} plans were tried" in found.reason
    assert found.families.filter(family="recode", tried=0).height == 1
    text = str(found)
    assert f"{found.frame.height - lost} candidates of" in text


def test_the_nearest_is_never_called_advised_and_speaks_of_people() -> None:
    found = advised(max_risk={"found": "1%"}, keep=KEYS, budget=2)
    assert found.nearest is not None
    assert found.nearest.name == "release everything"
    assert "advised" not in str(found)
    assert "of people are found in place of 1%." in found.nearest.give_up[0]


def test_a_limit_that_limits_nothing_is_said() -> None:
    found = advised(max_risk={"found_share": 1}, budget=4)
    text = " ".join(str(found).split())
    assert "cannot be told apart" not in text + found.reason
    assert "Nothing can lose less" in found.reason
    assert "A limit of 100% (share of people found) limits nothing" in text
    assert "a larger one may find" not in text


def test_a_column_that_numbers_rows_is_not_released_unsaid() -> None:
    numbered = people().with_row_index("patient")
    assert any("every row: patient." in said for said in advised(numbered, budget=1).asked)
    for more in ({"identifiers": ["patient"]}, {"identifiers": []}):
        assert not any("every row" in said for said in advised(numbered, budget=1, **more).asked)
    assert not any("every row" in said for said in advised(budget=1).asked)


def test_a_plan_that_misleads_whoever_reads_it_is_told() -> None:
    data = misleading()
    plans = {"deck": DECK, "swap": cf.Plan([cf.Swap("area", rate=0.1)])}
    study = cf.Study(data, plans, {"near": cf.Intruder(knows=["sex", "area", "age"])}, ["hellinger"], 2, seed=1)
    result = study.run()
    cells = data.n_unique(CELL) / data.height  # somebody who guesses in a cell finds one of it
    said = found_aside(result, "deck")
    assert f'"near" finds most, {100 * cells:.3g}% of people, not ' in said
    assert not found_aside(result, "swap")
