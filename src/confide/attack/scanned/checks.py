"""What cannot be attacked, said before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.attack.engine.checks import check_known
from confide.attack.engine.membership import check_sources
from confide.attack.evidence.grouping import check_unit
from confide.attack.intruder import Intruder, Unsure

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease


def check_scanned(intruder: Intruder, release: ScannedRelease) -> None:
    """Bad input."""
    check_known(intruder, release)  # type: ignore[arg-type]
    if isinstance(intruder.membership, Unsure):
        check_sources(intruder.membership, release.public_variables, release.released.height)
    check_unit(intruder, release, False)  # type: ignore[arg-type]
