"""What cannot be attacked at scale, said before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.attack.engine.checks import check_known
from confide.attack.engine.membership import check_sources
from confide.attack.evidence.grouping import unit_of
from confide.attack.intruder import Intruder, Unsure
from confide.core.errors import InputError

if TYPE_CHECKING:
    from confide.protect.scanned.release import ScannedRelease

INSTEAD = "Attack a part of the file that fits into memory instead (cf.read), or leave that out."


def check_scanned(intruder: Intruder, release: ScannedRelease) -> None:
    """Bad input, and what must see the whole file at once, as methods say of themselves."""
    check_known(intruder, release)  # type: ignore[arg-type]
    if isinstance(intruder.membership, Unsure):
        check_sources(intruder.membership, release.public_variables, release.released.height)
    if unit_of(intruder, release) is not None:  # type: ignore[arg-type]
        raise InputError(f"unit: files larger than memory are attacked row by row, not by unit. {INSTEAD}")
    if intruder.errors:
        raise InputError(
            "errors: mistakes in the intruder's own values are compared with the whole file, so they are not known "
            f"at this size. {INSTEAD}"
        )
    for step, fitted in zip(release.compiled.steps, release.compiled.fitted, strict=True):
        if step.role == "random" and fitted is not None and not fitted.in_parts:
            raise InputError(
                f"{type(step).__name__} reads the whole file, so that an attack cannot be made in parts. {INSTEAD}"
            )
