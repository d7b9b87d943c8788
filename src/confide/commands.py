"""What the commands do: each takes the parsed options and returns its text, and the same as plain data."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from confide.attack.document import load_intruder
from confide.core.vault import usual_vault
from confide.errors import InputError, raise_all
from confide.frames import atomic_write, read, write
from confide.frames.files import FORMATS, TEXT
from confide.frames.spreadsheet import formula_columns, formula_text
from confide.protect.document import load_plan, plan_to_dict
from confide.protect.record import content_digest, save_record
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
    """Carry a plan out; write the public file and, in the vault, what only the agency may hold."""
    folder = usual_vault() if options.private is None else options.private
    secret = None if options.private is None else folder / RECORD
    public = [options.out, options.public_record]
    named = options.private is not None
    beside = apart(folder, {"--out": options.out, "--public-record": options.public_record}, named)
    raise_all([*beside, *unwritable(options, public), *_in_the_way(secret, options.force)])
    check_suffix(options.out)
    if options.spreadsheet and options.out.suffix.lower() not in TEXT:
        raise InputError(f"--spreadsheet goes with an --out that ends in {' or '.join(TEXT)}.")
    plan, data = load_plan(options.plan), read(options.data)
    release = plan.protect(data, seed=_seed(options), vault=folder)
    if secret is None:
        secret = folder / f"{content_digest(release.frame)[:16]}.json"  # one vault for all releases: named by content
    told = _protect_told(options, release, folder, secret)
    with ExitStack() as stack:  # all files appear, or none

        def opened(path: Path) -> Path:
            return stack.enter_context(atomic_write(path, overwrite=options.force))

        write(release.data, opened(options.out), overwrite=True, spreadsheet=options.spreadsheet)
        if options.public_record is not None:
            save_record(release, opened(options.public_record), overwrite=True)
        again = options.private is None or options.force
        save_record(release, stack.enter_context(atomic_write(secret, overwrite=again)), private=True, overwrite=True)
    return told


def _protect_told(options: argparse.Namespace, release: Release, vault: Path, secret: Path) -> Told:
    assert release.plan is not None
    steps, changed = plan_to_dict(release.plan).get("steps", []), _changed(release)
    formulas = len(formula_columns(release.frame)) if options.out.suffix.lower() in TEXT else 0
    plain = {
        "rows": release.frame.height,
        "original_rows": release.original.height,
        "variables": list(release.frame.columns),
        "steps": steps,
        "changed": changed,
        "formula_columns": formulas,
        "files": {
            "public": str(options.out),
            "public_record": options.public_record and str(options.public_record),
            "private_record": str(secret),
            "vault": str(vault),
        },
    }
    lines = [
        f"Released {release.frame.height:,} of {release.original.height:,} rows and {release.frame.width} of "
        f"{release.original.width} variables: {options.out}",
        *(f"  {i}. {_step_text(s)}" for i, s in enumerate(steps, start=1)),
        *(f"  {v}: {n:,} of {release.frame.height:,} values changed" for v, n in changed.items()),
    ]
    if formulas:
        lines.append(formula_text(formulas, options.spreadsheet))
    lines.append(f"Private, never to be published, to be kept in two places: the vault {vault}")
    lines.append(f"  its record makes this release again, and `confide attack` works on it: {secret.name}")
    return "\n".join(lines), plain


def _step_text(step: dict[str, Any]) -> str:
    about = step.get("variable") or ", ".join(step.get("variables", ()))
    rest = {k: v for k, v in step.items() if k not in ("method", "variable", "variables")}
    shown = [f"{k} = {_brief(v)}" for k, v in rest.items()]
    return f"{step['method']} {about}".strip() + (f" ({'; '.join(shown)})" if shown else "")


def _brief(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, (list, dict)) and len(value) > 4 else str(value)


def _changed(release: Release) -> dict[str, int]:
    """For each variable that the plan alters, the released values that are not the original ones.

    Rows that belong to nobody have no original to compare with.
    """
    assert release.plan is not None
    names = list(dict.fromkeys(v for s in release.plan.parts for v in s.variables if v in release.frame.columns))
    if release.link is None or not names:
        return {}
    original = release.original.select(names)[release.link]
    return {v: _differing(original[v], release.frame[v]) for v in names}


def _differing(a: pl.Series, b: pl.Series) -> int:
    if a.dtype != b.dtype:
        a, b = a.cast(pl.String), b.cast(pl.String)
    return int(a.ne_missing(b).sum())


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
    return plan.protect(data, seed=_seed(options))


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


def _seed(options: argparse.Namespace) -> int | None:
    if options.seed_file is None:
        seed: int | None = options.seed
        return seed
    try:
        return int(options.seed_file.read_text().strip())
    except ValueError:
        raise InputError(f"{options.seed_file} must hold one whole number, the seed.") from None


def _inside(folder: str, other: str) -> bool:
    """Whether a folder is another one or lies below it."""
    return os.path.commonpath([folder, other]) == other


def apart(vault: Path, public: dict[str, Path | None], named: bool, option: str = "--private") -> list[str]:
    """What is private does not lie beside what is public. The usual vault may lie below: a home folder holds both."""
    place = os.path.realpath(vault.expanduser())
    folders = {n: os.path.realpath(p.expanduser().parent) for n, p in public.items() if p is not None}
    return [
        f"{option} must be a folder outside that of {n}: the secret never lies beside what is published."
        for n, folder in folders.items()
        if (_inside(place, folder) if named else _inside(folder, place))
    ]


def _in_the_way(path: Path | None, force: bool) -> list[str]:
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
            problems += _in_the_way(path, options.force)
        seen.add(real)
    return problems


def check_suffix(path: Path) -> None:
    good = [s for s in FORMATS if s != ".sas7bdat"]
    if path.suffix.lower() not in good:
        raise InputError(f"--out {path.name}: the name must end in one of {', '.join(good)}.")
