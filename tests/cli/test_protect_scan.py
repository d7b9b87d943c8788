"""`confide protect` on files that are read in parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main
from tests.helpers.scanned import in_files, people

PLAN = cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.3)], identifiers=["id"])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    in_files(people(300), tmp_path / "in", [100, 200])
    PLAN.save(tmp_path / "plan.toml")
    return tmp_path


def protect(files: Path, data: str, *more: str) -> int:
    plan, vault = str(files / "plan.toml"), str(files / "vault")
    return main(["protect", str(files / data), "--plan", plan, "--private", vault, *more])


@pytest.mark.parametrize("data", ["in", "in/*.parquet"])
def test_a_folder_becomes_a_folder(data: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect(files, data, "--out", str(files / "out"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == 300
    release = cf.ScannedRelease.load(told["files"]["private"])
    assert not release.refusal
    whole = PLAN.protect(people(300), vault=files / "vault")
    assert release.released.collect().equals(whole.frame)
    assert protect(files, data, "--out", str(files / "out")) == 2
    assert "exists and is not overwritten" in capsys.readouterr().err
    assert protect(files, data, "--out", str(files / "out"), "--force", "--seed", "4") == 0
    assert "Released 300 of 300 rows" in capsys.readouterr().out


def test_one_file_is_read_in_parts_where_memory_is_stated(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, scratch = "in/part-00.parquet", str(files / "scratch")
    assert protect(files, one, "--out", str(files / "out"), "--memory", "500MB", "--scratch", scratch) == 0
    assert cf.scan(files / "out").height == 100
    assert not list((files / "scratch").iterdir())
    capsys.readouterr()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--out", "out.csv"], "is released into a folder"),
        (["--out", "out", "--spreadsheet"], "--spreadsheet is for files that are read whole"),
        (["--out", "out", "--memory", "lots"], "memory is a size"),
    ],
)
def test_bad_options(more: list[str], said: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect(files, "in", *[str(files / m) if m.startswith("out") else m for m in more]) == 2
    assert said in capsys.readouterr().err
