"""From the frontier's table to the points of the R-U map: places, colours, and what a tooltip says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from confide.core.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.show.charts.drawing import COLOURS, INK, aggregated
from confide.show.charts.map_scales import OUTSIDE, RiskAxis, UtilityAxis
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.asked import checked_limits
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.question import number

NOTHING = "release nothing"
SINGLE, BEATEN = COLOURS[0], "#6f6f6f"
"""Of plans by themselves: on the frontier, and not. Sweeps have colours of their own, in the order of statement."""

MOST_DRAWN = 300
"""Plans that are drawn; of more, the chart shows some and says so."""
MOST_OF_FRONTIER = 200
"""Of them, plans of the frontier, while there are others."""

Row = dict[str, Any]


def points_of(
    found: pl.DataFrame, frame: pl.DataFrame, across: RiskAxis, up: UtilityAxis, chosen: str | None = None
) -> pl.DataFrame:
    """One row per candidate that can be drawn, sweeps in the order of their parameter; of very many only some."""
    about = frame.group_by("plan", maintain_order=True).agg(pl.col("sweep", "setting", "value").first())
    known = found.filter(pl.col("note").is_null()).join(about, on="plan", how="left", maintain_order="left")
    known = thinned_plans(known, chosen)
    sweeps = frame["sweep"].drop_nulls().unique(maintain_order=True).to_list()
    inks = {s: COLOURS[1:][k % (len(COLOURS) - 1)] for k, s in enumerate(sweeps)}
    rows = [_point(r, inks, across, up) for r in known.iter_rows(named=True)]
    if not rows:
        raise InputError("No plan has both a risk and a utility, so there is nothing to draw.")
    points = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"sweep": pl.String, "value": pl.Float64})
    ordered = points.with_row_index("k").with_columns(k=pl.col("k").min().over(pl.coalesce("sweep", "plan")))
    return aggregated(ordered.sort("k", "value", maintain_order=True), [c for c in ordered.columns if c != "k"])


def thinned_plans(known: pl.DataFrame, chosen: str | None) -> pl.DataFrame:
    """At most `MOST_DRAWN` plans: the anchor and the choice, the ends of sweeps, the frontier, then others evenly."""
    if known.height <= MOST_DRAWN:
        return known
    ends = known.filter(pl.col("sweep").is_not_null()).sort("value", maintain_order=True)
    ends = ends.group_by("sweep", maintain_order=True).agg(pl.col("plan").first(), last=pl.col("plan").last())
    named = [p for p in (EVERYTHING, chosen) if p is not None]
    groups = (
        (pl.col("plan").is_in(named), MOST_DRAWN),
        (pl.col("plan").is_in([*ends["plan"], *ends["last"]]), MOST_DRAWN),
        (pl.col("on_frontier"), MOST_OF_FRONTIER),
        (pl.lit(value=True), MOST_DRAWN),
    )
    rows = known.with_row_index("at")
    kept: list[int] = []
    for group, most in groups:
        left = rows.filter(group & ~pl.col("at").is_in(kept))["at"].to_list()
        room = min(MOST_DRAWN - len(kept), most, len(left))
        kept += [left[k * len(left) // room] for k in range(room)]
    return known[sorted(kept)]


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
        "worst intruder": row["worst_intruder"] or "the same for all",
    }  # fmt: skip


def _said(row: Row, what: str) -> str:
    low, high = row[f"{what}_low"], row[f"{what}_high"]
    text = number(row[what])
    return text if low is None or low == high else f"{text} (95% interval {number(low)} to {number(high)})"


def limit_of(
    limits: Mapping[str, float] | None,
    choice: Choice | str | None,
    risk: str,
    utility: Measure,
    learnt: Sequence[str] = (),
) -> float | None:
    """The limit on the risk that is drawn: the one given, else that of the choice."""
    if limits is None:
        return choice.limits.get(risk) if isinstance(choice, Choice) else None
    return checked_limits(limits, [utility], "limits", learnt).get(risk)


def marked_plan(choice: Choice | str | None, found: pl.DataFrame) -> str | None:
    """The plan to mark."""
    name = choice.plan if isinstance(choice, Choice) else choice
    if name is not None and name not in found["plan"].to_list():
        raise InputError(f'choice: there is no plan "{name}".{did_you_mean(str(name), found["plan"].to_list())}')
    return name
