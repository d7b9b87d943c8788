"""What is private is for its owner alone, whatever the umask, the folder and the file that was there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from confide.core.errors import InputError
from confide.core.files import private as module
from confide.frames import atomic_write, private_folder


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o277, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    before = os.umask(request.param)
    yield tmp_path
    os.umask(before)


@pytest.mark.parametrize("there", [None, 0o644, 0o666])
def test_a_private_file_has_one_reader(umask: Path, there: int | None) -> None:
    path = umask / "secret.json"
    if there is not None:
        path.touch()
        path.chmod(there)
    with atomic_write(path, overwrite=True, private=True) as temporary:
        assert mode(temporary) == 0o600
        temporary.write_text("1")
        temporary.chmod(0o644)
    assert mode(path) == 0o600
    assert path.read_text() == "1"


def test_a_new_private_folder_has_one_reader(umask: Path) -> None:
    folder = private_folder(umask / "work")
    assert mode(folder) == 0o700
    assert private_folder(folder) == folder
    inner = folder / "charts"
    inner.mkdir()
    inner.chmod(0o755)
    (inner / "a.png").touch()
    assert mode(private_folder(inner)) == 0o700


def test_folders_above_are_made(tmp_path: Path) -> None:
    assert private_folder(str(tmp_path / "a" / "b")).is_dir()


def test_an_empty_folder_is_closed_and_a_full_one_is_left_to_its_owner(tmp_path: Path) -> None:
    here = tmp_path / "shared"
    here.mkdir()
    here.chmod(0o755)
    folder = here / "results"
    folder.mkdir()
    folder.chmod(0o777)
    assert mode(private_folder(folder)) == 0o700
    folder.chmod(0o750)
    (folder / "notes.txt").touch()
    with pytest.raises(InputError, match=r"Other users can enter .*chmod 700"):
        private_folder(folder)
    assert mode(folder) == 0o750


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(module.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        private_folder(folder)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, said in (
        (tmp_path / "file", "is a file"),
        (tmp_path / "file" / "below", "cannot be used"),
        (tmp_path / "a\0b", "no name can hold"),
        (tmp_path / "a\ud800b", "no name can hold"),
        (tmp_path / ("n" * 300), "cannot be used: its name is too long"),
    ):
        with pytest.raises(InputError, match=said):
            private_folder(path)
