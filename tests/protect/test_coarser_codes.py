"""Coarser forms of codes and dates: first digits, months and years; names and few values have none."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.frames.columns import encode_column
from confide.protect.coarser import file_ladder
from confide.protect.coarser_codes import code_forms


def forms(values: list[object]) -> dict[str, dict[object, object]]:
    made = code_forms(encode_column(pl.Series("v", values), "categorical"))
    return {words: dict(step.mapping or {}) for words, step in made}


def test_first_digits_of_numbers_whose_leading_zero_is_lost() -> None:
    found = forms([111, 112, 121, 1011, 1013, 1412, 4711, 4719, 4720, 6201])
    assert list(found) == ["v by its first 3 digits", "v by its first 2 digits", "v by its first digit"]
    assert found["v by its first 2 digits"][111] == 100
    assert found["v by its first 2 digits"][1011] == 1000
    assert found["v by its first 2 digits"][4711] == found["v by its first 2 digits"][4719] == 4700


def test_first_characters_of_codes() -> None:
    found = forms(["I21.0", "I21.9", "I50", "C50.9", "C51.0", "C61", "F32.1"])
    assert found["v by its first 3 characters"]["I21.9"] == "I21"
    assert found["v by its first character"]["I50"] == "I"


def test_days_as_text() -> None:
    days = [(dt.date(2020, 1, 31) + dt.timedelta(20 * k)).isoformat() for k in range(30)]
    found = forms(list(days))
    assert list(found) == ["v by month", "v by quarter", "v by year"]
    assert [found[w]["2020-01-31"] for w in found] == ["2020-01", "2020 Q1", "2020"]
    last = [(dt.date(2020, 1, 31) + dt.timedelta(97 * k)).strftime("%d/%m/%Y") for k in range(9)]
    assert list(forms(list(last))) == ["v by year"]


@pytest.mark.parametrize(
    "values",
    [
        ["Ayr", "Bude", "Crewe", "Dee", "Ely", "Fife"], [1, 2, 3, 4, 5, 6, 7], [100, 200, 300],
        [1, 20, 300, 4000, 5, 6], ["a1", "b", "c", "d", "e", "f"],
    ],
)  # fmt: skip
def test_what_is_no_code(values: list[object]) -> None:
    assert forms(values) == {}


def test_a_ladder_of_dates_is_attacked_like_any_other() -> None:
    rng = np.random.default_rng(1)
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 900, 300)]
    release = cf.Plan([]).protect(pl.DataFrame({"day": days, "sex": rng.integers(1, 3, 300)}), seed=1)
    assert [c.words for c in file_ladder(release, "day")] == [
        "day by month", "day by quarter", "day by year", "day by decade", "day left out",
    ]  # fmt: skip
    found = cf.Intruder(knows=["day", "sex"]).attack(release).clearing(0.2).frame
    by = dict(found.select("coarsening", "over").rows())
    alike = release.frame.select(m=pl.col("day").dt.strftime("%Y-%m"), s="sex")
    assert by["day by month"] == int((alike.select(pl.len().over("m", "s"))["len"] < 5).sum())
    assert by["day by year"] == 0
