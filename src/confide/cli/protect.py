"""`confide protect`: carry a plan out, write the public file, and keep what is private in the vault."""

from __future__ import annotations

import argparse
import json
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli import common, protect_scan
from confide.cli.common import Told
from confide.cli.parts import in_parts
from confide.cli.very_file import very_file
from confide.core.errors import InputError, raise_all
from confide.core.files.atomic import atomic_write
from confide.core.random.vault import usual_vault

if TYPE_CHECKING:
    import polars as pl

    from confide.cli.common import Commands
    from confide.study.drawn import Drawn

EXAMPLE = "  confide protect heads.csv --plan plan.toml --out public/heads.csv --private vault"


def add(commands: Commands) -> None:
    """Its options."""
    p = common.command(commands, "protect", "carry a plan out on a file and write the public file", EXAMPLE)
    many = "; a folder or a pattern of parquet, arrow or csv files is read in parts"
    p.add_argument("data", type=Path, help=common.ORIGINAL + many)
    common.add_plan(p, required=True)
    p.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the public file; a folder, if read in parts"
    )
    vault = "the vault: a private folder for the secret and the record; default: one in your home folder"
    p.add_argument("--private", "--vault", type=Path, metavar="DIR", help=vault)
    p.add_argument("--public-record", type=Path, metavar="FILE", help="a record, without secrets, to go with the data")
    p.add_argument("--intruder", type=Path, metavar="FILE", help="attack the very file drawn: one intruder or several")
    study = "the folder of a study: attack and measure the very file drawn as it did, beside its means"
    p.add_argument("--study", type=Path, metavar="DIR", help=study)
    common.add_seed(p)
    guard = "csv and tsv: an apostrophe before text that a spreadsheet would take for a formula"
    p.add_argument("--spreadsheet", action="store_true", help=guard)
    p.add_argument("--force", action="store_true", help="replace existing files")
    protect_scan.add(p)
    common.add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Write the public file and, in the vault, what only the agency may hold.

    The same command goes on after one that was killed between its files: the public file comes last, and records that
    are there without it must be those of this very release.
    """
    from confide.protect.record import content_digest, save_record

    if in_parts(options):
        return protect_scan.run(options)
    vault = usual_vault() if options.private is None else options.private
    named = None if options.private is None else vault / common.RECORD
    records = [p for p in (options.public_record, named) if p is not None]
    cut_short = not options.out.exists() and any(p.exists() for p in records)
    beside = apart(vault, {"--out": options.out, "--public-record": options.public_record}, named is not None)
    raise_all([*beside, *_unwritable(options, named, cut_short)])
    _check_form(options)
    data = cf.read(options.data)
    asked = very_file(options, data)
    release = cf.Plan.load(options.plan).protect(data, seed=common.seed_of(options), vault=vault)
    one = None if asked is None else asked(release)
    checked = None if one is None else one.to_dict()
    # One vault for all releases of a user who names none: their records go by content.
    secret = named or vault / f"{content_digest(release.frame)[:16]}.json"
    if cut_short and not options.force:
        _check_same(release, options.public_record, named, checked)
    told = _told(options, release, vault, secret, one)
    _keep_earlier(secret, release)
    with ExitStack() as stack:  # all files appear, or none; the one opened first, the public file, is moved last

        def opened(path: Path, again: bool, private: bool = False) -> Path:
            return stack.enter_context(atomic_write(path, again, private))

        cf.write(release.data, opened(options.out, options.force), overwrite=True, spreadsheet=options.spreadsheet)
        if options.public_record is not None:
            save_record(release, opened(options.public_record, options.force or cut_short), overwrite=True)
        again = options.force or cut_short or named is None
        save_record(release, opened(secret, again, private=True), private=True, overwrite=True, checked=checked)
    return told


def _unwritable(options: argparse.Namespace, named: Path | None, cut_short: bool) -> list[str]:
    """What is in the way, met before any work."""
    public = [options.out, None if cut_short else options.public_record]
    return [*common.unwritable(options, public), *([] if cut_short else common.in_the_way(named, options.force))]


def _check_form(options: argparse.Namespace) -> None:
    from confide.frames.files import TEXT

    common.check_suffix(options.out)
    if options.spreadsheet and options.out.suffix.lower() not in TEXT:
        raise InputError(f"--spreadsheet goes with an --out that ends in {' or '.join(TEXT)}.")


def _check_same(release: cf.Release, public: Path | None, private: Path | None, checked: dict[str, Any] | None) -> None:
    """Records that are there without their public file must be those of this release."""
    from confide.protect.record import record_text

    problems = []
    for path, secret in ((public, False), (private, True)):
        if (
            path is not None
            and path.exists()
            and path.read_bytes() != record_text(release, secret, checked if secret else None).encode()
        ):
            problems += common.in_the_way(path, force=False)
    raise_all(problems)


def _keep_earlier(secret: Path, release: cf.Release) -> None:
    """The record of another release that is about to be replaced stays, under a name by its content."""
    from confide.protect.record import content_digest

    digest = _released(secret) if secret.exists() else None
    if digest is not None and digest != content_digest(release.frame):
        with atomic_write(secret.with_name(f"{digest[:16]}.json"), overwrite=True, private=True) as temporary:
            temporary.write_bytes(secret.read_bytes())


def _released(record: Path) -> str | None:
    """The digest of the release that a record is of; None where it is no record."""
    try:
        return str(json.loads(record.read_text(encoding="utf-8"))["released"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _earlier(vault: Path, release: cf.Release) -> int:
    """How many other releases of this very file the vault has records of."""
    from confide.protect.record import content_digest

    mine, others = content_digest(release.original), set()
    for path in vault.expanduser().glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["private"]["original"]["sha256"] == mine:
                others.add(found["released"]["sha256"])
    return len(others - {content_digest(release.frame)})


def _told(options: argparse.Namespace, release: cf.Release, vault: Path, secret: Path, one: Drawn | None) -> Told:
    from confide.frames.files import TEXT
    from confide.frames.formats.spreadsheet import formula_columns, formula_text

    assert release.plan is not None
    steps, changed = release.plan.to_dict().get("steps", []), _changed(release)
    formulas = len(formula_columns(release.frame)) if options.out.suffix.lower() in TEXT else 0
    plain = {
        "rows": release.frame.height,
        "original_rows": release.original.height,
        "variables": list(release.frame.columns),
        "steps": steps,
        "changed": changed,
        "formula_columns": formulas,
        "as_they_are": [v for v in release.frame.columns if v not in changed],
        **({"cautions": list(release.cautions)} if release.cautions else {}),
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
    lines += [*_cautions(release, changed), *release.cautions]
    if one is not None:
        lines += str(one).splitlines()
        plain["checked"] = one.to_dict()
    if before := _earlier(vault, release):
        lines.append(
            f"This file was released before from this vault ({before} other): together they tell more than one."
        )
    lines.append(f"Private, never to be published, to be kept in two places: the vault {vault}")
    lines.append(f"  its record makes this release again: confide attack ... --private {secret}")
    return "\n".join(lines), plain


def _cautions(release: cf.Release, changed: dict[str, int]) -> list[str]:
    """What a reader should know who sees only this: what no step touched, and what distinguishes everybody."""
    frame = release.frame
    kept = [v for v in frame.columns if v not in changed]
    lines = [f"Released as they are, touched by no step: {', '.join(kept)}."] if kept else []
    whole = [v for v in kept if not frame.schema[v].is_float() and not frame.schema[v].is_nested()]
    own = [v for v in whole if frame[v].n_unique() == frame.height > 1]
    if own:
        lines.append(f"Different in every record: {', '.join(own)}. Should the plan name it under identifiers?")
    return lines


def _step_text(step: dict[str, Any]) -> str:
    about = step.get("variable") or ", ".join(step.get("variables", ()))
    rest = {k: v for k, v in step.items() if k not in ("method", "variable", "variables")}
    shown = [f"{k} = {_brief(v)}" for k, v in rest.items()]
    return f"{step['method']} {about}".strip() + (f" ({'; '.join(shown)})" if shown else "")


def _brief(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, (list, dict)) and len(value) > 4 else str(value)


def _changed(release: cf.Release) -> dict[str, int]:
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
    import polars as pl

    if a.dtype != b.dtype:
        a, b = a.cast(pl.String), b.cast(pl.String)
    return int(a.ne_missing(b).sum())


def _inside(folder: str, other: str) -> bool:
    """Whether a folder is another one or lies below it."""
    return os.path.commonpath([folder, other]) == other


def apart(vault: Path, public: dict[str, Path | None], named: bool, option: str = "--private") -> list[str]:
    """What is private does not lie beside what is public. The usual vault may lie below: a home folder holds both."""
    place = os.path.realpath(vault.expanduser())
    real = {n: Path(os.path.realpath(p.expanduser())).parent for n, p in public.items() if p is not None}
    folders = {n: os.path.realpath(p) for n, p in real.items()}
    return [
        f"{option} must be a folder outside that of {n}: the secret never lies beside what is published."
        for n, folder in folders.items()
        if (_inside(place, folder) if named else _inside(folder, place))
    ]
