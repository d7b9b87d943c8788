"""Groups of people as a page may name them: small ones merged, their labels kept out."""

from __future__ import annotations

import polars as pl

from confide.show.report.view import View
from confide.study.outside import Published
from confide.study.outside_people import merged_groups


def shown_groups(view: View) -> pl.DataFrame:
    """The groups that the worst intruder can tell: plan, variable, level, targets, found; small levels are merged.

    A level is small where in any plan fewer people than allowed have it. Outside, merged people who are still few are
    left out altogether; that was done when the result was published.
    """
    result = view.result
    mine = pl.col("plan").is_in([*view.coloured, view.focus])
    if not isinstance(result, Published):
        found = merged_groups(result.groups.filter(mine), view.treat.fewest, drop=False)
    else:
        found = result.groups.filter(mine)
    found = found.filter(pl.col("intruder") == (view.worst_of(view.focus) or view.worst))
    right = "found" if "found" in found.columns else "expected_matches"
    return found.select("plan", "variable", "level", "targets", found=pl.col(right))


def group_ends(view: View, variable: str) -> dict[tuple[str, str], tuple[float, float]]:
    """By plan and level, the 95 percent interval of found over repeats; none outside, nor of levels that are merged."""
    frame, who = view.result.groups, view.worst_of(view.focus) or view.worst
    if isinstance(view.result, Published) or not {"low", "high"} <= set(frame.columns):
        return {}
    mine = frame.filter((pl.col("intruder") == who) & (pl.col("variable") == variable)).drop_nulls(["low", "high"])
    return {(p, level): (low, high) for p, level, low, high in mine.select("plan", "level", "low", "high").rows()}
