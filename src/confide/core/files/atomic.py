"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from confide.core.errors import InputError
from confide.core.files.leftovers import is_temporary, remove_leftovers, temporary_file
from confide.core.files.system_errors import explained


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], overwrite: bool = False, private: bool = False) -> Iterator[Path]:
    """A temporary file in the same folder, moved to `path` when the block ends well, removed otherwise.

    Whatever ends the block early (an error, Ctrl-C) leaves `path` as it was and no other file behind; what a killed
    process left, the next write in the folder removes. An existing file is refused unless `overwrite` is true, also if
    it appears while the block runs. With `private` only its owner can read the file, whatever the umask and the file
    that it replaces. The temporary name keeps the suffix of `path`, for writers that go by it. A `path` that is such
    a temporary file itself is written in place: the block around it makes it whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "notes.txt") as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     [p.name for p in Path(folder).iterdir()]
    ['notes.txt']
    """
    with explained(f"{path} cannot be written"):
        target = _target(path, overwrite)
        if is_temporary(target):
            if private:
                os.chmod(target, 0o600)
            yield target
            return
        remove_leftovers(target.parent)
        with temporary_file(target.parent, target.suffix, private) as temporary:
            if target.exists() and not private:
                shutil.copymode(target, temporary)
            yield temporary
            if private:
                os.chmod(temporary, 0o600)  # a writer may have made the file anew
            _flush(temporary)
            _move(temporary, target, overwrite)
        _flush_folder(target.parent)


def _target(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """The file to be written, symbolic links followed; refused where it cannot or must not be."""
    try:
        target = Path(os.path.realpath(Path(path).expanduser()))
    except ValueError as cause:  # a NUL, or half of a character
        raise InputError("The name of the file holds a character that no file's name can hold.") from cause
    if target.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {target.parent} does not exist.")
    if target.exists() and not overwrite:
        raise _exists(target)
    return target


def _exists(target: Path) -> InputError:
    return InputError(f"{target} exists and is not overwritten; write overwrite=True to replace it.")


def _move(temporary: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        try:
            os.link(temporary, target)  # unlike a rename, fails if the target exists by now
            return
        except FileExistsError:
            raise _exists(target) from None
        except OSError:  # a file system without hard links
            if target.exists():
                raise _exists(target) from None
    os.replace(temporary, target)


def _flush(file: Path) -> None:
    with open(file, "r+b") as handle:
        os.fsync(handle.fileno())


def _flush_folder(folder: Path) -> None:
    """Make the new name itself durable, on systems where a folder can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
