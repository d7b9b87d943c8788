"""What is finished of a long piece of work, kept so that the same command goes on after its process was killed.

The folder is known by a digest of what was asked. It is removed when the work ends, well or with an error; only a
process that is killed leaves it. The same work finds it again; other work in the same place removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from confide.core.errors import InputError
from confide.core.files.folders import remove_dead, remove_folder, still_named
from confide.core.files.leftovers import fcntl
from confide.core.files.system_errors import explained
from confide.core.scale.scratch import ROOM

_NAME = r"\.confide-kept-[0-9a-f]{16}"
_LOCK = ".lock"


@contextlib.contextmanager
def kept_folder(place: str | os.PathLike[str] | None, asked: str) -> Iterator[Kept]:
    """The folder for what is finished of the work that `asked` describes, in `place` (None: the system's temporary
    folder)."""
    above = Path(tempfile.gettempdir() if place is None else place).expanduser()
    with explained(f"The scratch folder {above} cannot be used", ROOM):
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        with found_again(above, asked) as mine:
            yield Kept(mine)


@contextlib.contextmanager
def found_again(above: Path, asked: str) -> Iterator[Path]:
    """A private folder in another for the time of the work that `asked` describes, with what a killed process left of
    the very same work.

    >>> with tempfile.TemporaryDirectory() as here:
    ...     with found_again(Path(here), "some work") as made:
    ...         oct(made.stat().st_mode & 0o777)
    ...     list(Path(here).iterdir())
    '0o700'
    []
    """
    mine = above / f".confide-kept-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"
    remove_dead(above, re.compile(f"(?!{re.escape(mine.name)}){_NAME}"), _remove)
    handle = _entered(mine)
    try:
        yield mine
    finally:
        _remove(mine)
        if handle is not None:
            os.close(handle)


class Kept:
    """Tables by name, each written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> pl.DataFrame | None:
        """What was finished under a name, None where nothing was."""
        file = self.folder / f"{name}.parquet"
        try:
            return pl.read_parquet(file) if file.exists() else None
        except pl.exceptions.PolarsError:  # the machine itself went down while it was written
            return None

    def put(self, name: str, table: pl.DataFrame) -> None:
        """Something is finished."""
        temporary = self.folder / f"{name}.unfinished"
        table.write_parquet(temporary, compression="lz4")
        os.replace(temporary, self.folder / f"{name}.parquet")


def _entered(mine: Path) -> int | None:
    """Make the folder, or take over what is there; its lock. Another process may remove it before it is held."""
    while True:
        mine.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            _check_own(mine)
            handle = _locked(mine)
            if handle is None or still_named(mine, handle):
                return handle
            os.close(handle)


def _check_own(mine: Path) -> None:
    if mine.is_symlink() or (hasattr(os, "getuid") and mine.stat().st_uid != os.getuid()):
        raise InputError(f"{mine} belongs to somebody else; name another scratch folder.")
    if os.name == "posix" and mine.stat().st_mode & 0o077:  # what is kept is read again as it is
        raise InputError(f"{mine} is open to other users; remove it, or name another scratch folder.")


def _locked(folder: Path) -> int | None:
    handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    if fcntl is None:
        os.close(handle)
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InputError("The very same work is being done by another process; wait for it, or end it.") from None
    except OSError:  # a file system without locks
        pass
    return handle


def _remove(mine: Path) -> None:
    """Under another name, which workers that are still at it do not know: they cannot put anything into it. The next
    process removes folders with such a name, should this one be killed. The old name is free for others at once."""
    gone = mine.with_name(f".confide-{secrets.token_hex(8)}-unfinished")
    try:
        mine.rename(gone)
    except OSError:
        gone = mine
    remove_folder(gone)
