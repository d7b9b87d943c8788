"""What a parameter does: a curve over its values, with the interval over repeats."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.show.charts.drawing import COLOURS, aggregated
from confide.show.charts.plan_charts import FORMAT, finished

WIDE, NARROW, HEIGHT = 620, 260, 300


def sweep_chart(frame: pl.DataFrame, x_title: str, y_title: str, title: str = "", narrow: bool = False) -> Any:
    """A curve for each of `series` with its band.

    `frame` has `series`, `value` (of the parameter), `at`, `low`, `high` and `shown` (the words).

    >>> rows = {"series": ["neighbour"] * 2, "value": [0.1, 0.2], "at": [9, 5], "low": [8, 4], "high": [10, 6]}
    >>> chart = sweep_chart(pl.DataFrame(rows | {"shown": ["9", "5"]}), "rate", "Expected right matches")
    >>> len(chart.to_dict()["layer"])
    3
    """
    import altair as alt

    data = aggregated(frame, ["series", "value", "at", "low", "high", "shown"])
    names = list(dict.fromkeys(data["series"]))
    x = alt.X(
        "value:Q",
        title=x_title,
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(format=FORMAT, tickCount=4 if narrow else 6, labelFlush=False),
    )
    top = max((v for c in ("at", "high") for v in data[c] if v is not None), default=0.0)
    scale = alt.Scale(zero=True) if top else alt.Scale(domain=[0, 1])
    y = alt.Y("at:Q", title=y_title, scale=scale, axis=alt.Axis(format="~s" if _large(data) else FORMAT, tickCount=5))
    legend = alt.Legend(
        title=None, orient="bottom", direction="vertical", labelLimit=250, symbolOpacity=1, rowPadding=5
    )
    colours = alt.Scale(domain=names, range=[COLOURS[k % len(COLOURS)] for k in range(len(names))])
    colour = alt.Color("series:N", scale=colours, sort=names, legend=legend if len(names) > 1 else None)
    base = alt.Chart(data).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", scale=scale, title=y_title), y2="high:Q")
    line = base.mark_line(strokeWidth=2.2).encode(y=y)
    tooltip = ["series:N", alt.Tooltip("value:Q", title=x_title), alt.Tooltip("shown:N", title="value")]
    dots = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, tooltip=tooltip)
    return finished([band, line, dots], NARROW if narrow else WIDE, HEIGHT, title)


def _large(data: pl.DataFrame) -> bool:
    return max((v for v in data["at"] if v is not None), default=0) >= 10_000
