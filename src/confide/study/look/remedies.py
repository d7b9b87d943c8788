"""What one coarser variable would do for a file: whom it would bring among five or more who are alike."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.attack.results.attack import Attack

MOST_ROWS, MOST_KEYS = 200_000, 12
"""Beyond these the attacks are too many for a first look."""
HALF = 0.5
"""A form of a variable is told if it clears this share of those whom leaving the variable out would clear."""
SCHEMA: dict[str, Any] = {
    "variable": pl.String, "coarsening": pl.String, "cleared": pl.Int64, "cleared_share": pl.Float64, "over": pl.Int64,
    "over_share": pl.Float64,
}  # fmt: skip


def remedies(attack: Attack, limit: float) -> pl.DataFrame | None:
    """Of each key the finest coarser form that clears at least half of what leaving it out would; those that clear most
    first. None where it was not tried.

    `cleared`: people whose largest probability is above the limit now and would not be; `over`: those who would be.
    """
    if attack.units.height > MOST_ROWS or len(attack.intruder.knows) > MOST_KEYS:
        return None
    every = attack.clearing(limit, progress=False).frame.filter(pl.col("cleared") > 0)
    most = pl.col("cleared").max().over("variable")
    good = every.filter(pl.col("cleared") >= HALF * most).group_by("variable", maintain_order=True).first()
    n = attack.units.height
    found = good.with_columns(cleared_share=pl.col("cleared") / n, over_share=pl.col("over") / n)
    return found.select(list(SCHEMA)).sort("over", maintain_order=True)
