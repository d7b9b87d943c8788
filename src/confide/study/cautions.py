"""Whether the risks of a study can be believed: claims beside the truth, and levels not tried, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from confide.core.visible import visible
from confide.measure.risk.claims import Claims


def cautions(claims: pl.DataFrame) -> list[str]:
    """One sentence for each plan and intruder whose claims are off, the furthest first."""
    rows = [(r, Claims(r["claimed"], r["true"], r["error"], int(r["targets"]))) for r in claims.iter_rows(named=True)]
    off = [(r, c) for r, c in rows if c.misjudged]
    off.sort(key=lambda pair: -abs(pair[1].true - pair[1].claimed))
    return [f'"{visible(r["plan"])}", "{visible(r["intruder"])}" ({r["level"]}), {c}: {c.caution()}' for r, c in off]


def untried(details: pl.DataFrame, intruders: Iterable[str]) -> list[str]:
    """One sentence for each intruder and level that some plan's release could not be attacked at, beside others that it
    was: the strongest of these is booked, though that one may find more."""
    found = dict[tuple[str, str], list[tuple[str, str]]]()
    for name in intruders:
        start = f"risk: {name}, "
        for plan, what, why in details.filter(pl.col("measure").str.starts_with(start)).iter_rows():
            found.setdefault((name, what.removeprefix(start)), []).append((plan, why))
    return [
        f'"{visible(name)}" could not be tried at level {level} on {_quoted(plan for plan, _ in each)}, and may find '
        f"more there: {visible(each[0][1])}"
        for (name, level), each in found.items()
    ]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{visible(name)}"' for name in names)
