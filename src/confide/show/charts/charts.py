"""Charts of aggregated tables. A chart carries its data into the page, so records never enter one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.measure.risk.calibration import Calibration
from confide.show.charts.drawing import (
    COLOURS,
    INK,
    QUIET,
    aggregated,
    chart_title,
    log_ticks,
    save_chart,
    styled,
)

__all__ = ["calibration_chart", "risk_counts", "risk_distribution_chart", "save_chart", "strategies_chart"]


def calibration_chart(calibration: Calibration) -> Any:
    """Claimed probability against the share of right picks, one point a bin, with two standard errors.

    A point on the diagonal is as right as it claims; below it the intruder is overconfident, above it too
    modest. Both axes are logarithmic where some claims are small. A bin without a right pick sits on the
    lower edge as a triangle, since a logarithmic axis has no zero.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(500), seed=1)
    >>> chart = calibration_chart(cf.Intruder(knows=["sex", "race", "age"]).attack(release).calibration())
    >>> chart.to_dict()["title"]["text"]
    'Is the intruder right as often as it claims?'
    """
    import altair as alt

    log = min(calibration.frame["claimed"]) < 0.05
    data, floor = _calibration_points(calibration.frame, log)
    ticks = log_ticks(floor, 1.0) if log else [0, 0.2, 0.4, 0.6, 0.8, 1]
    scale = alt.Scale(type="log" if log else "linear", domain=[floor, 1.0], clamp=True)
    axis = alt.Axis(values=ticks, format="~g", labelOverlap=False)
    x = alt.X("claimed:Q", title="Claimed: mean largest probability of the bin", scale=scale, axis=axis)
    y_title = "True: share of targets picked rightly (bars: 2 standard errors)"
    y = alt.Y("shown:Q", title=y_title, scale=scale, axis=axis)
    ends = pl.DataFrame({"claimed": [floor, 1.0], "shown": [floor, 1.0]})
    diagonal = alt.Chart(ends).mark_line(strokeDash=[5, 4], color=QUIET, strokeWidth=1.5).encode(x=x, y=y)
    base = alt.Chart(data).encode(x=x)
    low = alt.Y("low_end:Q", scale=scale)
    bars = base.mark_rule(color=COLOURS[0], strokeWidth=2).encode(y=low, y2="high_end:Q")
    marks = alt.Scale(domain=[False, True], range=["circle", "triangle-down"])
    shape = alt.Shape("none_right:N", scale=marks, legend=None)
    points = base.mark_point(filled=True, size=80, color=COLOURS[0], opacity=1)
    points = points.encode(y=y, shape=shape, tooltip=_calibration_tooltip())
    counts = _counts(base.encode(y=y))
    both = f"{calibration.claimed:,.0f} matches claimed, {calibration.true:,.0f} true."
    guide = "below it overconfident, above it too modest. Beside each point: targets in the bin."
    subtitle = [f"{both} Dashed: right as often as claimed;", guide]
    title = chart_title("Is the intruder right as often as it claims?", subtitle)
    return styled(alt.layer(diagonal, bars, points, *counts).properties(width=440, height=380, title=title))


def _calibration_points(frame: pl.DataFrame, log: bool) -> tuple[pl.DataFrame, float]:
    """Points with the ends of their bars, and the lower edge of both axes."""
    bins = aggregated(frame, ["low", "high", "targets", "claimed", "true", "error"])
    floor = min(v for v in (*bins["claimed"], *bins["true"]) if v > 0) / 2 if log else 0.0
    reach = 2 * pl.col("error")
    data = bins.select(
        "targets", "claimed", "true", "error",
        bin=pl.format("{} to {}", pl.col("low").round(4), pl.col("high").round(4)),
        shown=pl.col("true").clip(floor, 1.0), none_right=pl.col("true") <= 0,
        low_end=(pl.col("true") - reach).clip(floor, 1.0), high_end=(pl.col("true") + reach).clip(floor, 1.0),
    )  # fmt: skip
    height = (pl.col("shown").log() - np.log(floor)) / -np.log(floor) if log else pl.col("shown")
    return data.with_columns(low_down=height < 0.06), floor


def _counts(base: Any) -> list[Any]:
    """The number of targets, below right of its point, or above where the point is so low that the axis is there."""
    import altair as alt

    text = alt.Text("targets:Q", format=",")
    return [
        base.transform_filter(alt.datum.low_down == low)
        .mark_text(align="left", dx=9, dy=-9 if low else 11, fontSize=11, color=INK)
        .encode(text=text)
        for low in (False, True)
    ]


def _calibration_tooltip() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("bin:N", title="largest probability"),
        alt.Tooltip("targets:Q", title="targets", format=","),
        alt.Tooltip("claimed:Q", title="claimed", format=".4g"),
        alt.Tooltip("true:Q", title="true", format=".4g"),
        alt.Tooltip("error:Q", title="standard error", format=".2g"),
    ]


def strategies_chart(
    frame: pl.DataFrame, value: str = "expected_matches", title: str = "Expected right matches"
) -> Any:
    """One row a strategy, one dot for each state of knowledge, on a logarithmic scale, with the numbers.

    `frame` has the columns `strategy`, `knows` and the one named by `value`; strategies keep its order.

    >>> rows = [("none", "age", 50.0), ("none", "age, tax", 900.0), ("swap", "age", 5.0)]
    >>> frame = pl.DataFrame(rows, schema=["strategy", "knows", "expected_matches"], orient="row")
    >>> len(strategies_chart(frame).to_dict()["layer"])
    4
    """
    import altair as alt

    data = _strategy_points(aggregated(frame, ["strategy", "knows", value]), value)
    low, high = min(data["at"]) / 2.2, max(data["at"]) * 2.2
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=log_ticks(low, high), format=",~f")
    x = alt.X("at:Q", scale=scale, axis=axis, title=f"{title}, number of targets (logarithmic scale)")
    y = _strategy_axis(grid=True)
    knows = list(dict.fromkeys(data["knows"]))
    legend = alt.Legend(
        title="The intruder knows", orient="bottom", direction="vertical", labelLimit=420, symbolSize=120
    )
    palette = alt.Scale(domain=knows, range=list(COLOURS[: len(knows)]))
    colour = alt.Color("knows:N", sort=knows, scale=palette, legend=legend)
    shape = alt.Shape("knows:N", sort=knows, scale=alt.Scale(domain=knows), legend=legend)
    tooltip = ["strategy:N", "knows:N", alt.Tooltip(f"{value}:Q", title=title.lower(), format=",.1f")]
    ends = data.group_by("strategy", maintain_order=True).agg(low=pl.min("at"), high=pl.max("at"))
    span = alt.Chart(ends).mark_rule(color="#cccccc", strokeWidth=3)
    span = span.encode(y=y, x=alt.X("low:Q", scale=scale), x2="high:Q")
    base = alt.Chart(data).encode(x=x, y=y)
    dots = base.mark_point(filled=True, size=120, opacity=1)
    dots = dots.encode(color=colour, shape=shape, tooltip=tooltip)
    layers = alt.layer(span, dots, *(_numbers(base, value, left) for left in (True, False)))
    size = {"width": 480, "height": 44 * data["strategy"].n_unique()}
    return styled(layers.properties(title=chart_title(f"{title}, by strategy", frame="bounds"), **size))


def _strategy_points(frame: pl.DataFrame, value: str) -> pl.DataFrame:
    """Where each number is drawn (0 has no place on the scale: one half), and whether it is written left."""
    return frame.with_columns(at=pl.col(value).cast(pl.Float64).clip(lower_bound=0.5)).with_columns(
        left=(pl.col("at") == pl.col("at").min().over("strategy")) & (pl.len().over("strategy") > 1)
    )


def _strategy_axis(grid: bool) -> Any:
    import altair as alt

    axis = alt.Axis(labelLimit=340, ticks=False, domain=False, grid=grid)
    return alt.Y("strategy:N", sort=None, title=None, axis=axis)


def _numbers(base: Any, value: str, left: bool) -> Any:
    """The numbers beside the dots: the smallest of each row on its left, the others on their right."""
    import altair as alt

    side = {"align": "right", "dx": -10} if left else {"align": "left", "dx": 10}
    text = alt.Text(f"{value}:Q", format=",.0f")
    mine = base.transform_filter(alt.datum.left == left)
    return mine.mark_text(fontSize=12, color=INK, **side).encode(text=text)


def risk_counts(
    units: Mapping[str, pl.DataFrame], edges: Sequence[float] = (0, 0.001, 0.01, 0.05, 0.2, 0.5, 1)
) -> pl.DataFrame:
    """Aggregate tables of targets for `risk_distribution_chart`: how many have their `p_max` in each bin.

    Bins hold their upper edge; columns `strategy`, `bin`, `targets`.

    >>> units = pl.DataFrame({"p_max": [0.001, 0.03, 1.0]})
    >>> risk_counts({"none": units}, edges=(0, 0.01, 1))["targets"].to_list()
    [1, 2]
    """
    limits = np.asarray(edges, dtype=float)
    if len(limits) < 2 or not (np.diff(limits) > 0).all():
        raise InputError("edges must be two or more rising numbers.")
    names = [f"{a:g} to {b:g}" for a, b in pairwise(limits)]
    rows = []
    for strategy, table in units.items():
        # One in five comes out of log space a hair above 0.2; that much does not move it to the next bin.
        at = np.searchsorted(limits * (1 + 1e-9), table["p_max"].to_numpy(), side="left") - 1
        count = np.bincount(np.clip(at, 0, len(names) - 1), minlength=len(names))
        rows += [(strategy, name, int(n)) for name, n in zip(names, count, strict=True)]
    return pl.DataFrame(rows, schema=["strategy", "bin", "targets"], orient="row")


def risk_distribution_chart(
    frame: pl.DataFrame, subtitle: str = "Number of targets in each range", title: str = "Who is at risk, by strategy"
) -> Any:
    """How many targets have a largest probability in each range, one row a strategy; darker means more.

    `frame` is as `risk_counts` makes it: `strategy`, `bin`, `targets`.

    >>> chart = risk_distribution_chart(risk_counts({"none": pl.DataFrame({"p_max": [0.001, 0.03, 1.0]})}))
    >>> len(chart.to_dict()["layer"])
    2
    """
    import altair as alt

    data = aggregated(frame, ["strategy", "bin", "targets"])
    data = data.with_columns(shade=(pl.col("targets") + 1).log10())
    data = data.with_columns(dark=pl.col("shade") > 0.65 * pl.col("shade").max())
    x_title = "Largest probability that the intruder gives to a record"
    x = alt.X("bin:N", sort=None, title=x_title, axis=alt.Axis(labelAngle=0, ticks=False, domain=False))
    colours = alt.Scale(range=["#f4f8fc", "#6baed6", "#08306b"])
    base = alt.Chart(data).encode(x=x, y=_strategy_axis(grid=False))
    tooltip = ["strategy:N", "bin:N", alt.Tooltip("targets:Q", format=",")]
    cells = base.mark_rect(stroke="white", strokeWidth=2)
    cells = cells.encode(color=alt.Color("shade:Q", scale=colours, legend=None), tooltip=tooltip)
    ink = alt.condition(alt.datum.dark, alt.value("white"), alt.value(INK))
    counts = base.mark_text(fontSize=12).encode(text=alt.Text("targets:Q", format=","), color=ink)
    head = chart_title(title, [subtitle], frame="bounds")
    size = {"width": 92 * data["bin"].n_unique(), "height": 40 * data["strategy"].n_unique()}
    return styled(alt.layer(cells, counts).properties(title=head, **size))
