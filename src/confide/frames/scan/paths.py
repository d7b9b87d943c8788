"""Which files a user means: one, a folder of them, a pattern, or a list."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from confide.core.errors import InputError
from confide.core.scale.hadoop import Remote, files_of, is_uri
from confide.frames.files import FORMATS, PACKED

SCANNED = {s: f for s, f in FORMATS.items() if f in ("Parquet", "Arrow", "CSV", "TSV")}
"""Suffixes of files that can be read in parts."""

Place = str | os.PathLike[str]


def found_files(source: Place | Sequence[Place]) -> tuple[list[Path], str]:
    """The files in order, under names that hold wherever one goes, and their format."""
    several = isinstance(source, Sequence) and not isinstance(source, str)
    if not several and not isinstance(source, (str, os.PathLike, Remote)):
        raise InputError(f"scan takes a file, a folder, a pattern or a list of files, not {type(source).__name__}.")
    files = [p for s in source for p in _one(s)] if several else _of_name(source)  # type: ignore[union-attr,arg-type]
    if not files:
        raise InputError("scan was given an empty list; name at least one file.")
    files = [p if isinstance(p, Remote) else p.absolute() for p in files]
    if len(set(files)) < len(files):
        raise InputError("scan was given a file twice; its rows would count twice.")
    forms = {p: SCANNED.get(p.suffix.lower()) for p in files}
    strange = [p for p, form in forms.items() if form is None]
    if strange and strange[0].suffix.lower() in PACKED:
        raise InputError(
            f"{strange[0].name} is compressed and cannot be read in parts: unpack it, or have it written as Parquet."
        )
    if strange:
        raise InputError(
            f"{strange[0].name} cannot be read in parts; files for that end in {', '.join(SCANNED)}. Read it whole "
            "with cf.read, or write it as Parquet first."
        )
    if len(set(forms.values())) > 1:
        raise InputError(f"The files are of several formats ({', '.join(sorted(set(map(str, forms.values()))))}).")
    empty = [p for p in files if p.stat().st_size == 0]
    if empty:
        raise InputError(
            f"{empty[0].name} is empty: it has not even the names of its columns. Write it again, or leave it out."
        )
    return files, str(forms[files[0]])


def _of_name(source: Place) -> list[Path]:
    """Files of one name: itself, those in it, or those that fit it."""
    if is_uri(source):
        return cast(list[Path], files_of(str(source)))
    try:
        path = Path(source).expanduser()
        if path.is_file():
            return [path]
        if path.is_dir():
            return _in_folder(path)
        text = str(path)
        found = sorted(Path(p) for p in glob.glob(text, recursive=True)) if glob.has_magic(text) else []
    except InputError:
        raise
    except (OSError, RuntimeError, ValueError):
        raise InputError(f"{str(source)[:200]!r} cannot be the name of a file.") from None
    files = [p for p in found if p.is_file()]
    if not files:
        what = "no file fits that pattern" if glob.has_magic(text) else "it does not exist"
        raise InputError(f"{source} cannot be scanned: {what}.")
    return files


def _in_folder(folder: Path) -> list[Path]:
    there = [p for p in folder.iterdir() if not p.name.startswith((".", "_"))]
    files = sorted(p for p in there if p.suffix.lower() in SCANNED)
    packed = sorted(p for p in there if _packed(p) and p.with_suffix("") not in files)
    if packed:  # left out, its rows would be missing
        raise InputError(f"{packed[0].name} in {folder} is compressed: unpack it, move it away, or name the files.")
    if not files:
        raise InputError(f"The folder {folder} holds no files that end in {', '.join(SCANNED)}.")
    return files


def _packed(file: Path) -> bool:
    return file.suffix.lower() in PACKED and file.with_suffix("").suffix.lower() in SCANNED


def _one(place: Place) -> list[Path]:
    if is_uri(place):
        return cast(list[Path], files_of(str(place)))
    if not isinstance(place, (str, os.PathLike)):
        raise InputError(f"scan takes names of files, not {type(place).__name__}.")
    path = Path(place).expanduser()
    if not path.is_file():
        raise InputError(f"{place} is missing: there is no such file.")
    return [path]
