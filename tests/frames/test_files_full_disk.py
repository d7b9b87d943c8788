"""A disk that is full, can only be read or fails: a sentence, and nothing half left."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from confide.core.errors import InputError
from confide.frames import atomic_write


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.ENOSPC, "there is no room left on the disk"),
        (errno.EDQUOT, "your share of the disk is used up"),
        (errno.EROFS, "the disk can only be read"),
        (errno.EIO, "the disk fails"),
        (errno.ENOLCK, os.strerror(errno.ENOLCK)),
    ],
)
@pytest.mark.parametrize("phase", ["open", "write", "fsync", "replace"])
def test_whatever_fails_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str, phase: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    target = tmp_path / "a.txt"
    target.write_text("before")
    if phase != "write":
        monkeypatch.setattr(os, phase, fails)
    with pytest.raises(InputError) as caught, atomic_write(target, overwrite=True) as temporary:  # noqa: PT012
        if phase == "write":
            temporary.write_text("half of")
            fails()
    monkeypatch.undo()
    assert str(caught.value) == f"{target} cannot be written: {said}."
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert target.read_text() == "before"


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    for name, said in (("n" * 300, "its name is too long"), ("a\0b", "no file's name"), ("a\ud800", "no file's name")):
        with pytest.raises(InputError, match=said), atomic_write(tmp_path / name):
            pass
    long = tmp_path / f"{'é' * 120}.csv"
    with atomic_write(long) as temporary:
        temporary.write_text("1")
    assert long.read_text() == "1"


FULL = """
import resource, sys
from pathlib import Path
import polars as pl
from confide.core.errors import InputError
from confide.frames import atomic_write, write
frame = pl.DataFrame({"a": pl.Series(range(200_000)).hash(1).cast(pl.String)})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for suffix in (".parquet", ".csv", ".arrow", ".json"):
    path = Path(sys.argv[1]) / ("a" + suffix)
    try:
        if suffix == ".json":
            with atomic_write(path, private=True) as temporary:
                temporary.write_text("x" * 200_000)
        else:
            write(frame, path)
        print("written", suffix)
    except InputError as e:
        print(str(e).rpartition("/")[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits")
def test_writers_that_are_stopped_by_the_system_leave_nothing(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-1000:]
    lines = run.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("a.") and "cannot be written" in line for line in lines), lines
    assert list(tmp_path.iterdir()) == []
