"""A folder that nobody else can look into."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from confide.core.errors import InputError, system_reason


def private_folder(path: str | os.PathLike[str]) -> Path:
    """The folder, made if it is not there, that only this user can enter.

    A folder of another user is refused, and so is one with files in it that others can enter: to close it might shut
    somebody out who works there. An empty folder, and one inside a private folder, is closed. Write into it with
    `atomic_write(..., private=True)`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as here:
    ...     made = private_folder(Path(here) / "vault")
    ...     oct(made.stat().st_mode & 0o777)
    '0o700'
    """
    folder = Path(path).expanduser()
    try:
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{path} is a file; give the name of a folder.")
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = _made(folder)
        if os.name == "nt":  # has no modes; a folder there belongs to whoever owns the one above
            return folder
        return _checked(folder, new)
    except InputError:
        raise
    except ValueError as cause:  # a NUL, or half of a character
        raise InputError("The name of the folder holds a character that no name can hold.") from cause
    except OSError as cause:
        raise InputError(f"The folder {path} cannot be used: {system_reason(cause)}.") from cause


def _made(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return False
    return True


def _checked(folder: Path, new: bool) -> Path:
    if folder.stat().st_uid != os.geteuid():
        raise InputError(
            f"The folder {folder} belongs to another user, who could read and change what is private in it. "
            "Give a folder of your own, or the name of a new one."
        )
    if new or (_open(folder) and (not any(folder.iterdir()) or _inside_private(folder))):
        folder.chmod(0o700)
    if _open(folder):
        raise InputError(
            f"Other users can enter the folder {folder}, which is to hold what is private. Close it "
            f"(chmod 700 {folder}), or give the name of a new folder."
        )
    return folder


def _open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o077)


def _inside_private(folder: Path) -> bool:
    above = Path(os.path.realpath(folder)).parent.stat()
    return above.st_uid == os.geteuid() and not stat.S_IMODE(above.st_mode) & 0o077
