"""`confide attack`: attack a release that is replayed, made now, or adopted."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import confide as cf
from confide.cli import common
from confide.cli.common import Told
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    from confide.cli.common import Commands

EXAMPLE = """\
  confide attack heads.csv --private vault --intruder intruder.toml
  confide attack heads.csv --plan plan.toml --seed 1 --intruder intruder.toml
  confide attack heads.csv --private vault --intruder intruder.toml --one-to-one
  confide attack heads.csv --released other.csv --link link.csv row --intruder intruder.toml"""


def add(commands: Commands) -> None:
    """Its options."""
    p = common.command(commands, "attack", "attack a release and say who could be recognised", EXAMPLE)
    p.add_argument("data", type=Path, help=common.ORIGINAL)
    p.add_argument("--intruder", type=Path, required=True, metavar="FILE", help="the intruder, in TOML or JSON")
    p.add_argument("--name", help="which of several [[intruder]] tables")
    vault = "the vault of protect, or one of the records in it"
    p.add_argument("--private", "--vault", type=Path, metavar="DIR", help=vault)
    common.add_plan(p, required=False)
    common.add_seed(p)
    p.add_argument("--released", type=Path, metavar="FILE", help="a release made by another tool")
    link = "original row (from 0) of each row of --released"
    p.add_argument("--link", nargs=2, metavar=("FILE", "COLUMN"), help=link)
    p.add_argument("--targets", type=Path, metavar="FILE", help="who is attacked; default: everybody released")
    p.add_argument("--threshold", type=float, default=0.2, help="count targets above this probability (0.2)")
    p.add_argument("--out", type=Path, metavar="FILE", help="write one row per target; private")
    words = "match everybody at once too: no two targets own the same record"
    p.add_argument("--one-to-one", action="store_true", help=words)
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace an existing --out file")
    common.add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Attack a release that is replayed, made now, or adopted."""
    from confide.show.text.attacks import attack_text
    from confide.show.text.cautions import caution_lines

    raise_all(common.unwritable(options, [options.out]))
    if options.out is not None:
        common.check_suffix(options.out)
    intruder = cf.Intruder.load(options.intruder, options.name)
    release = _release(options)
    targets = None if options.targets is None else cf.read(options.targets)
    result = intruder.attack(release, targets, threads=options.threads)
    summary = result.summary(options.threshold)
    text = attack_text(result, options.threshold)
    plain = {
        "released": release.frame.height,
        "summary": summary.to_dict(),
        "treatments": [asdict(t) for t in result.treatments],
        "cautions": caution_lines(result),
    }
    if options.one_to_one:
        matched = result.one_to_one(threads=options.threads)
        text += f"\n\n{matched}"
        plain["one_to_one"] = {**matched.summary().to_dict(), "gap": matched.gap, "r_hat": matched.r_hat}
    if options.out is not None:
        cf.write(result.units, options.out, overwrite=options.force, private=True)
        text += f"\n\nPrivate, one row per target with its true match, never to be published: {options.out}"
        plain["units"] = str(options.out)
    return text, plain


def _release(options: argparse.Namespace) -> cf.Release:
    _check_source(options)
    data = cf.read(options.data)
    if options.private is not None:
        record = options.private if options.private.suffix == ".json" else options.private / common.RECORD
        return cf.replay(data, record)
    plan = None if options.plan is None else cf.Plan.load(options.plan)
    if options.released is not None:
        link = None
        if options.link is not None:
            file, column = options.link
            link = cf.read(file, columns=[column]).get_column(column).to_numpy()
        return cf.Release.adopt(data, cf.read(options.released), plan, link)
    assert plan is not None
    return plan.protect(data, seed=common.seed_of(options))


def _check_source(options: argparse.Namespace) -> None:
    """One way to come by a release, and only the options that go with it."""
    given = [f"--{n}" for n in ("private", "released", "plan") if getattr(options, n) is not None]
    if not given:
        raise InputError(
            "Say which release: --private DIR, --plan FILE, or --released FILE. See confide attack --help."
        )
    if "--private" in given and len(given) > 1:
        raise InputError(f"--private names a release already; leave out {' and '.join(given[1:])}.")
    if options.link is not None and options.released is None:
        raise InputError("--link goes with --released FILE.")
    if (options.seed is not None or options.seed_file is not None) and given != ["--plan"]:
        raise InputError(f"A seed goes with --plan alone, where the release is made now; leave it out with {given[0]}.")
