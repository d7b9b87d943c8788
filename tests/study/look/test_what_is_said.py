"""What a look says of a file: no sentence that its own numbers deny, and every doubt that a reader needs."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.show.look.page import look_html
from confide.show.look.tables import sensitive_table
from confide.show.look.words import answer
from confide.study.look.groups import labelled, periods

N = 600
RNG = np.random.default_rng(4)
SEX, AGE, TOWN = RNG.integers(1, 3, N), RNG.integers(18, 80, N), RNG.choice(["Ayr", "Bude", "Crewe"], N)
PEOPLE = {"sex": SEX, "age": AGE, "town": TOWN}
DAYS = [dt.date(2022, 1, 1) + dt.timedelta(int(d)) for d in RNG.integers(0, 365, N)]


def flat(look: cf.Look) -> str:
    return " ".join(str(look).split())


@cache
def school() -> cf.Look:
    labels = {"V1": "School ID", "V2": "Gender of student", "V3": "Age in years", "V4": "Ever been bullied"}
    frame = pl.DataFrame({"V1": np.arange(N) // 10, "V2": SEX, "V3": RNG.choice([13, 14, 15, 99], N), "V4": SEX - 1})
    said = {v: cf.VariableSchema(v, label=label) for v, label in labels.items()}
    said["V3"] = cf.VariableSchema("V3", label=labels["V3"], value_labels={99: "Not stated"})
    return cf.look(cf.Data(frame, cf.Schema(said)))


@cache
def firms() -> cf.Look:
    nace = RNG.choice(np.arange(111, 9_900, 37), N)
    return cf.look({"nace": nace, "nuts3": RNG.integers(101, 125, N), "turnover": RNG.lognormal(9, 1, N).round(0)})


def test_keys_that_all_matter_are_named() -> None:
    said = answer(cf.look(PEOPLE, keys=["sex", "age", "town"], guess=False))[-1]
    assert said.startswith("Each of the 3 keys matters: without ")
    assert "Begin there" in said
    assert "No single key" not in said


def test_where_no_key_does_it_the_strongest_is_where_to_begin() -> None:
    rng = np.random.default_rng(0)
    said = answer(cf.look({f"k{i}": rng.integers(0, 9, 200) for i in range(6)}, keys=[f"k{i}" for i in range(6)]))[-1]
    assert said.startswith("No single key does it: without k")
    assert "would still be alone. Begin there" in said


def test_people_without_a_value_teach_no_value() -> None:
    income = pl.Series([None if a < 40 else int(a) % 3 for a in AGE], dtype=pl.Int64)
    look = cf.look({**PEOPLE, "income": income}, keys=["sex", "age"], sensitive="income")
    table = sensitive_table(look)
    assert table is not None
    frame = look.measures["l_diversity_income"].frame
    alike = frame["alike"] > 1
    one, none = ((alike & (frame["diversity"] == d)).sum() for d in (1, 0))
    assert none > 100
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["of these alike, one value"].startswith(f"{one:,} (")
    assert row["alike, without any value"].startswith(f"{none:,} (")
    for text in (flat(look), look_html(look)):
        assert "but no value is learnt" in text
        assert "classes have no value of income at all" in text
    full = sensitive_table(cf.look({**PEOPLE, "income": AGE % 7}, keys=["sex", "age"], sensitive="income"))
    assert full is not None
    assert "alike, without any value" not in full.header


def test_the_picture_of_individual_risk_names_its_model() -> None:
    heads = cf.demo("heads").head(500)
    look = cf.look(heads, keys=["sex", "age"], weight="weight", guess=False)
    page = look_html(look)
    assert "Individual risk by Benedetti and Franconi" in page
    assert f"finds {look.found('unsure'):,.1f} by a model of all keys together: rely on that one" in page
    counted = look_html(cf.look(heads, keys=["sex", "age"], population=cf.demo("heads").head(5_000), guess=False))
    assert "Individual risk, counted in the population" in counted


@pytest.mark.parametrize("more", [{"weight": "weight"}, {"population": cf.demo("heads").head(5_000)}])
def test_every_number_has_a_name_of_its_own(more: dict[str, Any]) -> None:
    look = cf.look(cf.demo("heads").head(500), keys=["sex", "age"], sensitive=["tenure"], guess=False, **more)
    names = look.summary()["measure"].to_list()
    assert len(names) == len(set(names))
    row = look.summary().filter(measure="individual_risk").row(0, named=True)
    assert row["value"] == pytest.approx(look.individual)
    assert row["share"] == pytest.approx(look.individual / look.rows)


def test_a_doubtful_weight_is_said() -> None:
    body = RNG.normal(78, 12, N).clip(40, None).round(1)
    beside = cf.look({**PEOPLE, "height": body + 95, "weight": body})
    assert beside.stated.weight is None
    assert any(d.startswith('Not taken as the survey weight: "weight"') for d in beside.doubts)
    alone = cf.look({**PEOPLE, "weight": body})
    assert "weight    weight? (guessed)" in str(alone)
    assert any(d.startswith('The weight is doubtful. "weight"') for d in alone.doubts)
    zero = cf.look({**PEOPLE, "wgt": np.where(np.arange(N) == 0, 0.0, RNG.lognormal(5, 1, N) + 1)})
    assert not any("others may know" in d and "wgt" in d for d in zero.doubts)
    assert any(d.startswith('Not taken as the survey weight: "wgt"') for d in zero.doubts)
    stated = cf.look({**PEOPLE, "income": RNG.integers(100, 900, N)}, weight="income")
    assert "income" not in stated.stated.sensitive
    assert any('"income" does not look like a survey weight' in d for d in stated.doubts)


def test_what_was_not_judged_is_said() -> None:
    look = cf.look({**PEOPLE, "q7": SEX, "q8": AGE / 7})
    assert any(d.startswith("2 variables with no telling name were not judged: q7, q8.") for d in look.doubts)
    assert any(d.startswith("No sensitive variable was found") for d in look.doubts)
    none = cf.look(PEOPLE, sensitive=())
    assert not any(d.startswith("No sensitive variable") for d in none.doubts)


def test_dates_as_text_are_said_and_coarsened_by_periods() -> None:
    said = {**PEOPLE, "admitted": [d.isoformat() for d in DAYS]}
    assert any("others may know them too: admitted" in d for d in cf.look(said).doubts)
    for data in (said, {**PEOPLE, "admitted": DAYS}):
        look = cf.look(data, keys=["sex", "admitted"], guess=False)
        assert look.remedies is not None
        forms = look.remedies.filter(variable="admitted")["coarsening"].to_list()
        assert forms == ["admitted by month"]
        assert "2022-01" in look.groups.filter(variable="admitted")["group"].to_list()


def test_periods_of_groups() -> None:
    born = pl.Series([dt.date(1950 + k, 1, 1) for k in range(30)])
    assert periods(born)[3] == "1953"
    assert periods(born.dt.strftime("%d.%m.%Y"))[3] == "1953"
    assert periods(pl.Series(["a", "b"])).to_list() == ["a", "b"]


def test_codes_of_nines_are_said() -> None:
    age = np.where(np.arange(N) % 20 == 0, 99, AGE)
    sex = np.where(np.arange(N) % 30 == 0, "9", SEX.astype(str))
    pay = np.where(np.arange(N) % 25 == 0, -9, AGE * 3)
    look = cf.look({"sex": sex, "age": age, "pay": pay})
    (said,) = [d for d in look.doubts if "not stated" in d]
    assert "sex 9 (20 rows), age 99 (30 rows), pay -9 (24 rows)" in said


def test_numbers_that_are_no_codes() -> None:
    old = np.where(np.arange(N) == 0, 99, RNG.integers(60, 98, N))
    look = cf.look({"sex": SEX, "age": old, "rooms": RNG.integers(1, 10, N), "income": np.where(SEX == 1, -350, 900)})
    assert not any("not stated" in d for d in look.doubts)
    few = cf.look({"sex": np.where(np.arange(N) < 4, 9, SEX), "age": AGE})
    assert any("sex (fewer than 10 rows)" in d for d in few.doubts)
    declared = cf.Schema({"sex": cf.VariableSchema("sex", missing=(9,))})
    nines = pl.DataFrame({"sex": np.where(np.arange(N) < 40, 9, SEX), "age": AGE})
    assert not any("not stated" in d for d in cf.look(cf.Data(nines, declared)).doubts)


def test_labels_stand_beside_names_that_tell_nothing() -> None:
    look, text = school(), flat(school())
    assert "keys V2 (Gender of student)?, V3 (Age in years)? (guessed)" in text
    assert "nobody else" not in text or "V2 (Gender of student)" in answer(look)[0]
    assert "+ V2 (Gender of student)" in text
    assert "without V2 (Gender of student)" in look_html(look) or not look.counted.alone
    assert "V3 99 (" in text
    assert "Not stated" in look.groups.filter(variable="V3")["group"].to_list()
    assert "householder" not in str(cf.look(cf.demo("heads").head(300), keys=["sex", "age"], guess=False))


def test_units_are_not_called_households() -> None:
    text = flat(school()) + look_html(school())
    assert "household" not in text.partition("What the words mean")[0]
    assert "units are like no other in all their rows" in text


def test_a_label_for_some_of_a_few_codes() -> None:
    from confide.frames.encoded import Encoded

    said = cf.Schema({"v": cf.VariableSchema("v", value_labels={99: "Not stated"})})
    file = Encoded(pl.DataFrame({"v": [13, 14, 99]}), said)
    assert labelled(file, "v").to_list() == ["13", "14", "Not stated"]


def test_firms_are_not_people() -> None:
    look = firms()
    text = flat(look)
    assert "of firms (" in text
    assert " people" not in text
    assert "that a firm is in the file" in text
    assert cf.look(PEOPLE, sensitive=()).who.many == "people"


def test_codes_are_no_quantities() -> None:
    look = firms()
    assert look.remedies is not None
    forms = look.remedies["coarsening"].to_list()
    assert any(f.startswith("nace by its first") for f in forms)
    assert not any("in steps of" in f or "smallest" in f for f in forms)
    assert not any("over" in g for g in look.groups["group"])


def test_a_remedy_leaves_something_of_the_variable() -> None:
    rng = np.random.default_rng(5)
    many = pl.DataFrame({"age": rng.integers(18, 90, 1_500), **{v: rng.integers(0, 5, 1_500) for v in ("a", "b", "c")}})
    look = cf.look(many, keys=["age", "a", "b", "c"], guess=False)
    assert look.remedies is not None
    forms = look.remedies.filter(variable="age")["coarsening"].to_list()
    assert forms
    assert "age in steps of 50" not in forms


def test_one_group_is_one_group() -> None:
    rare = np.where(np.arange(N) < 4, "Dee", TOWN)
    text = flat(cf.look({**PEOPLE, "town": rare}, keys=["sex", "town"], guess=False))
    assert "1 group of fewer than 10 people is not shown." in text


def test_the_way_on_is_named() -> None:
    look = cf.look(PEOPLE, keys=["sex", "age", "town"], guess=False)
    for text in (flat(look), look_html(look)):
        assert "cf.generalise" in text
        assert "cf.LocalSuppression" in text


def test_mistakes_that_are_named() -> None:
    with pytest.raises(cf.InputError, match=r"--keys sex age, separated by spaces, or keys=\[\"sex\", \"age\"\]"):
        cf.look(PEOPLE, keys="sex,age")
    with pytest.raises(cf.InputError, match=r"A file is read first: data = cf\.read\("):
        cf.look("people.csv")
    with pytest.raises(cf.InputError, match="population is a number of people"):
        cf.look(PEOPLE, keys="sex", population=0.05)


def test_a_population_that_cannot_be_the_one() -> None:
    file = pl.DataFrame({"town": ["Ay"] * 30 + ["Bee"] * 20})
    right = pl.DataFrame({"town": ["Ay"] * 60 + ["Bee"] * 40})
    wrong = pl.DataFrame({"town": ["Ay"] * 99 + ["Bee"] * 19})
    assert not cf.look(file, keys=["town"], population=right, guess=False).short
    look = cf.look(file, keys=["town"], population=wrong, guess=False)
    assert look.short == 20
    assert look.doubts[0].startswith(
        "The population that was given cannot be that of this file: for 20 of 50 rows (40.0%)"
    )
    for text in (flat(look), look_html(look)):
        assert "which does not fit this file" in text
        assert "cannot be that of this file" in text
