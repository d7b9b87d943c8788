"""What a killed writer leaves is removed by the next one, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from confide.core.files import leftovers as module
from confide.core.files.leftovers import is_temporary, remove_leftovers, temporary_file
from confide.frames import atomic_write, write

KILLED = """
import os, signal, sys
from confide.frames import atomic_write
with atomic_write(sys.argv[1]) as temporary:
    temporary.write_text("half of")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_killed_writer_leaves_one_file_and_the_next_write_removes_it(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a.csv")], check=False)
    assert run.returncode == -9
    (left,) = tmp_path.iterdir()
    assert is_temporary(left)
    assert left.read_text() == "half of"
    write({"a": [1]}, tmp_path / "b.csv")
    assert names(tmp_path) == ["b.csv"]


def test_what_is_being_written_stays(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.txt") as one, atomic_write(tmp_path / "b.txt") as two:
        one.write_text("1")
        two.write_text("2")
        remove_leftovers(tmp_path)
        other = f"from pathlib import Path; from confide.core.files.leftovers import *; remove_leftovers(Path({str(tmp_path)!r}))"
        subprocess.run([sys.executable, "-c", other], check=True)
    assert names(tmp_path) == ["a.txt", "b.txt"]


def test_files_of_others_stay(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_text("kept")
    for name in (
        ".confide-unfinished.csv",
        ".confide-0123456789abcdeg-unfinished",
        "confide-0123456789abcdef-unfinished",
    ):
        (tmp_path / name).touch()
    (tmp_path / ".confide-0123456789abcdef-unfinished").symlink_to(real)
    (tmp_path / ".confide-0123456789abcdee-unfinished").mkdir()
    before = names(tmp_path)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == before
    assert real.read_text() == "kept"
    remove_leftovers(tmp_path / "nowhere")


def test_a_temporary_file_is_written_in_place(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.csv") as outer:
        node = outer.stat().st_ino
        write({"a": [1]}, outer, overwrite=True)
        with atomic_write(outer, overwrite=True, private=True) as inner:
            assert inner == outer
        assert outer.stat().st_ino == node
        remove_leftovers(tmp_path)
        assert outer.exists()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o600


def test_a_file_removed_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, calls = module._held, []

    def raced(path: Path, handle: int) -> bool:
        calls.append(path)
        if len(calls) == 1:
            remove_leftovers(tmp_path)
            assert not path.exists()
        return held(path, handle)

    monkeypatch.setattr(module, "_held", raced)
    with temporary_file(tmp_path, ".csv", private=False) as path:
        assert path.exists()
        assert path == calls[1]
    assert names(tmp_path) == []


def test_a_private_file_removed_before_its_mode_is_set_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, calls = os.open, []

    def raced(path: Path, *how: int) -> int:
        calls.append(path)
        handle = opened(path, *how)
        if len(calls) == 1:
            path.unlink()
        return handle

    monkeypatch.setattr(module.os, "open", raced)
    with temporary_file(tmp_path, ".csv", private=True) as path:
        assert path == calls[1]
        assert path.stat().st_mode & 0o777 == 0o600


def test_many_writers_and_removers_at_once(tmp_path: Path) -> None:
    def work(i: int) -> None:
        for k in range(20):
            with atomic_write(tmp_path / f"{i}-{k}.txt") as temporary:
                temporary.write_text("all of it")

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(names(tmp_path)) == 80
    assert all(p.read_text() == "all of it" for p in tmp_path.iterdir())
