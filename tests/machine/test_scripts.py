"""Scripts work in a folder of any name, and need no network once the environment exists."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import satisfied
from tests.helpers.places import ROOT

PROJECT = """
[project]
name = "confide"
version = "{version}"
dependencies = [{needs}]
scripts = {{ confide = "confide.cli.main:main" }}
[project.optional-dependencies]
docs = ["numpy>=1"]
dev = ["confide[docs]", "pytest>={pytest}"]
"""


def project(folder: Path, needs: str = '"polars>=1"', pytest_from: str = "8", version: str = "0.1.0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(PROJECT.format(needs=needs, pytest=pytest_from, version=version))
    return folder


@pytest.fixture
def no_own_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(satisfied, "_own", lambda *_: None)


@pytest.mark.usefixtures("no_own_check")
def test_what_is_missing_is_found(tmp_path: Path) -> None:
    assert satisfied.missing(project(tmp_path), "dev") is None
    assert satisfied.missing(project(tmp_path, '"no-such-package>=1"'), "") == "no-such-package is not installed"
    assert "pytest" in str(satisfied.missing(project(tmp_path, pytest_from="999"), "dev"))
    assert satisfied.missing(project(tmp_path, pytest_from="999"), "docs") is None
    other = "\"no-such-package>=1; python_version < '3.0'\""
    assert satisfied.missing(project(tmp_path, other), "") is None


def test_confide_of_another_folder_or_version_is_not_enough(tmp_path: Path) -> None:
    from importlib.metadata import version

    assert satisfied.missing(project(tmp_path, version="99.0"), "") == "confide 99.0 is not installed"
    here = satisfied.missing(project(tmp_path, version=version("confide")), "")
    assert here == "confide is not installed from this folder"


def test_an_environment_that_has_all_is_left_alone(tmp_path: Path) -> None:
    """In a folder with spaces whose Python answers "satisfied", pip is not called; else it is, quoted as it must be."""
    folder = tmp_path / "a b" / "confide test"
    (folder / "scripts").mkdir(parents=True)
    (folder / "env dir" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "environment", folder / "scripts" / "environment")
    fake = folder / "env dir" / "bin" / "python"
    fake.write_text('#!/bin/sh\necho "$#: $*" >> "$LOG"\ncase "$1" in scripts/*) exit "$ANSWER";; esac\n')
    fake.chmod(0o755)
    for answer, calls in (("0", 1), ("1", 3)):
        log = tmp_path / f"log{answer}"
        env = os.environ | {"LOG": str(log), "ANSWER": answer, "PYTHON": sys.executable}
        words = [str(folder / "scripts" / "environment"), "env dir", "dev"]
        subprocess.run(words, env=env, check=True, timeout=60)
        said = log.read_text().splitlines()
        assert len(said) == calls
        assert said[0] == "2: scripts/satisfied.py dev"
    assert said[1].endswith("--editable .[dev]")
    assert said[2] == "2: -m confide.precompile"


def with_fake_tools(folder: Path, answer: str) -> None:
    """`scripts/test` in a folder whose tools do what a shell script says."""
    (folder / "scripts").mkdir()
    (folder / ".venv-test" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "test", folder / "scripts" / "test")
    for path in (".venv-test/bin/python", "scripts/environment", "scripts/chromium"):
        (folder / path).write_text(answer)
        (folder / path).chmod(0o755)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], ["no-loadscope-reorder"]),
        (["--cover"], ["-m not slow --cov --cov-report=", "-m coverage report --format=total"]),
        (["--fast", "-x"], ["-m not slow -x"]),
        (["tests/tables"], ["no-loadscope-reorder tests/tables"]),
    ],
)
def test_the_lanes(given: list[str], asked: list[str], tmp_path: Path) -> None:
    """All tests; quick ones, with coverage or without; or what the arguments say."""
    with_fake_tools(tmp_path, '#!/bin/sh\necho "$(basename "$0") $*"\n')
    done = subprocess.run(
        [tmp_path / "scripts" / "test", *given], capture_output=True, text=True, check=True, timeout=60
    )
    said = done.stdout.splitlines()
    assert said[0] == "environment .venv-test dev"
    assert ("chromium " in said) == ("--fast" not in given)
    tested = next(i for i, line in enumerate(said) if "pytest" in line)
    assert [" ".join(line.split()[1:]) for line in said[1:tested] if line.startswith("python")] == [
        "-m ruff check .",
        "-m ruff format --check .",
        "-m mypy",
    ]
    told = [line for line in said[tested:] if line.startswith("python")]
    assert len(told) == len(asked)
    for line, end in zip(told, asked, strict=True):
        assert line.endswith(end)


@pytest.mark.parametrize("name", ["environment", "test", "docs", "demo", "bundle", "chromium"])
def test_scripts_are_sound_for_bash(name: str) -> None:
    script = ROOT / "scripts" / name
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True, timeout=60)
    assert "set -euo pipefail" in script.read_text()


def test_tests_that_fail_are_told(tmp_path: Path) -> None:
    with_fake_tools(tmp_path, '#!/bin/sh\ncase "$*" in *pytest*) exit 1;; esac\n')
    for words in ([], ["--cover"], ["--fast"], ["tests/tables"]):
        done = subprocess.run([tmp_path / "scripts" / "test", *words], capture_output=True, check=False, timeout=60)
        assert done.returncode == 1
