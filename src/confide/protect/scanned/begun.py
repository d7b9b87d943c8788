"""Where a release of a scan is in the making, on scratch, with what a killed process had finished of the very same.

The folder is known by what can be told before the file is read: the files, the plan, the seed or vault. In it lie what
the first pass found and, in a folder known by the digest of the content as well, all that hangs on the draws.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confide.core.scale.kept import found_again
from confide.core.scale.remembered import Remembered, stamps_of
from confide.frames.scan.scan import Scan
from confide.protect.scanned.keeping import stated_for
from confide.protect.scanned.survey import Survey

if TYPE_CHECKING:
    from confide.protect.plan import Plan

FIRST = "survey"


@dataclass(frozen=True)
class Begun:
    """`folder`: private, and gone when the work ends."""

    folder: Path
    data: Scan

    @classmethod
    @contextmanager
    def found(
        cls, place: Path, plan: Plan, data: Scan, drawn: tuple[int | None, object, str], cut: object
    ) -> Iterator[Begun]:  # fmt: skip
        """In a scratch folder. `drawn`: seed, vault and kind of draws; `cut`: how the file is cut. Draws from fresh
        entropy are never the same: nothing of them is found again."""
        seed, vault, kind = drawn
        told = secrets.token_hex(16) if seed is None and vault is None else str(getattr(vault, "folder", vault))
        with found_again(place, repr((stated_for(plan, data), seed, told, kind, cut))) as folder:
            yield cls(folder, data)

    def survey(self, work: Callable[[], Survey], done: Callable[[int], None]) -> Survey:
        """What the first pass finds. It is read again unless the system says that no file was changed since: the digest
        in it keys the draws, and two contents must never share them. `done` hears of rows that need not be read."""
        kept, now = Remembered(self.folder), stamps_of(self.data.files)
        held = None if now is None else kept.get(FIRST)
        if held is not None and held[0] == now:
            done(self.data.height)
            found: Survey = held[1]
            return found
        made = work()
        if now is not None and stamps_of(self.data.files) == now:
            kept.put(FIRST, (now, made))
        return made

    def drawn(self, asked: str) -> Path:
        """The folder for what hangs on the draws as well; others in here are of a content that is no more."""
        mine = self.folder / f"drawn-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"
        for other in self.folder.glob("drawn-*"):
            if other != mine:
                shutil.rmtree(other, ignore_errors=True)
        mine.mkdir(mode=0o700, exist_ok=True)
        return mine
