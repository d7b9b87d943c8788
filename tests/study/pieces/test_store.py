"""The folder of a study: pieces whole or not at all, one process at a time."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

import confide as cf
from confide.study.pieces.store import PIECES, Store


def test_a_piece_comes_back_as_it_went(tmp_path: Path) -> None:
    piece = {"value": 0.1 + 0.2, "none": None, "large": math.inf, "text": "é <b>"}
    with Store.opened(tmp_path / "new" / "folder") as store:
        assert store.get("a") is None
        store.put("a", piece)
        assert store.get("a") == piece


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", '{"a": 1', "\x00", "null", '{"risk": 0.5}', '{"key": "a", "sha256": "", "content": {}}']
)
def test_a_damaged_piece_counts_as_none(tmp_path: Path, content: str) -> None:
    with Store.opened(tmp_path) as store:
        (tmp_path / PIECES / "a.json").write_text(content)
        assert store.get("a") is None
        assert store.has("a")


def test_any_change_of_a_file_is_noticed(tmp_path: Path) -> None:
    with Store.opened(tmp_path) as store:
        store.put("a", {"risk": 0.25, "text": "x"})
        path = tmp_path / PIECES / "a.json"
        whole = path.read_bytes()
        for i in range(len(whole)):
            path.write_bytes(whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :])
            assert store.get("a") is None
        path.write_bytes(whole)
        assert store.get("a") == {"risk": 0.25, "text": "x"}
        path.rename(tmp_path / PIECES / "b.json")
        assert store.get("b") is None
        store.note("seed", {"seed": "1"})
        (tmp_path / "seed").rename(tmp_path / "other")
        assert store.noted("other") is None


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    with Store.opened(tmp_path):
        pass
    for folder in (tmp_path, tmp_path / PIECES):
        (folder / ".confide-0123456789abcdef-unfinished.json").touch()
    with Store.opened(tmp_path):
        assert not list(tmp_path.rglob("*unfinished*"))


def test_a_second_study_in_the_folder_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    with Store.opened(tmp_path):
        with pytest.raises(cf.InputError, match="Another process"), Store.opened(tmp_path):
            pass
        other = f"from confide.study.pieces.store import Store\nwith Store.opened({str(tmp_path)!r}): print('in')"
        run = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
        assert run.returncode != 0
        assert "Another process is running a study" in run.stderr
    with Store.opened(tmp_path):
        pass


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    code = (
        "import os, signal\nfrom confide.study.pieces.store import Store\n"
        f"with Store.opened({str(tmp_path)!r}): os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Store.opened(tmp_path):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    with pytest.raises(cf.InputError, match="is a file"), Store.opened(tmp_path / "x"):
        pass
    with pytest.raises(cf.InputError, match="cannot be used: a file is in the way"), Store.opened(tmp_path / "x" / "y"):
        pass


def test_what_holds_the_seed_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Store.opened(tmp_path / "a" / "work") as store:
        store.state({"seed": "1"})
        store.put("x", {})
    for path in (tmp_path / "a" / "work", *(tmp_path / "a" / "work").rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
