"""The folder of a study: what has been computed, so that an interrupted study goes on where it stopped.

One file per piece of work, written whole or not at all, with its key and a checksum; a lock that the system releases
when its holder dies. The folder is private: it holds the study's seed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from confide.core.errors import InputError, system_reason
from confide.core.files.leftovers import remove_leftovers
from confide.frames import private_folder
from confide.study.pieces.sealed import read_sealed, write_sealed

STATEMENT, PIECES, LOCK = "confide-study.json", "pieces", ".lock"


@dataclass(frozen=True)
class Store:
    """Pieces of work by key, in a folder that this process alone writes."""

    folder: Path

    @classmethod
    @contextmanager
    def opened(cls, folder: str | os.PathLike[str]) -> Iterator[Store]:
        """The folder, made if it is not there; refused while another process works in it."""
        path = private_folder(folder)
        pieces = private_folder(path / PIECES)
        try:
            handle = open(path / LOCK, "a+b", opener=_private)  # noqa: SIM115 - held until the study is done
        except OSError as cause:
            raise InputError(f"The folder {folder} cannot be used: {system_reason(cause)}.") from cause
        with handle:
            if not _locked(handle):
                raise InputError(
                    f"Another process is running a study in {folder}. Wait until it is done, or give another folder."
                )
            for place in (path, pieces):
                remove_leftovers(place)
            yield cls(path)

    def statement(self) -> dict[str, Any] | None:
        """What the folder says of its study; None for a new one."""
        return self.noted(STATEMENT)

    def state(self, statement: Mapping[str, Any]) -> None:
        """Write what the study is."""
        self.note(STATEMENT, statement)

    def noted(self, name: str) -> dict[str, Any] | None:
        """What was noted under a name; None where nothing was, or where its file is damaged."""
        return read_sealed(self.folder / name, name)

    def note(self, name: str, content: Mapping[str, Any]) -> None:
        """Note something about the study."""
        write_sealed(self.folder / name, name, content)

    def has(self, key: str) -> bool:
        """Whether there is a file for a piece, whole or not."""
        return self._piece(key).exists()

    def get(self, key: str) -> dict[str, Any] | None:
        """A piece that was finished; None where it was not, or where its file is damaged or of something else."""
        return read_sealed(self._piece(key), key)

    def put(self, key: str, piece: Mapping[str, Any]) -> None:
        """Keep a finished piece."""
        write_sealed(self._piece(key), key, piece)

    def _piece(self, key: str) -> Path:
        return self.folder / PIECES / f"{key}.json"


def _private(path: str, flags: int) -> int:
    """Open a file for its owner alone, whatever the umask."""
    handle = os.open(path, flags, 0o600)
    os.chmod(path, 0o600)
    return handle


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
