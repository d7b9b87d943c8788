"""Whether the risks of a study can be believed: claims beside the truth, in sentences."""

from __future__ import annotations

import polars as pl

from confide.core.visible import visible
from confide.measure.risk.claims import Claims


def cautions(claims: pl.DataFrame) -> list[str]:
    """One sentence for each plan and intruder whose claims are off, the furthest first."""
    rows = [(r, Claims(r["claimed"], r["true"], r["error"], int(r["targets"]))) for r in claims.iter_rows(named=True)]
    off = [(r, c) for r, c in rows if c.misjudged]
    off.sort(key=lambda pair: -abs(pair[1].true - pair[1].claimed))
    return [f'"{visible(r["plan"])}", "{visible(r["intruder"])}" ({r["level"]}), {c}: {c.caution()}' for r, c in off]
