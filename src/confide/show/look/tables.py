"""The tables on the page of a look: every count with its share beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confide.core.shares import percent
from confide.core.visible import visible
from confide.show.report.figures import Table
from confide.study.look.attacks import SURE, THRESHOLD

if TYPE_CHECKING:
    from confide.study.look.result import Look

MOST_SETS = 12


def with_share(many: float, of: float, form: str = ",.0f") -> str:
    """A count with its share.

    >>> with_share(968, 51_016), with_share(0.4, 100, ",.1f")
    ('968 (1.9%)', '0.4 (0.4%)')
    """
    return f"{many:{form}} ({percent(many, of)})"


def attack_table(look: Look) -> Table:
    """One row per intruder."""
    rows = []
    for a in look.attacked:
        name = "is sure that a person is in the file" if a.membership == SURE else f"is not sure, by {visible(a.by)}"
        found = "unknown" if a.found is None else with_share(a.found, look.rows, ",.1f")
        rows.append([name, found, with_share(a.summary.over_threshold, look.rows), percent(a.summary.p_absent, 1)])
    header = ["the intruder", "found", f"likeliest record above {THRESHOLD:g}", "chance of being absent, mean"]
    return Table(header, rows)


def sets_table(look: Look) -> Table:
    """The sets of keys that isolate most people."""
    best = look.sets.sort("minimal", descending=True, maintain_order=True).head(MOST_SETS)
    rows = [
        [", ".join(visible(v) for v in r["variables"]), f"{r['size']}", with_share(r["alone"], look.rows),
         with_share(r["minimal"], look.rows)]
        for r in best.iter_rows(named=True)
    ]  # fmt: skip
    return Table(["set", "keys", "alone", "alone on no smaller set inside"], rows)


def missing_table(look: Look) -> list[tuple[str, Table]]:
    """Missing values of keys and sensitive variables."""
    used = look.missing.filter(role="key").vstack(look.missing.filter(role="sensitive"))
    if not used.height:
        return []
    rows = [[visible(r["variable"]), r["role"], with_share(r["rows"], look.rows)] for r in used.iter_rows(named=True)]
    return [("Missing values", Table(["variable", "role", "rows without a value"], rows))]
