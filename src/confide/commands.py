"""What the commands do: each takes the parsed options and returns its text, and the same as plain data."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from confide.attack.document import load_intruder
from confide.errors import InputError, raise_all
from confide.frames import atomic_write, read, write
from confide.frames.files import FORMATS
from confide.protect.document import load_plan
from confide.protect.release import Release
from confide.protect.replay import replay
from confide.show.tables import attack_text

Told = tuple[str, dict[str, Any]]
RECORD = "record.json"


def demo(options: argparse.Namespace) -> Told:
    """Run the demonstration."""
    from confide.demo.heads_study import run_demo

    return run_demo(options.out, overwrite=options.force)


def protect(options: argparse.Namespace) -> Told:
    """Carry a plan out."""
    from confide.protect_command import run

    return run(options)


def attack(options: argparse.Namespace) -> Told:
    """Attack a release that is replayed, made now, or adopted."""
    raise_all(unwritable(options, [options.out]))
    if options.out is not None:
        check_suffix(options.out)
    intruder = load_intruder(options.intruder, options.name)
    release = _release(options)
    targets = None if options.targets is None else read(options.targets)
    result = intruder.attack(release, targets, threads=options.threads)
    summary = result.summary(options.threshold)
    text = attack_text(result, options.threshold)
    plain = {
        "released": release.frame.height,
        "summary": summary.to_dict(),
        "treatments": [asdict(t) for t in result.treatments],
    }
    if options.out is not None:
        with atomic_write(options.out, overwrite=options.force, private=True) as temporary:
            write(result.units, temporary, overwrite=True)
        text += f"\n\nPrivate, one row a target with its true match, never to be published: {options.out}"
        plain["units"] = str(options.out)
    return text, plain


def sap(options: argparse.Namespace) -> Told:
    """Publish a table of counts and attack it."""
    from confide.table_command import run

    return run(options)


def study(options: argparse.Namespace) -> Told:
    """Carry a study file out."""
    from confide.study_command import run

    return run(options)


def _release(options: argparse.Namespace) -> Release:
    _check_source(options)
    data = read(options.data)
    if options.private is not None:
        return replay(options.private if options.private.suffix == ".json" else options.private / RECORD, data)
    plan = None if options.plan is None else load_plan(options.plan)
    if options.released is not None:
        link = None
        if options.link is not None:
            file, column = options.link
            link = read(file, columns=[column]).get_column(column).to_numpy()
        return Release.adopt(data, read(options.released), plan, link)
    assert plan is not None
    return plan.protect(data, seed=seed_of(options))


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


def seed_of(options: argparse.Namespace) -> int | None:
    if options.seed_file is None:
        seed: int | None = options.seed
        return seed
    try:
        return int(options.seed_file.read_text().strip())
    except ValueError:
        raise InputError(f"{options.seed_file} must hold one whole number, the seed.") from None


def in_the_way(path: Path | None, force: bool) -> list[str]:
    if path is None or force or not path.exists():
        return []
    return [f"{path} exists and is not overwritten; give --force to replace it."]


def unwritable(options: argparse.Namespace, paths: list[Path | None]) -> list[str]:
    """Met before any work: files in the way, folders that are not there, an input named as an output."""
    given = ("data", "plan", "intruder", "released", "targets", "seed_file", "people")
    inputs = {os.path.realpath(p) for n in given if (p := getattr(options, n, None)) is not None}
    problems, seen = [], set[str]()
    for path in (p for p in paths if p is not None):
        real = os.path.realpath(path)
        if real in inputs | seen:
            problems.append(f"{path} is named twice on this command line; an output needs a file of its own.")
        elif not path.parent.is_dir():
            problems.append(f"{path} cannot be written: there is no folder {path.parent}.")
        else:
            problems += in_the_way(path, options.force)
        seen.add(real)
    return problems


def check_suffix(path: Path) -> None:
    good = [s for s in FORMATS if s != ".sas7bdat"]
    if path.suffix.lower() not in good:
        raise InputError(f"--out {path.name}: the name must end in one of {', '.join(good)}.")
