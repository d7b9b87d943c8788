"""Results of long work on scratch, by name: what a killed process had found, the same work finds again.

They are pickled, so that they are only ever read from a private folder of this user's (`found_again` sees to that).
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from confide.core.errors import InputError
from confide.core.scale.hadoop import Remote

T = TypeVar("T")
Stamps = tuple[tuple[int, ...], ...]


def stamps_of(files: Sequence[Path]) -> Stamps | None:
    """What says that files are still the same without reading them: place on disk, size, time of writing, and the time
    of their last change of any kind, which the system alone sets. So a file that is written over has another stamp also
    where its time of writing was put back. None where a system has no such time.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     file = Path(here) / "a"
    ...     _ = file.write_text("1")
    ...     stamps_of([file]) == stamps_of([file])
    True
    """
    if os.name != "posix" or any(isinstance(p, Remote) for p in files):
        return None
    found = [_there(p) for p in files]
    return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in found)


def sizes_and_times(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Files by their paths, sizes and times of writing; refused where one is gone."""
    return [(str(p.resolve()), s.st_size, s.st_mtime_ns) for p in files if (s := _there(p))]


def _there(file: Path) -> os.stat_result:
    try:
        return file.stat()
    except FileNotFoundError:
        raise InputError(f"{file.name} is missing: it was there when the scan was made.") from None


def named(what: str, *asked: object) -> str:
    """A name for what hangs on more than a name of a file can hold."""
    return f"{what}-{hashlib.sha256(repr(asked).encode()).hexdigest()[:16]}"


class Remembered:
    """`folder`: private, and known by all that the results hang on. `beside`: objects by name that results refer to
    and that are there again without them; they are not written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     held = Remembered(Path(here))
    ...     held.of("sum", lambda: 3), held.of("sum", lambda: 4)
    (3, 3)
    """

    def __init__(self, folder: Path, beside: Mapping[str, object] | None = None) -> None:
        self.folder, self.beside = folder, dict(beside or {})

    def of(self, name: str, work: Callable[[], T]) -> T:
        """What was found before, else what the work finds now."""
        held = self.get(name)
        if held is None:
            held = (work(),)
            self.put(name, held)
        found: T = held[0]
        return found

    def get(self, name: str) -> Any:
        """What was kept under a name, None where nothing was."""
        try:
            with open(self._file(name), "rb") as file:
                return _Unpickler(file, self.beside).load()
        except FileNotFoundError:
            return None

    def put(self, name: str, value: object) -> None:
        """Keep something, whole or not at all."""
        temporary = self.folder / f"{name}.unfinished"
        with open(temporary, "wb") as file:
            _Pickler(file, self.beside).dump(value)
            file.flush()
            os.fsync(file.fileno())  # the machine itself may go down
        os.replace(temporary, self._file(name))

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.kept"


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], beside: Mapping[str, object]) -> None:
        super().__init__(file, protocol=5)
        self.beside = beside

    def persistent_id(self, obj: object) -> str | None:
        """The name of what is not written."""
        return next((name for name, held in self.beside.items() if held is obj), None)


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], beside: Mapping[str, object]) -> None:
        super().__init__(file)
        self.beside = beside

    def persistent_load(self, pid: str) -> object:
        """What has that name."""
        return self.beside[pid]
