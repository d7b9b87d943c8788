"""`confide attack`: attack a release that is replayed, made now, or adopted."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from confide.attack.document import load_intruder
from confide.cli.common import RECORD, Told, check_suffix, seed_of, unwritable
from confide.core.errors import InputError, raise_all
from confide.frames import atomic_write, read, write
from confide.protect.document import load_plan
from confide.protect.release import Release
from confide.protect.replay import replay
from confide.show.text.attacks import attack_text


def run(options: argparse.Namespace) -> Told:
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
        text += f"\n\nPrivate, one row per target with its true match, never to be published: {options.out}"
        plain["units"] = str(options.out)
    return text, plain


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
