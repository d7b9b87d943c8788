"""An attack without a plan, settled for one release: what is compared, in which units, and how candidates are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.attack.learning.adopted.candidates import Candidates
from confide.attack.learning.adopted.compared import Compared
from confide.frames.columns import F64, Records

if TYPE_CHECKING:
    from confide.protect.release import Release


@dataclass(frozen=True, eq=False)
class Settled:
    """`compared`: the coordinates; `original`: the original's known columns; `candidates`: finds those of targets with
    given coordinates, on so many threads; `way`, `lines`, `notes`: what was asked, how each variable is compared, and
    what was left out, in words."""

    release: Release
    compared: Compared
    original: Records
    candidates: Callable[[F64, int | None], Candidates]
    way: str
    lines: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> int:
        """How many rows are released."""
        return self.release.frame.height
