"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from confide.errors import InputError


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], overwrite: bool = False) -> Iterator[Path]:
    """A temporary file in the same folder, moved to `path` when the block ends well, removed otherwise.

    Whatever ends the block early (an error, Ctrl-C) leaves `path` as it was and no other file behind.
    An existing file is refused unless `overwrite` is true, also if it appears while the block runs. The
    temporary name keeps the suffix of `path`, for writers that go by it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder) / "notes.txt") as temporary:
    ...         _ = temporary.write_text("all of it")
    ...     [p.name for p in Path(folder).iterdir()]
    ['notes.txt']
    """
    target = _target(path, overwrite)
    temporary = target.with_name(f".{target.stem[:80]}.{secrets.token_hex(8)}{target.suffix}")
    try:
        _create(temporary, like=target)
        yield temporary
        _flush(temporary)
        _move(temporary, target, overwrite)
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(target.parent)


def _target(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """The file to be written, symbolic links followed; refused where it cannot or must not be."""
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise InputError(f"{path} cannot be written: the folder {target.parent} does not exist.")
    if target.exists() and not overwrite:
        raise _exists(target)
    return target


def _exists(target: Path) -> InputError:
    return InputError(f"{target} exists and is not overwritten; write overwrite=True to replace it.")


def _create(temporary: Path, like: Path) -> None:
    """An empty file with the permissions of the file it replaces, or those the system gives a new file."""
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError as cause:
        raise InputError(f"{like} cannot be written: {cause.strerror}.") from cause
    if like.exists():
        shutil.copymode(like, temporary)


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
