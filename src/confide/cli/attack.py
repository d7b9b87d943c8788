"""`confide attack`: attack a release that is replayed, made now, or adopted."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli import common, scanned, without_plan
from confide.cli.common import Told
from confide.cli.parts import in_parts
from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    from confide.attack.results.explain import Explanation
    from confide.cli.common import Commands

EXAMPLE = """\
  confide attack heads.csv --private vault --intruder intruder.toml
  confide attack heads.csv --plan plan.toml --seed 1 --intruder intruder.toml
  confide attack heads.csv --private vault --intruder intruder.toml --one-to-one
  confide attack heads.csv --released other.csv --link link.csv row --intruder intruder.toml
  confide attack heads.csv --plan plan.toml --seed 1 --intruder intruder.toml --learn hh_income --loss absolute
  confide attack heads.csv --plan plan.toml --intruder intruder.toml --by race --why
  confide attack heads.csv --released other.csv --way nearest --knows sex age --learn tenure --held-out others.csv
  confide attack persons --private vault --intruder intruder.toml --engine local --memory 2GB --out units"""


def add(commands: Commands) -> None:
    """Its options."""
    p = common.command(commands, "attack", "attack a release and say who could be recognised", EXAMPLE)
    p.add_argument("data", type=Path, help=common.ORIGINAL)
    p.add_argument("--intruder", type=Path, metavar="FILE", help="the intruder, in TOML or JSON")
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
    learn = "unknown variables: what guesses of them lose, with and without the release"
    p.add_argument("--learn", nargs="+", metavar="VARIABLE", help=learn)
    loss = "zero_one, absolute, squared, within SHARE, or exceeds LIMIT COST GAIN; default: by the variable's kind"
    p.add_argument("--loss", nargs="+", metavar="LOSS", help=loss)
    p.add_argument("--by", nargs="+", metavar="VARIABLE", help="also the risk of groups of people, by these variables")
    p.add_argument("--why", action="store_true", help="also which variables make people stand out, and what would help")
    p.add_argument("--explain", type=int, metavar="TARGET", help="also why one target (from 0) is found; private")
    p.add_argument("--out", type=Path, metavar="FILE", help="write one row per target (--engine: a folder); private")
    words = "match everybody at once too: no two targets own the same record"
    p.add_argument("--one-to-one", action="store_true", help=words)
    p.add_argument("--threads", type=int, metavar="N", help="default: all cores; never changes a result")
    p.add_argument("--force", action="store_true", help="replace an existing --out file")
    common.add_use(p)
    without_plan.add(p)
    scanned.add(p)


def run(options: argparse.Namespace) -> Told:
    """Attack a release that is replayed, made now, or adopted."""
    from confide.show.text.attacks import attack_text
    from confide.show.text.cautions import caution_lines

    if in_parts(options):
        options.engine = options.engine or "local"
    scanned.check(options)
    if options.engine is not None:
        return scanned.attack(options)
    raise_all(common.unwritable(options, [options.out]))
    loss = _loss(options)
    if options.out is not None:
        common.check_suffix(options.out)
    without_plan.check(options)
    if options.way is not None:
        return without_plan.attack(options, _release(options))
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
    if options.learn:
        found = result.guess(options.learn, loss)
        text += f"\n\n{found!r}"
        plain["learnt"] = [g.summary().to_dict() for g in found]
    more, told = _more(result, options)
    text, plain = "\n\n".join([text, *more]), plain | told
    if options.one_to_one:
        matched = result.one_to_one(threads=options.threads)
        text += f"\n\n{matched}"
        plain["one_to_one"] = {**matched.summary().to_dict(), "gap": matched.gap, "r_hat": matched.r_hat}
    if options.out is not None:
        cf.write(result.units, options.out, overwrite=options.force, private=True)
        text += f"\n\nPrivate, one row per target with its true match, never to be published: {options.out}"
        plain["units"] = str(options.out)
    return text, plain


def _loss(options: argparse.Namespace) -> str | cf.Within | cf.Exceeds | None:
    """The loss that --loss states."""
    if options.loss is None:
        return None
    if not options.learn:
        raise InputError("--loss goes with --learn VARIABLE.")
    name, *numbers = options.loss
    wanted = {"within": (1, 2), "exceeds": (3, 3)}.get(name, (0, 0))
    if not wanted[0] <= len(numbers) <= wanted[1]:
        raise InputError(
            "--loss is zero_one, absolute, squared, within SHARE [FLOOR], or exceeds LIMIT COST GAIN, as in "
            "--loss exceeds 100000 1 1."
        )
    try:
        values = [float(n) for n in numbers]
    except ValueError:
        raise InputError(f"--loss {name} takes numbers, as in --loss exceeds 100000 1 1.") from None
    if name == "within":
        return cf.Within(*values)
    return cf.Exceeds(*values) if name == "exceeds" else str(name)


def _more(result: cf.Attack | cf.Averaged, options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """What is asked for beside the file's risk, as text and as plain data."""
    given = {n: getattr(options, n) for n in ("by", "why", "explain")}
    asked = [f"--{n}" for n, value in given.items() if value is not None and value is not False]  # target 0 is one
    if not asked:
        return [], {}
    if not isinstance(result, cf.Attack):
        raise InputError(f"{asked[0]} is told of one attack; these copies cannot be linked, so there are several.")
    texts: list[str] = []
    plain: dict[str, Any] = {}
    if options.by:
        groups = result.by(options.by, options.threshold)
        texts.append(str(groups))
        plain["groups"] = groups.frame.to_dicts()
    if options.why:
        nats, clearing = result.contributions(options.by or ()), result.clearing(options.threshold)
        texts += [str(nats), str(clearing)]
        plain |= {"contributions": nats.frame.to_dicts(), "clearing": clearing.frame.to_dicts()}
    if options.explain is not None:
        why = result.explain(options.explain, limit=options.threshold)
        texts.append(f"Private, of target {options.explain}:\n{why}")
        plain["explained"] = {"target": options.explain, "contributions": _contributions(why)}
    return texts, plain


def _contributions(why: Explanation) -> list[dict[str, Any]] | None:
    """Contributions of one target; None where they are not finite, or nobody can be it."""
    try:
        return why.nats.frame.to_dicts()
    except InputError:
        return None


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
