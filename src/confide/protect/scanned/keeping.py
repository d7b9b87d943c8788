"""The private folder of a release of a scan: written once, and read again.

| file | holds |
| --- | --- |
| `release.json` | versions, the plan, where draws came from, the original files and their digest, the public parts |
| `fitted.json`, `fitted.npz` | what each step learnt, the codebook, the original scan: names, numbers and arrays |
| `links/part-00000.npy` | the original row of each row of that public part |
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.documents.plain import Writer
from confide.core.errors import InputError
from confide.core.files.atomic import atomic_write
from confide.core.files.folders import settle_folder
from confide.core.files.private import private_folder
from confide.core.random.origin import Origin
from confide.core.scale.hadoop import place_of
from confide.core.scale.remembered import sizes_and_times
from confide.core.version import __version__
from confide.frames.scan.codebook import Codebook
from confide.frames.scan.parts import stamp_of
from confide.frames.scan.scan import Scan, scan
from confide.protect.compiled import Compiled
from confide.protect.record import type_text, versions
from confide.protect.scanned.plain_values import Flattening, Raising
from confide.protect.scanned.release import ScannedRelease

if TYPE_CHECKING:
    from confide.protect.plan import Plan

FORMAT = "confide-scan-record/2"
RECORD, FITTED, ARRAYS, LINKS = "release.json", "fitted.json", "fitted.npz", "links"


def asked_for(plan: Plan, data: Scan, digest: str, origin: Origin, cut: object) -> str:
    """All that what is put aside hangs on: the file, the plan, the draws, how it is cut, and the version."""
    return repr((stated_for(plan, data), digest, origin.kind, origin.root, cut))


def stated_for(plan: Plan, data: Scan) -> str:
    """What can be told of that before the file is read."""
    return repr((__version__, sizes_and_times(data.files), data.types, Writer(public=False).table(plan)))


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
    links: Path, stamps: Mapping[str, tuple[int, int] | None],
) -> None:  # fmt: skip
    """Write what is private; the links are moved from where they were written. The record comes last: a folder without
    one holds no release. `stamps`: size and time of public files, where they are known."""
    origin = kept.origin
    (private / RECORD).unlink(missing_ok=True)
    settle_folder(links, private / LINKS, overwrite=True, private=True)
    _save_fitted(private, kept)
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
            "files": [{"path": str(p.resolve()), "rows": n, "stamp": stamp_of(p)} for p, n in files],
            "columns": [{"name": v, "type": type_text(t)} for v, t in kept.original.types.items()],
            "digest": kept.digest,
        },
        "released": {
            "folder": str(out),
            "files": [{"name": name, "rows": n, "stamp": stamps.get(name)} for name, n in released],
            "columns": [{"name": v, "type": type_text(t)} for v, t in types.items()],
        },
    }
    with atomic_write(private / RECORD, overwrite=True, private=True) as temporary:
        temporary.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _save_fitted(private: Path, kept: Kept) -> None:
    flat = Flattening()
    told = flat.of(kept)
    with atomic_write(private / ARRAYS, overwrite=True, private=True) as temporary, open(temporary, "wb") as file:
        np.savez(file, **flat.arrays)  # type: ignore[arg-type]
    with atomic_write(private / FITTED, overwrite=True, private=True) as temporary:
        temporary.write_text(json.dumps({"kept": told, "objects": flat.objects}), encoding="utf-8")


def _load_fitted(private: Path) -> Kept:
    """Nothing that is read runs: arrays without objects, and the fields of classes that are known."""
    found = json.loads((private / FITTED).read_text(encoding="utf-8"))
    with np.load(private / ARRAYS, allow_pickle=False) as held:
        kept = Raising(found["objects"], {name: held[name] for name in held.files}).of(found["kept"])
    if not isinstance(kept, Kept):
        raise InputError(f"The private folder {private} is damaged: {FITTED} holds no release.")
    return kept


def load(private: str | os.PathLike[str]) -> ScannedRelease:
    """A release from its private folder, its files where they were when it was made."""
    folder = private_folder(_with_record(Path(private).expanduser()))
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise InputError(f'{private} is of another version: the "format" of its record is not "{FORMAT}".')
        kept = _load_fitted(folder)
        said = found["released"]
        parts = [place_of(said["folder"]) / f["name"] for f in said["files"]]
    except InputError:
        raise
    except Exception as cause:  # whatever a damaged file brings about
        raise InputError(f"The private folder {private} is damaged: {RECORD} or {FITTED} cannot be read.") from cause
    links = [folder / LINKS / f"{p.stem}.npy" for p in parts]
    lost = [p for p in (*kept.original.files, *parts, *links) if not p.is_file()]
    if lost:
        raise InputError(f"{lost[0]} is missing: the release cannot be read without it.")
    held = [*zip(kept.original.files, found["original"]["files"], strict=True), *zip(parts, said["files"], strict=True)]
    for file, told in held:
        if told.get("stamp") is not None and stamp_of(file) != tuple(told["stamp"]):
            raise InputError(
                f"{file} has changed since the release was made (its size or time is another): put it back as it was, "
                "or protect the file again."
            )
    released = scan(parts)
    if list(released.counts) != [f["rows"] for f in said["files"]]:
        raise InputError(f"A file in {said['folder']} has changed since it was made: it has other rows.")
    return kept.release(released, folder)


def _with_record(folder: Path) -> Path:
    """The folder of one release; of a vault, the only one in it."""
    if (folder / RECORD).is_file():
        return folder
    there = sorted(p.parent for p in folder.glob(f"*/{RECORD}"))
    if len(there) == 1:
        return there[0]
    if there:
        names = ", ".join(p.name for p in there)
        raise InputError(f"{folder} holds several releases of scans ({names}): name one, as {there[0]}.")
    raise InputError(f"{folder} holds no release of a scan: it has no {RECORD}.")
