"""Groups in studies: risk and utility with intervals over repeats, kept, stated in documents, and inside only."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.show.report.analyst_groups import analyst_groups, analyst_words
from confide.show.report.view import View
from confide.study.outside import published
from confide.study.tradeoff.repeats import interval

HEADS = cf.demo("heads").head(400)
PLANS: dict[str, cf.Plan | cf.Sweep] = {
    "swap": cf.Plan([cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)], identifiers=["id"]),
    "coarse": cf.Plan([cf.Recode("age", width=20)], identifiers=["id"], drop=["tenure"]),
}
WHO = {"near": cf.Intruder(knows=["sex", "race", "age"])}


def study(**more: Any) -> cf.Study:
    stated: dict[str, Any] = {"groups": ["race", "tenure"], "repeats": 3, "seed": 5, **more}
    return cf.Study(HEADS, PLANS, WHO, [cf.Hellinger("marital"), cf.Means("hh_income")], **stated)


@cache
def result() -> cf.StudyResult:
    return study().run(progress=False)


def test_risk_is_told_by_groups_that_nobody_knows_too() -> None:
    found = result().groups
    assert set(found["variable"]) == {"sex", "race", "age", "tenure"}
    swap = found.filter(plan="swap", variable="tenure")
    assert swap["targets"].sum() == 400
    assert swap["found"].sum() == pytest.approx(result().frame.filter(plan="swap")["found"].mean())
    assert swap["claimed"].sum() == pytest.approx(result().frame.filter(plan="swap")["claimed_matches"].mean())
    assert (swap["low"] <= swap["found"]).all()
    assert (swap["high"] >= swap["found"]).all()
    fixed = found.filter(plan="coarse")
    assert (fixed["low"] == fixed["found"]).all()


def test_utility_in_groups_is_that_of_each_release() -> None:
    from confide.study.evaluate import repeat_seed

    found = result().group_utility
    values = []
    for repeat in range(3):
        release = PLANS["swap"].protect(HEADS, seed=repeat_seed(5, repeat), draws="shared")  # type: ignore[union-attr]
        each = cf.utility_by_group(release, "race", cf.Hellinger("marital")).frame
        values.append(each.filter(group="Black")["value"].item())
    row = found.filter(plan="swap", variable="race", level="Black", measure="hellinger").row(0, named=True)
    expected = interval(values, True, (0.0, 1.0))
    assert expected is not None
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((expected.mean, expected.low, expected.high))
    assert row["people"] == (HEADS["race"] == "Black").sum()
    everything = found.filter(plan="release everything", measure="hellinger")
    assert set(everything["mean"]) == {0.0}


def test_a_plan_that_drops_the_variable_has_no_groups_of_it() -> None:
    found = result().group_utility
    assert set(found.filter(plan="coarse")["variable"]) == {"race"}
    assert set(found.filter(plan="swap")["variable"]) == {"race", "tenure"}


def test_it_is_kept_and_comes_back(tmp_path: Path) -> None:
    result().save(tmp_path / "study")
    again = cf.StudyResult.load(tmp_path / "study")
    assert again.group_utility.equals(result().group_utility)
    assert again.groups.equals(result().groups)


def test_an_interrupted_study_goes_on_with_its_groups(tmp_path: Path) -> None:
    first = study(repeats=1).run(tmp_path / "work", progress=False)
    again = study(repeats=1).run(tmp_path / "work", progress=False)
    assert again.group_utility.equals(first.group_utility)
    with pytest.raises(cf.InputError, match="holds another study"):
        study(repeats=1, groups=["race"]).run(tmp_path / "work", progress=False)


def test_nothing_of_it_goes_outside() -> None:
    out = published(result())
    assert out.group_utility.is_empty()
    assert not {"low", "high", "claimed"} & set(out.groups.columns)
    assert all(x % 10 in (0, 5) for x in out.groups["targets"])


def test_the_report_shows_it_inside_and_not_outside() -> None:
    choice = result().choose({"found": 400}, by="hellinger")
    drawn = analyst_groups(View.of(result(), False, choice=choice))
    assert {d.title for d in drawn} <= {"By race", "By tenure"}
    assert drawn
    table = drawn[0].table
    assert table is not None
    assert [row[0] for row in table.rows][:2] == ["all people", "White"]
    assert "Groups of fewer than 3 people" in analyst_words(View.of(result(), False, choice=choice))
    assert analyst_groups(View.of(result(), True)) == []
    assert analyst_words(View.of(study(groups=(), repeats=1).run(progress=False), False)) == ""


def test_in_a_document(tmp_path: Path) -> None:
    document = study().to_dict(data="demo:heads")
    assert document["groups"] == ["race", "tenure"]
    assert "groups" not in study(groups=()).to_dict(data="demo:heads")
    study().save(tmp_path / "study.toml", data="demo:heads")
    assert cf.Study.load(tmp_path / "study.toml").groups == ("race", "tenure")
    assert "groups" in cf.Study.json_schema()["properties"]
    text = (tmp_path / "study.toml").read_text().replace('"race", "tenure"', '"rase"')
    (tmp_path / "wrong.toml").write_text(text)
    with pytest.raises(cf.InputError, match='groups: there is no column "rase"'):
        cf.Study.load(tmp_path / "wrong.toml")


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (["rase"], 'groups: there is no column "rase". Did you mean "race"'),
        (3, "groups"),
        (["list"], "makes no groups"),
        ({"race": 1}, "groups"),
    ],
)
def test_mistakes_are_said(groups: Any, said: str) -> None:
    data = HEADS.with_columns(list=pl.lit([1, 2]))
    with pytest.raises(cf.InputError, match=said):
        cf.Study(data, PLANS, WHO, ["hellinger"], groups=groups)


def test_one_name_may_stand_for_itself() -> None:
    assert study(groups="race").groups == ("race",)


def test_the_printout_names_who_is_found_most_and_who_loses_most() -> None:
    text = str(result())
    assert "By race, the group that is found most often, and the one that loses most:" in text
    swap = next(line for line in text.split("By tenure")[1].splitlines() if line.startswith("  swap:"))
    assert "times the share of all" in swap
    assert "hellinger" in swap
    assert "By race" not in str(study(groups=(), repeats=1).run(progress=False))


def test_identifiers_make_no_groups() -> None:
    with pytest.raises(cf.InputError, match='groups: "id" is an identifier by the plan'):
        study(groups=["race", "id"])
    swept: dict[str, Any] = {"sweep": cf.Sweep(lambda r: cf.Plan([cf.Swap("race", rate=r)], identifiers="id"), r=[0.1])}
    with pytest.raises(cf.InputError, match='groups: "id" is an identifier by the plan'):
        cf.Study(HEADS, swept, WHO, [cf.Hellinger("marital")], groups=["id"])
    named = HEADS.with_columns(name=pl.format("P{}", pl.col("id")))
    with pytest.raises(cf.InputError, match='groups: "name" has 400 different values among 400 people'):
        cf.Study(named, PLANS, WHO, [cf.Hellinger("marital")], groups=["name"])
