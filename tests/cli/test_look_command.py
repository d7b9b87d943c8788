"""`confide look`: printed, as JSON, saved, and refused in a sentence."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main

KEYS = "--keys sex race marital age"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with labels, one without, and a population."""
    monkeypatch.chdir(tmp_path)
    heads = cf.demo("heads").head(600)
    cf.write(heads, tmp_path / "heads.csv")
    cf.write(heads, tmp_path / "heads.sav")
    cf.write(cf.demo("heads").head(2_000).select("sex", "race", "marital", "age"), tmp_path / "people.csv")
    return tmp_path


def run(line: str) -> int:
    return main(shlex.split(f"look {line}"))


@pytest.mark.parametrize("file", ["heads.csv", "heads.sav"])
def test_without_any_option(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file) == 0
    out = capsys.readouterr().out
    assert "(guessed)" in out
    assert "alone (sample uniques)" in out


def test_json_is_the_same_as_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"heads.csv {KEYS} --weight weight --json") == 0
    told = json.loads(capsys.readouterr().out)
    found = cf.look(cf.read("heads.csv"), keys=["sex", "race", "marital", "age"], weight="weight")
    assert told == json.loads(json.dumps(found.to_dict(), default=str))
    assert told["roles"]["guessed"] == ["sensitive"]


def test_roles(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("heads.csv --roles --json") == 0
    told = {r["variable"]: r["role"] for r in json.loads(capsys.readouterr().out)["roles"]}
    assert told["sex"] == "key"
    assert told["id"] == "identifier"


@pytest.mark.parametrize("population", ["people.csv", "60000", "60,000"])
def test_population(population: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"heads.csv {KEYS} --no-guess --population {population} --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert [a["membership"] for a in told["attacks"]] == ["sure", "unsure"]
    assert told["roles"]["guessed"] == []


@pytest.mark.parametrize("name", ["look.html", "look.json", "look.csv", "look.parquet", "look.svg"])
def test_saved_for_its_owner(here: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"heads.csv {KEYS} --out {name}") == 0
    assert f"Private, not for release: {name}" in capsys.readouterr().out
    assert stat.S_IMODE((here / name).stat().st_mode) == 0o600
    assert run(f"heads.csv {KEYS} --out {name}") == 2
    assert run(f"heads.csv {KEYS} --out {name} --force") == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("heads.csv --keys sexx", 'there is no column "sexx"'),
        ("heads.csv --no-guess", "state keys"),
        ("heads.csv --out look.pdf", "--out look.pdf: A result is saved as a table"),
        ("heads.csv --out heads.csv", "is named twice"),
        ("nothing.csv", "nothing.csv"),
        ("heads.csv --population nothing.csv", "nothing.csv"),
    ],
)
def test_bad_input(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line) == 2
    assert said in capsys.readouterr().err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "a first look at a file" in capsys.readouterr().out
    assert run("--help") == 0
    assert "confide look survey.sav" in capsys.readouterr().out


def test_mistakes_on_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("heads.csv --keys sex,age") == 2
    assert "--keys sex age, separated by spaces" in capsys.readouterr().err
    assert run(f"heads.csv {KEYS} --out look.txt") == 2
    assert "a page (.html) or plain data (.json)" in capsys.readouterr().err
