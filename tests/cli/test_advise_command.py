"""`confide advise`: printed, as JSON, with a folder of all that was tried, and refused in a sentence."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import pytest

import confide as cf
from confide.cli.advise import budget
from confide.cli.main import main

STUDY = """
data = "heads.csv"
repeats = 2
seed = 1
[release]
identifiers = ["id"]
weight = "weight"
[[plan]]
name = "coarse"
[[plan.steps]]
method = "recode"
variable = "age"
width = 10
[[intruder]]
name = "near"
knows = ["sex", "age"]
[[utility]]
measure = "hellinger"
[choice]
max_risk = {found = "30%"}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file, a study of it, and an intruder."""
    here = tmp_path_factory.mktemp("advise")
    cf.write(cf.demo("heads").head(250), here / "heads.csv")
    (here / "study.toml").write_text(STUDY)
    (here / "cautious.toml").write_text(f"{STUDY}cautious = true\n")
    (here / "useful.toml").write_text(f"{STUDY}min_utility = {{hellinger = 0.0}}\n")
    (here / "who.toml").write_text('name = "near"\nknows = ["sex", "age"]\n')
    cf.Plan([cf.Recode("age", width=20)], identifiers=["id"]).save(here / "mine.toml")
    return here


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def run(line: str) -> int:
    return main(shlex.split(f"advise {line}"))


def test_a_folder_with_all_that_was_tried(capsys: pytest.CaptureFixture[str]) -> None:
    line = "heads.csv --intruder who.toml --utility hellinger --max-risk found 30% --budget 6 --seed 1 --plan mine.toml"
    assert run(f"{line} --out found") == 0
    out = capsys.readouterr().out
    assert out.startswith("Release it so: ")
    for name in ("plan.toml", "why.html", "report.html", "tried.csv", "families.csv", "study.toml"):
        path = Path("found") / name
        assert f"  {path}" in out
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert 'href="report.html"' in Path("found/why.html").read_text()
    assert "mine" in cf.read("found/tried.csv")["name"].to_list()
    cf.Plan.load("found/plan.toml").protect(cf.read("heads.csv"), seed=1)
    assert run(f"{line} --out found") == 2
    assert "found holds plan.toml, why.html, report.html" in capsys.readouterr().err
    assert run(f"{line} --out found --force --json") == 0
    again = json.loads(capsys.readouterr().out)
    assert again["evaluations"] == 6
    assert again["plan"] == cf.Plan.load("found/plan.toml").to_dict()


def test_a_study_says_what_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--study study.toml --budget 4 --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["limits"] == {"found_share": 0.3}
    assert told["by"] == "hellinger"
    assert told["seed"] == 1
    assert told["plan"]["identifiers"] == ["id"]
    assert told["answer"][0].startswith("Release it so: ")
    assert {r["measure"] for r in told["confirmed"]} == {"found_share", "hellinger"}
    assert {"name", "families", "rung", "status"} <= set(told["tried"][0])


def test_what_a_study_asks_of_utility_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--study useful.toml --budget 4 --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["name"] is None
    assert any("Ask less of hellinger than 0" in said for said in told["nearest"]["give_up"])


def test_budgets() -> None:
    assert budget("1,200") == 1_200
    assert budget("90 s") == "90 s"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "Name the file: confide advise heads.csv"),
        ("heads.csv --intruder who.toml --study study.toml", "give one of them; a study has its own intruders"),
        ("--study cautious.toml", "its choice has cautious, which advice does not know"),
        ("heads.csv --out heads.csv", "--out heads.csv is a file; name a folder"),
        ("heads.csv --keys sex agge", 'there is no column "agge"'),
        ("heads.csv --keys sex age --max-risk found 0.01", "counts people"),
        ("heads.csv --keys sex age --max-risk fund 1%", 'no risk named "fund"'),
        ("heads.csv --keys sex age --budget soon", "budget is a whole number of evaluations"),
        ("heads.csv --keys sex age --utility helinger", '"helinger"'),
        ("heads.csv --keys sex age --keep tonure", 'there is no column "tonure"'),
        ("nothing.csv", "nothing.csv"),
    ],
)
def test_refused_in_a_sentence(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "Traceback" not in told


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    assert "confide advise heads.csv --keys sex race marital age" in capsys.readouterr().out
