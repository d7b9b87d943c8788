"""`confide app`: the whole way in a browser."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from confide.cli.common import Told, command
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.cli.common import Commands

NEEDS = ("starlette", "uvicorn", "jinja2")
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9}


def add(commands: Commands) -> None:
    """Its options."""
    about = "the whole way in a browser, on this machine"
    p = command(commands, "app", about, "  confide app heads.csv")
    p.add_argument(
        "file", nargs="?", default="", metavar="FILE", help="opened at once; demo:heads for the shipped householders"
    )
    p.add_argument("--port", type=int, default=0, metavar="N", help="default: a free one")
    p.add_argument(
        "--projects",
        type=Path,
        default=Path("confide-projects"),
        metavar="DIR",
        help="where projects are kept; private; default: confide-projects",
    )
    p.add_argument(
        "--root",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="files may be opened and written below it; default: this folder",
    )
    p.add_argument(
        "--memory",
        default="",
        metavar="SIZE",
        help="what a worker may take, as 8GB; default: three quarters of the machine's",
    )
    p.add_argument("--no-browser", action="store_true", help="print the address only")
    p.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="another than this machine's own; needs --password-file",
    )
    p.add_argument("--password-file", type=Path, metavar="FILE", help="its first line is the password")


def run(options: argparse.Namespace) -> Told:
    """Serve until it is ended."""
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f'The browser needs {", ".join(missing)}: pip install "confide[app]".')
    from confide.app.serve import Options, serve

    if not 0 <= options.port <= 65535:
        raise InputError("--port is a number from 1 to 65535, or 0 for a free one.")
    beside = (Path(options.file).expanduser().absolute().parent,) if options.file and ":" not in options.file else ()
    roots = tuple(options.root) or (Path.cwd(), *beside)
    serve(Options(
        options.file, options.port, options.projects, roots, options.address, _password(options.password_file),
        _memory(options.memory), not options.no_browser,
    ))  # fmt: skip
    return "confide has ended. Projects are kept; confide app goes on with them.", {"ended": True}


def _password(path: Path | None) -> str | None:
    if path is None:
        return None
    try:
        text = path.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--password-file {path} cannot be read.") from error
    if not text or len(text[0].strip()) < 8:
        raise InputError("--password-file: its first line must have at least 8 characters.")
    return text[0].strip()


def _memory(text: str) -> int:
    """Bytes from words such as 8GB; by default three quarters of what the machine has."""
    if not text:
        import os

        try:
            return int(0.75 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (AttributeError, ValueError, OSError):
            return 0
    number, unit = text[:-2].strip(), text[-2:].upper()
    try:
        return int(float(number) * UNITS[unit])
    except (KeyError, ValueError) as error:
        raise InputError("--memory is a size such as 8GB or 500MB.") from error
