"""A look at a scan says what a look at the same file in memory says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.cli.main import main
from confide.frames.roles.facts import facts_of
from confide.frames.scan.variables import Variables
from confide.frames.schema import Schema
from tests.helpers.scanned import in_files, people

N = 1_500
LOOSE = ("pitman", "snb", "ewens", "zayatz", "poisson")
"""Estimators that are found step by step: sums in another order end them a little elsewhere."""


def file() -> pl.DataFrame:
    made = people(N).drop("seen", "born", "score", "share", "height")
    return made.with_columns(weight=2.0 + pl.int_range(pl.len()) % 5, income=(pl.col("income") / 5000).round(0) * 5000)


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> cf.Scan:
    return in_files(file(), tmp_path_factory.mktemp("in"), [1, 1, 700])


def differ(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Places at which two looks say different things."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted({*a} | {*b}):
            yield from differ(a.get(k), b.get(k), f"{where}/{k}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from differ(
                x, y, f"{where}/{x.get('estimator') or x.get('measure') or i}" if isinstance(x, dict) else where
            )
    elif isinstance(a, float) and isinstance(b, float):
        loose = any(name in where for name in LOOSE)
        if abs(a - b) > (1e-4 if loose else 1e-9) * max(1.0, abs(a)):
            yield f"{where}: {a} {b}"
    elif a != b:
        yield f"{where}: {a} {b}"


KEYS = ["sex", "region", "race", "age"]
ASKED: dict[str, dict[str, Any]] = {
    "guessed": {},
    "weights and what is sensitive": {"keys": KEYS, "weight": "weight", "sensitive": ["marital", "income"]},
    "a size": {"keys": ["sex", "region", "kind"], "population": 20_000, "sensitive": ()},
    "one key": {"keys": ["age"], "guess": False},
    "a population": {"keys": KEYS, "sensitive": (), "population": pl.concat([file()] * 3)},
}


@pytest.mark.parametrize("case", ASKED)
def test_the_same_as_in_memory(case: str, scan: cf.Scan) -> None:
    asked = {"unit": (), **ASKED[case]}
    whole, parts = cf.look(file(), **asked), cf.look(scan, **asked, engine=cf.Local(batch=170))
    a, b = (json.loads(json.dumps(look.to_dict(), default=str)) for look in (whole, parts))
    for one in (a, b):
        one.pop("cautions"), one.pop("remedies", None)
    assert not list(differ(a, b))
    assert whole.rows == parts.each.sum() == N
    assert parts.remedies is None
    said = [s for s in whole.doubts if "so many rows" not in s]
    assert [s for s in parts.doubts if "on a scan" not in s] == said
    assert parts.individual == pytest.approx(whole.individual, rel=1e-9)


def test_one_row_per_combination(scan: cf.Scan) -> None:
    whole, parts = (cf.look(data, KEYS, (), guess=False) for data in (file(), scan))
    assert parts.frame.columns == ["row", "rows", "alike", "individual_risk", "suda"]
    assert parts.frame.height == parts.counted.classes < N
    assert sorted(parts.frame.select(pl.col("alike").repeat_by("rows").explode())["alike"]) == sorted(
        whole.frame["alike"]
    )
    assert parts.frame["suda"].sum() == whole.frame["suda"].sum()
    assert "who could be recognised" in repr(parts)


def test_a_population_that_is_a_scan(scan: cf.Scan, tmp_path: Path) -> None:
    everybody = pl.concat([file()] * 3)
    many = in_files(everybody, tmp_path / "all", [2_000])
    counted = everybody.group_by(KEYS).len("n")
    some = in_files(counted, tmp_path / "counted", [100])
    whole = cf.look(file(), KEYS, (), population=everybody, guess=False)
    for parts in (
        cf.look(scan, KEYS, (), population=many, guess=False),
        cf.look(scan, KEYS, (), population=some, count="n", guess=False),
    ):
        assert parts.found("unsure") == pytest.approx(whole.found("unsure"), rel=1e-9)
        assert parts.individual == pytest.approx(whole.individual, rel=1e-9)
        assert parts.population.row(0)[:-1] == pytest.approx(whole.population.row(0)[:-1])


def test_facts_of_variables(scan: cf.Scan) -> None:
    assert Variables.of(scan, 97).facts() == facts_of(
        file().with_columns(kind=pl.col("kind").cast(scan.types["kind"])), Schema()
    )
    few = Variables.of(scan, 97, most=30)
    assert few.cut == ("id", "age")
    found = {f.name: f for f in few.facts()}
    assert found["id"].different
    assert not found["age"].different
    assert found["age"].missing == file()["age"].null_count()


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"unit": "region"}, "unit: rows of one unit are not put together"),
        ({"keys": ["sexx"]}, 'there is no column "sexx"'),
        ({"engine": "here"}, "on this machine"),
        ({"keys": ["id"]}, "as many values as rows"),
        ({"population": 5}, "fewer than the 1,500 rows"),
    ],
)
def test_what_cannot_be_is_said(more: dict[str, Any], what: str, scan: cf.Scan) -> None:
    with pytest.raises(cf.InputError, match=what):
        cf.look(scan, **{"keys": KEYS, "sensitive": (), "guess": False, **more})
    with pytest.raises(cf.InputError, match="engine goes with a scan"):
        cf.look(file(), KEYS, engine=cf.Local())


def test_too_many_combinations(scan: cf.Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("confide.study.look.scanned.BYTES", 2**23)
    found = cf.look(scan, ["sex"], ["income"], guess=False, engine=cf.Local(memory="256MB", batch=100))
    assert [s for s in found.doubts if 'what being alike tells of "income"' in s]
    assert "l_diversity_income" not in found.measures
    with pytest.raises(cf.InputError, match="Too few rows are alike by sex, region, race, age"):
        cf.look(scan, KEYS, (), guess=False, engine=cf.Local(memory="256MB"))


def test_on_the_command_line(scan: cf.Scan, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(scan.files[0].parent)
    assert main(["look", folder, "--keys", *KEYS, "--no-guess", "--memory", "1GB", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == N
    assert main(["look", folder, "--roles"]) == 2
