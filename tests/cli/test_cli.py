"""The command line: what it prints, what it writes, how it fails."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import confide as cf
from confide.cli import demo as command
from confide.cli import main as cli
from confide.cli.main import main
from tests.helpers.places import EXAMPLES

HEADS = cf.demo("heads").head(300)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(cf.__file__).parents[1])}  # tests leave the folder

PLAN = """
identifiers = ["id"]
[[steps]]
method = "recode"
variable = "age"
width = 5
[[steps]]
method = "swap"
variable = "race"
rate = 0.3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an original, a plan, an intruder and a folder for what is public."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    cf.write(HEADS, tmp_path / "heads.csv")
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "who.toml").write_text('knows = ["sex", "race", "age"]\n')
    (tmp_path / "public").mkdir()
    return tmp_path


def run(line: str) -> int:
    return main(shlex.split(line))


PROTECT = "protect heads.csv --plan plan.toml --out public/heads.csv"


def test_an_intruder_with_a_misspelt_variable_is_refused_before_anything_is_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for knows, meant in (('["sx", "age"]', "sex"), ('["sex", "rase"]', "race")):
        (here / "who.toml").write_text(f"knows = {knows}\n")
        assert run(f"{PROTECT} --private vault --intruder who.toml --public-record public/record.json") == 2
        assert f'Did you mean "{meant}"?' in capsys.readouterr().err
        assert not any((here / "public").iterdir())
        assert not (here / "vault").exists()
    (here / "who.toml").write_text('knows = ["sex", "age", "id"]\n')  # known, and not released
    assert run(f"{PROTECT} --private vault --intruder who.toml") == 0


@pytest.mark.usefixtures("here")
def test_what_is_learnt(capsys: pytest.CaptureFixture[str]) -> None:
    line = "attack heads.csv --plan plan.toml --seed 1 --intruder who.toml --learn tenure hh_income"
    assert run(line) == 0
    assert "What is learnt of hh_income" in capsys.readouterr().out
    assert run(f"{line} --json") == 0
    learnt = json.loads(capsys.readouterr().out)["learnt"]
    assert [g["variable"] for g in learnt] == ["tenure", "hh_income"]
    assert learnt[0]["loss"] <= learnt[0]["margin"]
    line = "attack heads.csv --plan plan.toml --seed 1 --intruder who.toml"
    assert run(f"{line} --learn hh_income --loss exceeds 50000 1 2 --json") == 0
    assert "declared above 50,000" in json.loads(capsys.readouterr().out)["learnt"][0]["said"]
    for wrong, words in {
        "--loss absolute": "--loss goes with --learn",
        "--learn hh_income --loss exceeds 50000": "exceeds LIMIT COST GAIN",
        "--learn hh_income --loss within much": "--loss within takes numbers",
        "--learn sex": "is known to this intruder",
        "--learn hh_incom": 'Did you mean "hh_income"',
    }.items():
        assert run(f"{line} {wrong}") == 2
        assert words in capsys.readouterr().err


def test_what_a_step_does_not_do_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = '[[steps]]\nmethod = "local_suppression"\nvariables = ["sex", "race", "age"]\n'
    (here / "plan.toml").write_text(f'identifiers = ["id"]\n{step}rule = "wildcard"\n')
    assert run(f"{PROTECT} --private vault --public-record public/record.json") == 0
    assert "does not protect people whose keys are known" in capsys.readouterr().out
    assert "least_candidates" not in (here / "public" / "record.json").read_text()
    (here / "plan.toml").write_text(f'identifiers = ["id"]\n{step}k = 3000\n')
    assert run("protect heads.csv --plan plan.toml --out public/other.csv --private vault") == 2
    assert "more than the 300 records of the file" in capsys.readouterr().err


def test_everybody_is_matched_at_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert here.is_dir()
    line = "attack heads.csv --plan plan.toml --seed 1 --intruder who.toml --one-to-one"
    assert run(line) == 0
    said = capsys.readouterr().out
    assert "One-to-one matching of 300 targets" in said
    assert "best assignment" in said
    assert run(f"{line} --json") == 0
    found = json.loads(capsys.readouterr().out)["one_to_one"]
    assert [way["way"] for way in found["ways"]] == ["independent", "map", "marginal"]
    assert found["gap"] == 0
    assert found["targets"] == 300


def test_protect_then_attack(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{PROTECT} --private vault --public-record public/record.json") == 0
    said = capsys.readouterr()
    assert "Released 300 of 300 rows and 14 of 15 variables: public/heads.csv" in said.out
    assert "  1. recode age (width = 5)" in said.out
    assert "  age: 300 of 300 values changed" in said.out
    assert said.err == ""
    secret = json.loads((here / "vault" / "record.json").read_text())["private"]["draws"]
    assert secret == {"from": "vault", "vault": cf.Vault(here / "vault").fingerprint}
    secret = (here / "vault" / "secret").read_text().split()[1]
    public = (here / "public" / "record.json").read_text() + (here / "public" / "heads.csv").read_text()
    assert secret not in public + said.out
    assert "id" not in pl.read_csv(here / "public" / "heads.csv").columns
    assert stat.S_IMODE((here / "vault" / "record.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((here / "vault").stat().st_mode) == 0o700
    assert sorted(p.name for p in (here / "public").iterdir()) == ["heads.csv", "record.json"]

    assert run("attack heads.csv --private vault --intruder who.toml --out vault/units.parquet --json") == 0
    out = json.loads(capsys.readouterr().out)
    assert out["summary"]["targets"] == 300
    assert [t["variable"] for t in out["treatments"]][:2] == ["sex", "race"]
    assert all(said.startswith("Caution: ") for said in out["cautions"])
    units = cf.read(here / "vault" / "units.parquet")
    assert units.height == 300
    assert stat.S_IMODE((here / "vault" / "units.parquet").stat().st_mode) == 0o600
    assert out["summary"]["over_threshold"] == int((units["p_max"] > 0.2 + 1e-9).sum())


def test_one_go_equals_the_library(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "attack heads.csv --plan plan.toml --intruder who.toml --threshold 0.5 --threads 1"
    assert run(f"{line} --seed 4 --json") == 0
    out = json.loads(capsys.readouterr().out)
    release = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers=["id"]).protect(
        cf.read(here / "heads.csv"), seed=4
    )
    expected = cf.Intruder(knows=["sex", "race", "age"]).attack(release).summary(0.5)
    assert out["summary"] == pytest.approx(expected.to_dict())
    (here / "seed.txt").write_text("4\n")
    assert run(f"{line} --seed-file seed.txt") == 0
    text = capsys.readouterr().out
    assert text.startswith("Attack on 300 released records")
    assert "declared above 0.5" in text


def test_the_same_seed_gives_the_same_file(here: Path) -> None:
    assert run(f"{PROTECT} --seed 9") == 0
    assert run("protect heads.csv --plan plan.toml --out public/again.csv --seed 9") == 0
    assert run("protect heads.csv --plan plan.toml --out public/fresh.csv") == 0
    first, again, fresh = ((here / "public" / f"{n}.csv").read_bytes() for n in ("heads", "again", "fresh"))
    assert first == again != fresh


def test_a_release_made_elsewhere(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(HEADS)
    cf.write(release.data, here / "other.csv")
    cf.write({"row": release.link}, here / "link.csv")
    (here / "mild.toml").write_text(PLAN.split('[[steps]]\nmethod = "swap"')[0])
    (here / "naive.toml").write_text('knows = ["sex", "race"]\navailable = "naive"\n')
    line = "attack heads.csv --released other.csv --intruder"
    assert run(f"{line} who.toml --plan mild.toml --link link.csv row --json") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["false_match_rate"] == 0
    assert run(f"{line} naive.toml --json") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["unique_matches"] is None


def test_targets_from_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cf.write(HEADS.select("id", "sex", "race", "age").head(7), here / "targets.csv")
    assert run("attack heads.csv --plan plan.toml --seed 1 --intruder who.toml --targets targets.csv --json") == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert summary["targets"] == 7
    assert summary["expected_matches"] is not None


@pytest.mark.usefixtures("here")
def test_groups_and_reasons_beside_an_attack(capsys: pytest.CaptureFixture[str]) -> None:
    attack = "attack heads.csv --plan plan.toml --seed 1 --intruder who.toml --threshold 0.1"
    assert run(f"{attack} --by race sex --why --explain 3") == 0
    said = capsys.readouterr().out
    assert "found in the whole file" in said
    assert "nats, of which" in said
    assert "One coarsening alone would clear" in said
    assert "Private, of target 3:" in said
    assert run(f"{attack} --by race --why --explain 3 --json") == 0
    plain = json.loads(capsys.readouterr().out)
    assert {r["variable"] for r in plain["groups"]} == {"race"}
    assert {r["variable"] for r in plain["explained"]["contributions"]} == {"sex", "race", "age"}
    assert plain["clearing"][-1]["coarsening"] == "age left out"
    assert sum(r["people"] for r in plain["groups"]) == 300
    assert run(f"{attack} --explain 0") == 0
    assert "Private, of target 0:" in capsys.readouterr().out
    assert run(f"{attack} --by rase") == 2
    assert 'Did you mean "race"' in capsys.readouterr().err
    assert run(f"{attack} --explain 900") == 2
    assert "from 0 to 299" in capsys.readouterr().err


def test_the_examples_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cf.write(HEADS, here / "heads.parquet")
    assert run(f"protect heads.parquet --plan '{EXAMPLES}/plan.toml' --out public/h.sav --private vault") == 0
    line = f"attack heads.parquet --private vault --intruder '{EXAMPLES}/intruder.toml' --name stranger"
    assert run(line) == 0
    assert "membership Unsure(weights='weight')" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{PROTECT} --private public", "--private must be a folder outside that of --out"),
        (f"{PROTECT} --private vault/../public", "--private must be a folder outside that of --out"),
        (f"{PROTECT} --private . --public-record r.json", "outside that of --public-record"),
        ("protect heads.csv --plan plan.toml --out who.toml", "exists and is not overwritten; give --force"),
        ("protect heads.csv --plan plan.toml --out heads.csv --force", "heads.csv is named twice"),
        ("protect heads.csv --plan plan.toml --out public/a.xls", "must end in one of .csv"),
        ("protect heads.csv --plan plan.toml --out nowhere/a.csv", "there is no folder nowhere"),
        ("protect none.csv --plan plan.toml --out public/a.csv", "none.csv"),
        ("protect heads.csv --plan none.toml --out public/a.csv", "none.toml cannot be read: No such file"),
        ("protect heads.csv --plan who.toml --out public/a.csv", 'who.toml: unknown key "knows"'),
        (
            "protect heads.csv --plan plan.toml",
            "The following arguments are required: --out. See confide protect",
        ),
        (f"{PROTECT} --seed one", "Argument --seed: invalid int value: 'one'. See confide protect --help."),
        (f"{PROTECT} --seed -1", "seed must be a whole number"),
        (f"{PROTECT} --seed-file plan.toml", "plan.toml must hold one whole number, the seed."),
        (
            "attack heads.csv --intruder who.toml",
            "Say which release: --private DIR, --plan FILE, or --released FILE.",
        ),
        ("attack heads.csv --intruder who.toml --private v --plan plan.toml", "leave out --plan"),
        ("attack heads.csv --intruder who.toml --private v --seed 1", "A seed goes with --plan alone"),
        ("attack heads.csv --intruder who.toml --plan plan.toml --link a b", "--link goes with --released"),
        (
            "attack heads.csv --intruder who.toml --private nowhere",
            "record.json cannot be read: No such file",
        ),
        ("attack heads.csv --intruder who.toml --plan plan.toml --threshold 20", "for 20 percent write 0.2"),
        (
            "attack heads.csv --intruder who.toml --plan plan.toml --threads 0",
            "threads must be a whole number",
        ),
        ("attack heads.csv --intruder plan.toml --plan plan.toml", 'plan.toml: unknown key "identifiers"'),
        ("", "The following arguments are required: command."),
        ("protec", "invalid choice: 'protec'"),
    ],
)
@pytest.mark.usefixtures("here")
def test_bad_input(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.startswith("confide: ")
    if "unknown key" not in err:
        assert err.count("\n") == 1
    assert not [*Path("public").iterdir()]
    assert "identifiers" in Path("plan.toml").read_text()
    assert run(f"{line} --json") == 2
    out, err = capsys.readouterr()
    assert said in json.loads(out)["error"]
    assert err == ""


def test_nothing_is_overwritten_unless_asked(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{PROTECT} --private vault") == 0
    before = (here / "public" / "heads.csv").read_bytes(), (here / "vault" / "record.json").read_bytes()
    assert run(f"{PROTECT} --private vault") == 2
    assert capsys.readouterr().err.count("give --force to replace it.") == 2
    assert before == (
        (here / "public" / "heads.csv").read_bytes(),
        (here / "vault" / "record.json").read_bytes(),
    )
    assert run(f"{PROTECT} --private vault --force") == 0
    assert before[1] == (here / "vault" / "record.json").read_bytes()  # one vault, file and plan: one release
    assert run(f"{PROTECT} --private vault --seed 2 --force") == 0
    assert before[1] != (here / "vault" / "record.json").read_bytes()


def test_a_bug_is_placed_in_confide_whatever_folders_are_called(tmp_path: Path) -> None:
    """A frame of somebody else's code below a folder called confide is not taken for confide's own."""
    other = tmp_path / "confide" / "other.py"
    other.parent.mkdir()
    other.write_text("def fail(*_):\n    raise RuntimeError('31')\n")
    names: dict[str, Any] = {}
    exec(compile(other.read_text(), str(other), "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "run", names["fail"])
        with pytest.raises(RuntimeError) as caught:
            cli._run(cli._parser().parse_args(["demo"]))
    assert cli._bug(caught.value).startswith("internal error, RuntimeError in cli/main.py, line ")


def test_all_files_or_none(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the data say 31")

    monkeypatch.setattr("confide.protect.record.save_record", fail)
    assert run(f"{PROTECT} --private vault") == 1
    err = capsys.readouterr().err
    assert "internal error, RuntimeError in cli/protect.py" in err
    assert "31" not in err.split("line")[0]
    assert "the data say" not in err
    assert err.count("\n") == 1
    assert [p.name for p in here.rglob("*") if p.is_file() and p.parent != here] == ["secret"]
    assert run(f"{PROTECT} --private vault --debug") == 1
    assert "Traceback" in capsys.readouterr().err


def test_the_same_command_goes_on_after_a_kill_between_its_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The public file is the last to appear; records without it are what a killed run left."""
    line = f"{PROTECT} --private vault --public-record public/record.json"
    assert run(line) == 0
    public, records = here / "public" / "heads.csv", [here / "vault" / "record.json", here / "public" / "record.json"]
    whole = {p: p.read_bytes() for p in (public, *records)}
    for killed_before in (records[1:], []):
        for path in (public, *killed_before):
            path.unlink()
        assert run(line) == 0
        assert {p: p.read_bytes() for p in whole} == whole
    public.unlink()
    records[0].write_text("{}")
    assert run(line) == 2
    assert "record.json exists and is not overwritten; give --force" in capsys.readouterr().err
    assert not public.exists()


def test_what_is_not_protected_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "plan.toml").write_text("")
    assert run(f"{PROTECT} --private vault") == 0
    said = capsys.readouterr().out
    assert "Released as they are, touched by no step: id, sex, race" in said
    assert "Different in every record: id. Should the plan name it under identifiers?" in said
    (here / "plan.toml").write_text(PLAN)
    assert run(f"{PROTECT} --private vault --force") == 0
    said = capsys.readouterr().out
    assert "Different in every record" not in said
    assert "This file was released before from this vault (1 other)" in said
    records = sorted(p.name for p in (here / "vault").glob("*.json"))
    assert len(records) == 2  # the first is kept, by a name of its own
    other = next(n for n in records if n != "record.json")
    assert run(f"attack heads.csv --private vault/{other} --intruder who.toml") == 0


def test_a_vault_without_its_secret_is_not_made_anew(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{PROTECT} --private vault") == 0
    (here / "vault" / "secret").unlink()
    capsys.readouterr()
    assert run(f"{PROTECT} --private vault --force") == 2
    assert "holds records but no secret" in capsys.readouterr().err
    assert run("attack heads.csv --private vault --intruder who.toml") == 2
    assert not (here / "vault" / "secret").exists()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "way",
    [
        KeyboardInterrupt(),
        pl.exceptions.PanicException("PyErr { type: <class 'KeyboardInterrupt'>, value: KeyboardInterrupt() }"),
    ],
)
def test_interrupted(way: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where polars makes a panic of it."""

    def stop(*_: Any, **__: Any) -> None:
        raise way

    monkeypatch.setattr(cf, "read", stop)
    assert run(PROTECT) == 130
    assert capsys.readouterr().err.count("\n") == 1


def test_other_data_than_the_record(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{PROTECT} --private vault") == 0
    cf.write(HEADS.head(299), here / "heads.csv", overwrite=True)
    assert run("attack heads.csv --private vault --intruder who.toml") == 2
    assert "not the file the record was made from" in capsys.readouterr().err


def test_demo(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Any] = []
    told = ("Shown", {"table": [1]})
    monkeypatch.setattr(
        "confide.cli.demo.run_demo", lambda out, overwrite=False: asked.append((out, overwrite)) or told
    )
    assert run("demo") == 0
    assert capsys.readouterr().out == "Shown\n"
    assert run("demo --out x --force --json") == 0
    assert json.loads(capsys.readouterr().out) == {"table": [1]}
    assert asked == [(Path("confide-demo"), False), (Path("x"), True)]


@pytest.mark.parametrize("command", ["demo", "protect", "attack", "study"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"{command} --help") == 0
    said = capsys.readouterr().out
    assert f"example:\n  confide {command} " in said
    assert "--json" in said


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"confide {cf.__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom confide.cli.main import main\nmain(['--help'])\n"
        "heavy = {'polars', 'numba', 'altair', 'sklearn', 'numpy', 'scipy', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert done.stderr == "[]\n"


@pytest.mark.slow
def test_a_reader_that_leaves(here: Path) -> None:
    del here
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-m", "confide.cli", *PROTECT.split()],
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("public/heads.csv").exists()


@pytest.mark.slow
def test_as_a_process(here: Path) -> None:
    del here
    done = subprocess.run(
        [sys.executable, "-m", "confide.cli", "protect", "none.csv", "--plan", "plan.toml", "--out", "a.csv"],
        capture_output=True, text=True, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    assert done.returncode == cli.BAD_INPUT
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
