"""Results as text that a statistician can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from confide.attack.intruder import Intruder, level_words
from confide.core.visible import visible
from confide.show.text.cautions import claim_lines, interval_lines, unit_lines
from confide.show.text.people import people_lines

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.attack.results.treatment import Treatment
    from confide.attack.scanned.result import ScannedAttack


def attack_text(attack: Attack, threshold: float = 0.2) -> str:
    """The printout of an attack: what was known and how it was treated, the file's risk, and what limits it."""
    lines = [
        f"Attack on {attack.release.frame.height:,} released records, {attack.units.height:,} targets",
        who_text(attack.intruder),
        *unit_lines(attack),
        "",
        *treatment_lines(attack.treatments),
        *interval_lines(attack),
        *people_lines(attack),
    ]
    lines += ["", str(attack.summary(threshold)), *claim_lines(attack), "", speed_text(attack)]
    return "\n".join(lines)


def who_text(intruder: Intruder) -> str:
    """What the intruder knows of membership, and how it reasons."""
    membership = intruder.membership if isinstance(intruder.membership, str) else repr(intruder.membership)
    c, b, a = level_words(intruder.levels)
    return f"membership {membership}; levels: available {c}, unavailable {b}, others {a}"


def treatment_lines(treatments: Sequence[Treatment]) -> list[str]:
    """A table of what is known of each variable and what became of it."""
    rows: list[tuple[str, ...]] = [("variable", "intruder", "kind", "plan", "evidence")]
    for t in treatments:
        cells = (t.variable, t.knowledge, f"{t.kind} ({t.why})" if t.kind else "", t.plan, t.evidence)
        rows.append(tuple(visible(c) for c in cells))
    widths = [max(len(r[k]) for r in rows) for k in range(5)]
    return ["  ".join(x.ljust(w) for x, w in zip(r, widths, strict=True)).rstrip() for r in rows]


def speed_text(attack: Attack | ScannedAttack) -> str:
    """Pairs weighed, per second, and the share that needed no visit."""
    total, visited = attack.pairs
    if not total:
        return f"no pairs in {attack.seconds:.2f} s"
    skipped = max(0.0, 1 - visited / total)
    speed = f"{total:,.0f} pairs in {attack.seconds:.2f} s ({total / attack.seconds:,.0f} per second)"
    return f"{speed}; {skipped:.1%} merged or skipped"
