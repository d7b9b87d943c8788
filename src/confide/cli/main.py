"""The command line: `confide demo`, `protect`, `attack`, `study`, `sap`.

Nothing heavy is imported here, so that `confide --help` answers at once: each command's work is in a file of its own
name, whose `run` takes the parsed options and returns a text, and the same as plain data.
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
from typing import Any, NoReturn

from confide import __version__
from confide.core.errors import InputError
from confide.core.visible import visible

NEW_LINE = "\n"
BAD_INPUT, INTERNAL, INTERRUPTED = 2, 1, 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        said = message[:1].upper() + message[1:].rstrip(".")
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
        return _fail(str(e), BAD_INPUT, as_json)
    except BrokenPipeError:
        _hush()
    except KeyboardInterrupt:
        return _fail("interrupted; no unfinished file is left behind.", INTERRUPTED, as_json)
    except OSError as e:
        where = f"{e.filename}: " if e.filename else ""
        return _fail(f"{where}{e.strerror or type(e).__name__}.", BAD_INPUT, as_json)
    except MemoryError:
        return _fail("there is not enough memory for this file.", INTERNAL, as_json)
    except BaseException as e:  # a panic in polars is no Exception
        if "--debug" in words:
            traceback.print_exc()
        return _fail(_bug(e), INTERNAL, as_json)
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _run(options: argparse.Namespace) -> str:
    text, plain = import_module(f"confide.cli.{options.command}").run(options)
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
    _demo(commands)
    _protect(commands)
    _attack(commands)
    _study(commands)
    _sap(commands)
    return parser


def _command(commands: Any, name: str, about: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=f"{about[:1].upper()}{about[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print JSON, also for errors")
    parser.add_argument("--debug", action="store_true", help="show a traceback when confide itself fails")
    return parser


def _demo(commands: Any) -> None:
    about = "compare six releases of the shipped data, and leave a report"
    p = _command(commands, "demo", about, "  confide demo --out confide-demo")
    p.add_argument("--out", type=Path, default=Path("confide-demo"), metavar="DIR", help="default: confide-demo")
    p.add_argument("--force", action="store_true", help="replace files of an earlier run")


def _protect(commands: Any) -> None:
    example = "  confide protect heads.csv --plan plan.toml --out public/heads.csv --private vault"
    p = _command(commands, "protect", "carry a plan out on a file and write the public file", example)
    p.add_argument("data", type=Path, help="the original: csv, parquet, arrow, sav, dta or sas7bdat")
    _add_plan(p, required=True)
    p.add_argument("--out", type=Path, required=True, metavar="FILE", help="the public file")
    vault = "the vault: a private folder for the secret and the record; default: one in your home folder"
    p.add_argument("--private", "--vault", type=Path, metavar="DIR", help=vault)
    p.add_argument("--public-record", type=Path, metavar="FILE", help="a record, without secrets, to go with the data")
    _add_seed(p)
    guard = "csv and tsv: an apostrophe before text that a spreadsheet would take for a formula"
    p.add_argument("--spreadsheet", action="store_true", help=guard)
    p.add_argument("--force", action="store_true", help="replace existing files")


def _attack(commands: Any) -> None:
    example = (
        "  confide attack heads.csv --private vault --intruder intruder.toml\n"
        "  confide attack heads.csv --plan plan.toml --seed 1 --intruder intruder.toml\n"
        "  confide attack heads.csv --released other.csv --link link.csv row --intruder intruder.toml"
    )
    p = _command(commands, "attack", "attack a release and say who could be recognised", example)
    p.add_argument("data", type=Path, help="the original: csv, parquet, arrow, sav, dta or sas7bdat")
    p.add_argument("--intruder", type=Path, required=True, metavar="FILE", help="the intruder, in TOML or JSON")
    p.add_argument("--name", help="which of several [[intruder]] tables")
    vault = "the vault of protect, or one of the records in it"
    p.add_argument("--private", "--vault", type=Path, metavar="DIR", help=vault)
    _add_plan(p, required=False)
    _add_seed(p)
    p.add_argument("--released", type=Path, metavar="FILE", help="a release made by another tool")
    p.add_argument(
        "--link", nargs=2, metavar=("FILE", "COLUMN"), help="original row (from 0) of each row of --released"
    )
    p.add_argument("--targets", type=Path, metavar="FILE", help="who is attacked; default: everybody released")
    p.add_argument("--threshold", type=float, default=0.2, help="count targets above this probability (0.2)")
    p.add_argument("--out", type=Path, metavar="FILE", help="write one row per target; private")
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace an existing --out file")


def _study(commands: Any) -> None:
    example = "  confide study study.toml --out results"
    p = _command(commands, "study", "compare candidate releases by risk and utility, and leave a report", example)
    p.add_argument("study", type=Path, metavar="FILE", help="data, plans, intruders and measures, in TOML or JSON")
    p.add_argument("--out", type=Path, required=True, metavar="DIR", help="tables, charts and reports; private")
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace files of an earlier run")


def _sap(commands: Any) -> None:
    example = (
        "  confide sap counts.csv --round 5 --margins total --known 0:24\n"
        "  confide sap wards.csv --area ward --by sex,age --round 3 --margins total --known 0:10\n"
        "  confide sap people.csv --records --by sex,age --suppress 5 --margins all --known 3"
    )
    p = _command(commands, "sap", "publish a table of counts and say how likely a zero is recovered", example)
    p.add_argument("data", type=Path, help="one row per combination with its count, or one row per person (--records)")
    p.add_argument("--count", default="count", metavar="COLUMN", help="the column of counts (count)")
    p.add_argument("--records", action="store_true", help="the file has one row per person; count them")
    p.add_argument("--by", metavar="A,B", help="the variables of the table; default: all other columns")
    p.add_argument("--area", metavar="COLUMN", help="one table per area")
    scheme = p.add_mutually_exclusive_group()
    scheme.add_argument("--exact", action="store_true", help="publish counts as they are (default)")
    scheme.add_argument("--round", type=int, metavar="BASE", help="round to the nearest multiple")
    scheme.add_argument("--controlled", type=int, metavar="BASE", help="round so that margins add up")
    scheme.add_argument("--small", type=int, metavar="BASE", help="only counts below BASE become 0 or BASE")
    scheme.add_argument("--suppress", type=int, metavar="BELOW", help="hide small counts, and others to protect them")
    scheme.add_argument("--cell-key", type=float, nargs=2, metavar=("D", "V"), help="noise of at most D, variance V")
    p.add_argument("--random", action="store_true", help="with --round: up or down at random, unbiased")
    p.add_argument("--ties", choices=["up", "down", "even"], help="with --round and an even base (up)")
    marks = "with --suppress: whether small counts and others hidden for their sake are marked differently (apart)"
    p.add_argument("--marks", choices=["apart", "same"], help=marks)
    margins = "none, total, all, or lists such as 'sex;age,sex;total' (none)"
    p.add_argument("--margins", default="none", metavar="WHICH", help=margins)
    p.add_argument("--margins-only", action="store_true", help="publish margins without cells")
    p.add_argument("--summed", action="store_true", help="margins are sums of the published cells")
    who = p.add_mutually_exclusive_group()
    who.add_argument("--known", metavar="N", help="people known: 5, 0:24 (both ends count) or 1,5,10; default 0:20")
    who.add_argument("--people", type=Path, metavar="FILE", help="the people known, one row each")
    p.add_argument("--fractions", action="store_true", help="exact fractions as well")
    p.add_argument("--seed", type=int, metavar="N", help="of a random scheme; without a vault it makes a draft")
    vault = "private folder with the secret that draws are made from; default with --published: one in your home folder"
    p.add_argument("--vault", type=Path, metavar="DIR", help=vault)
    keys = "with --records and --cell-key: what identifies a person, so that the same people have the same noise"
    p.add_argument("--key", metavar="A,B", help=keys)
    p.add_argument("--out", type=Path, metavar="FILE", help="write the probabilities")
    p.add_argument("--chart", type=Path, metavar="FILE", help="draw them: png, svg or html")
    p.add_argument("--published", type=Path, metavar="FILE", help="write the published table, as the public sees it")
    p.add_argument("--force", action="store_true", help="replace existing files")


def _add_plan(p: argparse.ArgumentParser, required: bool) -> None:
    p.add_argument("--plan", type=Path, required=required, metavar="FILE", help="the plan, in TOML or JSON")


def _add_seed(p: argparse.ArgumentParser) -> None:
    either = p.add_mutually_exclusive_group()
    either.add_argument("--seed", type=int, metavar="N", help="for another draw than that without a seed")
    either.add_argument("--seed-file", type=Path, metavar="FILE", help="a file that holds the seed")


if __name__ == "__main__":
    raise SystemExit(main())
