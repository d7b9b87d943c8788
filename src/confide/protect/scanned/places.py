"""Where a release of a scan goes: a public folder, a private one, and scratch; judged before any work."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from confide.core.errors import InputError, system_reason
from confide.core.files.private import private_folder
from confide.core.files.system_errors import explained
from confide.core.random.vault import Vault
from confide.core.scale.hadoop import Remote, is_uri, place_of
from confide.core.scale.hadoop_folders import files_in
from confide.protect.scanned.keeping import RECORD

Place = str | os.PathLike[str]
_SCRATCH = "Scratch holds microdata, so that it must not lie in the public folder: name another one."
PART = re.compile(r"part-\d{5,}\.parquet")


@dataclass(frozen=True)
class Places:
    """`out`: the public folder; `private`: for what only the agency may hold; `scratch`: a folder in which one is made
    for the time of the work (None: the private one). `overwrite`: whether what is there may be replaced."""

    out: Path
    private: Path
    scratch: Path | None = None
    overwrite: bool = False

    @classmethod
    def of(
        cls, out: Place | None, private: Place | None, scratch: Place | None, overwrite: bool, vault: object
    ) -> Places:  # fmt: skip
        """As a user gave them; a vault serves as the private folder, with one of its own for each public folder."""
        if out is None:
            raise InputError('A scan is protected into a folder: protect(scan, ..., out="release/", private="vault/").')
        public = place_of(str(out)) if is_uri(out) else _path(out)
        if private is None:
            if vault is None:
                raise InputError(
                    "Say where the link and the codebook are kept, a private folder: protect(scan, ..., private=...)."
                )
            folder = vault.folder if isinstance(vault, Vault) else private_folder(_path(vault))  # type: ignore[arg-type]
            private = folder / public.name
        return cls(public, _path(private), None if scratch is None else _path(scratch), overwrite)

    def check(self, original: Sequence[Path] = ()) -> None:
        """Refuse what is in the way, and what lies inside one another. `original`: files that must stay."""
        if any(_inside(p, self.out) for p in original):
            raise InputError(
                f"{self.out} holds files of the original, which would be replaced: give another folder as out."
            )
        if self.scratch is not None and _inside(self.scratch, self.out):
            raise InputError(_SCRATCH)
        for one, other in ((self.private, self.out), (self.out, self.private)):
            if _inside(one, other):
                raise InputError(
                    "The private folder and the public one must be apart: what is private never lies beside what is "
                    "published."
                )
        if not self.out.parent.is_dir():
            raise InputError(f"{self.out} cannot be written: the folder {self.out.parent} does not exist.")
        if self.out.exists() and not self.overwrite:
            if not self.out.is_dir():
                raise InputError(f"{self.out} is a file; give the name of a folder.")
            if is_uri(self.out) or any(self.out.iterdir()):
                raise InputError(f"{self.out} exists and is not overwritten; write overwrite=True to replace it.")
        if self.out.exists() and self.overwrite:
            self._check_replaced()
        private_folder(self.private)
        if (self.private / RECORD).exists() and not self.overwrite and self._finished():
            raise InputError(
                f"{self.private} holds what is private of another release; give another folder, or write "
                "overwrite=True to replace both."
            )

    def _check_replaced(self) -> None:
        """What is replaced is an earlier release, or nothing."""
        there = (
            files_in(self.out) if isinstance(self.out, Remote) else self.out.iterdir() if self.out.is_dir() else None
        )
        if there is None or not all(PART.fullmatch(p.name) for p in there):
            raise InputError(
                f"{self.out} holds more than an earlier release (part-00000.parquet and so on), and nothing else is "
                "ever removed: give another folder."
            )

    def _finished(self) -> bool:
        """Whether the release that the private folder is of was published: the public folder comes last."""
        try:
            found = json.loads((self.private / RECORD).read_text(encoding="utf-8"))
            return place_of(found["released"]["folder"]).is_dir()
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def scratch_folder(self) -> Path:
        """Where scratch is made."""
        if self.scratch is None:
            return self.private
        try:
            self.scratch.mkdir(parents=True, exist_ok=True)
        except OSError as cause:
            raise InputError(f"The scratch folder {self.scratch} cannot be used: {system_reason(cause)}.") from cause
        return self.scratch


def sentences(places: Places) -> AbstractContextManager[None]:
    """An error of the system as a sentence."""
    where = f"scratch in {places.scratch or places.private}, the public folder {places.out}"
    return explained(f"The release cannot be written ({where})", " Nothing unfinished is left behind.")


def check_not_public(out: Path | None, scratch: Place | None, public: Sequence[Path]) -> None:
    """Refuse a folder for private results, or one for scratch, inside the folder of public files."""
    if out is not None and any(_inside(out, p.parent) for p in public):
        raise InputError(
            "The results of an attack hold everybody's true match: their folder must not lie in the public one."
        )
    if scratch is not None and any(_inside(Path(scratch).expanduser(), p.parent) for p in public):
        raise InputError(_SCRATCH)


def _inside(place: Path, folder: Path) -> bool:
    """Whether a place is a folder, or lies in it."""
    one, other = Path(os.path.realpath(_here(place))), Path(os.path.realpath(_here(folder)))
    return one.is_relative_to(other)


def _here(place: Path) -> Path:
    """Where a folder lies on this machine, if it does."""
    text = str(place)
    return Path(text.removeprefix("file:")) if text.startswith("file:") else Path("/", text) if is_uri(place) else place


def _path(given: Place) -> Path:
    if not isinstance(given, (str, os.PathLike)) or not str(given):
        raise InputError(f"A folder is named by text or a path, not {type(given).__name__}.")
    return Path(os.path.realpath(Path(given).expanduser()))
