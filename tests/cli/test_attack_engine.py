"""`confide attack --engine`: releases of files larger than memory, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import confide as cf
from confide.cli.main import main
from tests.attack.scanned.test_every_engine import KEYS, made
from tests.helpers.scanned_release import in_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("engine")
    _, release, _ = made("recode")
    in_files(release, here)
    cf.Intruder(knows=KEYS).save(here / "intruder.toml")
    return here


def run(folder: Path, *more: str) -> int:
    given = [str(folder / "in"), "--intruder", str(folder / "intruder.toml"), "--json"]
    return main(["attack", *given, *more])


def test_the_numbers_of_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "units"
    private = ["--private", str(folder / "private"), "--engine", "local", "--memory", "512MB"]
    assert run(folder, *private, "--out", str(out), "--scratch", str(folder / "scratch")) == 0
    _, _, whole = made("recode")
    told = json.loads(capsys.readouterr().out)
    assert told["summary"]["found"] == pytest.approx(whole.summary().found, rel=1e-9)
    assert cf.scan(out).height == told["summary"]["targets"] == 600
    assert not list((folder / "scratch").iterdir())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--engine", "local"], "--engine needs --private"), (["--memory", "2GB"], "--memory goes with --engine"),
        (["--engine", "local", "--private", "PRIVATE", "--why"], "--why is for files in memory"),
        (["--engine", "local", "--private", "PRIVATE", "--memory", "much"], "a size such as"),
        (["--engine", "local", "--private", "nowhere"], "holds no release of a scan"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    given = [str(folder / "private") if m == "PRIVATE" else m for m in more]
    assert run(folder, *given) != 0
    assert said in "".join(capsys.readouterr())


def test_another_file_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cf.demo("heads").head(10).write_parquet(tmp_path / "other.parquet")
    given = ["attack", str(tmp_path / "other.parquet"), "--intruder", str(folder / "intruder.toml")]
    assert main([*given, "--engine", "local", "--private", str(folder / "private")]) != 0
    assert "is not the file that was protected" in "".join(capsys.readouterr())
