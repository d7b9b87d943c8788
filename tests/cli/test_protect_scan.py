"""`confide protect` on files that are read in parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main
from tests.helpers.scanned import in_files, people
from tests.helpers.spark_sessions import no_spark, prepared

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


def test_an_engine_reads_in_parts(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--engine", "local", "--memory", "512MB", "--scratch", str(files / "scratch")]
    assert protect(files, "in/part-00.parquet", "--out", str(files / "out"), *given) == 0
    assert cf.scan(files / "out").height == 100
    assert not list((files / "scratch").iterdir())
    capsys.readouterr()


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_session_of_its_own(files: Path) -> None:
    places = ["--plan", str(files / "plan.toml"), "--private", str(files / "vault"), "--out", str(files / "out")]
    engine = ["--engine", "spark", "--master", "local[2,4]", "--memory", "512MB", "--task-memory", "512MB"]
    env = {k: v for k, v in prepared().items() if k != "PYSPARK_PYTHON"}
    command = [sys.executable, "-m", "confide.cli.main", "protect", str(files / "in"), *places, *engine]
    subprocess.run(command, env=env, capture_output=True, check=True)
    assert cf.scan(files / "out").collect().equals(PLAN.protect(people(300), vault=files / "vault").frame)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--out", "out.csv"], "is released into a folder"),
        (["--out", "out", "--spreadsheet"], "--spreadsheet is for files that are read whole"),
        (["--out", "out", "--memory", "lots"], "memory is a size"),
        (["--out", "out", "--master", "local[2]"], "go with --engine spark"),
        (["--out", "out", "--engine", "local", "--task-memory", "1GB"], "go with --engine spark"),
    ],
)
def test_bad_options(more: list[str], said: str, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert protect(files, "in", *[str(files / m) if m.startswith("out") else m for m in more]) == 2
    assert said in capsys.readouterr().err
