"""Where a release of a scan goes: a public folder, a private one, and scratch; judged before any work."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from confide.core.errors import InputError, system_reason
from confide.core.files.atomic import system_code
from confide.core.files.private import private_folder
from confide.core.random.vault import Vault
from confide.protect.scanned.keeping import RECORD

Place = str | os.PathLike[str]


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
        public = _path(out)
        if private is None:
            if vault is None:
                raise InputError(
                    "Say where the link and the codebook are kept, a private folder: protect(scan, ..., private=...)."
                )
            folder = vault.folder if isinstance(vault, Vault) else private_folder(_path(vault))  # type: ignore[arg-type]
            private = folder / public.name
        return cls(public, _path(private), None if scratch is None else _path(scratch), overwrite)

    def check(self) -> None:
        """Refuse what is in the way, and what lies inside one another."""
        for one, other in ((self.private, self.out), (self.out, self.private)):
            if os.path.commonpath([one, other]) == str(other):
                raise InputError(
                    "The private folder and the public one must be apart: what is private never lies beside what is "
                    "published."
                )
        if not self.out.parent.is_dir():
            raise InputError(f"{self.out} cannot be written: the folder {self.out.parent} does not exist.")
        if self.out.exists() and not self.overwrite:
            if not self.out.is_dir():
                raise InputError(f"{self.out} is a file; give the name of a folder.")
            if any(self.out.iterdir()):
                raise InputError(f"{self.out} exists and is not overwritten; write overwrite=True to replace it.")
        private_folder(self.private)
        if (self.private / RECORD).exists() and not self.overwrite and self._finished():
            raise InputError(
                f"{self.private} holds what is private of another release; give another folder, or write "
                "overwrite=True to replace both."
            )

    def _finished(self) -> bool:
        """Whether the release that the private folder is of was published: the public folder comes last."""
        try:
            found = json.loads((self.private / RECORD).read_text(encoding="utf-8"))
            return Path(found["released"]["folder"]).is_dir()
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


@contextlib.contextmanager
def sentences(places: Places) -> Iterator[None]:
    """An error of the system as a sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as cause:
        code = system_code(cause)
        if code is None:
            raise
        where = f"scratch in {places.scratch or places.private}, the public folder {places.out}"
        raise InputError(
            f"The release cannot be written ({where}): {system_reason(OSError(code, os.strerror(code)))}. Nothing "
            "unfinished is left behind."
        ) from cause


def _path(given: Place) -> Path:
    if not isinstance(given, (str, os.PathLike)) or not str(given):
        raise InputError(f"A folder is named by text or a path, not {type(given).__name__}.")
    return Path(os.path.realpath(Path(given).expanduser()))
