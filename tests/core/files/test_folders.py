"""Temporary folders whose makers die while they remove them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from confide.core.files.folders import temporary_folder


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
