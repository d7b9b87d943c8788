"""Temporary folders whose makers die, at whatever step, and what several processes do to one another's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from confide.core.files.folders import one_at_a_time, remove_dead_folders, temporary_folder
from confide.core.scale import kept
from confide.core.scale.kept import found_again

ROOT = Path(__file__).parents[3]


class Killed(BaseException):
    """The end of a process."""


def _dies(path: Any, **_: Any) -> None:
    """Remove one file, and be killed."""
    for inside in [p for p in Path(path).iterdir() if p.is_file()][:1]:
        inside.unlink()
    raise Killed


def _left(parent: Path) -> None:
    with temporary_folder(parent) as made:
        (made / "parts").mkdir()
        (made / "parts" / "one").touch()


def test_killed_while_it_is_removed_a_folder_still_has_its_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "rmtree", _dies)
    with pytest.raises(Killed):
        _left(tmp_path)
    (made,) = tmp_path.iterdir()
    assert (made / ".lock").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize(("work", "least"), [("settle", 35), ("keep", 20)])
def test_killed_before_any_step_it_leaves_what_others_know_and_remove(work: str, least: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.helpers.killed_at_steps", str(tmp_path), work]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= least


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes it for a leftover."""
    made, make = list[Path](), Path.mkdir

    def removed_at_once(path: Path, *given: Any, **more: Any) -> None:
        make(path, *given, **more)
        made.append(path)
        if len(made) == 1:
            remove_dead_folders(tmp_path)
            with found_again(tmp_path, "other work"):
                pass
            assert not path.exists()

    monkeypatch.setattr(Path, "mkdir", removed_at_once)
    with temporary_folder(tmp_path) as folder:
        assert (folder / ".lock").exists()
        made.clear()
    with found_again(tmp_path, "this work") as folder:
        assert (folder / ".lock").exists()
    assert not list(tmp_path.iterdir())


def test_the_same_work_that_begins_while_the_last_is_removed_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, remove = list[Path](), kept.remove_folder

    def begins(path: Path) -> None:
        if not begun:
            again = found_again(tmp_path, "this work")
            begun.append(again.__enter__())
            (begun[0] / "mine").touch()
            removing.append(again)
        remove(path)

    removing = list[Any]()
    monkeypatch.setattr(kept, "remove_folder", begins)
    with found_again(tmp_path, "this work"):
        pass
    assert (begun[0] / "mine").exists()
    removing[0].__exit__(None, None, None)
    assert not list(tmp_path.iterdir())


def test_one_at_a_time(tmp_path: Path) -> None:
    inside, most = list[int](), list[int]()

    def work() -> None:
        for _ in range(50):
            with one_at_a_time(tmp_path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    several = [threading.Thread(target=work) for _ in range(4)]
    for each in several:
        each.start()
    for each in several:
        each.join()
    assert max(most) == 1
    assert len(most) == 200
    assert not list(tmp_path.iterdir())
