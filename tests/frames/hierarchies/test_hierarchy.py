"""Hierarchies: their levels, the tree over the values of a column, what is refused."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.hierarchies.tree import Tree

SECRET = "Zanzibar"


def test_levels_by_each_form() -> None:
    ages = cf.Hierarchy(widths=[5, 10]).tree([20, 23, 27, 41])
    assert ages.levels[2] == ("20 to 29", "40 to 49")
    assert [p.tolist() for p in ages.parents] == [[0, 0, 1, 2], [0, 0, 1], [0, 0]]
    ranges = cf.Hierarchy(breaks=[[18, 45, 65], [18, 65]], labels=[["a", "b", "c", "d"], ["a", "bc", "d"]])
    assert ranges.tree([10, 20, 50, 70]).levels[2] == ("a", "bc", "d")
    codes = cf.Hierarchy(prefix=[3, 1], hide=False).tree(["8131", "8132", "8201", "7"])
    assert codes.levels[1:] == (("7", "813", "820"), ("7", "8"))
    assert cf.Hierarchy().tree(["f", "m", None]).levels == (("f", "m"), ("left out",))
    table = cf.Hierarchy(table={1: ["low"], 2: ["low"], 3: ["high"]}, names=["coarse"])
    assert table.levels == ("as it is", "coarse", "left out")
    assert table.tree([3, 1, 2]).codes[1].tolist() == [0, 0, 1]


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("us", "Europe/Rome")])
def test_dates(kind: Any) -> None:
    days = pl.Series("day", [date(1999, 12, 31), date(2000, 1, 1), None, date(2001, 3, 31)]).cast(pl.Datetime("us"))
    days = days.cast(kind) if kind == pl.Date or kind.time_zone is None else days.dt.replace_time_zone("Europe/Rome")
    tree = cf.Hierarchy(dates=["month", "quarter", "year", "decade"]).tree(days)
    assert tree.levels[1:5] == (
        ("1999-12", "2000-01", "2001-03"), ("1999 Q4", "2000 Q1", "2001 Q1"), ("1999", "2000", "2001"),
        ("1990 to 1999", "2000 to 2009"),
    )  # fmt: skip
    step = cf.Recode("day", hierarchy=cf.Hierarchy(dates=["month", "year"]), level="year")
    made = cf.Plan([step]).protect(pl.DataFrame({"day": days}), seed=1)
    assert sorted(made.data["day"].drop_nulls().to_list()) == ["1999", "2000", "2001"]


def test_dates_of_other_files_are_not_taken_for_those_of_the_file() -> None:
    file = pl.DataFrame({"day": [date(2000, 1, 3), date(2000, 2, 3), date(2000, 2, 9)]})
    plan = cf.Plan([cf.Recode("day", hierarchy=cf.Hierarchy(dates=["month"]), level=1)])
    people = pl.DataFrame({"day": [date(2000, 2, 28), date(1990, 2, 28), date(2024, 1, 1)]})
    attack = cf.Intruder(knows="day").attack(plan.protect(file, seed=1), people, truth=[-1, -1, -1])
    assert attack.units["candidates"].to_list() == [2, 0, 0]


def test_text_of_a_file_meets_numbers_of_a_column(tmp_path: Path) -> None:
    (tmp_path / "age.csv").write_text("34;30-39;*\n35;30-39;*\n41;40-49;*\n")
    h = cf.Hierarchy.load(tmp_path / "age.csv")
    for values in ([34, 35, 41], [34.0, 35.0, 41.0], ["34", "35", "41"]):
        assert h.tree(values).levels[1] == ("30-39", "40-49")
    made = cf.Plan([cf.Recode("age", hierarchy=h, level=1)]).protect(pl.DataFrame({"age": [34, 41, None]}), seed=1)
    assert set(made.data["age"].to_list()) == {"30-39", "40-49", None}


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_files_of_levels(tmp_path: Path, separator: str) -> None:
    rows = [["Bari", "Apulia; or so", "South"], ["Rome", "Lazio", "Centre"], ["Lecce", "Apulia; or so", "South"]]
    text = "\n".join(separator.join(f'"{c}"' for c in row) for row in rows)
    (tmp_path / "a.csv").write_text(f"\ufeff{text}\n\n")
    h = cf.Hierarchy.load(tmp_path / "a.csv")
    assert h.table == {row[0]: tuple(row[1:]) for row in rows}
    assert h.levels == ("as it is", "level 1", "level 2", "left out")
    h.save(tmp_path / "b.csv")
    assert cf.Hierarchy.load(tmp_path / "b.csv").levels == h.levels
    for name in ("c.toml", "c.json"):
        assert cf.Hierarchy.load(h.save(tmp_path / name)) == h
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        h.save(tmp_path / "b.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\nb\n", "has one level only"),
        ("a;x\nb\n", "rows have 1 to 2 columns"),
        ("a;x\na;y\n", "1 rows give a value groups that differ"),
        (
            f"{SECRET};x;p\nb;x;q\n",
            'not nested: 1 of 1 groups of the level "level 1" lies in several groups of the level',
        ),
        ("", "is empty"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(cf.InputError, match=said) as error:
        cf.Hierarchy.load(tmp_path / "a.csv")
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"widths": [5, 12]}, 'the level "in steps of 12" do not hold whole ones of "in steps of 5"'),
        ({"widths": [10, 5]}, "not nested"),
        ({"widths": [0]}, "a width must be above zero"),
        ({"widths": 5}, "widths is a list with one item per level"),
        ({"breaks": [[1, 2], [3]]}, "each break of level 2 must be one of level 1"),
        ({"breaks": [[2, 1]]}, "rising numbers"),
        ({"breaks": [[1, 2]], "labels": [["a"]]}, "breaks make 3 intervals"),
        ({"labels": [["a"]]}, "labels go with breaks"),
        ({"prefix": [2, 4]}, "ever fewer letters"),
        ({"prefix": ["a"]}, "whole numbers such as"),
        ({"dates": ["week"]}, "Weeks do not lie in months"),
        ({"dates": ["year", "month"]}, "dates must become longer"),
        ({"table": {"a": ["x"], "b": ["x", "y"]}}, "1 to 2 groups"),
        ({"table": {SECRET: ["x", "p"], "b": ["x", "q"]}}, 'groups of the level "level 1" lies in several'),
        ({"table": {}}, "table leads from each value"),
        ({"table": {"a": [None]}}, "holds None"),
        ({"table": {"a": []}}, "has one level only"),
        ({"widths": [5], "prefix": [1]}, "it was given widths and prefix"),
        ({"hide": False}, "has one level only"),
        ({"widths": [5], "names": ["a", "b"]}, "1 here"),
        ({"widths": [5], "hide": "yes"}, "hide is true or false"),
    ],
)
def test_what_is_no_hierarchy(stated: dict[str, Any], said: str) -> None:
    with pytest.raises(cf.InputError, match=said) as error:
        cf.Hierarchy(**stated)
    assert SECRET not in str(error.value)


def test_values_that_a_table_lacks_are_counted_and_not_named() -> None:
    h = cf.Hierarchy(table={"a": ["x"], "b": ["y"]})
    for meet in (lambda: h.tree(["a", SECRET]), lambda: _protected(h)):
        with pytest.raises(cf.InputError, match="1 of 2 values of the column are not in the hierarchy") as error:
            meet()
        assert SECRET not in str(error.value)


def _protected(h: cf.Hierarchy) -> cf.Release:
    return cf.Plan([cf.Recode("town", hierarchy=h, level=1)]).protect({"town": ["a", SECRET]}, seed=1)


def test_categories_that_nobody_has_need_no_group() -> None:
    h = cf.Hierarchy(table={"a": ["x"], "b": ["y"]})
    towns = pl.Series("town", ["a", "b"], dtype=pl.Enum(["a", "b", "c"]))
    assert h.tree(towns).levels[0] == ("a", "b")
    assert cf.Plan([cf.Recode("town", hierarchy=h, level=1)]).protect(pl.DataFrame([towns]), seed=1).data.height == 2


def test_levels_are_asked_for_by_number_or_name() -> None:
    h = cf.Hierarchy(widths=[5, 10])
    assert h.level("in steps of 10") == h.level(2) == 2
    with pytest.raises(cf.InputError, match=r'no level "in steps of 1".*Did you mean'):
        h.level("in steps of 1")
    with pytest.raises(cf.InputError, match="a number from 0 to 3"):
        h.level(7)


def test_made_from_values() -> None:
    education = cf.Hierarchy.ordered(["none", "primary", "secondary", "tertiary", "doctor"], [2, 4])
    assert set(education.tree(["none", "secondary", "doctor"]).levels[2]) == {"none to tertiary", "doctor"}
    areas = {"town": ["Bari", "Rome", "Lecce"], "region": ["Apulia", "Lazio", "Apulia"], "country": ["Italy"] * 3}
    assert cf.Hierarchy.nested(areas, ["town", "region", "country"]).levels == ("as it is", "region", "left out")
    with pytest.raises(cf.InputError, match='1 of 1 groups of the level "town" lies in several groups of the level'):
        cf.Hierarchy.nested({"town": [SECRET] * 2, "region": ["a", "b"]}, ["town", "region"])
    with pytest.raises(cf.InputError, match="has one level only"):
        cf.Hierarchy.nested(areas, ["town"])
    with pytest.raises(cf.InputError, match=r'no column "regio".*Did you mean "region"'):
        cf.Hierarchy.nested(areas, ["town", "regio"])
    with pytest.raises(cf.InputError, match='"region" is missing in 1 rows'):
        cf.Hierarchy.nested({"town": ["a"], "region": [None]}, ["town", "region"])
    with pytest.raises(cf.InputError, match="each a whole multiple"):
        cf.Hierarchy.ordered(["a", "b", "c"], [2, 3])


def test_proposals_hold_for_every_column() -> None:
    heads = cf.demo("heads").with_columns(
        zip=pl.Series([f"{10000 + k % 977}" for k in range(51016)]),
        day=pl.Series([date(1950 + k % 70, 1 + k % 12, 1) for k in range(51016)]),
        word=pl.col("race").cast(pl.String), one=pl.lit("x"), none=pl.lit(None),
    )  # fmt: skip
    forms = {}
    for v in heads.columns:
        h = cf.Hierarchy.propose(heads, v)
        tree = h.tree(heads[v])
        forms[v] = h.form
        assert all(len(a) >= len(b) for a, b in zip(tree.levels, tree.levels[1:], strict=False)), v
    assert (forms["age"], forms["hh_income"], forms["zip"], forms["day"]) == ("widths", "breaks", "prefix", "dates")
    assert (forms["educ"], forms["word"], forms["one"], forms["none"]) == ("table", "table", "", "")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_parents_lead_from_level_to_level(values: list[int], up: list[int]) -> None:
    tree = Tree.of(["a", "b", "c"], [values, [up[v] for v in values], [0] * len(values)])
    for k, parents in enumerate(tree.parents):
        assert np.array_equal(parents[tree.codes[k]], tree.codes[k + 1])
    assert tree.height == 2


@settings(max_examples=40)
@given(st.lists(st.floats(-50, 50, width=16), min_size=1, max_size=20), st.integers(1, 7), st.integers(2, 4))
def test_a_level_is_the_recode_that_it_stands_for(values: list[float], width: int, times: int) -> None:
    file = pl.DataFrame({"x": values})
    h = cf.Hierarchy(widths=[width, width * times], start=0.5)
    for k, w in ((1, width), (2, width * times)):
        steps = [cf.Recode("x", hierarchy=h, level=k), cf.Recode("x", width=w, start=0.5)]
        a, b = (cf.Plan([s], numeric="x").protect(file, seed=1, draws="shared").data for s in steps)
        assert a.equals(b)


def test_a_level_in_a_plan_file_and_what_is_refused() -> None:
    h = cf.Hierarchy(table={"White": ["white"], "Black": ["not"]})
    plan = cf.Plan([cf.Recode("race", hierarchy=h, level="level 1"), cf.Recode("age", width=5)])
    assert cf.Plan.from_dict(plan.to_dict()) == plan
    assert hash(plan.steps[0]) == hash(cf.Recode("race", hierarchy=h, level="level 1"))
    for wrong, said in {
        "level 0 is the variable as it is": {"hierarchy": h, "level": 0},
        r"drop=\[\"race\"\]": {"hierarchy": h, "level": "left out"},
        "level says which level": {"hierarchy": h},
        "level goes with a hierarchy": {"width": 5, "level": 1},
        "exactly one of width, breaks, mapping and hierarchy": {"hierarchy": h, "level": 1, "width": 3},
        'has no level "levl 1"': {"hierarchy": h, "level": "levl 1"},
    }.items():
        with pytest.raises(cf.InputError, match=wrong):
            cf.Recode("race", **said)  # type: ignore[arg-type]


def test_explanations_climb_the_hierarchy_of_the_plan() -> None:
    heads = cf.demo("heads").head(800)
    ages = cf.Hierarchy(breaks=[[30, 40, 50, 60], [40, 60], [60]], names=["fine", "middle", "coarse"])
    plan = cf.Plan([cf.Recode("age", hierarchy=ages, level="fine")], identifiers="id")
    attack = cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(plan.protect(heads, seed=1))
    alone = int(attack.units["p_max"].arg_max() or 0)
    words = str(attack.clearing(0.1).frame.to_dicts()) + str(attack.explain(alone, limit=0.1))
    assert "age at middle" in words
    assert "age at coarse" in words


def test_rare_values_of_a_hierarchy_stay_out_of_public_records() -> None:
    towns = pl.DataFrame({"town": [SECRET] + ["Near"] * 30 + ["Next"] * 30})
    h = cf.Hierarchy(table={SECRET: ["a"], "Near": ["a"], "Next": ["b"]})
    release = cf.Plan([cf.Recode("town", hierarchy=h, level=1)]).protect(towns)
    assert SECRET not in str(release.record())
    assert SECRET in str(release.record(private=True))


def test_times_without_days_are_refused() -> None:
    h = cf.Hierarchy(dates=["month"])
    with pytest.raises(cf.InputError, match=r"prefix=\[7, 4\]"):
        h.tree([1, 2, 3])
    assert h.tree(pl.Series([datetime(2020, 1, 1, 5)])).levels[1] == ("2020-01",)


@pytest.mark.parametrize("level", [1, "level 2"])
def test_a_level_keeps_what_a_method_must(level: int | str) -> None:
    """Labels are kept, frequencies match evidence, a plain twin agrees and the attack is calibrated."""
    marital = cf.demo("heads")["marital"].unique().to_list()
    table = {v: [v[:3], v[:1] < "n"] for v in marital}
    step = cf.Recode("marital", hierarchy=cf.Hierarchy(table=table), level=level)
    cf.extend.check_mechanism(step, cf.demo("heads").head(300), knows="sex")
