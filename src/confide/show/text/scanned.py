"""Attacks on files larger than memory, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.show.text.attacks import speed_text, treatment_lines, who_text

if TYPE_CHECKING:
    from confide.attack.scanned.result import ScannedAttack


def scanned_attack_text(attack: ScannedAttack, threshold: float = 0.2) -> str:
    """What was known and how it was treated, the file's risk, claims beside the truth."""
    released, found = attack.release.released.height, attack.summary(threshold)
    lines = [f"Attack on {released:,} released records, {found.targets:,} targets", who_text(attack.intruder), ""]
    lines += [*treatment_lines(attack.treatments), "", str(found), ""]
    if found.found is not None and found.unevaluated < found.targets and found.claimed_matches > 0:
        lines += [repr(attack.calibration()).partition("\n")[0], ""]
    kinds = found.targets if attack.table is None else attack.table.height
    lines.append(f"{speed_text(attack)}; {kinds:,} kinds of targets")
    return "\n".join(lines)
