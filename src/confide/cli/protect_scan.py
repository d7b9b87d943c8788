"""`confide protect` for files larger than memory: a folder or a pattern in, a folder of parts out."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import Any

import confide as cf
from confide.cli import common
from confide.cli.common import Told
from confide.cli.scanned import made_engine
from confide.core.errors import InputError, raise_all
from confide.core.random.vault import usual_vault

ALONE = {
    "public_record": "--public-record",
    "intruder": "--intruder",
    "study": "--study",
    "spreadsheet": "--spreadsheet",
}
"""Options that go with a file in memory."""


def add(p: argparse.ArgumentParser) -> None:
    """The options of files that are read in parts."""
    p.add_argument("--memory", metavar="SIZE", help="read the file in parts, in about so much memory, such as 4GB")
    p.add_argument("--scratch", metavar="DIR", help="a folder for scratch, which is always removed; default: the vault")
    p.add_argument("--engine", choices=("local", "spark"), help="read in parts: on this machine, or on a Spark cluster")
    p.add_argument("--master", metavar="URL", help="with --engine spark: the cluster; default local[*,4]")
    p.add_argument("--task-memory", metavar="SIZE", help="with --engine spark: of one task there, as 1GB (the default)")


def run(options: argparse.Namespace) -> Told:
    """Write the public folder and, in the vault, what only the agency may hold."""
    raise_all(
        f"{flag} is for files that are read whole; leave it out, or leave out --memory and name one file."
        for name, flag in ALONE.items()
        if getattr(options, name)
    )
    if options.out.suffix:
        raise InputError(f"--out {options.out}: a file that is read in parts is released into a folder; give its name.")
    if options.engine != "spark" and (options.master or options.task_memory):
        raise InputError("--master and --task-memory go with --engine spark.")
    vault = cf.Vault(usual_vault() if options.private is None else options.private)
    data, plan = cf.scan(options.data), cf.Plan.load(options.plan)
    here = {"scratch": options.scratch, "memory": options.memory}
    with nullcontext() if options.engine is None else made_engine(options) as engine:
        where: dict[str, Any] = here if engine is None else {"engine": engine}
        release = plan.protect(
            data, seed=common.seed_of(options), vault=vault, out=options.out, overwrite=options.force, progress=None,
            **where,
        )  # fmt: skip
    return _told(options, release, vault)


def _told(options: argparse.Namespace, release: cf.ScannedRelease, vault: cf.Vault) -> Told:
    rows, of = release.released.height, release.original.height
    steps, files = list(release.plan.words), len(release.released.files)
    plain: dict[str, Any] = {
        "rows": rows,
        "original_rows": of,
        "variables": release.released.columns,
        "steps": steps,
        "files": {
            "public": str(options.out),
            "parts": len(release.released.files),
            "private": str(release.private),
            "vault": str(vault.folder),
        },
        **({"doubts": list(release.doubts)} if release.doubts else {}),
        **({"cautions": list(release.cautions)} if release.cautions else {}),
    }
    lines = [
        f"Released {rows:,} of {of:,} rows and {release.released.width} of {release.original.width} variables, in "
        f"{files:,} file{'' if files == 1 else 's'}: {options.out}",
        *(f"  {i}. {words}" for i, words in enumerate(steps, start=1)),
        *release.doubts,
        *release.cautions,
        f"Private, never to be published, to be kept in two places: the vault {vault.folder}",
        f"  its folder {release.private.name} holds the link and the codebook",
    ]
    return "\n".join(lines), plain
