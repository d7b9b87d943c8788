"""`confide attack --way ...`: attacks that need no plan."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.cli.main import main

HEADS = cf.demo("heads").drop("id")
LINE = "attack heads.csv --released other.csv --way"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An original, a release, its link, and people held out."""
    monkeypatch.chdir(tmp_path)
    cf.write(HEADS.head(300), tmp_path / "heads.csv")
    cf.write(HEADS.head(300).with_columns(pl.col("hh_income") + 10), tmp_path / "other.csv")
    cf.write({"row": list(range(300))}, tmp_path / "link.csv")
    cf.write(HEADS.tail(200), tmp_path / "others.csv")
    return tmp_path


def run(line: str) -> int:
    return main(shlex.split(line))


@pytest.mark.usefixtures("here")
def test_printed_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    keys = "--knows sex age hh_income --link link.csv row"
    assert run(f"{LINE} nearest {keys}") == 0
    assert "nearest record, in released standard deviations" in capsys.readouterr().out
    assert run(f"{LINE} radius --share 0.2 {keys} --learn tenure --held-out others.csv --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["summary"]["found"] > 0
    assert found["learnt"]["loss"] == "zero_one"
    assert len(found["learnt"]["excess"]) == 3
    assert found["cautions"]
    release = cf.Release.adopt(cf.read("heads.csv"), cf.read("other.csv"), link=range(300))
    attack = cf.Radius(["sex", "age", "hh_income"], share=0.2).attack(release)
    assert attack.summary().to_dict() == found["summary"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("way", ["nearest", "radius"])
def test_groups(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = f"{LINE} {way} --knows sex age hh_income --link link.csv row --by race tenure"
    assert run(line) == 0
    assert "found in the whole file" in capsys.readouterr().out
    assert run(f"{line} --json") == 0
    found = json.loads(capsys.readouterr().out)
    race = [r for r in found["groups"] if r["variable"] == "race"]
    assert sum(r["people"] for r in race) == 300
    assert sum(r["found"] for r in race) == pytest.approx(found["summary"]["found"])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("way", "what"),
    [
        ("singling-out --attacks 40 --columns 2", "Singling out, multivariate: 2 of 14"),
        ("singling-out --univariate --knows age hh_income", "Singling out, univariate"),
        ("linkability --knows age sex --knows-too hh_income tenure --neighbours 2", "2 neighbours"),
        ("inference --knows age sex --learn property_value --within 0.1", "within 0.1 of the truth"),
    ],
)
def test_as_other_tools_have_them(way: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{LINE} {way} --held-out others.csv") == 0
    out = capsys.readouterr().out
    assert what in out
    assert "people held out" in out
    assert run(f"{LINE} {way} --json") == 0
    assert json.loads(capsys.readouterr().out)["rates"][0]["what"] == "attack"


def test_customary_risks_and_a_private_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{LINE} customary --knows sex marital --learn tenure --out risks.csv") == 0
    assert "DiSCO" in capsys.readouterr().out
    assert stat.S_IMODE((here / "risks.csv").stat().st_mode) == 0o600
    assert cf.read(here / "risks.csv").height == 10


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("attack heads.csv --released other.csv", "Say who attacks: --intruder FILE, or --way"),
        ("attack heads.csv --released other.csv --knows age", "--knows goes with --way"),
        (f"{LINE} nearest", "--way nearest needs --knows."),
        (f"{LINE} nearest --knows age --share 0.1", "--share goes with --way radius, not with nearest."),
        (f"{LINE} radius --knows age --share 10", "for 10 percent write 0.1"),
        (f"{LINE} radius --knows age --held-out others.csv", "say --learn NAME"),
        (f"{LINE} radius --knows agee", 'Did you mean "age"'),
        (f"{LINE} nearest --knows age --why", "--why goes with --intruder FILE"),
        (f"{LINE} nearest --knows age --one-to-one", "--one-to-one goes with --intruder FILE"),
        (f"{LINE} radius --knows age --explain 0", "--explain goes with --intruder FILE"),
        (f"{LINE} radius --knows age --name near", "--name goes with --intruder FILE"),
        (f"{LINE} singling-out --by sex", "--by goes with --way radius or nearest, not with singling-out."),
        (f"{LINE} nearest --knows age --by sexx", 'Did you mean "sex"'),
        (f"{LINE} linkability --knows age", "--way linkability needs --knows-too."),
        (f"{LINE} customary --knows age --learn sex --targets others.csv", "--targets goes with --way radius"),
        (f"{LINE} radius --knows age --intruder who.toml", "are two attacks"),
        ("attack heads.csv --way nearest --knows age", "Say which release"),
        (f"{LINE} nearest --knows age --learn tenure --held-out heads.csv", "Held-out people must not be in the file"),
        (f"{LINE} nearest --knows age --out others.csv --learn sex --held-out others.csv", "named twice"),
    ],
)
def test_bad_input(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line) == 2
    assert said in capsys.readouterr().err
