"""A folder for what is put aside while files larger than memory are worked on: private, and gone afterwards.

It holds microdata. Whatever ends the work (an error, Ctrl-C) removes it; what a killed process left, the next one that
works in the same place removes.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from confide.core.errors import InputError, system_reason

try:
    import fcntl
except ImportError:  # Windows: nothing there tells a dead process from a living one, so nothing is removed
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\.confide-scratch-[0-9a-f]{16}")
LOCK = "lock"


@contextlib.contextmanager
def scratch_folder(place: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A new folder in `place` (None: where the system keeps temporary files) that only this user can enter.

    >>> with scratch_folder(None) as folder:
    ...     _ = (folder / "codes").write_bytes(b"1")
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    above = Path(tempfile.gettempdir() if place is None else place).expanduser()
    with _explained(above):
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_dead(above)
        folder = above / f".confide-scratch-{secrets.token_hex(8)}"
        folder.mkdir(mode=0o700)
        handle = _locked(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if handle is not None:
                os.close(handle)


@contextlib.contextmanager
def _explained(above: Path) -> Iterator[None]:
    """What the system says about the folder, as a sentence."""
    try:
        yield
    except OSError as cause:
        if cause.errno is None:
            raise
        raise InputError(
            f"The scratch folder {above} cannot be used: {system_reason(cause)}. Name another with scratch=, where "
            "there is room for about 8 bytes per row and variable."
        ) from cause


def _locked(folder: Path) -> int | None:
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    if fcntl is None:
        os.close(handle)
        return None
    with contextlib.suppress(OSError):  # a file system without locks: there, nothing is ever removed
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def _remove_dead(above: Path) -> None:
    """Whoever works in a folder holds its lock, and the system gives up the locks of the dead."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for folder in [Path(e.path) for e in os.scandir(above) if _NAME.fullmatch(e.name)]:
            with contextlib.suppress(OSError):
                handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(handle)
