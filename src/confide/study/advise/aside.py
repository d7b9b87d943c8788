"""Whether a plan misleads all who read what it altered, so that its numbers are those of guesses.

A value of somebody else that is taken for the target's own leads away from the target. A search looks for plans with
low numbers, so it would find such plans, were nobody tried who leaves altered values aside: see `levels_of`.
"""

from __future__ import annotations

import polars as pl

from confide.attack.results.stronger import UNALTERED
from confide.study.result import StudyResult
from confide.study.tradeoff.question import amount


def found_aside(result: StudyResult, plan: str) -> str:
    """A sentence where the intruder who finds most people of a plan is one who leaves altered values aside; else
    nothing."""
    rows = result.frame.filter(plan=plan).group_by("intruder", "level", maintain_order=True)
    means = rows.agg(pl.col("found_share").mean()).drop_nulls("found_share").sort("found_share", descending=True)
    if means.is_empty() or means["level"][0] != UNALTERED:
        return ""
    who, share = means["intruder"][0], means["found_share"][0]
    read = result.levels.filter((pl.col("plan") == plan) & (pl.col("intruder") == who) & (pl.col("level") != UNALTERED))
    most: float | None = read.group_by("level").agg(pl.col("found").mean()).select(pl.max("found")).item()
    targets: float = result.frame.filter(plan=plan, intruder=who).select(pl.mean("targets")).item()
    told = "" if most is None else f", not {amount('found_share', most / max(targets, 1.0))}"
    return (
        f'The plan misleads whoever reads what it altered: "{who}" finds most, {amount("found_share", share)} of people'
        f"{told}, by leaving altered values aside and guessing among the records that agree in the others. That "
        "is what counts here."
    )
