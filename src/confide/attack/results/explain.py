"""Why a record looks like the target: each variable's share in the odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.special import logsumexp

from confide.attack.results.again import candidates
from confide.core.result import Result

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """`frame`: row, p, part, factor. A factor of 3 makes the record three times as likely as the average candidate.

    Parts: each known uncertain variable (C), "unavailable" (B, with the categories it is bound up with), "others"
    (A: above 1 for a record whose released values are rare). What is certain is in `certain`: it decides who is a
    candidate at all.
    """

    frame: pl.DataFrame
    certain: tuple[str, ...]
    candidates: int
    own_row: int | None

    def summary(self) -> pl.DataFrame:
        """One row per record, one column per part."""
        return self.frame.pivot("part", index=["row", "p"], values="factor")

    def __repr__(self) -> str:
        lines = [
            f"{self.candidates:,} candidates agree on: {', '.join(self.certain) or 'nothing (no variable is certain)'}"
        ]
        for (row, p), part in self.frame.group_by(["row", "p"], maintain_order=True):
            mine = " (its own)" if row == self.own_row else ""
            lines.append(f"row {row}{mine}: p = {p:.4g}")
            lines += [f"    {r['part']:<28} x {r['factor']:.3g}" for r in part.iter_rows(named=True)]
        return "\n".join(lines)


def explain(attack: Attack, target: int, top: int) -> Explanation:
    """Factors of the likeliest records, and of the target's own."""
    found = candidates(attack, target)
    rows, p, own = found.rows, found.p, int(attack.own_rows[target])
    order = np.lexsort((rows, -p))
    shown = list(order[: max(top, 1)])
    mine = np.flatnonzero(rows == own)
    if len(mine) and mine[0] not in shown:
        shown.append(mine[0])
    names = {"others": "others (rare values)", "unavailable": "unavailable"}
    records = []
    for j in shown:
        for part, logs in found.parts.items():
            average = logsumexp(logs) - np.log(len(logs)) if np.isfinite(logs).any() else 0.0
            records.append({
                "row": int(rows[j]), "p": float(p[j]), "part": names.get(part, part),
                "factor": float(np.exp(logs[j] - average)),
            })  # fmt: skip
    schema = {"row": pl.Int64, "p": pl.Float64, "part": pl.String, "factor": pl.Float64}
    certain = tuple(dict.fromkeys(c.name for c in found.scene.knowledge.certain))
    return Explanation(pl.DataFrame(records, schema=schema), certain, len(rows), own if own >= 0 else None)
