"""The public record names nobody: no category and no limit that fewer than ten people have and the release hides."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.protect.rare_statements import quoted

GIANT = 987_654.25


def people(hidden: Any = "Quixotville", giant: float = GIANT) -> pl.DataFrame:
    towns = [hidden, *["North"] * 40, *["South"] * 30, *["Dozen"] * 12]
    codes = [97, *[1] * 40, *[2] * 30, *[3] * 12]
    return pl.DataFrame({"town": towns, "code": codes, "income": [giant, *(100.0 * i for i in range(1, 83))]})


PLANS = {
    "mapping": [cf.Recode("town", mapping={"Quixotville": "North", "Dozen": "South"})],
    "mapping of codes": [cf.Recode("code", mapping={97: 1, 3: 1})],
    "levels": [cf.Pram("town", matrix=[[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
                       levels=["Quixotville", "North", "South", "Dozen"])],
    "levels of codes": [cf.Pram("code", matrix=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]],
                                levels=[1, 2, 3, 97])],
    "matrix by name": [cf.Pram("town", matrix={"Quixotville": {"North": 1.0}, "North": {"North": 1.0},
                                               "South": {"South": 1.0}, "Dozen": {"Dozen": 1.0}})],
    "bounds": [cf.Noise("income", sd=5.0, bounds=(0.0, GIANT))],
    "bounds by name": [cf.Noise(["income"], sd=5.0, bounds={"income": (0.0, GIANT)})],
    "breaks": [cf.Recode("income", breaks=[1_000.0, GIANT])],
}  # fmt: skip


SECOND = 64_362.9


def firms() -> pl.DataFrame:
    return pl.DataFrame({"turnover": [GIANT, SECOND, *(float(i) for i in range(1, 83))]})


@pytest.mark.parametrize(
    ("step", "hidden"),
    [
        (cf.Topcode("turnover", at=SECOND), ["at"]),
        (cf.Recode("turnover", breaks=[10, SECOND]), ["breaks"]),
        (cf.Topcode("turnover", at=60_000), []),
        (cf.Topcode("turnover", at=80), []),  # a round number, and one firm's
        (cf.Recode("turnover", breaks=[5, 25]), []),
    ],
)
def test_a_number_that_few_have_is_not_named_by_a_candidate(step: Any, hidden: list[str]) -> None:
    """The release of a candidate need not go out, so that what it shows is not known."""
    release = cf.Plan([step]).protect(firms(), seed=1)
    assert [f for _, f, n in quoted(release, public=False) if n < 10] == hidden
    shows = [f for _, f, n in quoted(release) if n < 10]
    assert shows == ([] if SECOND in release.frame["turnover"].to_list() else hidden)


def numbers(part: Any) -> set[float]:
    """Every number in a document, those in texts and keys too where they are nothing else."""
    if isinstance(part, dict):
        return {n for k, v in part.items() for n in numbers(k) | numbers(v)}
    if isinstance(part, list):
        return {n for v in part for n in numbers(v)}
    if isinstance(part, str):
        try:
            return {float(part)}
        except ValueError:
            return set()
    return {float(part)} if isinstance(part, (int, float)) and not isinstance(part, bool) else set()


@pytest.mark.parametrize("name", PLANS)
def test_nothing_that_one_person_has_is_named(name: str) -> None:
    release = cf.Plan(PLANS[name]).protect(people(), seed=1)
    public, text = release.record(), json.dumps(release.record(), ensure_ascii=False)
    shown = {v for c in release.frame.get_columns() if c.dtype.is_numeric() for v in c.to_list()}
    assert "Quixotville" not in text
    assert (numbers(public) - shown).isdisjoint({97.0, GIANT})
    assert public["withheld"]
    assert any(w.endswith("what fewer than 10 people have is not named") for w in public["withheld"])
    assert list(quoted(release))
    private = release.record(private=True)
    assert "withheld" not in private
    assert cf.replay(people(), json.loads(json.dumps(private))).frame.equals(release.frame)


def test_what_many_people_have_is_told() -> None:
    release = cf.Plan(PLANS["mapping"]).protect(people(), seed=1)
    assert release.record()["plan"]["steps"] == [
        {"method": "recode", "variable": "town", "mapping": {"Dozen": "South"}}
    ]
    levels = cf.Plan(PLANS["levels"]).protect(people(), seed=1).record()["plan"]["steps"][0]["levels"]
    assert levels == ["(fewer than 10 people)", "North", "South", "Dozen"]


def test_two_files_that_differ_in_what_is_hidden_have_one_public_record() -> None:
    def made(hidden: str, giant: float) -> dict[str, Any]:
        steps = [cf.Recode("town", mapping={hidden: "North"}), cf.Topcode("income", at=9_000)]
        return cf.Plan(steps).protect(people(hidden, giant), seed=1, draws="shared").record()

    assert made("Quixotville", GIANT) == made("Zedburg", 5e9)


def test_what_the_release_shows_anyway_is_told() -> None:
    plan = cf.Plan([cf.Pram("town", matrix=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
                            levels=["Quixotville", "North", "South", "Dozen"]), cf.Topcode("income", at=8_000)])  # fmt: skip
    public = plan.protect(people(), seed=1).record()
    assert "withheld" not in public
    assert public["plan"]["steps"][0]["levels"][0] == "Quixotville"


def test_categories_that_nobody_released_has_are_not_listed() -> None:
    data = people().with_columns(pl.col("town").cast(pl.Enum(["Quixotville", "North", "South", "Dozen", "Nobody"])))
    plan = cf.Plan([cf.Recode("code", mapping={3: 1})])
    release = plan.protect(data.filter(pl.col("town") != "Quixotville"), seed=1)
    types = {c["name"]: c["type"] for c in release.record()["released"]["columns"]}
    assert types["town"] == 'Enum["North", "South", "Dozen"]'
