"""A study's result comes back whole from the folder it was left in."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.study.kept import FILE, TABLES

HEADS = cf.demo("heads").head(300)
PLANS = {
    "swap": cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.3]),
    "both": cf.Plan([cf.Recode("age", width=10), cf.Noise("hh_income", sd=500.0)], identifiers=["id"]),
}
WHO = {
    "near": cf.Intruder(knows=["sex", "race", "age"], errors={"age": 0.1}),
    "far": cf.Intruder(knows=["sex"], membership=cf.Unsure(total=9_000), available="naive"),
}
NEEDS = ["hellinger", cf.Means(["age"], label="mean age"), cf.RegressionOverlap("hh_income ~ age")]
RULE = cf.Rule({"expected_matches": 1e6}, by="hellinger")


def result(folder: Path | None = None, **more: object) -> cf.StudyResult:
    given = {"plans": PLANS, "intruders": WHO, "utility": NEEDS, "repeats": 2, "seed": 1, "choice": RULE} | more
    return cf.Study(HEADS, **given).run(folder)  # type: ignore[arg-type]


def same(a: cf.StudyResult, b: cf.StudyResult) -> bool:
    frames = all(getattr(a, t).equals(getattr(b, t)) and getattr(a, t).schema == getattr(b, t).schema for t in TABLES)
    stated = all(getattr(a, k) == getattr(b, k) for k in ("plans", "measures", "info", "rule", "copies"))
    return (
        frames
        and stated
        and {k: repr(v) for k, v in a.intruders.items()} == {k: repr(v) for k, v in b.intruders.items()}
    )


def test_it_comes_back_whole(tmp_path: Path) -> None:
    found = result(tmp_path / "run")
    files = found.save(tmp_path / "saved")
    assert [f.name for f in files] == ["frame.parquet", "summary.csv", FILE]
    assert all(stat.S_IMODE(f.stat().st_mode) == 0o600 for f in files)
    for folder in ("run", "saved"):
        again = cf.StudyResult.load(tmp_path / folder)
        assert same(again, found)
        assert {k: list(v) for k, v in again.statements.items()} == {k: list(v) for k, v in found.statements.items()}
    assert again.choose().plan == found.choose().plan
    assert again.summary().equals(found.summary())
    page = again.report(tmp_path / "again.html").read_text()
    assert page == found.report(tmp_path / "found.html").read_text()


def test_saved_twice(tmp_path: Path) -> None:
    found = result()
    found.save(tmp_path)
    with pytest.raises(cf.InputError, match="exists and is not overwritten"):
        found.save(tmp_path)
    other = result(seed=2)
    for name in ("frame.parquet", "summary.csv"):
        (tmp_path / name).unlink()
    with pytest.raises(cf.InputError, match=rf"{FILE} exists and is not overwritten"):
        other.save(tmp_path)
    other.save(tmp_path, overwrite=True)
    assert cf.StudyResult.load(tmp_path).info.seed == 2


def test_what_no_document_can_state_is_refused_on_the_way_back(tmp_path: Path) -> None:
    class Rows:
        name, direction, best, range = "rows", "higher", 1.0, (0.0, 1.0)

        def __call__(self, original: pl.DataFrame, released: pl.DataFrame, **_: object) -> float:
            return released.height / original.height

    people = cf.Unsure(population=HEADS)
    for more in (
        {"utility": [Rows()], "choice": None},
        {"intruders": {"unsure": cf.Intruder(knows=["sex"], membership=people)}},
    ):
        result(**more).save(tmp_path, overwrite=True)
        with pytest.raises(cf.InputError, match="Run the study again in its folder"):
            cf.StudyResult.load(tmp_path)


def test_no_result_or_a_damaged_one(tmp_path: Path) -> None:
    with pytest.raises(cf.InputError, match=f"holds no {FILE} that is whole"):
        cf.StudyResult.load(tmp_path)
    result().save(tmp_path)
    sealed = json.loads((tmp_path / FILE).read_text())
    sealed["content"]["info"]["seed"] = 3
    (tmp_path / FILE).write_text(json.dumps(sealed))
    with pytest.raises(cf.InputError, match=f"holds no {FILE} that is whole"):
        cf.StudyResult.load(tmp_path)
