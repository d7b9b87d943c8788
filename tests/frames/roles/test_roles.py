"""Roles are guessed from names, labels, kinds and values, with a reason each."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.frames.roles.guess import MOST_KEYS, ROLES
from tests.helpers.places import ROOT

N = 400
RNG = np.random.default_rng(1)
CODES = RNG.integers(1, 5, N)
AMOUNT = RNG.lognormal(10, 1, N)


def role_of(name: str, values: object, label: str | None = None) -> tuple[str, bool]:
    frame = pl.DataFrame({name: values, "zz": CODES})
    data = cf.Data(frame, cf.Schema({name: cf.VariableSchema(name, label=label)})) if label else frame
    row = cf.roles(data).frame.row(0, named=True)
    assert row["why"]
    return row["role"], row["doubtful"]


def test_the_shipped_householders_as_on_the_screen_of_variables() -> None:
    found = cf.roles(cf.demo("heads"))
    assert found.keys == ("sex", "race", "marital", "educ", "age", "state", "hispanic")
    assert (found.weight, found.unit, found.geography) == ("weight", None, ("state",))
    assert found.sensitive == ("wage_income", "other_income", "property_value", "hh_income")
    assert found.identifiers == ("id",)
    assert set(found.frame.filter("doubtful")["variable"]) == {"property_value", "n_persons", "tenure"}
    assert found.could_be_keys == ("tenure", "n_persons")
    assert found.summary().columns == ["variable", "role", "doubtful", "why"]
    assert "3 to confirm" in str(found)


def test_persons_in_households() -> None:
    found = cf.roles(pl.read_parquet(ROOT / "tests/data/persons_in_households.parquet"))
    assert found.unit == "hid"
    assert found.sensitive == ("hh_income",)
    assert set(found.keys) == {"puma", "sex", "age", "race9", "marital"}


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("AGEP", CODES + 20, "key"),
        ("wage", AMOUNT, "sensitive"),
        ("village", CODES, "geography"),
        ("Kommunekode", CODES + 100.0, "geography"),
        ("Wohnort", CODES, "geography"),
        ("alder", CODES + 30, "key"),
        ("Geschlecht", CODES, "key"),
        ("état_civil", CODES, "key"),
        ("salaire", AMOUNT, "sensitive"),
        ("diagnosis", CODES, "sensitive"),
        ("birth_date", [dt.date(1950, 1, 1 + int(c)) for c in CODES], "key"),
        ("PWGTP", AMOUNT, "weight"),
        ("surname", [f"n{i}" for i in range(N)], "identifier"),
        ("x", [f"n{i}" for i in range(N)], "identifier"),
        ("case_id", range(N), "identifier"),
        ("household_id", np.arange(N) // 2, "unit"),
        ("q7", CODES, "other"),
        ("all_missing", pl.Series([None] * N, dtype=pl.Int64), "other"),
        ("sex", ["one"] * N, "other"),
        ("age", [[1]] * N, "other"),
        ("town_population", CODES * 1_000, "other"),
    ],
)
def test_one_variable(name: str, values: object, role: str) -> None:
    assert role_of(name, values)[0] == role


def test_the_label_tells_where_the_name_does_not_and_is_doubtful() -> None:
    assert role_of("q12", CODES, "Sex of the respondent") == ("key", True)
    assert role_of("v3", AMOUNT, "Total earnings last year") == ("sensitive", True)
    assert role_of("v4", AMOUNT, "Sampling weight") == ("weight", False)


def test_weights_that_are_none() -> None:
    assert role_of("weight_kg", AMOUNT) == ("sensitive", True)
    assert role_of("weight", np.where(CODES == 1, 0.0, AMOUNT)) == ("other", True)
    assert role_of("weight", ["heavy", "light"] * (N // 2))[0] == "other"


def test_one_weight_of_many_replicates() -> None:
    found = cf.roles({"wgtp": AMOUNT, **{f"wgtp{i}": AMOUNT * i for i in range(1, 9)}, "age": CODES})
    assert found.weight == "wgtp"
    assert found.of("other") == tuple(f"wgtp{i}" for i in range(1, 9))


def test_of_many_keys_those_known_most_often_are_used() -> None:
    names = [
        "religion",
        "occupation",
        "industry",
        "sex",
        "age",
        "race",
        "state",
        "county",
        "educ",
        "marital",
        "language",
    ]
    found = cf.roles({n: RNG.integers(1, 30 if n == "county" else 6, N) for n in names})
    assert len(found.keys) == MOST_KEYS
    assert {"sex", "age", "county", "race", "marital", "educ", "occupation", "religion"} == set(found.keys)
    assert {"language", "state", "industry"} <= set(found.could_be_keys)
    assert "Not used" in str(found)


def test_user_missing_codes_are_no_values() -> None:
    sex = cf.VariableSchema("sex", value_labels={1: "m", 2: "f", 9: "refused"}, missing=(9,))
    row = cf.roles(cf.Data({"sex": [1, 2, 9, 9]}, cf.Schema({"sex": sex}))).frame.row(0, named=True)
    assert (row["values"], row["missing"], row["kind"]) == (2, 2, "categorical")


def test_no_value_of_the_data_is_said() -> None:
    found = cf.roles({"name": ["Ada Lovelace", "Mary Shelley"] * 30, "age": [*range(60)]})
    assert "Ada" not in str(found) + found._repr_html_()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=5, unique=True), st.integers(0, 30))
def test_any_name_gets_a_role(names: list[str], rows: int) -> None:
    found = cf.roles(pl.DataFrame({n: [*range(rows)] for n in names}))
    assert set(found.frame["role"]) <= set(ROLES)
    assert found.frame["variable"].to_list() == names
    assert str(found)


BODIES = np.random.default_rng(2).normal(78, 14, N).clip(40, None).round(1)


def test_text_that_holds_dates_is_dates() -> None:
    days = [dt.date(2022, 1, 1) + dt.timedelta(int(d)) for d in RNG.integers(0, 300, N)]
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y"):
        found = cf.roles({"admitted": [d.strftime(form) for d in days], "sex": CODES})
        row = found.frame.row(0, named=True)
        assert (row["role"], row["doubtful"]) == ("other", True)
        assert row["why"].startswith("Dates as text")
        assert found.could_be_keys == ("admitted",)
    born = [(dt.date(1920, 1, 1) + dt.timedelta(40 * k)).isoformat() for k in range(N)]
    assert role_of("dob", born) == ("key", False)
    assert role_of("when", born) == ("other", True)


def test_the_weight_of_a_body_is_no_survey_weight() -> None:
    beside = cf.roles({"sex": CODES, "age": CODES + 30, "height": BODIES + 95, "weight": BODIES})
    assert beside.weight is None
    row = beside.frame.row(3, named=True)
    assert (row["role"], row["doubtful"]) == ("other", True)
    assert '"height" beside it' in row["why"]
    assert role_of("weight", BODIES) == ("weight", True)
    assert role_of("weight", BODIES, "Final survey weight") == ("weight", False)
    assert role_of("weight", AMOUNT) == ("weight", False)
    assert role_of("pwgt", BODIES) == ("weight", False)
    final = cf.roles({"height": BODIES + 95, "final_weight": AMOUNT})
    assert final.weight == "final_weight"


def test_a_weight_with_a_zero_is_nobodys_knowledge() -> None:
    found = cf.roles({"sex": CODES, "wgt": np.where(np.arange(N) == 3, 0.0, AMOUNT)})
    assert found.frame["doubtful"].to_list() == [False, True]
    assert found.could_be_keys == ()


def test_variables_without_a_telling_name_are_not_judged() -> None:
    found = cf.roles({"sex": CODES, "q7": CODES, "x9": AMOUNT, "all": ["same"] * N})
    assert found.not_judged == ("q7", "x9")
    assert "2 not judged" in str(found)
    assert "Not judged, no telling name" in found.frame["why"][1]
    assert found.frame["judged"].to_list() == [True, False, False, True]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("mstat", "key"), ("civst", "key"), ("emp_status", "key"), ("BIRTHDT", "key"), ("grossinc", "sensitive"),
        ("inc", "sensitive"), ("legal_form", "key"), ("exporter", "key"), ("employees", "key"), ("died", "sensitive"),
        ("bullied", "sensitive"),
    ],
)  # fmt: skip
def test_short_names_of_surveys_and_registers(name: str, role: str) -> None:
    assert role_of(name, CODES)[0] == role


@pytest.mark.parametrize("name", ["mobile_minutes", "insurance_days", "mail_items", "user_rating", "plate_changes"])
def test_counts_are_no_identifiers(name: str) -> None:
    assert role_of(name, RNG.integers(0, 60, N))[0] == "other"
    assert role_of(name.partition("_")[0], [f"a{k}" for k in range(N)])[0] == "identifier"


def test_a_unit_by_its_label_alone_is_doubtful() -> None:
    assert role_of("V2", np.arange(N) // 8, "School ID") == ("unit", True)
    assert role_of("school_id", np.arange(N) // 8) == ("unit", False)
