"""`confide attack --engine`: releases of files larger than memory, from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import confide as cf
from confide.cli import spark_session
from confide.cli.main import main
from tests.attack.scanned.test_every_engine import KEYS, made, same_units
from tests.helpers.scanned_release import in_files
from tests.helpers.spark_sessions import no_spark, prepared


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


def test_a_folder_is_read_in_parts_by_itself(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--memory", "512MB"]):
        assert run(folder, "--private", str(folder / "private"), *more) == 0
        assert json.loads(capsys.readouterr().out)["summary"]["targets"] == 600
    file = str(next((folder / "in").iterdir()))
    assert main(["attack", file, "--intruder", "who.toml", "--master", "local[2]"]) == 2
    assert "--master goes with --engine spark" in capsys.readouterr().err


def test_what_is_said_is_what_the_command_line_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pattern without quotes, and an option instead of an argument."""
    files = [str(p) for p in (folder / "in").iterdir()]
    assert main(["look", *files, files[0], "--memory", "1GB"]) == 2
    assert 'by a pattern in quotes, as "persons/*.parquet"' in capsys.readouterr().err
    plan = folder / "plan.toml"
    cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).save(plan, overwrite=True)
    (folder / "there").mkdir(exist_ok=True)
    (folder / "there" / "mine.txt").write_text("kept")
    given = ["protect", str(folder / "in"), "--plan", str(plan), "--out", str(folder / "there")]
    assert main([*given, "--private", str(folder / "vault"), "--memory", "512MB"]) == 2
    assert "is not overwritten; add --force to replace it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--engine", "local"], "give --private DIR, its vault"), (["--memory", "2GB"], "give --private DIR, its vault"),
        (["--engine", "local", "--private", "PRIVATE", "--why"], "--why is for one file in memory"),
        (["--engine", "local", "--private", "PRIVATE", "--memory", "much"], "a size such as"),
        (["--engine", "local", "--private", "nowhere"], "holds no release of a scan"),
        (["--task-memory", "2GB"], "--task-memory go with --engine spark"),
        (["--engine", "local", "--private", "PRIVATE", "--master", "local[2]"], "go with --engine spark"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    given = [str(folder / "private") if m == "PRIVATE" else m for m in more]
    assert run(folder, *given) != 0
    assert said in "".join(capsys.readouterr())


@pytest.mark.slow
@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_a_session_of_its_own(folder: Path) -> None:
    given = [str(folder / "in"), "--intruder", str(folder / "intruder.toml"), "--json", "--threshold", "0.3"]
    more = ["--private", str(folder / "private"), "--engine", "spark", "--master", "local[2,4]"]
    out = ["--out", str(folder / "units on spark"), "--memory", "512MB", "--task-memory", "512MB"]
    env = {k: v for k, v in prepared().items() if k != "PYSPARK_PYTHON"}
    done = subprocess.run(
        [sys.executable, "-m", "confide.cli.main", "attack", *given, *more, *out],
        env=env,
        capture_output=True,
        check=True,
    )
    _, _, whole = made("recode")
    assert json.loads(done.stdout)["summary"]["found"] == pytest.approx(whole.summary().found, rel=1e-9)
    same_units(whole, cf.scan(folder / "units on spark").collect())


def test_without_java(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert run(folder, "--private", str(folder / "private"), "--engine", "spark") == 2
    assert "needs Java 17 or later" in "".join(capsys.readouterr())


def test_another_file_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cf.demo("heads").head(10).write_parquet(tmp_path / "other.parquet")
    given = ["attack", str(tmp_path / "other.parquet"), "--intruder", str(folder / "intruder.toml")]
    assert main([*given, "--engine", "local", "--private", str(folder / "private")]) != 0
    assert "is not the file that was protected" in "".join(capsys.readouterr())


def test_ctrl_c_while_java_starts_is_held_back_until_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java that is left half way stays for ever; the session that came of it is ended."""
    done = list[str]()

    class Session:
        sparkContext = None

        def stop(self) -> None:
            done.append("stopped")

    def starts(*_: object) -> Session:
        signal.raise_signal(signal.SIGINT)
        done.append("started")
        return Session()

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(spark_session, "_builder", lambda _: None)
    monkeypatch.setattr(spark_session, "_made", starts)
    with pytest.raises(KeyboardInterrupt), spark_session.spark_session("local"):
        pytest.fail("work was begun")
    assert done == ["started", "stopped"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_ends_the_wait_for_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def waits(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it was waited for")

    monkeypatch.setattr(spark_session, "_builder", lambda _: None)
    monkeypatch.setattr(spark_session, "_made", waits)
    with pytest.raises(KeyboardInterrupt), spark_session.spark_session("local"):
        pytest.fail("work was begun")


@pytest.mark.parametrize("scratch", ["scratch", "a, b", None])
def test_what_spark_puts_aside_is_private(scratch: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Others may read what it shuffles where it puts it by itself."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "usual"))
    folders = list[Path]()

    class Session:
        class sparkContext:
            @staticmethod
            def setLogLevel(_: str) -> None: ...

        def stop(self) -> None: ...

    class Builder:
        def config(self, name: str, value: str) -> Builder:
            assert name == "spark.local.dir"
            folders.append(Path(value))
            return self

        def getOrCreate(self) -> Session:
            return Session()

    monkeypatch.setattr(spark_session, "_builder", lambda _: Builder())
    with spark_session.spark_session("local", None if scratch is None else tmp_path / scratch):
        assert folders[0].stat().st_mode & 0o777 == 0o700
        assert folders[0].parent == tmp_path / ("scratch" if scratch == "scratch" else "usual")
    assert not folders[0].exists()


@pytest.mark.skipif(bool(no_spark()), reason=no_spark())
def test_spark_on_one_machine_does_not_ask_for_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Java gives up where the name of the machine cannot be looked up."""
    for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    spark_session._builder("spark://host:7077")
    assert "SPARK_LOCAL_IP" not in os.environ
    spark_session._builder("local[2,4]")
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
