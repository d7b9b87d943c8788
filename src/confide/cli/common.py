"""What commands share: options, modules of one's own, and outputs that are checked before any work."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

Told = tuple[str, dict[str, Any]]
"""What a command prints, and the same as plain data."""
RECORD = "record.json"
ORIGINAL = "the original: csv, parquet, arrow, sav, dta or sas7bdat"


def command(commands: Commands, name: str, about: str, example: str) -> argparse.ArgumentParser:
    """A command with the options that all have."""
    parser = commands.add_parser(
        name,
        help=about,
        description=f"{about[:1].upper()}{about[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON, also for errors")
    parser.add_argument("--debug", action="store_true", help="show a traceback when confide itself fails")
    return parser


def add_use(parser: argparse.ArgumentParser) -> None:
    """The option for methods, measures and schemes of one's own."""
    words = "a Python module that registers methods, measures or schemes of your own: its name, or its file mine.py"
    parser.add_argument("--use", action="append", default=[], metavar="MODULE", help=words)


def add_plan(parser: argparse.ArgumentParser, required: bool) -> None:
    """The option for the plan."""
    parser.add_argument("--plan", type=Path, required=required, metavar="FILE", help="the plan, in TOML or JSON")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """The options for the seed."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--seed", type=int, metavar="N", help="for another draw than that without a seed")
    either.add_argument("--seed-file", type=Path, metavar="FILE", help="a file that holds the seed")


def use(module: str) -> None:
    """Import a module that registers something, by its name or from its file; never from a folder nobody named."""
    try:
        if module.endswith(".py"):
            _import_file(Path(module))
        else:
            importlib.import_module(module)
    except InputError:
        raise
    except Exception as cause:
        lost = isinstance(cause, ModuleNotFoundError) and cause.name == module.partition(".")[0]
        hint = f" For a file in this folder write --use {module}.py." if lost else ""
        raise InputError(f"--use {module}: {type(cause).__name__}: {cause}.{hint}") from cause


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"--use {path}: there is no such file.")
    there = sys.modules.get(path.stem)
    if there is not None:
        if os.path.realpath(getattr(there, "__file__", None) or "") == os.path.realpath(path):
            return
        raise InputError(f"--use {path}: there is another module named {path.stem}; give the file another name.")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(made)
    except BaseException:
        del sys.modules[path.stem]
        raise


def seed_of(options: argparse.Namespace) -> int | None:
    """The seed that was stated, or that its file holds."""
    if options.seed_file is None:
        seed: int | None = options.seed
        return seed
    try:
        return int(options.seed_file.read_text().strip())
    except ValueError:
        raise InputError(f"{options.seed_file} must hold one whole number, the seed.") from None


def in_the_way(path: Path | None, force: bool) -> list[str]:
    """What is wrong where a file exists that was not asked to be replaced."""
    if path is None or force or not path.exists():
        return []
    return [f"{path} exists and is not overwritten; give --force to replace it."]


def unwritable(options: argparse.Namespace, paths: list[Path | None]) -> list[str]:
    """Met before any work: files in the way, folders that are not there, an input named as an output."""
    given = ("data", "plan", "intruder", "released", "targets", "seed_file", "people", "held_out", "population")
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
    """Refuse the name of an output that says no format."""
    from confide.frames.files import FORMATS

    good = [s for s in FORMATS if s != ".sas7bdat"]
    if path.suffix.lower() not in good:
        raise InputError(f"--out {path.name}: the name must end in one of {', '.join(good)}.")
