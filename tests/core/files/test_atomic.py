"""A file is written whole or not at all, whatever happens on the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pyreadstat
import pytest

from confide.core.errors import InputError
from confide.core.files import atomic as module
from confide.frames import atomic_write, write

FRAME = pl.DataFrame({"a": [1, 2]})


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("before", [None, "the old file"])
def test_a_failure_leaves_everything_as_it_was(
    tmp_path: Path, failure: type[BaseException], before: str | None
) -> None:
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(failure), atomic_write(path, overwrite=True) as temporary:  # noqa: PT012
        temporary.write_text("half of")
        raise failure
    assert [p.name for p in tmp_path.iterdir()] == ([] if before is None else ["a.txt"])
    assert before is None or path.read_text() == before


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".sav", ".dta"])
@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_writer_that_fails_midway(
    tmp_path: Path, suffix: str, failure: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(*args: Any, **_: Any) -> None:
        target = next(a for a in args if isinstance(a, (str, Path)))
        Path(target).write_bytes(b"half")
        raise failure

    for name in ("write_csv", "write_parquet", "write_ipc"):
        monkeypatch.setattr(pl.DataFrame, name, half)
    monkeypatch.setattr(pyreadstat, "write_sav", half)
    monkeypatch.setattr(pyreadstat, "write_dta", half)
    with pytest.raises((failure, InputError)):
        write(FRAME, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_refused_unless_asked(tmp_path: Path) -> None:
    path = write(FRAME, tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"a\.csv exists and is not overwritten; write overwrite=True"):
        write({"b": [1]}, path)
    assert path.read_text().startswith("a")
    write({"b": [1]}, path, overwrite=True)
    assert path.read_text().startswith("b")
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_an_existing_file_is_refused_before_any_work(tmp_path: Path) -> None:
    path = write(FRAME, tmp_path / "a.csv")
    worked = False
    with pytest.raises(InputError, match="exists"), atomic_write(path):
        worked = True
    assert not worked


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(InputError, match="exists"), atomic_write(path) as temporary:  # noqa: PT012
        temporary.write_text("ours")
        path.write_text("theirs")
    assert path.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(module.os, "link", refuse)
    path = tmp_path / "a.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("ours")
    assert path.read_text() == "ours"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_the_target_is_not_touched_until_the_end_and_then_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(module.os, "fsync", lambda handle: (flushed.append(handle), sync(handle)))
    path = tmp_path / "a.json"
    with atomic_write(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == ".json"
        assert not path.exists()
        assert flushed == []
    assert path.exists()
    assert len(flushed) == 2  # the file, then the folder that holds its name


def test_permissions_are_those_of_the_file_replaced(tmp_path: Path) -> None:
    path = write(FRAME, tmp_path / "a.csv")
    path.chmod(0o640)
    write(FRAME, path, overwrite=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    real = write(FRAME, tmp_path / "real.csv")
    link = tmp_path / "link.csv"
    link.symlink_to(real)
    write({"b": [1]}, link, overwrite=True)
    assert link.is_symlink()
    assert real.read_text().startswith("b")


def test_folders_are_checked_first(tmp_path: Path) -> None:
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    with pytest.raises(InputError, match="is a folder; give the name of a file in it"):
        write(FRAME, folder, overwrite=True)
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist"):
        write(FRAME, tmp_path / "nowhere" / "a.csv")
