"""What commands that redo a study share: a folder of results, none replaced unasked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from confide.core.errors import InputError
from confide.frames import atomic_write


class Result(Protocol):
    """What a study leaves: text to print, files, and how long it took."""

    @property
    def text(self) -> str: ...

    @property
    def files(self) -> tuple[Path, ...]: ...

    @property
    def seconds(self) -> float: ...


def prepared(out: Path, names: Sequence[str], overwrite: bool, how: str = "overwrite=True") -> dict[str, Path]:
    """The files to be, in a folder that exists. `how` says in a refusal what would replace files that are there."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; give the name of a folder.")
    files = {name: out / name for name in names}
    there = [name for name, path in files.items() if path.exists()]
    if there and not overwrite:
        raise InputError(f"{out} holds {', '.join(there)}; choose another folder, or {how} to replace them.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"The folder {out} cannot be made: {cause.strerror}.") from cause
    return files


def write_text(path: Path, text: str, overwrite: bool) -> None:
    with atomic_write(path, overwrite) as temporary:
        temporary.write_text(text, encoding="utf-8")


def told(study: Callable[[], Result], folder: Path) -> int:
    """Run a study and print what it found; the exit code of its command."""
    try:
        result = study()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    print(result.text)
    print(f"\n{len(result.files)} files in {folder}, {result.seconds:.0f} seconds")
    return 0
