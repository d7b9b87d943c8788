"""A folder that is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from confide.core.errors import InputError
from confide.core.files.folders import settle_folder, temporary_folder
from confide.core.files.system_errors import explained


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
    with explained(f"The folder {target} cannot be written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target.parent) as made:
            yield made
            settle_folder(made, target, overwrite=False, private=private)


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
