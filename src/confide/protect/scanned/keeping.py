"""The private folder of a release of a scan: written once, and read again.

| file | holds |
| --- | --- |
| `release.json` | versions, the plan, where draws came from, the original files and their digest, the public parts |
| `fitted.pickle` | what each step learnt, the codebook, the original scan |
| `links/part-00000.npy` | the original row of each row of that public part |
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.core.files.atomic import atomic_write
from confide.core.files.folders import settle_folder
from confide.core.files.private import private_folder
from confide.core.random.origin import Origin
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.scan import Scan, scan
from confide.protect.compiled import Compiled
from confide.protect.record import type_text, versions
from confide.protect.scanned.release import ScannedRelease

if TYPE_CHECKING:
    from confide.protect.plan import Plan

FORMAT = "confide-scan-record/1"
RECORD, FITTED, LINKS = "release.json", "fitted.pickle", "links"


@dataclass(frozen=True, eq=False)
class Kept:
    """What only the agency may hold of a release, beside the links."""

    plan: Plan
    original: Scan
    digest: str
    origin: Origin
    compiled: Compiled
    codebook: Codebook

    def release(self, released: Scan, private: Path) -> ScannedRelease:
        """All of it, with the public parts."""
        links = tuple(private / LINKS / f"{p.stem}.npy" for p in released.files)
        return ScannedRelease(
            self.plan, self.original, released, self.origin, self.compiled, self.codebook, private, links
        )


def save(
    private: Path, kept: Kept, out: Path, released: Sequence[tuple[str, int]], types: Mapping[str, pl.DataType],
    links: Path,
) -> None:  # fmt: skip
    """Write what is private; the links are moved from where they were written. The record comes last: a folder without
    one holds no release."""
    origin = kept.origin
    (private / RECORD).unlink(missing_ok=True)
    settle_folder(links, private / LINKS, overwrite=True, private=True)
    with atomic_write(private / FITTED, overwrite=True, private=True) as temporary:
        temporary.write_bytes(pickle.dumps(kept))
    drawn = {
        "from": origin.kind,
        "vault": origin.vault,
        "secret": None if origin.secret is None else origin.secret.hex(),
        "seed": None if origin.seed is None else str(origin.seed),
    }
    files = zip(kept.original.files, kept.original.counts, strict=True)
    found: dict[str, Any] = {
        "format": FORMAT,
        "versions": versions(),
        "plan": Writer(public=False).table(kept.plan),
        "draws": {k: v for k, v in drawn.items() if v is not None},
        "original": {
            "files": [{"path": str(p.resolve()), "rows": n} for p, n in files],
            "columns": [{"name": v, "type": type_text(t)} for v, t in kept.original.types.items()],
            "digest": kept.digest,
        },
        "released": {
            "folder": str(out),
            "files": [{"name": name, "rows": n} for name, n in released],
            "columns": [{"name": v, "type": type_text(t)} for v, t in types.items()],
        },
    }
    with atomic_write(private / RECORD, overwrite=True, private=True) as temporary:
        temporary.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(private: str | os.PathLike[str]) -> ScannedRelease:
    """A release from its private folder, its files where they were when it was made."""
    folder = Path(private).expanduser()
    if not (folder / RECORD).is_file():
        raise InputError(f"{private} holds no release of a scan: it has no {RECORD}.")
    folder = private_folder(folder)  # what is unpickled must be this user's own
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        kept: Kept = pickle.loads((folder / FITTED).read_bytes())
        whole = found["format"] == FORMAT and isinstance(kept, Kept)
        said = found["released"]
        parts = [Path(said["folder"]) / f["name"] for f in said["files"]]
    except InputError:
        raise
    except Exception as cause:  # whatever a damaged pickle brings about
        raise InputError(f"The private folder {private} is damaged: {RECORD} or {FITTED} cannot be read.") from cause
    if not whole:
        raise InputError(f'{private} is of another version: the "format" of its record is not "{FORMAT}".')
    links = [folder / LINKS / f"{p.stem}.npy" for p in parts]
    lost = [p for p in (*kept.original.files, *parts, *links) if not p.is_file()]
    if lost:
        raise InputError(f"{lost[0]} is missing: the release cannot be read without it.")
    released = scan(parts)
    if list(released.counts) != [f["rows"] for f in said["files"]]:
        raise InputError(f"A file in {said['folder']} has changed since it was made: it has other rows.")
    return kept.release(released, folder)
