"""What commands share: what they tell, and outputs that are checked before any work."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from confide.core.errors import InputError
from confide.frames.files import FORMATS

Told = tuple[str, dict[str, Any]]
"""What a command prints, and the same as plain data."""
RECORD = "record.json"


def seed_of(options: argparse.Namespace) -> int | None:
    if options.seed_file is None:
        seed: int | None = options.seed
        return seed
    try:
        return int(options.seed_file.read_text().strip())
    except ValueError:
        raise InputError(f"{options.seed_file} must hold one whole number, the seed.") from None


def in_the_way(path: Path | None, force: bool) -> list[str]:
    if path is None or force or not path.exists():
        return []
    return [f"{path} exists and is not overwritten; give --force to replace it."]


def unwritable(options: argparse.Namespace, paths: list[Path | None]) -> list[str]:
    """Met before any work: files in the way, folders that are not there, an input named as an output."""
    given = ("data", "plan", "intruder", "released", "targets", "seed_file", "people")
    inputs = {os.path.realpath(p) for n in given if (p := getattr(options, n, None)) is not None}
    problems, seen = [], set[str]()
    for path in (p for p in paths if p is not None):
        real = os.path.realpath(path)
        if real in inputs | seen:
            problems.append(f"{path} is named twice on this command line; an output needs a file of its own.")
        elif not path.parent.is_dir():
            problems.append(f"{path} cannot be written: there is no folder {path.parent}.")
        else:
            problems += in_the_way(path, options.force)
        seen.add(real)
    return problems


def check_suffix(path: Path) -> None:
    good = [s for s in FORMATS if s != ".sas7bdat"]
    if path.suffix.lower() not in good:
        raise InputError(f"--out {path.name}: the name must end in one of {', '.join(good)}.")
