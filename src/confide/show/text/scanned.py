"""Attacks on files larger than memory, as text."""

from __future__ import annotations

import textwrap
import weakref
from typing import TYPE_CHECKING

from confide.attack.evidence.grouping import unit_of
from confide.attack.evidence.twins import ROWS, why_twins_of
from confide.attack.results.stronger import levels_of
from confide.attack.scanned.buckets import Bucketed
from confide.attack.scanned.whole import Whole
from confide.core.errors import InputError
from confide.measure.risk.claims import Claims
from confide.show.text.attacks import speed_text, treatment_lines, who_text
from confide.show.text.cautions import (
    WIDTH,
    absent_said,
    levels_were,
    odd_units,
    of_unused,
    twins_said,
    unit_lines,
    unit_said,
    unknown_said,
    wrapped,
)  # fmt: skip
from confide.show.text.people import people_lines, unchecked

if TYPE_CHECKING:
    from confide.attack.scanned.result import ScannedAttack
    from confide.measure.risk.identification import Summary
    from confide.protect.scanned.release import ScannedRelease


def scanned_attack_text(attack: ScannedAttack, threshold: float = 0.2) -> str:
    """What was known and how it was treated, the file's risk, claims beside the truth, and what limits them."""
    released, found = attack.release.released.height, attack.summary(threshold)
    lines = [f"Attack on {released:,} released records, {found.targets:,} targets", who_text(attack.intruder)]
    lines += [*_unit_lines(attack), "", *treatment_lines(attack.treatments), *people_lines(attack), "", str(found), ""]
    said = [
        *unknown_said(found.unevaluated, found.targets, found.found),
        *absent_said(attack.intruder.membership, found),
    ]
    if found.found is not None and found.unevaluated < found.targets and found.claimed_matches > 0:
        claimed, more = _claims(attack, found)
        open_ = unchecked(attack.intruder.membership) if found.released == found.targets else ""
        lines += [claimed, *textwrap.wrap(open_, WIDTH, break_on_hyphens=False), *wrapped([*said, *more]), ""]
    elif said:
        lines += [*wrapped(said), ""]
    kinds = found.targets if attack.table is None else attack.table.height
    lines.append(f"{speed_text(attack)}; {kinds:,} kinds of targets")
    return "\n".join(lines)


def _claims(attack: ScannedAttack, found: Summary) -> tuple[str, list[str]]:
    """Claimed against true, and what to mind beside it."""
    one = attack.calibration(bins=1)
    error = float(one.frame["error"].item()) * float(one.frame["targets"].item())
    levels = list(levels_of(attack.intruder, attack.release))[1:]  # type: ignore[arg-type]
    how = (
        f'{levels_were(levels)} not tried on a scan, and may find more: Intruder.at("{levels[0]}", ...).'
        if levels
        else ""
    )
    cautions = [Claims(one.claimed, one.true, error, found.targets).caution(), how, *of_unused(attack)]
    return repr(one).partition("\n")[0], [said for said in cautions if said]


def _unit_lines(attack: ScannedAttack) -> list[str]:
    """What is said of units that have several rows, or seem to."""
    release, name = attack.release, unit_of(attack.intruder, attack.release)  # type: ignore[arg-type]
    if name is None:
        return twins_said(_why_twins(release))
    if isinstance(attack.files, Whole):
        return unit_lines(attack.files.attack)
    units = attack.files.units if isinstance(attack.files, Bucketed) else None
    if units is None:
        return []
    n, shown = int(units.there.sum()), name in release.public_variables and release.plan.unit == name
    odd = odd_units(name, n, units.released, units.without, release.original.height)
    return [unit_said(name, n, shown), *wrapped(odd)]


_TWINS: weakref.WeakKeyDictionary[ScannedRelease, str] = weakref.WeakKeyDictionary()


def _why_twins(release: ScannedRelease) -> str:
    """See `why_twins_of`: read once, and nothing where the original cannot be read any more."""
    if release not in _TWINS:
        try:
            first = release.original.head(ROWS)
        except InputError:
            return ""
        _TWINS[release] = why_twins_of(
            first, release.original.height, release.plan.identifiers, release.public_variables
        )
    return _TWINS[release]
