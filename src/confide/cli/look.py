"""`confide look`: a first answer about a file, without a plan."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli import common
from confide.cli.common import Told
from confide.cli.parts import in_parts, several
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    from confide.cli.common import Commands

EXAMPLE = """\
  confide look survey.sav
  confide look heads.csv --keys sex race marital age --weight weight --out look.html
  confide look people.csv --keys sex age town --sensitive income --unit household --population 1016437
  confide look "register/*.parquet" --keys sex age town --memory 4GB"""


def add(commands: Commands) -> None:
    """Its options."""
    about = "a first look at a file: who could be recognised, and by what"
    p = common.command(commands, "look", about, EXAMPLE)
    names: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    p.add_argument("data", type=Path, help=common.ORIGINAL)
    p.add_argument("--keys", help="what an intruder could know; default: guessed, and said so", **names)
    p.add_argument("--sensitive", help="what must not be learnt; default: guessed", **names)
    p.add_argument("--weight", metavar="NAME", help="the survey weight; default: guessed")
    p.add_argument("--unit", metavar="NAME", help="which rows are of one household or firm; default: guessed")
    words = "a file of the population, one row per person with the keys; or its size"
    p.add_argument("--population", metavar="FILE|N", help=words)
    p.add_argument("--count", metavar="NAME", help="how many people a row of the --population file stands for")
    p.add_argument("--no-guess", action="store_true", help="guess no role: --keys is then needed")
    p.add_argument("--roles", action="store_true", help="only say what each variable is taken for, and why")
    out = "write the page (.html), plain data (.json), the chart (.png, .svg) or one private row per record (.csv, ...)"
    p.add_argument("--out", type=Path, metavar="FILE", help=out)
    p.add_argument("--memory", metavar="SIZE", help="read the file in parts, in about so much memory, such as 4GB")
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace an existing --out file")


def run(options: argparse.Namespace) -> Told:
    """Look at a file."""
    import confide as cf

    raise_all(common.unwritable(options, [options.out]))
    if options.out is not None:
        _check_ending(options.out)
    if options.roles:
        if in_parts(options):
            raise InputError("--roles reads one file; name one of them, and leave --memory out.")
        found = cf.roles(cf.read(options.data))
        return str(found), {"roles": found.frame.to_dicts()}
    data, engine = cf.read(options.data) if not in_parts(options) else cf.scan(options.data), None
    if options.memory is not None:
        engine = cf.Local(memory=options.memory)
    look = cf.look(
        data, options.keys, options.sensitive, options.weight, options.unit, _population(options.population),
        count=options.count, guess=not options.no_guess, threads=options.threads, engine=engine,
    )  # fmt: skip
    text, plain = str(look), look.to_dict()
    if options.out is not None:
        look.save(options.out, overwrite=options.force)
        text += f"\n\nPrivate, not for release: {options.out}"
        plain["out"] = str(options.out)
    return text, plain


def _population(given: str | None) -> Any:
    """A number of people, or a file of them."""
    import confide as cf

    if given is None:
        return None
    try:
        return float(given.replace(",", "").replace("_", ""))
    except ValueError:
        return cf.scan(given) if several(Path(given)) else cf.read(given)


def _check_ending(path: Path) -> None:
    from confide.core.result import is_picture

    if path.suffix.lower() not in (".json", ".htm"):
        try:
            is_picture(path)
        except InputError as cause:
            raise InputError(
                f"--out {path.name}: {cause} A look is also saved as a page (.html) or plain data (.json)."
            ) from None
