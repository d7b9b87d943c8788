"""`confide attack --engine`: attack a release of files larger than memory."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import confide as cf
from confide.cli.spark_session import spark_session
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.cli.common import Told
    from confide.core.scale.engine import Engine

OTHERS = ("plan", "released", "link", "learn", "loss", "by", "why", "explain", "one_to_one", "way", "seed")
"""Options that go with files in memory alone."""


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    words = "for files larger than memory, read in parts: on this machine, or on a Spark cluster"
    parser.add_argument("--engine", choices=("local", "spark"), help=words)
    parser.add_argument("--memory", metavar="SIZE", help="read in parts, in so much memory, as 4GB (the default)")
    parser.add_argument("--scratch", type=Path, metavar="DIR", help="read in parts: a folder for what is put aside")
    parser.add_argument("--master", metavar="URL", help="with --engine spark: the cluster; default local[*,4]")
    parser.add_argument(
        "--task-memory", metavar="SIZE", help="with --engine spark: of one task there, as 1GB (the default)"
    )


def check(options: argparse.Namespace) -> None:
    """Options that go together."""
    if options.engine is None:
        given = [n for n in ("master", "task_memory") if getattr(options, n) is not None]
        if given:
            raise InputError(f"--{given[0].replace('_', '-')} goes with --engine spark.")
        return
    if options.engine == "local" and (options.master or options.task_memory):
        raise InputError("--master and --task-memory go with --engine spark.")
    if options.private is None:
        raise InputError(
            "A file that is read in parts is attacked as it was released: give --private DIR, its vault or private "
            "folder, or name one file without --engine."
        )
    for name in OTHERS:
        if getattr(options, name, None) not in (None, False):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for one file in memory; leave it out, or name one without --engine.")
    if options.intruder is None:
        raise InputError("Say who attacks: --intruder FILE.")


def attack(options: argparse.Namespace) -> Told:
    """Attack a release of a scan."""
    from confide.show.text.scanned import scanned_attack_text

    intruder = cf.Intruder.load(options.intruder, options.name)
    release = cf.ScannedRelease.load(options.private)
    if _files(options.data) != [p.resolve() for p in release.original.files]:
        raise InputError(f"{options.data} is not the file that was protected; {options.private} is of another.")
    targets = None if options.targets is None else cf.read(options.targets)
    with made_engine(options) as engine:
        found = intruder.attack(release, targets, threads=options.threads, out=options.out, engine=engine)
    text = scanned_attack_text(found, options.threshold)
    plain = {
        "released": release.released.height,
        "summary": found.summary(options.threshold).to_dict(),
        "treatments": [asdict(t) for t in found.treatments],
    }
    if options.out is not None:
        text += f"\n\nPrivate, one row per target with its true match, never to be published: {options.out}"
        plain["units"] = str(options.out)
    return text, plain


def _files(data: Path) -> list[Path]:
    return [p.resolve() for p in cf.scan(data).files]


@contextmanager
def engine_of(options: argparse.Namespace, data: object) -> Iterator[Engine | None]:
    """The engine that options ask for, for a study of a scan; None where they ask for none."""
    given = [n for n in ("engine", "memory", "scratch", "master") if getattr(options, n) is not None]
    if given and not isinstance(data, cf.Scan):
        raise InputError(
            f"--{given[0]} is for a study of files that are read in parts: name a folder or a pattern, as "
            'data = "persons/*.parquet".'
        )
    if not given:
        yield None
        return
    options.engine = options.engine or "local"
    with made_engine(options) as engine:
        yield engine


@contextmanager
def made_engine(options: argparse.Namespace) -> Iterator[Engine]:
    """What --engine asks for; a session of Spark ends with the block."""
    memory = options.memory or "4GB"
    if options.engine == "local":
        yield cf.Local(memory=memory, scratch=options.scratch)
        return
    with spark_session(options.master or "local[*,4]", options.scratch) as session:
        yield cf.Spark(session, memory=memory, scratch=options.scratch, task_memory=options.task_memory or "1GB")
