"""The vault: made once, closed to others, and refused where it is not safe."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import confide as cf
from confide.core.random.vault import usual_vault


def test_made_once_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "vault"
    before = os.umask(0)
    try:
        one = cf.Vault(folder)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
    assert [p.name for p in folder.iterdir()] == ["secret"]
    two = cf.Vault(str(folder))
    assert one == two
    assert len(one.secret) == 32
    assert one.secret != cf.Vault(tmp_path / "other").secret
    assert one.fingerprint != cf.Vault(tmp_path / "other").fingerprint


def test_it_never_shows_its_secret(tmp_path: Path) -> None:
    vault = cf.Vault(tmp_path / "vault")
    shown = f"{vault!r} {vault} {vault.fingerprint}"
    assert vault.secret.hex() not in shown
    assert str(vault.secret) not in shown


def test_texts_are_kept_apart(tmp_path: Path) -> None:
    vault = cf.Vault(tmp_path / "vault")
    keys = {vault.key("ab", "c"), vault.key("a", "bc"), vault.key("abc"), vault.key("abc", ""), vault.key()}
    assert len(keys) == 5


def test_many_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: cf.Vault(tmp_path / "vault").secret, range(32)))
    assert len(set(made)) == 1
    assert [p.name for p in (tmp_path / "vault").iterdir()] == ["secret"]


def test_without_links_it_is_made_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)
    assert cf.Vault(tmp_path / "vault") == cf.Vault(tmp_path / "vault")


def test_refused_where_it_is_not_safe(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(cf.InputError, match="is a file; give the name of a folder"):
        cf.Vault(tmp_path / "file")
    with pytest.raises(cf.InputError, match=r"cannot be used|is a file"):
        cf.Vault(tmp_path / "file" / "vault")
    for wrong in (3, None, b"vault", ""):
        with pytest.raises(cf.InputError, match="A vault is a folder"):
            cf.Vault(wrong)  # type: ignore[arg-type]
    open_folder = tmp_path / "open"
    open_folder.mkdir(mode=0o755)
    assert stat.S_IMODE(cf.Vault(open_folder).folder.stat().st_mode) == 0o700  # it was empty: closed
    used = tmp_path / "shared" / "used"
    used.parent.mkdir(mode=0o755)
    used.mkdir(mode=0o755)
    (used / "letter.txt").write_text("x")
    with pytest.raises(cf.InputError, match="Other users can enter the folder"):
        cf.Vault(used)
    assert not (used / "secret").exists()


def test_a_secret_that_others_may_read_is_refused(tmp_path: Path) -> None:
    vault = cf.Vault(tmp_path / "vault")
    (vault.folder / "secret").chmod(0o644)
    with pytest.raises(cf.InputError, match="Others may read"):
        cf.Vault(vault.folder)


@pytest.mark.parametrize("damage", ["", "confide-vault/1\n", "cut", "flip", "other", "\xff"])
def test_a_damaged_secret_is_refused(tmp_path: Path, damage: str) -> None:
    vault = cf.Vault(tmp_path / "vault")
    file, text = vault.folder / "secret", (vault.folder / "secret").read_text()
    cases = {"cut": text[:-5], "flip": text.replace(text[20], "0" if text[20] != "0" else "1"), "other": f"x{text}"}
    file.write_bytes(cases.get(damage, damage).encode("latin-1"))
    with pytest.raises(cf.InputError, match="is damaged") as told:
        cf.Vault(vault.folder)
    assert vault.secret.hex()[:8] not in str(told.value)
    assert file.read_bytes() == cases.get(damage, damage).encode("latin-1")  # never replaced


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root to give a folder away")
def test_the_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 12345)
    with pytest.raises(cf.InputError, match="belongs to another user"):
        cf.Vault(folder)


def test_the_usual_vault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert usual_vault() == tmp_path / "confide" / "vault"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert usual_vault() == tmp_path / "home" / ".local" / "share" / "confide" / "vault"


def test_killed_while_it_is_made_it_can_be_made_again(tmp_path: Path) -> None:
    """At each system call that writes, the process ends; the next one finds no secret, or a whole one."""
    code = """
import os, sys
stop, count = int(sys.argv[1]), 0
def counted(f):
    def call(*a, **k):
        global count
        if count == stop: os._exit(9)
        count += 1
        return f(*a, **k)
    return call
for name in ("open", "write", "fsync", "close", "link", "fchmod", "mkdir", "chmod", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
from confide.core.random.vault import Vault
count = 0
Vault(sys.argv[2])
"""
    codes = []
    for stop in range(12):
        folder = tmp_path / str(stop)
        done = subprocess.run([sys.executable, "-c", code, str(stop), str(folder)], check=False, capture_output=True)
        codes.append(done.returncode)
        assert cf.Vault(folder) == cf.Vault(folder)
    assert 9 in codes
    assert codes[-1] == 0
