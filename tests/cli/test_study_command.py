"""`confide study` and `confide demo`: from a file to the reports, and every refusal in a sentence."""

from __future__ import annotations

import errno
import json
import os
import shlex
import stat
from pathlib import Path

import polars as pl
import pytest

import confide as cf
from confide.cli import demo as heads_study
from confide.cli import main as cli
from papers.reiter.setup import informed, strategies

STUDY = """
title = "A try"
data = "people.csv"
repeats = 2
seed = 1
utility = ["hellinger"]
[release]
identifiers = ["id"]
[[plan]]
name = "swap"
[[plan.steps]]
method = "swap"
variable = "race"
rate = {from = 0.1, to = 0.5, steps = 2}
[[plan]]
name = "recode"
[[plan.steps]]
method = "recode"
variable = "age"
width = 10
[[intruder]]
name = "near"
knows = ["sex", "race", "age"]
"""
RULE = "[choice]\nmax_risk = {expected_matches = 100}\n"


def run(words: str) -> int:
    return cli.main(shlex.split(words))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    cf.demo("heads").head(400).write_csv("people.csv")
    Path("study.toml").write_text(STUDY + RULE)
    return tmp_path


FILE_RISKS = """
[[file_risk]]
risk = "k_anonymity"
keys = ["sex", "race", "age"]
[[file_risk]]
risk = "k_map"
keys = ["sex", "race", "age"]
population = "people.csv"
[choice]
max_risk = {k_anonymity = "20%"}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_customary_risks_of_the_file_from_a_file_to_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    Path("risks.toml").write_text(STUDY + FILE_RISKS)
    assert run("study risks.toml --out out --json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["choice"]["plan"] == "recode"
    assert {r["risk"] for r in told["file_risks"]} == {"k_anonymity", "k_anonymity_share", "k_map", "k_map_share"}
    assert "Customary risks of the file" in Path("out/report.html").read_text()
    assert "Customary risks of the file" not in Path("out/outside/report.html").read_text()
    assert {"k_anonymity", "k_map_share"} <= set(pl.read_parquet("out/frame.parquet").columns)


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_a_study_leaves_tables_charts_and_two_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study study.toml --out results --threads 1") == 0
    said = capsys.readouterr().out
    assert '"recode" has expected_matches' in said
    assert "swap [rate=0.5]" in said
    folder = Path("results")
    frame = pl.read_parquet(folder / "frame.parquet")
    assert frame.equals(cf.Study.load("study.toml").run().frame)
    assert pl.read_csv(folder / "summary.csv").height == cf.Study.load("study.toml").run().summary().height
    for name in ("report.html", "outside/report.html"):
        assert "A try" in (folder / name).read_text()
        assert (folder / name).stat().st_size < 5e6
    pictures = sorted(p.suffix for p in (folder / "charts").iterdir())
    assert pictures.count(".png") == pictures.count(".svg") > 2
    assert oct(os.stat(folder / "work" / "pieces").st_mode & 0o077) == "0o0"
    seed = json.loads((folder / "work" / "confide-study.json").read_text())["content"]["seed"]
    assert seed == "1"
    public = [folder / "outside", folder / "outside" / "report.html"]
    private = [p for p in (folder, *folder.rglob("*")) if p not in public]
    assert {p.stat().st_mode & 0o777 for p in private} == {0o600, 0o700}

    plan = cf.Plan([cf.Recode("age", width=10)], identifiers=["id"])
    assert cf.Plan.load(folder / "chosen-plan.json") == plan

    capsys.readouterr()
    assert run("study study.toml --out results --json") == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["choice"]["plan"] == "recode"
    assert len(plain["files"]) > 6
    assert "seed" not in plain["study"]


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are drawn in a test of their own; here only what goes into them."""

    def write_nothing(result: cf.StudyResult, folder: Path, choice: cf.Choice | None, overwrite: bool) -> list[Path]:
        assert choice is None or choice.plan in result.frame["plan"]
        with cf.frames.atomic_write(folder / "report.html", overwrite) as temporary:
            temporary.write_text("drawn")
        return [folder / "report.html"]

    monkeypatch.setattr("confide.show.report.save_report_folder", write_nothing)


@pytest.mark.usefixtures("here", "no_pictures")
def test_a_limit_that_no_plan_meets_says_which_comes_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("study.toml").write_text(STUDY + RULE.replace("100", "1"))
    assert run("study study.toml --out results --json") == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["choice"] is None
    assert 'No plan has expected_matches at most 1. "recode" comes nearest' in plain["reason"]


@pytest.mark.usefixtures("here", "no_pictures")
def test_its_own_files_are_written_again_and_those_of_others_only_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    folder, asked = Path("results"), "--force (finished pieces are used again)"
    assert run("study study.toml --out results") == 0
    kept = {p.name: p.stat().st_mtime_ns for p in (folder / "work" / "pieces").iterdir()}
    assert run("study study.toml --out results") == 0  # whether or not anything is missing
    (folder / "summary.csv").unlink()
    assert run("study study.toml --out results") == 0
    assert (folder / "summary.csv").exists()

    chosen = (folder / "chosen-plan.json").read_text()
    (folder / "chosen-plan.json").write_text("{}")
    assert run("study study.toml --out results") == 2
    said = capsys.readouterr().err
    assert "results holds chosen-plan.json;" in said
    assert asked in said
    assert (folder / "chosen-plan.json").read_text() == "{}"
    assert run("study study.toml --out results --force") == 0
    assert (folder / "chosen-plan.json").read_text() == chosen

    Path("study.toml").write_text(STUDY + RULE.replace("100", "1"))  # another choice: none
    assert run("study study.toml --out results") == 2
    assert asked in capsys.readouterr().err
    assert run("study study.toml --out results --force") == 0
    assert not (folder / "chosen-plan.json").exists()
    assert {p.name: p.stat().st_mtime_ns for p in (folder / "work" / "pieces").iterdir()} == kept


@pytest.mark.usefixtures("here", "no_pictures")
def test_a_full_disk_is_a_sentence_and_the_study_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    true, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.extend([handle] * stat.S_ISREG(os.fstat(handle).st_mode))
        if stat.S_ISREG(os.fstat(handle).st_mode) and len(calls) in (1, 5, 9, 14):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        true(handle)

    monkeypatch.setattr(os, "fsync", full)
    ended = [run("study study.toml --out results --threads 1") for _ in range(5)]
    assert ended == [2, 2, 2, 2, 0]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 4
    assert all(line.endswith("cannot be written: there is no room left on the disk.") for line in said)
    assert not list(Path("results").rglob("*unfinished*"))
    assert pl.read_parquet("results/frame.parquet").equals(cf.Study.load("study.toml").run().frame)


@pytest.mark.usefixtures("here", "no_pictures")
def test_files_that_were_there_before_are_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").mkdir()
    Path("results/summary.csv").write_text("mine")
    assert run("study study.toml --out results") == 2
    assert "results holds summary.csv;" in capsys.readouterr().err
    assert [p.name for p in Path("results").iterdir()] == ["summary.csv"]


@pytest.mark.usefixtures("here")
def test_a_folder_that_others_can_enter_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").mkdir()
    Path("results/notes.txt").touch()
    Path().chmod(0o755)
    Path("results").chmod(0o755)
    assert run("study study.toml --out results") == 2
    assert "chmod 700 results" in capsys.readouterr().err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("hellinger", "hellenger", 'Did you mean "hellinger"?'),
        ('variable = "age"', 'variable = "aeg"', 'plan "recode": Recode: there is no column "aeg"'),
        ("expected_matches = 100", "expected_match = 200", "choice: max_risk: there is no risk named"),
        ("expected_matches = 100", 'expected_matches = "200"', "choice: .*max_risk"),
        ("people.csv", "study.toml", "data: "),
    ],
)
def test_bad_studies_are_refused(old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("study.toml").read_text()
    assert old in text
    Path("study.toml").write_text(text.replace(old, new))
    assert run("study study.toml --out results") == 2
    error = capsys.readouterr().err
    assert error.startswith("confide: study.toml: ")
    assert pl.Series([error]).str.contains(said)[0]
    assert not Path("results").exists()


@pytest.mark.usefixtures("here")
def test_a_file_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").touch()
    assert run("study study.toml --out results") == 2
    assert "is a file" in capsys.readouterr().err


def test_the_shipped_study_is_the_experiment_of_reiter_and_two_plans_more() -> None:
    study = heads_study.heads_study()
    assert dict(list(study.plans.items())[:6]) == strategies()
    assert len(study.plans) == 8
    mine = [(w.knows, w.levels, w.membership) for w in study.intruders.values()]
    assert mine == [(w.knows, w.levels, w.membership) for w in (informed(False), informed(True))]
    assert len(study.measures) == 3
    assert study.repeats >= 3


@pytest.mark.slow
@pytest.mark.usefixtures("no_pictures")
def test_the_demo_leaves_its_report_and_its_study(tmp_path: Path) -> None:
    text, plain = heads_study.run_demo(tmp_path / "demo", heads=cf.demo("heads").head(300))
    assert "No SDL" in text
    assert plain["study"]["rows"] == 300
    assert str(tmp_path / "demo" / "report.html") in plain["files"]
    assert (tmp_path / "demo" / "frame.parquet").exists()
    loaded = cf.Study.load(tmp_path / "demo" / "study.toml")
    assert [c.name for c in loaded.candidates][:6] == list(strategies())
    with pytest.raises(cf.InputError, match=r"holds .*study\.toml"):
        heads_study.run_demo(tmp_path / "demo")
