"""`confide attack --way ...`: attacks that need no plan, on files made elsewhere or anywhere."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli.common import Told
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.core.result import Result

WAYS = ("radius", "nearest", "singling-out", "linkability", "inference", "customary")
NEEDS = {
    "radius": ("knows",), "nearest": ("knows",), "singling-out": (), "linkability": ("knows", "knows_too"),
    "inference": ("knows", "learn"), "customary": ("knows", "learn"),
}  # fmt: skip
TAKES = {
    "share": ("radius",), "learn": ("radius", "nearest", "inference", "customary"), "knows_too": ("linkability",),
    "within": ("radius", "nearest", "inference"), "attacks": ("singling-out", "linkability"),
    "neighbours": ("linkability",), "columns": ("singling-out",), "univariate": ("singling-out",),
    "by": ("radius", "nearest"), "held_out": ("radius", "nearest", "singling-out", "linkability", "inference"),
}  # fmt: skip
"""Which options go with which ways."""


def add(parser: argparse.ArgumentParser) -> None:
    """The options, in a group of their own."""
    group = parser.add_argument_group("without a plan and an intruder, for files made elsewhere")
    names: dict[str, Any] = {"nargs": "+", "metavar": "NAME"}
    group.add_argument("--way", choices=WAYS, help="radius, nearest, singling-out, linkability, inference, customary")
    group.add_argument("--knows", help="what is known of a person", **names)
    group.add_argument("--knows-too", help="linkability: what the other file knows", **names)
    group.add_argument("--within", type=float, metavar="SHARE", help="a guess is right within this share of the truth")
    group.add_argument("--share", type=float, metavar="SHARE", help="radius: share of the target's value (0.1)")
    group.add_argument("--held-out", type=Path, metavar="FILE", help="people of the population who are not in DATA")
    group.add_argument("--attacks", type=int, metavar="N", help="singling-out, linkability: how many are tried")
    group.add_argument("--neighbours", type=int, metavar="K", help="linkability: released rows looked for (1)")
    group.add_argument("--columns", type=int, metavar="K", help="singling-out: variables at a time (3)")
    group.add_argument("--univariate", action="store_const", const="univariate", help="singling-out: one at a time")
    group.add_argument("--numeric", default=(), help="variables that are numbers, where the type misleads", **names)
    group.add_argument("--categorical", default=(), help="variables that are categories", **names)


def check(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if options.way is None:
        given = [n for n in (*TAKES, "knows") if n not in ("learn", "by") and getattr(options, n) is not None]
        if given:
            raise InputError(f"{flag(given[0])} goes with --way: one of {', '.join(WAYS)}.")
        if options.intruder is None:
            raise InputError("Say who attacks: --intruder FILE, or --way for an attack that needs no plan.")
        return
    if options.loss is not None:
        raise InputError("--loss goes with --intruder; with --way, --within says when a guess of a number is right.")
    for name in ("why", "explain", "one_to_one", "name"):
        given = getattr(options, name)
        if given is not None and given is not False:  # target 0 is one
            raise InputError(
                f"{flag(name)} goes with --intruder FILE: an attack by --way has no plan, and all its candidates are "
                "equally likely. Leave it out, or state the plan and the intruder."
            )
    if options.intruder is not None:
        raise InputError("--way and --intruder are two attacks; leave one of them out.")
    for name in NEEDS[options.way]:
        if getattr(options, name) is None:
            raise InputError(f"--way {options.way} needs {flag(name)}.")
    for name, ways in TAKES.items():
        if getattr(options, name) is not None and options.way not in ways:
            raise InputError(f"{flag(name)} goes with --way {' or '.join(ways)}, not with {options.way}.")
    if options.targets is not None and options.way not in ("radius", "nearest"):
        raise InputError(f"--targets goes with --way radius or nearest, not with {options.way}.")


def flag(name: str) -> str:
    """An option as it is written."""
    return f"--{name.replace('_', '-')}"


def attack(options: argparse.Namespace, release: cf.Release) -> Told:
    """Run the attack; what it prints, and the same as plain data."""
    held_out = None if options.held_out is None else cf.read(options.held_out)
    if options.way in ("radius", "nearest"):
        return _found(options, release, held_out)
    if options.way == "customary":
        found: Any = cf.customary_risks(release, keys=options.knows, target=_learnt(options))
        doubts = list(found.notes)
    else:
        found = _statement(options).attack(release, held_out, threads=options.threads)
        doubts = found.doubts
    return _told(options, str(found), {"rates": found.frame.to_dicts(), "cautions": doubts}, found)


def _statement(options: argparse.Namespace) -> cf.SinglingOut | cf.Linkability | cf.Inference:
    kinds = {"numeric": options.numeric, "categorical": options.categorical}
    if options.way == "singling-out":
        names = {"variables": options.knows, "attacks": options.attacks, "columns": options.columns}
        return cf.SinglingOut(**_stated(**names, mode=options.univariate), **kinds)
    if options.way == "linkability":
        more = _stated(attacks=options.attacks, neighbours=options.neighbours)
        return cf.Linkability(options.knows, options.knows_too, **more, **kinds)
    return cf.Inference(options.knows, _learnt(options), **_stated(within=options.within), **kinds)


def _learnt(options: argparse.Namespace) -> str:
    """The one variable that is guessed."""
    if len(options.learn) > 1:
        raise InputError(f"--way {options.way} guesses one variable at a time: --learn NAME.")
    return str(options.learn[0])


def _stated(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _found(options: argparse.Namespace, release: cf.Release, held_out: Any) -> Told:
    """Radius and nearest: who is found, and what is learnt where that is asked."""
    if held_out is not None and options.learn is None:
        raise InputError("--held-out people are compared in what is learnt of them: say --learn NAME.")
    kinds = {"numeric": options.numeric, "categorical": options.categorical}
    way = cf.Radius(options.knows, **_stated(share=options.share), **kinds) if options.way == "radius" else (
        cf.Nearest(options.knows, **kinds))  # fmt: skip
    targets = None if options.targets is None else cf.read(options.targets)
    result = way.attack(release, targets, threads=options.threads)
    text = str(result)
    plain: dict[str, Any] = {"summary": result.summary(options.threshold).to_dict(), "cautions": result.notes}
    if options.by is not None:
        groups = result.by(options.by, options.threshold)
        text += f"\n\n{groups}"
        plain["groups"] = groups.frame.to_dicts()
    if options.learn is None:
        return _told(options, text, plain, result)
    learnt = result.guess(_learnt(options), within=options.within, held_out=held_out)
    text += f"\n\n{learnt}"
    plain["learnt"] = {
        "variable": learnt.variable, "loss": learnt.loss, "losses": learnt.summary().to_dicts(),
        "excess": learnt.excess, "risk": learnt.risk, "cautions": learnt.notes,
    }  # fmt: skip
    return _told(options, text, plain, learnt)


def _told(options: argparse.Namespace, text: str, plain: dict[str, Any], result: Result) -> Told:
    if options.out is not None:
        cf.write(result.frame, options.out, overwrite=options.force, private=True)
        text += f"\n\nPrivate, never to be published: {options.out}"
        plain["out"] = str(options.out)
    return text, plain
