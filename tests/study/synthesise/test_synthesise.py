"""cf.synthesise: rules hold in every row of every copy, nothing real leaks, claims are true, odd files are met."""

from __future__ import annotations

import datetime as dt
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide as cf

HEADS = cf.demo("heads")


def people(n: int = 400, seed: int = 0, low: int = 16, base: int = 1) -> pl.DataFrame:
    """A file with a sum, limits, gaps that follow from answers, dates, codes, a constant and an empty column."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 95, n)
    wed = np.where(age < low, "never", rng.choice(["never", "married", "widowed"], n))
    job = np.where(age < low, "child", rng.choice(["works", "none"], n))
    wage = np.where(job == "works", base * rng.integers(1, 4000, n), 0)
    rent = np.where(rng.random(n) < 0.5, 0, rng.integers(1, 900, n))
    born = [dt.date(2020, 6, 1) - dt.timedelta(days=365 * int(a)) for a in age]
    return pl.DataFrame(
        {
            "person": [f"P{i:06d}" for i in range(n)], "age": age, "wed": wed, "job": job, "wage": wage, "rent": rent,
            "income": wage + rent, "hours": pl.Series(np.where(job == "works", rng.integers(1, 60, n), -1)).replace(-1, None),
            "born": born, "code": rng.choice(["0110", "0120", "2111"], n), "one": 1, "none": pl.Series([None] * n, dtype=pl.Float64),
            "weight": rng.uniform(1, 50, n).round(2),
        }
    )  # fmt: skip


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.integers(120, 300), st.integers(10, 40), st.sampled_from([1, 10]), st.booleans())
def test_rules_hold_in_every_row_of_every_copy(seed: int, n: int, low: int, base: int, several: bool) -> None:
    y = people(n, seed, low, base)
    made = cf.synthesise(y, seed=seed, keys="age", sensitive="income", copies=2 if several else 1)
    kept = made.rules.filter(pl.col("kept_by") != "")
    assert kept["broken"].sum() == 0
    assert made.rules["broken_before"].sum() == 0
    texts = made.rules["rule"].to_list()
    assert "income = wage + rent" in texts
    for z in made.data if several else [made.data]:
        assert (z["income"] == z["wage"] + z["rent"]).all()
        if "job == 'works' -> hours is present" in texts:
            assert z.filter(pl.col("job") == "works")["hours"].null_count() == 0
        for job in ("none", "child"):  # of few children chance would make no rule
            if f"job == '{job}' -> hours is missing" in texts:
                assert z.filter(pl.col("job") == job)["hours"].drop_nulls().len() == 0
            if f"job == '{job}' -> wage == 0" in texts:
                assert (z.filter(pl.col("job") == job)["wage"] == 0).all()
        for v in ("age", "wage", "rent", "hours", "born", "code"):
            assert set(z[v].drop_nulls()) <= set(y[v].drop_nulls())  # bounds, steps, whole numbers and codes
        assert z.schema == y.drop("person").schema


def test_rules_that_a_file_of_some_size_keeps_are_found() -> None:
    texts = cf.synthesise(people(400), seed=1, keys="age", sensitive=()).rules["rule"].to_list()
    for job, what in {"works": "hours is present", "none": "hours is missing", "child": "wage == 0"}.items():
        assert f"job == '{job}' -> {what}" in texts


def test_the_same_seed_and_the_same_vault_give_the_same(tmp_path: Path) -> None:
    y = people(150)
    more: dict[str, Any] = {"keys": "age", "sensitive": "wage"}
    once, again, other = (cf.synthesise(y, seed=s, **more).data for s in (1, 1, 2))
    assert once.equals(again)
    assert not once.equals(other)
    made = [cf.synthesise(y, vault=tmp_path / "vault", **more) for _ in range(2)]
    assert made[0].data.equals(made[1].data)
    assert not made[0].refusal
    assert made[0].plan.protect(y, vault=tmp_path / "vault").data.equals(made[0].data)  # a plan like any other


def test_no_identifier_and_no_text_of_single_people_leaks() -> None:
    y = people(200).with_columns(note=pl.Series([f"words of {i}" for i in range(150)] + ["none"] * 50))
    made = cf.synthesise(y, seed=1, keys="age", sensitive="wage")
    text = made.data.write_csv()
    assert "P0000" not in text
    assert "words of" not in text
    rows = {r["variable"]: r for r in made.frame.iter_rows(named=True)}
    assert rows["person"]["becomes"] == rows["note"]["becomes"] == "left out"
    assert rows["income"]["becomes"] == "recomputed"
    assert rows["one"]["becomes"] == rows["none"]["becomes"] == "kept"
    order = made.frame.filter(pl.col("becomes") == "synthetic")
    assert order["predictors"][0] == ""  # the first is drawn from its margin
    assert order["variable"][-1] == "weight"


@pytest.mark.slow
def test_the_strongest_intruder_claims_what_is_true() -> None:
    y = HEADS.head(2_000).drop("state", "weight", "n_persons", "other_income")
    for keep, keys in {
        "": ["sex", "race", "age"],
        "sex marital age": ["sex", "marital", "age", "educ"],
        "tenure age": ["age", "hh_income", "race"],
    }.items():
        made = cf.synthesise(y, keep=keep.split(), keys=keys, sensitive="wage_income", seed=3)
        assert made.attack is not None
        found = made.attack.calibration()
        assert abs(found.true - found.claimed) < 3 * np.sqrt(max(found.claimed, 1)), keep
        assert made.risk.filter(risk="found")["value"][0] == pytest.approx(made.attack.summary().found)
    assert made.risk.filter(risk="guess_loss")["value"][0] < made.risk.filter(risk="guess_loss")["compared"][0]


def test_repeated_people_are_counted() -> None:
    """By hand: rows alone in both files and equal."""
    y = people(120).select("wed", "age", "code")
    made = cf.synthesise(y, seed=1, keys=["wed", "age"], sensitive=())
    mine, theirs = y.rows(), made.data.rows()
    both = sum(mine.count(r) == 1 == theirs.count(r) for r in mine)
    alone = sum(mine.count(r) == 1 for r in mine)
    row = made.risk.filter(risk="replicated_uniques", about="all variables")
    assert (row["value"][0], row["compared"][0]) == (both, alone)


def test_what_synthetic_rows_agree_on_is_counted() -> None:
    """By hand: all synthetic rows with somebody's keys have one value, and it is right."""
    y = people(150).select("wed", "job", "age", "code")
    made = cf.synthesise(y, seed=1, keys=["wed", "age"], sensitive="code")

    def right(told: pl.DataFrame) -> int:
        found = [{c for w, _, a, c in told.iter_rows() if (w, a) == (wed, age)} for wed, _, age, _ in y.iter_rows()]
        return sum(f == {c} for f, c in zip(found, y["code"], strict=True))

    row = made.risk.filter(risk="disclosed", about="code")
    assert (row["value"][0], row["compared"][0]) == (right(made.data), right(y))


def test_only_keep_order_and_models_are_heeded() -> None:
    y = people(300)
    made = cf.synthesise(
        y, keep=["age", "wed"], order=["rent"], models={"wage": "ranks", "code": cf.CartSynthesis("code", given="age")},
        find_rules=False, rules=["rent <= 500"], keys=["age"], sensitive="wage", seed=1,
    )  # fmt: skip
    back = made.data[np.argsort(made.release.link)]
    assert back.select("age", "wed").equals(y.select("age", "wed"))
    drawn = made.frame.filter(becomes="synthetic")
    assert drawn["variable"][0] == "rent"
    assert made.data["rent"].max() <= 500
    models = dict(drawn.select("variable", "model").iter_rows())
    assert models["wage"] == "NormalSynthesis"
    assert drawn.filter(variable="code")["predictors"][0] == "age"
    assert made.rules["rule"].to_list() == ["rent <= 500"]
    few = cf.synthesise(y, only=["wage", "rent", "income"], keys=["age"], sensitive="wage", seed=1)
    assert set(few.frame.filter(pl.col("becomes") != "kept")["variable"]) == {"wage", "rent", "income", "person"}


def test_what_breaks_a_rule_is_said() -> None:
    y = people(300)
    made = cf.synthesise(y, models={"job": "margin"}, keys="age", sensitive=(), seed=1)
    broken = made.rules.filter(pl.col("broken") > 0)
    assert broken.height
    assert any("a rule is broken" in c for c in made.cautions)
    assert any("job" in r for r in broken["rule"])
    assert made.frame.filter(variable="job")["rules"][0] == ""


def test_a_sum_solved_otherwise_may_be_stated_and_no_sign_is_lost() -> None:
    rng = np.random.default_rng(2)
    cost = rng.lognormal(5, 1, 300).round().astype(int)
    profit = np.maximum((rng.normal(size=300) * 100).round().astype(int), -cost)
    y = pl.DataFrame({"age": rng.integers(18, 80, 300), "profit": profit, "cost": cost, "revenue": profit + cost})
    for rule in (None, "profit = revenue - cost"):
        made = cf.synthesise(y, rules=rule, keys="age", sensitive=(), seed=1)
        assert made.rules["rule"].to_list() == ["profit = revenue - cost"]
        assert (made.data["profit"] == made.data["revenue"] - made.data["cost"]).all()
        assert made.data["revenue"].min() >= 0  # type: ignore[operator]
    stated = cf.synthesise(y, rules="revenue = profit + cost", keys="age", sensitive=(), seed=1)
    assert stated.data["revenue"].min() < 0  # type: ignore[operator]
    assert any("smaller or larger than any in the file: revenue." in c for c in stated.cautions)


def test_what_was_stated_in_vain_is_said() -> None:
    y = people(150)
    rules = ["wed == 'maried' -> age >= 20", "code == 110 -> age >= 0", "job != 'none' -> age >= 0", "wed is present"]
    made = cf.synthesise(y, keep="wed", rules=rules, keys=["age", "person"], sensitive=(), seed=1)
    said = [c for c in made.cautions if c.startswith(("Rule ", "keys:"))]
    assert [c.partition(";")[0].partition(":")[0] for c in said] == [
        "keys",
        'Rule 1 of those stated names a value that "wed" never has',
        'Rule 2 of those stated names a value that "code" never has',
        "Rule 4 of those stated is about variables that are kept as they are",
    ]
    assert not any("maried" in c for c in said)


def test_a_number_that_is_none_is_missing_in_both_files() -> None:
    x = np.where(np.arange(200) % 4 == 0, np.nan, np.arange(200) / 8)
    made = cf.synthesise(pl.DataFrame({"x": x, "sex": ["m", "f"] * 100}), keys="sex", sensitive=(), seed=1)
    row = made.compare.filter(variable="x").row(0, named=True)
    assert row["missing"] == 0.25
    assert row["missing_synthetic"] == made.data["x"].null_count() / 200
    assert row["values"] == 151


def test_what_is_left_out_is_printed_also_behind_many_variables() -> None:
    days = [str(dt.date(1950, 1, 1) + dt.timedelta(days=97 * k)) for k in range(80)]
    y = pl.DataFrame(
        {**{f"v{k}": [0, 1, 2, 3] * 20 for k in range(14)}, "birth": days, "note": [f"{d} x" for d in days]}
    )
    made = cf.synthesise(y, keys="v0", sensitive=(), find_rules=False, seed=1)
    assert "\nleft out: birth, note\n" in str(made)
    why = dict(made.frame.select("variable", "why").iter_rows())
    assert "turn them into dates" in why["birth"]
    assert "dates" not in why["note"]


def test_a_column_without_a_name() -> None:
    with pytest.raises(cf.InputError, match="Column 1 has no name"):
        cf.synthesise(pl.DataFrame({"": [*range(60)], "x": [1, 2, 3] * 20}))


def test_values_of_one_person_that_are_repeated_are_said() -> None:
    """A smallest number, a latest day and a category of one row each, in files where a draw repeats them."""
    n = 60
    born = [dt.date(1990, 1, 1)] * (n - 1) + [dt.date(2001, 1, 1)]
    y = pl.DataFrame({
        "sex": ["m", "f"] * (n // 2), "job": ["a"] * (n - 1) + ["rare"], "born": born, "low": [-7.5] + [3.25] * 30 + [4.5] * 29,
    })  # fmt: skip
    ends = {"job": "rare", "born": dt.date(2001, 1, 1), "low": -7.5}
    seen = set[bool]()
    for seed in range(4):
        drawn = {v: cf.CartSynthesis(v, draw="independent") for v in ends}  # even draws repeat every value
        made = cf.synthesise(y, keys="sex", sensitive=(), models=drawn, seed=seed)
        said = "".join(c for c in made.cautions if "one person" in c)
        for v, own in ends.items():
            repeated = bool((made.data[v] == own).any())
            assert (v in said) == repeated
            seen.add(repeated)
    assert seen == {True, False}


ODD: dict[str, Any] = {
    "fifty rows": people(50),
    "one column": people(80).select("age"),
    "one column of text": people(80).select("wed"),
    "a weight alone": people(80).select("weight"),
    "two rows": people(2).select("age", "wed"),
    "many columns": pl.DataFrame(np.random.default_rng(0).normal(size=(90, 60)).round(2), schema=[f"v{i}" for i in range(60)]),
    "times": pl.DataFrame({"at": [dt.datetime(2020, 1, 1, h % 24, h % 60) for h in range(90)], "x": [*range(90)]}),
    "true or false": pl.DataFrame({"yes": [True, False, None] * 30, "x": [1.5, 2.5, 3.5] * 30}),
    "spans": pl.DataFrame({"took": [dt.timedelta(minutes=h) for h in range(90)], "x": [*range(90)]}),
    "lists": pl.DataFrame({"words": [["a"], ["b"]] * 30, "x": [*range(60)]}),
    "names": pl.DataFrame({"a b": ["x", "y"] * 40, "is": [1, 2] * 40, "`": [3, 4] * 40}),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_files_have_a_result(name: str) -> None:
    y = ODD[name]
    made = cf.synthesise(y, seed=1)
    assert made.data.height == y.height
    assert str(made)
    if name == "many columns":
        assert max(len(p.split(", ")) for p in made.frame["predictors"]) == 25


def test_households_are_said_to_be_lost() -> None:
    y = people(300).with_columns(household=pl.Series(np.sort(np.arange(300) % 100)))
    made = cf.synthesise(y, seed=1, keys="age", sensitive=())
    assert "household" not in made.data.columns
    assert any("drawn one by one" in c for c in made.cautions)


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "no such column": ({"keep": "agee"}, 'keep: there is no column "agee"'),
    "both": ({"keep": "age", "only": ["age", "wed"]}, "in only and in keep"),
    "nothing left": ({"keep": people(2).drop("person").columns}, "No variable is left"),
    "model": ({"models": {"wage": "magic"}}, "a model is cart, ranks, quantile, logistic, margin"),
    "model of a category": ({"models": {"wed": "ranks"}}, "has categories"),
    "model of another": ({"models": {"wed": cf.CartSynthesis("job")}}, "must draw this variable alone"),
    "models": ({"models": "cart"}, "leads from names"),
    "order": ({"order": ["person"]}, "is not made synthetic"),
    "order twice": ({"order": ["age", "age"]}, "named twice"),
    "rule": ({"rules": "what"}, "cannot be read"),
    "rule of nobody": ({"rules": "agee > 3"}, '"agee" is no variable'),
    "rule of text": ({"rules": "wed > 3"}, "categories that are no numbers"),
    "two sums": ({"rules": ["income = wage + rent", "income = age + rent"]}, "total of two sums"),
    "copies": ({"copies": 0}, "how many releases"),
    "leaf": ({"leaf": 0}, "smallest number of records"),
    "find": ({"find_rules": "yes"}, "find_rules is true or false"),
    "weights": ({"weight": ["age", "weight"]}, "name of one column"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_met_at_the_door(name: str) -> None:
    how, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        cf.synthesise(people(60), seed=1, **how)


def test_infinite_values() -> None:
    with pytest.raises(cf.InputError, match="2 infinite values"):
        cf.synthesise(pl.DataFrame({"x": [1.5, float("inf")] * 2, "y": [*range(4)]}))


def test_an_empty_file() -> None:
    with pytest.raises(cf.InputError, match="no rows"):
        cf.synthesise(people(3).head(0))


def test_all_is_saved_in_a_folder(tmp_path: Path) -> None:
    y = people(150)
    made = cf.synthesise(y, keys="age", sensitive=(), copies=2)
    made.save(tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "plan.toml", "synthesis.json", "synthetic-1.csv", "synthetic-2.csv",
    ]  # fmt: skip
    assert cf.Plan.load(tmp_path / "out" / "plan.toml") == made.plan
    assert stat.S_IMODE((tmp_path / "out" / "plan.toml").stat().st_mode) == 0o600
    with pytest.raises(cf.InputError, match="not overwritten"):
        made.save(tmp_path / "out")
    draft = cf.synthesise(y, keys="age", sensitive=(), seed=1)
    with pytest.raises(cf.InputError, match="draft=True"):
        draft.save(tmp_path / "draft")
    draft.save(tmp_path / "draft", draft=True)
    assert stat.S_IMODE((tmp_path / "draft" / "synthetic.csv").stat().st_mode) == 0o600
