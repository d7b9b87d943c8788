"""Files that look as if units had several rows, and files that do not."""

from __future__ import annotations

import polars as pl
import pytest

import confide as cf
from confide.attack.evidence.twins import why_twins
from tests.helpers.panels import panel


def why(data: pl.DataFrame, **options: object) -> str:
    return why_twins(cf.Plan([], **options).protect(data, seed=1))  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_panels_are_noticed(rows: int) -> None:
    data = panel(500, rows, change=0.1, drift=0.3)
    assert '"household" repeat' in why(data)
    assert '"number" repeat' in why(data.rename({"household": "number"}), identifiers=["number"])
    unnamed = data.drop("household")
    assert "neighbouring rows" in why(unnamed)
    assert "neighbouring rows" in why(unnamed.sort("quarter", maintain_order=True))  # one wave below the other


def test_single_records_are_not_noticed() -> None:
    heads = cf.demo("heads").head(8000)
    few = heads.head(2000).select("state", "sex", "race", "age")
    for data in (
        heads,
        heads.sort("state", "tenure", "sex", "race", "age"),
        heads.sort("hh_income"),
        few,
        few.sort(few.columns),
    ):
        assert why(data) == ""
    assert why(cf.demo("elites")) == ""


def test_the_printout_says_so() -> None:
    data = panel(200, 4)
    plan = cf.Plan(
        [cf.Swap("job", rate=0.2)], categorical=["region", "sex", "job", "quarter"], identifiers=["household"]
    )
    release = plan.protect(data, seed=1)
    plain = repr(cf.Intruder(knows=["sex", "job"]).attack(release, threads=1))
    assert "Rows look like several rows of the same units" in plain
    assert "claims are too sure" in plain
    stated = repr(cf.Intruder(knows=["sex", "job"], unit="household").attack(release, threads=1))
    assert "look like" not in stated
    assert "probabilities are of 200 units, whose rows are taken to be linkable" in stated
