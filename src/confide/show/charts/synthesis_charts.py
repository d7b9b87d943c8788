"""Charts of synthetic files: what intruders claim of them, and how near they are to the original."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, QUIET, aggregated, chart_title, log_ticks, styled

ORIGINAL = "original"
PERCENTILES = ("p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")


def claims_chart(frame: pl.DataFrame) -> Any:
    """Matches claimed and matches right, one row per intruder, on a logarithmic scale, with the numbers.

    `frame` has `intruder`, `claimed` and `right`; intruders keep its order.

    >>> frame = pl.DataFrame({"intruder": ["sdl", "exact"], "claimed": [900.0, 20.0], "right": [12.0, 20.0]})
    >>> claims_chart(frame).to_dict()["title"]["text"]
    'What intruders claim, and what is right'
    """
    import altair as alt

    given = aggregated(frame, ["intruder", "claimed", "right"])
    wide = given.with_columns(pl.col("claimed", "right").cast(pl.Float64).clip(lower_bound=0.5).name.suffix("_at"))
    low = 0.45 * min(*wide["claimed_at"], *wide["right_at"])
    high = 2.6 * max(*wide["claimed_at"], *wide["right_at"])
    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=log_ticks(low, high), format=",~f")
    y = alt.Y("intruder:N", sort=None, title=None, axis=alt.Axis(labelLimit=300, ticks=False, domain=False, grid=True))
    names = {"claimed": "claimed by the intruder", "right": "right"}
    parts = [
        wide.select(
            "intruder", at=f"{c}_at", number=c, what=pl.lit(label), left=pl.col(f"{c}_at") < pl.col(f"{other}_at")
        )
        for (c, label), other in zip(names.items(), ("right", "claimed"), strict=True)
    ]
    # Where both are nearly the same, marks overlap: the numbers are written together, on the right.
    same = (wide["claimed_at"] / wide["right_at"]).log().abs() < 0.12
    text = [parts[0], parts[1].filter(~same)]
    labels = pl.concat(text).join(wide.select("intruder", same=same), on="intruder", maintain_order="left")
    labels = labels.join(given.select("intruder", "right"), on="intruder", maintain_order="left").with_columns(
        text=pl.when(pl.col("same"))
        .then(pl.format("{} claimed, {} right", _whole("number"), _whole("right")))
        .otherwise(_whole("number")),
        left=pl.col("left") & ~pl.col("same"),
    )
    x = alt.X("at:Q", scale=scale, axis=axis, title="Matches, number of targets (logarithmic scale)")
    palette = alt.Scale(domain=list(names.values()), range=[COLOURS[1], COLOURS[0]])
    legend = alt.Legend(title=None, orient="top", symbolSize=120)
    colour = alt.Color("what:N", scale=palette, legend=legend)
    marks = alt.Scale(domain=list(names.values()), range=["diamond", "circle"])
    shape = alt.Shape("what:N", scale=marks, legend=legend)
    span = alt.Chart(wide).mark_rule(color="#cccccc", strokeWidth=3)
    span = span.encode(y=y, x=alt.X("right_at:Q", scale=scale), x2="claimed_at:Q")
    tooltip = ["intruder:N", "what:N", alt.Tooltip("number:Q", format=",.1f")]
    size = alt.Size("what:N", scale=alt.Scale(domain=list(names.values()), range=[230, 70]), legend=None)
    dots = alt.Chart(pl.concat(parts)).mark_point(filled=True, opacity=1)
    dots = dots.encode(x=x, y=y, color=colour, shape=shape, size=size, tooltip=tooltip)
    sides = [
        alt.Chart(labels.filter(pl.col("left") == left))
        .mark_text(fontSize=12, color=INK, align="right" if left else "left", dx=-10 if left else 10)
        .encode(x=x, y=y, text="text:N")
        for left in (True, False)
    ]
    what = ["Claimed: sum of the largest probabilities. Right: expected right matches when the likeliest is picked."]
    title = chart_title("What intruders claim, and what is right", what, frame="bounds")
    return styled(
        alt.layer(span, dots, *sides).properties(width=500, height=42 * given["intruder"].n_unique(), title=title)
    )


def _whole(column: str) -> pl.Expr:
    return pl.col(column).map_elements(lambda v: f"{v:,.0f}", return_dtype=pl.String)


def quantiles_chart(frame: pl.DataFrame) -> Any:
    """Percentiles of synthetic files against those of the original, one panel a variable.

    `frame` is as `huckett_tables.marginals` makes it, the original under the name "original". On the dashed line a
    percentile is as in the original. Scales are linear near zero and logarithmic above.

    >>> row = {"variable": "x", "zeros": 0.0, **{p: float(i) for i, p in enumerate(PERCENTILES)}}
    >>> frame = pl.DataFrame([{**row, "file": "original"}, {**row, "file": "trees"}])
    >>> len(quantiles_chart(frame).to_dict()["concat"])
    1
    """
    import altair as alt

    data = aggregated(frame, ["variable", "file", *PERCENTILES]).unpivot(
        list(PERCENTILES), index=["variable", "file"], variable_name="percentile", value_name="value"
    )
    base = data.filter(pl.col("file") == ORIGINAL).drop("file").rename({"value": "original"})
    if not base.height or data["file"].n_unique() < 2:
        raise InputError(f'The table needs the file "{ORIGINAL}" and another one to compare with it.')
    points = data.filter(pl.col("file") != ORIGINAL).join(base, on=["variable", "percentile"], maintain_order="left")
    panels = [_quantile_panel(points.filter(pl.col("variable") == v), v) for v in dict.fromkeys(points["variable"])]
    what = ["5th, 10th, 25th, 50th, 75th, 90th, 95th and 99th percentile; dashed: as in the original.",
            "Scales are linear near zero and logarithmic above."]  # fmt: skip
    title = chart_title("Percentiles of the synthetic files against the original", what, frame="bounds")
    return styled(alt.concat(*panels, columns=3, spacing=28).properties(title=title))


def _quantile_panel(points: pl.DataFrame, variable: str) -> Any:
    import altair as alt

    top = float(max(*points["value"], *points["original"]))
    bottom = min(0.0, float(min(*points["value"], *points["original"])))
    unit = 10.0 ** max(0, math.floor(math.log10(max(top, 1.0))) - 1)
    scale = alt.Scale(type="symlog", constant=unit, domain=[bottom, 1.3 * top], nice=False)
    ticks = [t for t in ((0, 1, 2, 3, 5, 7) if unit == 1 else (0, 1, 5, 10, 50)) if t * unit <= 1.2 * top]
    axis = alt.Axis(values=[t * unit for t in ticks], labelExpr="format(datum.value, '~s')", labelOverlap=False)
    files = list(dict.fromkeys(points["file"]))
    legend = alt.Legend(title=None, orient="bottom", symbolSize=110, labelLimit=260)
    colour = alt.Color("file:N", scale=alt.Scale(domain=files, range=list(COLOURS[: len(files)])), legend=legend)
    marks = alt.Scale(domain=files, range=["circle", "square", "triangle-up", "diamond", "cross"][: len(files)])
    x = alt.X("original:Q", scale=scale, axis=axis, title="original")
    y = alt.Y("value:Q", scale=scale, axis=axis, title="synthetic")
    ends = pl.DataFrame({"original": [bottom, 1.3 * top], "value": [bottom, 1.3 * top]})
    line = alt.Chart(ends).mark_line(strokeDash=[5, 4], color=QUIET, strokeWidth=1.5).encode(x=x, y=y)
    tooltip = ["file:N", "percentile:N", alt.Tooltip("original:Q", format=","), alt.Tooltip("value:Q", format=",")]
    dots = alt.Chart(points).mark_point(size=70, strokeWidth=2, filled=False, opacity=1)
    dots = dots.encode(x=x, y=y, color=colour, shape=alt.Shape("file:N", scale=marks, legend=legend), tooltip=tooltip)
    head = alt.TitleParams(variable, anchor="start", frame="group", fontSize=13, fontWeight="normal", color=INK)
    return alt.layer(line, dots).properties(width=210, height=210, title=head)


def correlations_chart(frame: pl.DataFrame) -> Any:
    """Correlations of pairs of variables, one row per pair, one mark per file, with the numbers beside.

    `frame` is as `huckett_tables.correlations` makes it: `pair`, and one column per file.

    >>> frame = pl.DataFrame({"pair": ["x, y"], "original": [0.4], "trees": [0.38]})
    >>> len(correlations_chart(frame).to_dict()["hconcat"])
    2
    """
    import altair as alt

    files = [c for c in frame.columns if c != "pair"]
    data = aggregated(frame, ["pair", *files]).unpivot(files, index="pair", variable_name="file", value_name="r")
    low, high = min(-0.2, *data["r"]) - 0.05, max(0.2, *data["r"]) + 0.05
    y = alt.Y("pair:N", sort=None, title=None, axis=alt.Axis(labelLimit=300, ticks=False, domain=False, grid=True))
    scale = alt.Scale(domain=[low, high], nice=False)
    x = alt.X("r:Q", scale=scale, title="Correlation", axis=alt.Axis(format="~g", grid=False))
    palette = alt.Scale(domain=files, range=[INK, *COLOURS[: len(files) - 1]])
    marks = alt.Scale(domain=files, range=["M0,-1.4L0,1.4", "circle", "square", "diamond"][: len(files)])
    legend = alt.Legend(title=None, orient="top", symbolSize=120, labelLimit=260)
    colour = alt.Color("file:N", sort=files, scale=palette, legend=legend)
    shape = alt.Shape("file:N", sort=files, scale=marks, legend=legend)
    tooltip = ["pair:N", "file:N", alt.Tooltip("r:Q", format=".2f")]
    zero = alt.Chart(pl.DataFrame({"r": [0.0]})).mark_rule(color=QUIET, strokeDash=[5, 4]).encode(x=x)
    dots = alt.Chart(data).mark_point(size=110, strokeWidth=2, filled=False, opacity=1)
    dots = dots.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip)
    rows = 30 * frame.height
    lines = "split(replace(datum.label, ' and ', ' and|'), '|')"
    heads = alt.Axis(orient="top", labelAngle=0, labelExpr=lines, labelPadding=22, ticks=False, domain=False)
    column = alt.X("file:N", sort=files, title=None, axis=heads)
    numbers = alt.Chart(data).mark_text(fontSize=12, color=INK)
    numbers = numbers.encode(x=column, y=alt.Y("pair:N", sort=None, axis=None), text=alt.Text("r:Q", format=".2f"))
    title = chart_title("Correlations in the original and in the synthetic files", frame="bounds")
    both = alt.hconcat(
        alt.layer(zero, dots).properties(width=360, height=rows),
        numbers.properties(width=90 * len(files), height=rows),
        spacing=16,
    )
    return styled(both.properties(title=title))
