"""Folders for the time of one piece of work, and folders that appear whole or not at all.

They are known by their name and held by a lock, so that those of a dead process can be removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from confide.core.errors import InputError, system_reason
from confide.core.files.leftovers import fcntl

_NAME = re.compile(r"\.confide-[0-9a-f]{16}-unfinished")
_LOCK = ".lock"


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """A new folder that only this user can enter, gone with all that is in it when the block ends, however it ends,
    unless it was moved away. What a killed process left in `parent`, the next such folder there removes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     with temporary_folder(Path(here)) as made:
    ...         oct(made.stat().st_mode & 0o777)
    ...     list(Path(here).iterdir())
    '0o700'
    []
    """
    remove_dead_folders(parent)
    try:
        path = parent / f".confide-{secrets.token_hex(8)}-unfinished"
        path.mkdir(mode=0o700)
        handle = _locked(path)
    except OSError as cause:
        raise InputError(f"No folder can be made in {parent}: {system_reason(cause)}.") from cause
    try:
        yield path
    finally:
        _remove(path)
        if handle is not None:
            os.close(handle)


def remove_dead_folders(parent: Path) -> None:
    """Remove such folders whose makers are dead; those in use stay, and so does every other folder."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in [e for e in entries if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]:
            with contextlib.suppress(OSError):
                handle = os.open(Path(entry.path) / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    _remove(Path(entry.path))
                finally:
                    os.close(handle)


def settle_folder(made: Path, target: Path, overwrite: bool, private: bool) -> None:
    """Give a temporary folder its name: whole, in one move. One that is there is replaced where `overwrite` says so."""
    (made / _LOCK).unlink(missing_ok=True)
    if not private:
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o777 & ~mask)
    try:
        if overwrite and target.exists():
            with temporary_folder(target.parent) as aside:
                os.rename(target, aside / "before")
                os.rename(made, target)
        else:
            os.rename(made, target)  # refused by the system if a folder with files is there by now
    except OSError as cause:
        raise InputError(f"{target} cannot be written: {system_reason(cause)}.") from cause


def _remove(path: Path) -> None:
    """Remove a folder, its lock last: killed before the end, it is still known as one that a dead process left."""
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in [e for e in entries if e.name != _LOCK]:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _locked(path: Path) -> int | None:
    handle = os.open(path / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    if fcntl is None:
        os.close(handle)
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle
