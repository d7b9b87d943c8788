"""The folder of a study: what has been computed, so that an interrupted study goes on where it stopped.

One file a piece of work, written whole or not at all; a lock that the system releases when its holder dies. The folder
is private: it holds the study's seed.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from confide.errors import InputError
from confide.frames import atomic_write

STATEMENT, PIECES, LOCK = "confide-study.json", "pieces", ".lock"


@dataclass(frozen=True)
class Store:
    """Pieces of work by key, in a folder that this process alone writes."""

    folder: Path

    @classmethod
    @contextmanager
    def opened(cls, folder: str | os.PathLike[str]) -> Iterator[Store]:
        """The folder, made if it is not there; refused while another process works in it."""
        path = Path(folder).expanduser()
        if path.exists() and not path.is_dir():
            raise InputError(f"{folder} is a file; give the name of a folder.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            (path / PIECES).mkdir(mode=0o700, exist_ok=True)
            handle = open(path / LOCK, "a+b")  # noqa: SIM115 - held until the study is done
        except OSError as cause:
            raise InputError(f"The folder {folder} cannot be used: {cause.strerror}.") from cause
        with handle:
            if not _locked(handle):
                raise InputError(
                    f"Another process is running a study in {folder}. Wait until it is done, or give another folder."
                )
            yield cls(path)

    def statement(self) -> dict[str, Any] | None:
        """What the folder says of its study; None for a new one."""
        return _read(self.folder / STATEMENT)

    def state(self, statement: Mapping[str, Any]) -> None:
        """Write what the study is."""
        _write(self.folder / STATEMENT, statement)

    def get(self, key: str) -> dict[str, Any] | None:
        """A piece that was finished; None where it was not, or where its file is damaged."""
        return _read(self.folder / PIECES / f"{key}.json")

    def put(self, key: str, piece: Mapping[str, Any]) -> None:
        """Keep a finished piece."""
        _write(self.folder / PIECES / f"{key}.json", piece)


def _read(path: Path) -> dict[str, Any] | None:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else None
    return None


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all, and for its owner alone."""
    with atomic_write(path, overwrite=True) as temporary:
        os.chmod(temporary, 0o600)
        temporary.write_text(json.dumps(content), encoding="utf-8")


def _locked(handle: IO[bytes]) -> bool:
    """Whether this process now holds the lock; the system gives it up when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
