"""What one coarser variable would do for a file: whom it would bring among five or more who are alike."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.attack.results.attack import Attack
from confide.attack.results.clearing import Clearing
from confide.protect.coarser import Coarser, coarsened

MOST_ROWS, MOST_KEYS = 200_000, 12
"""Beyond these the attacks are too many for a first look."""
HALF = 0.5
"""A form of a variable is told if it clears this share of those whom leaving the variable out would clear."""
FEW, LEAST = 5, 3
"""A form of a variable of more than a few values leaves so many different ones at least: with fewer it is nearly left
out."""
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "coarsening": pl.String, "cleared": pl.Int64, "cleared_share": pl.Float64, "over": pl.Int64,
    "over_share": pl.Float64,
}  # fmt: skip


def remedies(attack: Attack | None, limit: float) -> pl.DataFrame | None:
    """Of each key the finest coarser form that clears at least half of what leaving it out would, and leaves at least
    three values; where no form does, the one that clears most, and leaving it out beside it. Those that clear most
    first; None where it was not tried.

    `cleared`: people whose largest probability is above the limit now and would not be; `over`: those who would be.
    """
    if attack is None:
        return None
    n = attack.units.height
    if n > MOST_ROWS or len(attack.intruder.knows) > MOST_KEYS:
        return None
    found = attack.clearing(limit, progress=False)
    every = found.frame.with_columns(left=pl.Series(_left(attack, found), dtype=pl.Int64))
    every = every.filter(pl.col("cleared") > 0, pl.col("left") >= 0)
    told = [_told(every.filter(variable=v)) for v in found.frame["variable"].unique(maintain_order=True)]
    good = pl.concat([every.clear(), *told])
    good = good.with_columns(cleared_share=pl.col("cleared") / n, over_share=pl.col("over") / n)
    return good.sort("over", maintain_order=True).select(list(SCHEMA))


def _told(part: pl.DataFrame) -> pl.DataFrame:
    """Of one key, the first form that does enough, and leaving it out where that does over twice as much."""
    enough = part.filter(pl.col("cleared") >= HALF * pl.col("cleared").max(), pl.col("left") > 0)
    if enough.height:
        return enough.head(1)
    forms = part.filter(pl.col("left") > 0).sort("cleared", descending=True, maintain_order=True)
    return pl.concat([forms.head(1), part.filter(left=0)])


def _left(attack: Attack, found: Clearing) -> list[int]:
    """How many different values each form leaves: 0 where the variable is left out, -1 where it nearly is."""
    out = []
    for variable, step in zip(found.frame["variable"], found.steps, strict=True):
        if step is None:
            out.append(0)
            continue
        before = attack.release.frame[variable].drop_nulls().n_unique()
        after = coarsened(attack.release, [Coarser(variable, "", step)]).frame[variable].drop_nulls().n_unique()
        out.append(-1 if after < LEAST and before > FEW else after)
    return out
