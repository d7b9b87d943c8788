"""`confide synthesise`: synthetic data of a whole file, with utility and the attack beside it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli import common
from confide.cli.common import Told
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    import confide as cf
    from confide.cli.common import Commands

EXAMPLE = """\
  confide synthesise heads.csv
  confide synthesise heads.csv --out public/synthetic.csv --private vault
  confide synthesise heads.csv --keep sex age --copies 5 --rule "wage_income <= hh_income" --out public/synthetic.csv"""


def add(commands: Commands) -> None:
    """Its options."""
    about = "synthetic data of a whole file: order, models and rules are chosen, stated and measured"
    p = common.command(commands, "synthesise", about, EXAMPLE)
    names: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    p.add_argument("data", type=Path, help=common.ORIGINAL)
    p.add_argument("--only", help="the variables to draw; all others are kept as they are", **names)
    p.add_argument("--keep", help="variables that are kept as they are", **names)
    p.add_argument("--keys", help="what an intruder could know; default: guessed, and said so", **names)
    p.add_argument("--sensitive", help="what must not be learnt; default: guessed", **names)
    p.add_argument("--weight", metavar="NAME", help="the survey weight; default: guessed")
    p.add_argument("--unit", metavar="NAME", help="which rows are of one household or firm; default: guessed")
    words = 'a rule that every synthetic row keeps, such as "total = a + b" or "job == \'none\' -> wage == 0"'
    p.add_argument("--rule", action="append", default=[], metavar="RULE", help=words)
    p.add_argument("--no-rules", action="store_true", help="seek no rules in the file")
    p.add_argument("--order", help="variables to draw first", **names)
    words = "how to draw a variable: cart, ranks, quantile, logistic or margin"
    p.add_argument("--model", action="append", default=[], metavar="NAME=MODEL", help=words)
    p.add_argument("--leaf", type=int, default=5, metavar="N", help="records in a leaf at least (5)")
    p.add_argument("--copies", type=int, default=1, metavar="N", help="how many files to make (1)")
    p.add_argument("--out", type=Path, metavar="FILE", help="the public file; copies get numbers: out-1.csv, out-2.csv")
    p.add_argument("--plan", type=Path, metavar="FILE", help="write the plan, .toml or .json; private")
    p.add_argument("--report", type=Path, metavar="FILE", help="write what was chosen and measured, .json; private")
    vault = "the vault: a private folder for the secret and the record; default: one in your home folder"
    p.add_argument("--private", "--vault", type=Path, metavar="DIR", help=vault)
    common.add_seed(p)
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace existing files")


def run(options: argparse.Namespace) -> Told:
    """Draw, measure, print; write what was asked for. Without --out nothing public is made."""
    import confide as cf

    files = _checked(options)
    vault = _vault(options)
    found = cf.synthesise(
        cf.read(options.data), options.only, options.keep, keys=options.keys, sensitive=options.sensitive,
        weight=options.weight, unit=options.unit, rules=options.rule or None, find_rules=not options.no_rules,
        order=options.order, models=_models(options.model), leaf=options.leaf, copies=options.copies,
        seed=common.seed_of(options), vault=vault, threads=options.threads,
    )  # fmt: skip
    text, plain = str(found), found.to_dict()
    if options.plan is not None:
        found.plan.save(options.plan, overwrite=options.force)
        text += f"\nPrivate, the plan: {options.plan}"
    if options.report is not None:
        found.save(options.report, overwrite=options.force)
        text += f"\nPrivate, what was chosen and measured: {options.report}"
    if files:
        _write(found, files, vault, options.force)
        text += f"\nPublic: {', '.join(map(str, files))}"
        text += f"\nPrivate, never to be published, to be kept in two places: the vault {vault}"
    plain["files"] = [str(p) for p in files]
    return text, plain


def _checked(options: argparse.Namespace) -> list[Path]:
    """The public files, all outputs checked before any work. `--plan` is an output here."""
    from confide.study.synthesise.result import numbered

    files: list[Path] = []
    if options.out is not None:
        common.check_suffix(options.out)
        files = numbered(options.out, max(options.copies, 1))
    for path, good in ((options.plan, (".toml", ".json")), (options.report, (".json",))):
        if path is not None and path.suffix.lower() not in good:
            raise InputError(f"{path.name}: the name must end in {' or '.join(good)}.")
    given = argparse.Namespace(**{**vars(options), "plan": None})
    raise_all(common.unwritable(given, [*files, options.plan, options.report]))
    return files


def _vault(options: argparse.Namespace) -> Path | None:
    """Where the secret lies; none where nothing public is written."""
    from confide.cli.protect import apart
    from confide.core.random.vault import usual_vault

    if options.out is None:
        if options.private is not None:
            raise InputError("--private is for the secret of a public file; say --out too.")
        return None
    vault = usual_vault() if options.private is None else options.private
    raise_all(apart(vault, {"--out": options.out}, options.private is not None))
    return Path(vault)


def _models(given: list[str]) -> dict[str, str]:
    found = {}
    for text in given:
        variable, sign, model = text.partition("=")
        if not sign or not variable or not model:
            raise InputError(f"--model {text}: write NAME=MODEL, as in income=ranks.")
        found[variable] = model
    return found


def _write(found: cf.Synthesis, files: list[Path], vault: Path | None, force: bool) -> None:
    """Records into the vault first, then the public files."""
    from confide.protect.record import content_digest, save_record
    from confide.study.synthesise.measured import releases_in
    from confide.study.synthesise.result import write_all

    assert vault is not None
    releases = releases_in(found.made)
    for release in releases:
        place = vault / f"{content_digest(release.frame)[:16]}.json"
        save_record(release, place, private=True, overwrite=True)
    write_all(found, {path: r.data for path, r in zip(files, releases, strict=True)}, force)
