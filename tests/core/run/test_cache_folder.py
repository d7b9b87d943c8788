"""Compiled loops are kept only where nobody else can write, and nothing is loaded from anywhere else."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from confide.core.errors import InputError
from confide.core.run.cache_folder import cache_folder
from tests.helpers.places import ROOT

LOOP = """
from confide.core.run import compile as engine
from tests.helpers.cached_loop import doubled
print(doubled(1.0), engine.FOLDER, sum(doubled.stats.cache_hits.values()))
"""


def run(code: str = LOOP, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """A process with some of its environment changed; None takes a name away."""
    env = {k: v for k, v in (os.environ | environment).items() if v is not None}
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, timeout=120)


def own(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True)
    return path


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder below which only modes set here count (pytest's own are for this user alone)."""
    return own(tmp_path / "alone")


@pytest.mark.parametrize(
    ("name", "below"), [("NUMBA_CACHE_DIR", ""), ("XDG_CACHE_HOME", "confide"), ("HOME", ".cache/confide")]
)
def test_it_is_made_for_its_user_alone(alone: Path, name: str, below: str) -> None:
    folder = cache_folder({name: str(alone / "new") if name != "HOME" else str(alone)})
    assert folder == (alone if name == "HOME" else alone / "new") / below
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_is_refused(alone: Path, name: str, mode: int) -> None:
    alone.chmod(mode)
    with pytest.raises(InputError, match="can be written by other users"):
        cache_folder({name: str(alone)})
    assert not list(alone.iterdir())


def test_a_parent_that_others_can_write_is_refused_unless_sticky(alone: Path) -> None:
    folder = own(alone / "open" / "mine")
    (alone / "open").chmod(0o777)
    with pytest.raises(InputError, match="open can be written"):
        cache_folder({"NUMBA_CACHE_DIR": str(folder)})
    (alone / "open").chmod(0o1777)
    assert cache_folder({"NUMBA_CACHE_DIR": str(folder)}) == folder


def test_a_link_is_followed_only_where_all_of_the_way_is_safe(alone: Path) -> None:
    good, bad = own(alone / "good"), own(alone / "bad" / "inner")
    (alone / "to_good").symlink_to(good)
    (alone / "to_bad").symlink_to(bad)
    (alone / "ring").symlink_to(alone / "ring")
    (alone / "bad").chmod(0o777)
    assert cache_folder({"NUMBA_CACHE_DIR": str(alone / "to_good")})
    for name, said in (("to_bad", "can be written"), ("ring", "too many symbolic links")):
        with pytest.raises(InputError, match=said):
            cache_folder({"NUMBA_CACHE_DIR": str(alone / name)})


def test_a_link_planted_inside_is_refused(alone: Path) -> None:
    elsewhere = own(alone / "elsewhere")
    folder = own(alone / "cache")
    (folder / "protect_0").symlink_to(elsewhere)
    with pytest.raises(InputError, match="protect_0 is a symbolic link"):
        cache_folder({"NUMBA_CACHE_DIR": str(folder)})


def test_modes_inside_count_only_where_others_can_enter(alone: Path) -> None:
    """With umask 002 numba's own files are writable by the group, in a folder that the group cannot enter."""
    folder = own(alone / "cache")
    (folder / "loop.nbi").touch()
    (folder / "loop.nbi").chmod(0o664)
    assert cache_folder({"NUMBA_CACHE_DIR": str(folder)}) == folder
    folder.chmod(0o755)
    with pytest.raises(InputError, match=r"loop\.nbi can be written"):
        cache_folder({"NUMBA_CACHE_DIR": str(folder)})


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_refused(alone: Path) -> None:
    folder = own(alone / "cache")
    (folder / "loop.nbi").touch()
    os.chown(folder / "loop.nbi", 12345, 12345)
    with pytest.raises(InputError, match=r"loop\.nbi belongs to another user"):
        cache_folder({"NUMBA_CACHE_DIR": str(folder)})
    os.chown(alone, 12345, 12345)
    with pytest.raises(InputError, match="alone belongs to another user"):
        cache_folder({"HOME": str(alone)})


def test_a_relative_or_missing_home_is_none() -> None:
    for home in ("no/such", "/no/such/home"):
        with pytest.raises(InputError, match="home folder does not exist"):
            cache_folder({"HOME": home, "XDG_CACHE_HOME": "relative"})


class Planted:
    """Pickled, it makes a file when it is loaded."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (os.mkdir, (str(self.mark),))


def plant(kept: Path, into: Path, mark: Path) -> None:
    """The names that a true run left, with a payload in each of them."""
    for file in kept.rglob("*.nb?"):
        target = into / file.relative_to(kept)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(pickle.dumps(Planted(mark)))


@pytest.mark.slow
def test_nothing_planted_is_loaded(alone: Path) -> None:
    """In the folder once shared by all users, and in one of mode 0777 that the environment names."""
    kept, shared, mark = own(alone / "kept"), own(alone / "tmp"), alone / "mark"
    shared.chmod(0o777)
    assert run(NUMBA_CACHE_DIR=str(kept)).stdout.split() == ["2.0", str(kept), "0"]
    assert run(NUMBA_CACHE_DIR=str(kept)).stdout.split() == ["2.0", str(kept), "1"]
    plant(kept, shared, mark)
    plant(kept, shared / f"confide-{os.getuid()}", mark)
    places = (
        {"NUMBA_CACHE_DIR": str(shared)},
        {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": "/no/such/home", "TMPDIR": str(shared)},
        {"NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": str(shared)},
    )
    for place in places:
        done = run(**place)
        assert done.stdout.split() == ["2.0", "None", "0"]
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("confide: compiled code is not kept for the next run:")
    assert not mark.exists()
    plant(kept, kept, mark)  # and the payload is one: where the folder is the user's own, it is believed
    run(NUMBA_CACHE_DIR=str(kept))
    assert mark.exists()


def test_without_a_home_nothing_is_said_until_something_is_compiled() -> None:
    done = run("import tests.helpers.cached_loop", HOME="/no/such/home", NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_user_without_account_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    with pytest.raises(InputError, match="no home folder"):
        cache_folder({})


@pytest.mark.slow
def test_a_damaged_or_unwritable_store_is_no_error(alone: Path) -> None:
    kept = own(alone / "kept")
    run(NUMBA_CACHE_DIR=str(kept))
    for file in kept.rglob("*.nb?"):
        file.write_bytes(b"damaged")
    assert run(NUMBA_CACHE_DIR=str(kept)).stdout.split() == ["2.0", str(kept), "0"]
    gone = "import shutil; from confide.core.run import compile as e; import tests.helpers.cached_loop; shutil.rmtree(e.FOLDER)"
    assert run(gone + LOOP, NUMBA_CACHE_DIR=str(kept)).stdout.split() == ["2.0", str(kept), "0"]


def test_numba_keeps_the_users_own_settings(alone: Path) -> None:
    code = "import tests.helpers.cached_loop, numba, os; print(repr(numba.config.CACHE_DIR), 'NUMBA_CACHE_DIR' in os.environ)"
    assert run(code, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=str(alone)).stdout.split() == ["''", "False"]


def test_the_temporary_folder_is_never_used(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(alone))
    with pytest.raises(InputError):
        cache_folder({"HOME": "/no/such/home"})
    assert not list(alone.iterdir())
