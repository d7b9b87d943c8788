"""Schemes for tables as options: any one by its name in the registry, some by an option of their own."""

from __future__ import annotations

import argparse
import tomllib
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError, raise_all

if TYPE_CHECKING:
    from confide.tables.schemes.scheme import Scheme

SHORT = {
    "round": (("base",), ("BASE",), "round to the nearest multiple"),
    "controlled": (("base",), ("BASE",), "round so that margins add up"),
    "small": (("base",), ("BASE",), "only counts below BASE become 0 or BASE"),
    "suppress": (("below",), ("BELOW",), "hide small counts, and others to protect them"),
    "cell_key": (("largest", "variance"), ("D", "V"), "noise of at most D, variance V"),
}
"""Schemes with an option of their own: the settings that it takes, how help shows them, and what it says."""


def add_schemes(p: argparse.ArgumentParser) -> None:
    """The options that name a scheme, and those that say more of it."""
    scheme = p.add_mutually_exclusive_group()
    words = "any scheme by its name, with its settings: round base=5 how=random"
    scheme.add_argument("--scheme", nargs="+", metavar=("NAME", "KEY=VALUE"), help=words)
    scheme.add_argument("--exact", action="store_true", help="publish counts as they are (default)")
    for name, (settings, shown, about) in SHORT.items():
        flag = f"--{name.replace('_', '-')}"
        scheme.add_argument(flag, dest=name, type=_value, nargs=len(settings), metavar=shown, help=about)
    p.add_argument("--random", action="store_true", help="with --round: up or down at random, unbiased")
    p.add_argument("--ties", choices=["up", "down", "even"], help="with --round and an even base (up)")
    marks = "with --suppress: whether small counts and others hidden for their sake are marked apart (apart)"
    p.add_argument("--marks", choices=["apart", "same"], help=marks)


def scheme_of(options: argparse.Namespace) -> Scheme:
    """The scheme that was asked for, from the registry, whichever option named it."""
    from confide.core.documents.plain import Reader

    _check_beside(options)
    option, table = _asked(options)
    reader = Reader()
    scheme: Scheme = reader.registered("scheme", table, option)
    raise_all(reader.problems)
    return scheme


def _check_beside(options: argparse.Namespace) -> None:
    """Options that say more of another one come with it."""
    if options.marks is not None and options.suppress is None:
        raise InputError("--marks goes with --suppress BELOW.")
    if options.summed and options.margins == "none":
        raise InputError("--summed is about margins; say which with --margins.")
    if options.round is None and (options.random or options.ties is not None):
        raise InputError("--random and --ties go with --round BASE.")
    (base,) = options.round or (0,)
    if options.ties is not None and (options.random or (isinstance(base, int) and base % 2)):
        raise InputError("--ties is for an even base that is not rounded at random: others have no ties.")


def _asked(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The option that names a scheme, and the scheme as a table of its settings."""
    if options.scheme is not None:
        name, *stated = options.scheme
        for text in (t for t in stated if not t.partition("=")[1]):
            raise InputError(f"--scheme {name}: settings are written as KEY=VALUE, not {text}.")
        return "--scheme", {"scheme": name, **{k: _value(v) for k, _, v in (t.partition("=") for t in stated)}}
    for name, (settings, *_) in SHORT.items():
        if (given := getattr(options, name)) is not None:
            more = {"how": "random"} if options.random else {}
            more |= {k: v for k in ("ties", "marks") if (v := getattr(options, k)) is not None}
            return f"--{name.replace('_', '-')}", {"scheme": name, **dict(zip(settings, given, strict=True)), **more}
    return "--exact", {"scheme": "exact"}


def _value(text: str) -> Any:
    """A setting as TOML has it: 5, 0.5, true, [1, 2]; what is none of that is text."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
