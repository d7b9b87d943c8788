"""`confide generalise`."""

from __future__ import annotations

import json
import shlex
import stat
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main

LINE = "generalise heads.csv --hierarchy age=5,10,20 --hierarchy sex --hierarchy race=race.csv"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file, a file of levels, an intruder."""
    monkeypatch.chdir(tmp_path)
    cf.write(cf.demo("heads").head(500), tmp_path / "heads.csv")
    rows = ["White;white", "Black;other", "Native or other;other", "Asian or Pacific;other"]
    (tmp_path / "race.csv").write_text("\n".join(rows))
    cf.Intruder(knows=["sex", "race", "age"]).save(tmp_path / "who.toml")
    return tmp_path


def run(line: str) -> int:
    return main(shlex.split(line))


def test_plan_and_nodes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{LINE} --k 5 --share 0.02 --out plan.toml --nodes nodes.csv") == 0
    said = capsys.readouterr().out
    assert "Best of 30 combinations of levels" in said
    plan = cf.Plan.load(here / "plan.toml")
    made = plan.protect(cf.read("heads.csv"), seed=1)
    assert cf.measures.KAnonymity(["sex", "race", "age"], k=5).of(made).value <= 10
    assert stat.S_IMODE((here / "nodes.csv").stat().st_mode) == 0o600
    assert run(f"{LINE} --k 5 --out plan.toml") == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
def test_risk_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{LINE} --intruder who.toml --limit expected_matches 20 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["nodes"] == 30
    assert found["minimal"]
    assert cf.Plan.from_dict(found["plan"])
    assert run(f"{LINE} --sensitive tenure --l 2 --t 0.5 --share 0.05 --json") == 0
    assert json.loads(capsys.readouterr().out)["loss"] > 0


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("generalise heads.csv --k 5", "Name at least one variable"),
        (LINE, "Say what must hold"),
        (f"{LINE} --l 2", "--l needs --sensitive"),
        (f"{LINE} --k 5 --limit found 3", "give one kind of condition"),
        (f"{LINE} --hierarchy age --k 5", '"age" is named twice'),
        ("generalise heads.csv --hierarchy age=many --k 5", "or widths such as 5,10,20"),
        ("generalise heads.csv --hierarchy age=5,12 --k 5", "is not nested"),
        (f"{LINE} --limit found x --intruder who.toml", "until"),
        (f"{LINE} --k 501", "the file has 500 rows"),
    ],
)
def test_what_is_refused(options: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(options) == 2
    assert said in capsys.readouterr().err
