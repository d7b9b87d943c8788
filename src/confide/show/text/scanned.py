"""Attacks on files larger than memory, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.attack.results.units import many_targets
from confide.show.text.attacks import speed_text, treatment_lines, who_text

if TYPE_CHECKING:
    from confide.attack.scanned.result import ScannedAttack


def scanned_attack_text(attack: ScannedAttack, threshold: float = 0.2) -> str:
    """What was known and how it was treated, the file's risk, claims beside the truth."""
    released, n = attack.release.released.height, many_targets(attack.merged)
    lines = [f"Attack on {released:,} released records, {n:,} targets", who_text(attack.intruder), ""]
    lines += [*treatment_lines(attack.treatments), "", str(attack.summary(threshold)), ""]
    if not attack.merged["hit"].null_count() and (attack.merged["n_max"] > 0).any():
        lines += [repr(attack.calibration()).partition("\n")[0], ""]
    lines.append(f"{speed_text(attack)}; {attack.merged.height:,} kinds of targets")
    return "\n".join(lines)
