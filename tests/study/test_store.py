"""The folder of a study: pieces whole or not at all, one process at a time."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf
from confide.study.store import PIECES, Store


def test_a_piece_comes_back_as_it_went(tmp_path: Path) -> None:
    piece = {"value": 0.1 + 0.2, "none": None, "large": math.inf, "text": "é <b>"}
    with Store.opened(tmp_path / "new" / "folder") as store:
        assert store.get("a") is None
        store.put("a", piece)
        assert store.get("a") == piece


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"a": 1', "\x00"])
def test_a_damaged_piece_counts_as_none(tmp_path: Path, content: str) -> None:
    with Store.opened(tmp_path) as store:
        (tmp_path / PIECES / "a.json").write_text(content)
        assert store.get("a") is None


def test_a_second_study_in_the_folder_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    with Store.opened(tmp_path):
        with pytest.raises(cf.InputError, match="Another process"), Store.opened(tmp_path):
            pass
        other = f"from confide.study.store import Store\nwith Store.opened({str(tmp_path)!r}): print('in')"
        run = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
        assert run.returncode != 0
        assert "Another process is running a study" in run.stderr
    with Store.opened(tmp_path):
        pass


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom confide.study.store import Store\n"
        f"with Store.opened({str(tmp_path)!r}): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Store.opened(tmp_path):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(cf.InputError, match="is a file"), Store.opened(tmp_path / "x"):
        pass
    with pytest.raises(cf.InputError, match="cannot be used"), Store.opened(tmp_path / "x" / "y"):
        pass


def test_what_holds_the_seed_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Store.opened(tmp_path / "a" / "work") as store:
        store.state({"seed": "1"})
        store.put("x", {})
    for path in (tmp_path / "a" / "work", *(tmp_path / "a" / "work").rglob("*.json"), tmp_path / "a" / "work" / PIECES):
        assert path.stat().st_mode & 0o077 == 0
