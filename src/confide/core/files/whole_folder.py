"""A folder that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from confide.core.errors import InputError, system_reason


@contextlib.contextmanager
def whole_folder(path: str | os.PathLike[str], private: bool = False) -> Iterator[Path]:
    """A temporary folder beside `path`, which takes its name when the block ends well, and is removed otherwise.

    `path` must not be there, or be an empty folder. With `private` only its owner can enter it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     with whole_folder(Path(here) / "units") as folder:
    ...         _ = (folder / "part").write_text("all of it")
    ...     [p.name for p in Path(here).iterdir()], [p.name for p in (Path(here) / "units").iterdir()]
    (['units'], ['part'])
    """
    target = check_new_folder(path)
    temporary = target.parent / f".{target.name}-{os.getpid()}-{secrets.token_hex(8)}-unfinished"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_dead(target)
        temporary.mkdir(mode=0o700 if private else 0o777)
        try:
            yield temporary
            if target.exists():
                target.rmdir()
            os.replace(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as cause:
        if cause.errno is None:
            raise
        raise InputError(f"The folder {path} cannot be written: {system_reason(cause)}.") from cause


def _remove_dead(target: Path) -> None:
    """Remove what killed processes of this machine left of the same folder."""
    name = re.compile(rf"\.{re.escape(target.name)}-([0-9]+)-[0-9a-f]{{16}}-unfinished")
    for entry in [e for e in os.scandir(target.parent) if name.fullmatch(e.name)]:
        found = name.fullmatch(entry.name)
        assert found is not None
        try:
            os.kill(int(found[1]), 0)
        except ProcessLookupError:
            shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:
            pass  # it lives, and is another user's


def check_new_folder(path: str | os.PathLike[str]) -> Path:
    """The folder to be made; refused where something is there already."""
    try:
        target = Path(os.path.realpath(Path(path).expanduser()))
        there = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except ValueError as cause:  # a NUL, or half of a character
        raise InputError("The name of the folder holds a character that no name can hold.") from cause
    if there:
        raise InputError(f"{target} exists and is not overwritten; give the name of a new folder.")
    return target
