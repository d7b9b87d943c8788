"""Which files in a folder of results a study wrote itself, so that it may write them again without being asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from confide.study.pieces.sealed import read_sealed
from confide.study.pieces.store import Store

NOTE = "outputs.json"


@dataclass(frozen=True)
class Outputs:
    """What a run noted of its files: whose they are (`origin`), whether all were written, and the checksum of each.

    As long as a run has not finished, the files it was writing are its own, whatever they hold. Of a finished run,
    those are whose content is still what it wrote.
    """

    origin: str
    finished: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def noted(cls, work: Path) -> Outputs | None:
        """What the last run in a folder of work noted; None where there was none, or where the note is damaged."""
        found = read_sealed(work / NOTE, NOTE)
        return None if found is None or set(found) != set(cls.__dataclass_fields__) else cls(**found)

    def note(self, store: Store) -> None:
        """Note it in the folder of work."""
        store.note(NOTE, asdict(self))

    def unchanged(self, out: Path) -> list[Path]:
        """Files that are there as they were written."""
        return [out / name for name, mark in self.files.items() if _checksum(out / name) == mark]


def in_the_way(out: Path, names: Sequence[str], origin: str, before: Outputs | None) -> list[str]:
    """Files (or folders) of these names that a study would replace, and that it did not write itself."""
    if before is None or before.origin != origin:
        return [name for name in names if (out / name).exists()]
    if not before.finished:
        return []
    own = before.unchanged(out)
    return [name for name in before.files if (out / name).exists() and out / name not in own]


def finished(origin: str, out: Path, files: Iterable[Path]) -> Outputs:
    """The note of a run that wrote all its files."""
    marks = {path.relative_to(out).as_posix(): _checksum(path) for path in files}
    return Outputs(origin, True, {name: mark for name, mark in marks.items() if mark is not None})


def _checksum(path: Path) -> Any:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
