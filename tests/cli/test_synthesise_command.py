"""`confide synthesise` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main


@pytest.fixture
def heads(tmp_path: Path) -> Path:
    path = tmp_path / "heads.csv"
    cf.write(cf.demo("heads").head(200).select("id", "sex", "age", "tenure", "hh_income"), path)
    return path


def test_copies_are_written_and_the_same_again(heads: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "public").mkdir()
    words = ["synthesise", str(heads), "--copies", "2", "--out", str(tmp_path / "public" / "s.csv")]
    words += ["--private", str(tmp_path / "vault"), "--plan", str(tmp_path / "plan.toml"), "--rule", "age >= 20"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "2 copies of 200 rows" in said.out
    assert not said.err
    first = [(tmp_path / "public" / f"s-{k}.csv").read_bytes() for k in (1, 2)]
    assert first[0] != first[1]
    assert cf.read(tmp_path / "public" / "s-1.csv")["age"].min() >= 20
    assert cf.Plan.load(tmp_path / "plan.toml").identifiers == ("id",)
    assert main(words) == 2
    assert "not overwritten" in capsys.readouterr().err
    assert main([*words, "--force"]) == 0
    assert [(tmp_path / "public" / f"s-{k}.csv").read_bytes() for k in (1, 2)] == first


def test_json_without_writing_anything(heads: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = set(heads.parent.iterdir())
    assert (
        main(["synthesise", str(heads), "--json", "--seed", "1", "--keep", "sex", "--model", "hh_income=margin"]) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert {r["variable"]: r["becomes"] for r in told["order"]}["sex"] == "kept"
    assert {r["measure"] for r in told["utility"]} >= {"pmse_ratio", "pairs"}
    assert told["cautions"]
    assert set(heads.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--keep", "agee"], "no column"),
        (["--rule", "age and sex"], "cannot be read"),
        (["--model", "age"], "NAME=MODEL"),
        (["--model", "age=magic"], "a model is"),
        (["--copies", "0"], "how many releases"),
        (["--private", "vault"], "say --out too"),
        (["--out", "x.doc"], "must end in"),
        (["--report", "x.html"], "must end in .json"),
    ],
)
def test_bad_input_is_a_sentence(heads: Path, more: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synthesise", str(heads), *more]) == 2
    assert words in capsys.readouterr().err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synthesise", "--help"]) == 0
    assert "confide synthesise heads.csv --out" in capsys.readouterr().out
