"""Temporary files that are known by their name and held by a lock, so that those of a dead process can be removed."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl as fcntl
except ImportError:  # Windows: nothing there tells a dead writer from a living one, so nothing is removed
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.confide-[0-9a-f]{16}-unfinished(\.[^.]{1,16})?")


def is_temporary(path: Path) -> bool:
    """Whether a file's name is one that `temporary_file` gives.

    >>> is_temporary(Path(".confide-0123456789abcdef-unfinished.csv")), is_temporary(Path("heads.csv"))
    (True, False)
    """
    return _NAME.fullmatch(path.name) is not None


@contextlib.contextmanager
def temporary_file(folder: Path, suffix: str, private: bool) -> Iterator[Path]:
    """A new empty file, locked while the block runs, and gone after it unless it was moved away."""
    path, handle = _created(folder, suffix if len(suffix) <= 17 else "", private)
    try:
        if fcntl is None:
            os.close(handle)  # an open file can be neither moved nor removed
        yield path
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        if fcntl is not None:
            os.close(handle)


def _created(folder: Path, suffix: str, private: bool) -> tuple[Path, int]:
    while True:
        path = folder / f".confide-{secrets.token_hex(8)}-unfinished{suffix}"
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600 if private else 0o666)
        try:
            if private:
                os.chmod(path if fcntl is None else handle, 0o600)  # whatever the umask; its name may be gone by now
            if fcntl is None or _held(path, handle):
                return path, handle
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(handle)
            raise
        os.close(handle)  # taken for a leftover and removed, before it was locked


def _held(path: Path, handle: int) -> bool:
    """Lock a new file; whether its name is still its own."""
    with contextlib.suppress(OSError):  # a file system without locks: there, no leftover is ever removed
        fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files whose writers are dead; those being written stay, and so does every other file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (Path(folder) / ".confide-0123456789abcdef-unfinished.csv").touch()
    ...     (Path(folder) / ".hidden").touch()
    ...     remove_leftovers(Path(folder))
    ...     [p.name for p in Path(folder).iterdir()]
    ['.hidden']
    """
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for path in [Path(e.path) for e in entries if _NAME.fullmatch(e.name)]:
            with contextlib.suppress(OSError):
                _remove_if_dead(path)


def _remove_if_dead(path: Path) -> None:
    """Whoever writes a file holds its lock, and the system gives up the locks of the dead."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    finally:
        os.close(handle)
