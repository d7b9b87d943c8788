"""Groups of people as a page may name them: small ones merged, their labels kept out."""

from __future__ import annotations

import polars as pl

from confide.show.report.view import View


def small_name(fewest: int) -> str:
    """The name that stands for all groups that are not named.

    >>> small_name(3)
    'rare (fewer than 3 people)'
    """
    return f"rare (fewer than {fewest} people)"


def shown_groups(view: View) -> pl.DataFrame:
    """The groups that the worst intruder can tell: plan, variable, level, targets, over; small levels are merged.

    A level is small where in any plan fewer people than allowed have it. Outside, merged people who are still few are
    left out altogether.
    """
    frame = view.result.groups.filter((pl.col("intruder") == view.worst) & pl.col("plan").is_in(view.coloured))
    if frame.is_empty():
        return frame.select("plan", "variable", "level", "targets", over=pl.col("over_threshold"))
    fewest = view.treat.fewest
    # A level that some plan has nobody of is missing there, so its people are looked for in every plan.
    plans = frame["plan"].n_unique()
    least = pl.when(pl.len() < plans).then(0.0).otherwise(pl.col("targets").min())
    sizes = frame.group_by("variable", "level").agg(least=least)
    small = sizes.filter(pl.col("least") < fewest).select("variable", "level", small=pl.lit(True))
    merged = frame.join(small, on=["variable", "level"], how="left", maintain_order="left").with_columns(
        level=pl.when(pl.col("small")).then(pl.lit(small_name(fewest))).otherwise(pl.col("level"))
    )
    keys = ("plan", "variable", "level")
    found = merged.group_by(*keys, maintain_order=True).agg(targets=pl.sum("targets"), over=pl.sum("over_threshold"))
    if view.outside:
        found = found.filter(pl.col("targets") >= fewest)
    last = pl.col("level") == small_name(fewest)
    return pl.concat([found.filter(~last), found.filter(last)])
