"""From the frontier's table to the points of the R-U map: places, colours, and what a tooltip says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from confide.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.show.drawing import COLOURS, INK, aggregated
from confide.show.map_scales import OUTSIDE, RiskAxis, UtilityAxis
from confide.study.checks import EVERYTHING
from confide.study.tradeoff.asked import checked_limits
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.question import number

NOTHING = "release nothing"
SINGLE, BEATEN = COLOURS[0], "#6f6f6f"
"""Of plans by themselves: on the frontier, and not. Sweeps have colours of their own, in the order of statement."""

Row = dict[str, Any]


def points_of(found: pl.DataFrame, frame: pl.DataFrame, across: RiskAxis, up: UtilityAxis) -> pl.DataFrame:
    """One row a candidate that can be drawn, sweeps in the order of their parameter."""
    about = frame.group_by("plan", maintain_order=True).agg(pl.col("sweep", "setting", "value").first())
    known = found.filter(pl.col("note").is_null()).join(about, on="plan", how="left", maintain_order="left")
    sweeps = frame["sweep"].drop_nulls().unique(maintain_order=True).to_list()
    inks = {s: COLOURS[1:][k % (len(COLOURS) - 1)] for k, s in enumerate(sweeps)}
    rows = [_point(r, inks, across, up) for r in known.iter_rows(named=True)]
    if not rows:
        raise InputError("No plan has both a risk and a utility, so there is nothing to draw.")
    points = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"sweep": pl.String, "value": pl.Float64})
    ordered = points.with_row_index("k").with_columns(k=pl.col("k").min().over(pl.coalesce("sweep", "plan")))
    return aggregated(ordered.sort("k", "value", maintain_order=True), [c for c in ordered.columns if c != "k"])


def _point(row: Row, inks: Mapping[str, str], across: RiskAxis, up: UtilityAxis) -> Row:
    sure = row["p_frontier"]
    ink = INK if row["plan"] == EVERYTHING else SINGLE if row["on_frontier"] else BEATEN
    x, y = across.at(row["risk"]), up.at(row["utility"])
    ends = [x if row[c] is None else across.at(row[c]) for c in ("risk_low", "risk_high")]
    heights = sorted(y if row[c] is None else up.at(row[c]) for c in ("utility_low", "utility_high"))
    beyond = x == OUTSIDE
    return {
        "plan": row["plan"], "sweep": row["sweep"], "setting": row["setting"], "value": row["value"],
        "on_frontier": row["on_frontier"], "ink": inks.get(row["sweep"], ink), "x": x, "y": y,
        "x_low": x if beyond else ends[0], "x_high": ends[1], "y_low": heights[0], "y_high": heights[1],
        "sure": float(row["on_frontier"]) if sure is None else sure,
        "shape": "triangle-right" if beyond else "diamond" if row["plan"] == EVERYTHING else "circle",
        "risk": _said(row, "risk"), "utility": _said(row, "utility"), "beaten by": row["dominated_by"] or "none",
        "on the frontier": "not known" if sure is None else f"{sure:.0%} of draws",
        "worst intruder": row["worst_intruder"],
    }  # fmt: skip


def _said(row: Row, what: str) -> str:
    low, high = row[f"{what}_low"], row[f"{what}_high"]
    text = number(row[what])
    return text if low is None or low == high else f"{text} (95% interval {number(low)} to {number(high)})"


def limit_of(
    limits: Mapping[str, float] | None, choice: Choice | str | None, risk: str, utility: Measure
) -> float | None:
    """The limit on the risk that is drawn: the one given, else that of the choice."""
    if limits is None:
        return choice.limits.get(risk) if isinstance(choice, Choice) else None
    return checked_limits(limits, [utility]).get(risk)


def marked_plan(choice: Choice | str | None, found: pl.DataFrame) -> str | None:
    """The plan to mark."""
    name = choice.plan if isinstance(choice, Choice) else choice
    if name is not None and name not in found["plan"].to_list():
        raise InputError(f'choice: there is no plan "{name}".{did_you_mean(str(name), found["plan"].to_list())}')
    return name
