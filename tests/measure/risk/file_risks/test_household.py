"""Household risk: the shipped households with their numbers, twins by brute force, and bad input."""

from __future__ import annotations

from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.measures import HouseholdRisk, KAnonymity
from tests.helpers.places import ROOT

KEYS = ["puma", "sex", "age"]
rows = st.lists(st.tuples(st.sampled_from("pqrs"), st.sampled_from("fm"), st.sampled_from("12")), max_size=14)


def homes() -> pl.DataFrame:
    return pl.read_parquet(ROOT / "tests" / "data" / "persons_in_households.parquet")


def test_the_numbers_of_persons_in_households() -> None:
    found = HouseholdRisk(KEYS, unit="hid").of(homes())
    assert (found.frame["alike"] == 1).sum() == 2805
    assert found.frame.height == 4226
    assert (KAnonymity(KEYS).of(homes()).frame["alike"] == 1).sum() == 41
    assert round(found.numbers[""]) == 3339  # type: ignore[arg-type]
    assert round(found.numbers["one_member"]) == 1108  # type: ignore[arg-type]
    text = " ".join(repr(found).split())
    assert "41 of 9,452 persons, 2,805 of 4,226 households" in text
    assert "too low for such an intruder" in text


@settings(max_examples=60, deadline=None)
@given(rows)
def test_equals_the_twin(file: list[tuple[str, str, str]]) -> None:
    file = [("p", "f", "1"), ("p", "m", "1"), *file]
    found = HouseholdRisk(["sex", "age"], unit="home").of(
        pl.DataFrame(file, schema=["home", "sex", "age"], orient="row")
    )
    order = list(dict.fromkeys(h for h, *_ in file))
    inside = [tuple(sorted(x[1:] for x in file if x[0] == h)) for h in order]
    count, people = Counter(inside), Counter(x[1:] for x in file)
    assert found.frame["alike"].to_list() == [count[i] for i in inside]
    assert found.frame["row"].to_list() == [[h for h, *_ in file].index(h) for h in order]
    single = []
    for members in inside:
        safe = 1.0
        for member in members:
            safe *= 1 - 1 / people[member]
        single.append(1 - safe)
    assert found.frame["risk_one_member"].to_list() == pytest.approx(single, abs=1e-9)
    assert found.value == pytest.approx(len(count))


def test_order_of_members_and_names_of_homes_change_nothing() -> None:
    file = homes().head(500)
    other = file.sample(fraction=1, shuffle=True, seed=1).with_columns(hid=10_000 - pl.col("hid"))
    assert HouseholdRisk(KEYS, "hid").numbers(file) == pytest.approx(HouseholdRisk(KEYS, "hid").numbers(other))


def test_a_release_keeps_its_pseudonyms() -> None:
    file = homes().head(600)
    release = cf.Plan([cf.Recode("age", width=20)], unit="hid").protect(file, seed=1)
    coarse, raw = (HouseholdRisk(KEYS, "hid").of(f) for f in (release, file))
    assert coarse.value < raw.value  # type: ignore[operator]
    hidden = cf.Plan([], drop=["hid"]).protect(file, seed=1)
    with pytest.raises(cf.InputError, match=r'the unit "hid" is not released.*Plan\(..., unit="hid"\)'):
        HouseholdRisk(KEYS, "hid").of(hidden)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: HouseholdRisk(["sex"], unit="one"), 'every unit of "one" has one row'),
        (lambda: HouseholdRisk(["sex", "hid"], unit="hid"), "is among the keys"),
        (lambda: HouseholdRisk(["sex"], unit="home"), 'unit: there is no column "home"'),
        (lambda: HouseholdRisk(["sex"], unit=3), "unit is the name of the column"),
    ],
)
def test_bad_input(made: Any, said: str) -> None:
    file = homes().head(100).with_row_index("one")
    with pytest.raises(cf.InputError, match=said):
        made().of(file)
