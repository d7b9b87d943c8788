"""Numbers of people as they may go outside: rounded, and of groups only those of enough people."""

from __future__ import annotations

import math

import polars as pl


def count_outside(x: float | None, fewest: int) -> float | None:
    """A number of people as a multiple of `fewest`: so many people cannot move it by more than the rounding.

    >>> count_outside(3.25, 10), count_outside(1234, 10)
    (5.0, 1230.0)
    """
    if x is None or math.isnan(x):
        return None
    return fewest / 2 if x < fewest else float(fewest * math.floor(x / fewest + 0.5))


def merged_groups(groups: pl.DataFrame, fewest: int, drop: bool) -> pl.DataFrame:
    """Groups of people with small levels merged: a level is small where in any plan fewer people have it. `drop`:
    merged people who are still few are left out altogether."""
    by = ("intruder", "variable", "level")
    # A level that some plan has nobody of is missing there, so its people are looked for in every plan.
    plans = pl.col("plan").n_unique().over("intruder", "variable")
    least = pl.when(pl.len().over(by) < plans).then(0.0).otherwise(pl.col("targets").min().over(by))
    name = pl.when(least < fewest).then(pl.lit(small_name(fewest))).otherwise(pl.col("level"))
    merged = groups.with_columns(level=name).group_by("plan", *by, maintain_order=True).agg(
        pl.sum("targets", *(c for c in ("over_threshold", "expected_matches", "found") if c in groups.columns))
    )  # fmt: skip
    found = merged.filter(pl.col("targets").min().over(by) >= fewest) if drop else merged
    last = pl.col("level") == small_name(fewest)
    return pl.concat([found.filter(~last), found.filter(last)])


def small_name(fewest: int) -> str:
    """The name that stands for all groups that are not named.

    >>> small_name(3)
    'rare (fewer than 3 people)'
    """
    return f"rare (fewer than {fewest} people)"


def counted_outside(frame: pl.DataFrame, fewest: int) -> pl.DataFrame:
    """A table whose numbers all count people."""
    rounded = (pl.col(pl.Float64) / fewest + 0.5).floor() * fewest
    return frame.with_columns(pl.when(pl.col(pl.Float64) < fewest).then(fewest / 2).otherwise(rounded).name.keep())
