"""Write the release: the public and the private folder, both or none; what is there is never replaced."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import confide as cf
from confide.app.work.data import data_of
from confide.app.work.verdict import chosen, ruled
from confide.app.worker import Work

UNTOLD = ("plan", "variables", "doubts", "withheld")
"""Parts of a public record that say what was done."""


def run(work: Work) -> dict[str, Any]:
    """Make the very file again, prove that it is the one that was shown, and write everything beside it."""
    given = work.given
    public, private = Path(given["public"]), Path(given["private"])
    work.progress(0, 3, "making the very file again")
    release = cf.replay(data_of(work.folder), work.folder / given["record"])
    if release.record()["released"]["sha256"] != given["sha256"]:
        raise cf.InputError("The file made again is not the one that was shown. Nothing was written.")
    for folder in (public, private):
        check_free(folder)
    mark = secrets.token_hex(4)
    places = {folder: folder.with_name(f".{folder.name}.{mark}") for folder in (private, public)}
    try:
        for place in places.values():
            place.mkdir(mode=0o700)
        work.progress(1, 3, "writing files")
        _public(work, release, places[public])
        work.progress(2, 3, "writing the record")
        _private(work, release, places[private], places[public])
        _appear(places)
    finally:
        for place in places.values():
            shutil.rmtree(place, ignore_errors=True)
    work.progress(3, 3, "writing the record")
    return {
        "public": str(public), "private": str(private), "sha256": given["sha256"],
        "files": {str(f): sorted(p.name for p in f.iterdir()) for f in (public, private)},
    }  # fmt: skip


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something, or has no folder to lie in."""
    if not folder.parent.is_dir():
        raise cf.InputError(f"{folder.parent} does not exist.")
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise cf.InputError(f"{folder} is there already and not empty. Nothing is replaced: name another folder.")


def _public(work: Work, release: cf.Release, place: Path) -> None:
    cf.write(release.data, place / work.given["file"])
    record = release.record()
    if not work.given["tell"]:
        record = {k: v for k, v in record.items() if k not in UNTOLD}
    _text(place / "public-record.json", json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    if work.given["tell"]:
        _report(work, place / "report.html", outside=True)
    place.chmod(0o755)
    for file in place.iterdir():
        file.chmod(0o644)


def _private(work: Work, release: cf.Release, place: Path, public: Path) -> None:
    release.save_record(place / "record.json", private=True)
    _report(work, place / "report.html", outside=False)
    for name, text in work.given["texts"].items():
        _text(place / name, text)
    decision = {
        **work.given["decision"], "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": {file.name: _digest(file) for file in sorted(public.iterdir())},
        "vault": str(work.folder / "vault"), "version": cf.__version__,
    }  # fmt: skip
    _text(place / "decision.json", json.dumps(decision, indent=2, ensure_ascii=False) + "\n")
    for file in place.iterdir():
        file.chmod(0o600)


def _report(work: Work, path: Path, outside: bool) -> None:
    """The report with the plan that goes out: the rule's choice, or the one that was taken instead."""
    result = ruled(work.folder / work.given["folder"], work.given["choice"])
    choice, found = chosen(result)
    name = work.given["name"]
    taken: Any = choice if choice is not None and found["plan"] == name else name
    result.report(path, choice=taken, outside=outside)


def _appear(places: Mapping[Path, Path]) -> None:
    """Give both folders their names; where the second cannot have its own, the first loses it again."""
    done: list[Path] = []
    try:
        for folder, place in places.items():
            check_free(folder)
            place.rename(folder)
            done.append(folder)
    except OSError as error:
        for folder in done:
            with contextlib.suppress(OSError):
                folder.rename(places[folder])
        raise cf.InputError(f"The folders could not be made ({type(error).__name__}). Nothing was written.") from None


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
