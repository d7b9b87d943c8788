"""The folder in which compiled loops are kept. What lies there is executed, so nobody else may be able to write it.

Every folder on the way to it must belong to us or to root, and be writable by its owner alone (a sticky folder such as
/tmp may be writable by all: there nobody can move what is ours). The folder itself and what it holds must be ours.
Where there is no such folder nothing is kept, and no other one is looked for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from confide.core.errors import InputError

OWN = 0o700
SHARED = stat.S_IWGRP | stat.S_IWOTH
ENTERED = stat.S_IXGRP | stat.S_IXOTH
LINKS = 16
"""Symbolic links followed on the way to a folder."""


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of compiled loops, made if it is missing; an InputError says why there is none.

    `NUMBA_CACHE_DIR`, else `confide` in `XDG_CACHE_HOME`, else in `.cache` in the home folder.

    >>> cache_folder({"HOME": "/no/such/home"})
    Traceback (most recent call last):
    confide.InputError: this user's home folder does not exist
    """
    folder = _stated(environment)
    try:
        missing = [at for at in [folder, *folder.parents] if not os.path.lexists(at)]
        _check_way(missing[-1].parent if missing else folder, LINKS)
        for at in reversed(missing):
            at.mkdir(mode=OWN, exist_ok=True)
        _check_ours(folder)
    except OSError as e:
        raise InputError(f"{e.filename or folder}: {e.strerror}") from None
    return folder


def _stated(environment: Mapping[str, str]) -> Path:
    given = environment.get("NUMBA_CACHE_DIR")
    if given:
        return Path(os.path.abspath(given))
    base = environment.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # others are to be ignored, says the XDG specification
        return Path(base) / "confide"
    return _home(environment) / ".cache" / "confide"


def _home(environment: Mapping[str, str]) -> Path:
    try:
        home = Path(environment["HOME"]) if environment.get("HOME") else Path.home()
    except RuntimeError:  # no HOME, and the user has no entry among the accounts
        raise InputError("this user has no home folder") from None
    if not home.is_absolute() or not home.is_dir():
        raise InputError("this user's home folder does not exist")
    return home


def _check_way(folder: Path, links: int) -> None:
    """Every part of the path, and of what its symbolic links point to, is ours or root's and not open to others."""
    if not hasattr(os, "geteuid"):
        return
    for at in [*reversed(folder.parents), folder]:
        found = at.lstat()
        if found.st_uid not in (0, os.geteuid()):
            raise InputError(f"{at} belongs to another user")
        if stat.S_ISLNK(found.st_mode):
            if not links:
                raise InputError(f"{at} is one of too many symbolic links")
            _check_way(Path(os.path.abspath(at.parent / os.readlink(at))), links - 1)
        elif found.st_mode & SHARED and not found.st_mode & stat.S_ISVTX:
            raise InputError(f"{at} can be written by other users (chmod go-w would mend that)")


def _check_ours(folder: Path) -> None:
    """The folder and all in it are ours alone; there are no links in it, which could lead elsewhere."""
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(f"{folder} cannot be written")
    if not hasattr(os, "geteuid"):
        return
    inside = [Path(where) / name for where, folders, files in os.walk(folder) for name in [*folders, *files]]
    shut = not folder.stat().st_mode & ENTERED  # then the modes inside, which the umask gave, matter to nobody
    for at, found in [(folder, folder.stat()), *((at, at.lstat()) for at in inside)]:
        if found.st_uid != os.geteuid():
            raise InputError(f"{at} belongs to another user")
        if stat.S_ISLNK(found.st_mode):
            raise InputError(f"{at} is a symbolic link")
        if found.st_mode & SHARED and not (shut and at != folder):
            raise InputError(f"{at} can be written by other users (chmod go-w would mend that)")
