"""Folders for the time of one piece of work, and folders that appear whole or not at all.

They are known by their name and held by a lock, so that those of a dead process can be removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from confide.core.errors import InputError, system_reason
from confide.core.files.leftovers import fcntl

_NAME = re.compile(r"\.confide-[0-9a-f]{16}-unfinished")
_LOCK, _WHOLE = ".lock", ".whole"


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
        path, handle = _created(parent)
    except OSError as cause:
        raise InputError(f"No folder can be made in {parent}: {system_reason(cause)}.") from cause
    try:
        yield path
    finally:
        remove_folder(path)
        if handle is not None:
            os.close(handle)


def remove_dead_folders(parent: Path) -> None:
    """Remove such folders whose makers are dead; those in use stay, and so does every other folder."""
    remove_dead(parent, _NAME, remove_folder)


def remove_dead(parent: Path, names: re.Pattern[str], remove: Callable[[Path], None]) -> None:
    """Remove folders of such names whose locks nobody holds. One without a lock holds nothing: a process was killed
    before it made the lock, or after it had removed it as the last."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for path in [Path(e.path) for e in entries if names.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]:
            with contextlib.suppress(OSError):
                _remove_if_dead(path, remove)


def _remove_if_dead(path: Path, remove: Callable[[Path], None]) -> None:
    try:
        handle = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        path.rmdir()
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(path)
    finally:
        os.close(handle)


def settle_folder(made: Path, target: Path, overwrite: bool, private: bool) -> None:
    """Give what is in a temporary folder the name of a folder: whole, in one move. One that is there is replaced where
    `overwrite` says so. The temporary one stays, with its lock, to the end of its block: killed at any moment, it is
    known as one that a dead process left."""
    try:
        (whole := made / _WHOLE).mkdir(mode=0o700)
        for name in [e for e in os.listdir(made) if e not in (_LOCK, _WHOLE)]:
            os.rename(made / name, whole / name)
        _close(whole) if private else _open(whole)
        if overwrite and target.exists():
            with temporary_folder(target.parent) as aside:
                os.rename(target, aside / "before")
                os.rename(whole, target)
        else:
            os.rename(whole, target)  # refused by the system if a folder with files is there by now
    except OSError as cause:
        raise InputError(f"{target} cannot be written: {system_reason(cause)}.") from cause


def _open(folder: Path) -> None:
    """As the system makes folders."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)


def _close(folder: Path) -> None:
    """All that is in it is for its owner alone."""
    for above, folders, files in os.walk(folder):
        for names, mode in ((folders, 0o700), (files, 0o600)):
            for name in names:
                os.chmod(os.path.join(above, name), mode)


@contextlib.contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until no other process is in such a block with the same folder."""
    if fcntl is None:
        yield
        return
    while (handle := _held(folder)) is None:
        pass
    try:
        yield
    finally:
        (folder / _LOCK).unlink(missing_ok=True)
        os.close(handle)


def _held(folder: Path) -> int | None:
    """The lock of a folder; None where somebody took its file away before it was held."""
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    if still_named(folder, handle):
        return handle
    os.close(handle)
    return None


def still_named(folder: Path, handle: int) -> bool:
    """Whether an open file is the lock of a folder, which nobody has removed."""
    try:
        return os.path.samestat(os.stat(folder / _LOCK), os.fstat(handle))
    except FileNotFoundError:
        return False


def remove_folder(path: Path) -> None:
    """Remove a folder, its lock last: killed before the end, it is still known as one that a dead process left."""
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in [e for e in entries if e.name != _LOCK]:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                Path(entry.path).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _created(parent: Path) -> tuple[Path, int | None]:
    """A new folder with its lock."""
    while True:
        path = parent / f".confide-{secrets.token_hex(8)}-unfinished"
        path.mkdir(mode=0o700)
        with contextlib.suppress(FileNotFoundError):  # taken for a leftover and removed, before it was locked
            handle = _locked(path)
            if handle is None or still_named(path, handle):
                return path, handle
            os.close(handle)


def _locked(path: Path) -> int | None:
    handle = os.open(path / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    if fcntl is None:
        os.close(handle)
        return None
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle
