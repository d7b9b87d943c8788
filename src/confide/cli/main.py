"""The command line: parse the words, run one command, print what it tells.

Each command is a file of its own name here. `add` states its options; `run` takes them, parsed, and returns a text,
and the same as plain data. Nothing heavy is imported at the head of these files, so that `confide --help` answers at
once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from confide.cli.common import use
from confide.core.errors import InputError
from confide.core.scale.interrupted import was_interrupted
from confide.core.version import __version__
from confide.core.visible import visible

COMMANDS = ("demo", "look", "advise", "synthesise", "protect", "attack", "study", "generalise", "sap", "app", "schema")
NEW_LINE = "\n"
IN_PARTS = (".parquet", ".csv", ".tsv", ".arrow", ".feather", ".ipc")
"""Endings of files that may be several."""
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 1, 130
STOPPED = "interrupted; no unfinished file is left behind."


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        said = message[:1].upper() + message[1:].rstrip(".")
        _, unknown, words = message.partition("unrecognized arguments: ")
        if unknown and any(Path(word).suffix in IN_PARTS for word in words.split()):
            said = 'Several files are named by their folder, or by a pattern in quotes, as "persons/*.parquet"'
        raise InputError(f"{said}. See {self.prog} --help.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0 on success, 2 on bad input, 1 on a bug, 130 when interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupt)  # clean up as after Ctrl-C
    as_json = "--json" in words
    with contextlib.suppress(AttributeError):  # what a terminal's alphabet lacks is spelt out
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        options = _parser().parse_args(words)
        print(visible(_run(options), keep=NEW_LINE))
        sys.stdout.flush()
    except SystemExit as e:  # --help and --version
        return e.code if isinstance(e.code, int) else 0
    except InputError as e:
        return _fail(str(e).replace("write overwrite=True", "add --force"), BAD_INPUT, as_json)
    except BrokenPipeError:
        _hush()
    except KeyboardInterrupt:
        return _fail(STOPPED, INTERRUPTED, as_json)
    except OSError as e:
        where = f"{e.filename}: " if e.filename else ""
        return _fail(f"{where}{e.strerror or type(e).__name__}.", BAD_INPUT, as_json)
    except MemoryError:
        return _fail("there is not enough memory for this file.", INTERNAL, as_json)
    except BaseException as e:  # a panic in polars is no Exception
        if was_interrupted(e):
            return _fail(STOPPED, INTERRUPTED, as_json)
        if "--debug" in words:
            traceback.print_exc()
        return _fail(_bug(e), INTERNAL, as_json)
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _run(options: argparse.Namespace) -> str:
    for module in getattr(options, "use", ()):
        use(module)
    text, plain = _command(options.command).run(options)
    return json.dumps(plain, indent=2, allow_nan=False) if options.json else str(text)


def _fail(message: str, code: int, as_json: bool) -> int:
    with contextlib.suppress(BrokenPipeError):
        if as_json:
            print(json.dumps({"error": message}), flush=True)
        else:
            print(f"confide: {visible(message, keep=NEW_LINE)}", file=sys.stderr)
    return code


def _bug(error: BaseException) -> str:
    """Where it happened; never the error's own text, which may quote the data."""
    frames = traceback.extract_tb(error.__traceback__)
    here = Path(__file__).parent.parent
    own = [f for f in frames if here in Path(f.filename).parents]
    last, within = (own[-1], here) if own else (frames[-1], Path(frames[-1].filename).parent)
    place = f"{Path(last.filename).relative_to(within).as_posix()}, line {last.lineno}"
    return f"internal error, {type(error).__name__} in {place}: a bug in confide. Add --debug for details."


def _hush() -> None:
    """Whoever read our output has left (`| head`): let nothing complain when the interpreter closes it."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="confide",
        description="Protect a microdata file, attack it as a well informed intruder, choose what to release.",
        epilog="Try it on shipped data: confide demo",
    )
    parser.add_argument("--version", action="version", version=f"confide {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for name in COMMANDS:
        _command(name).add(commands)
    return parser


def _command(name: str) -> ModuleType:
    return import_module(f"confide.cli.{name}")


if __name__ == "__main__":
    raise SystemExit(main())
