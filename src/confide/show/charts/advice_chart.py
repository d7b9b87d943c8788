"""Advice as a picture: every candidate between risk and utility, those given up faint, the limit as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from confide.show.advice.view import AdviceView
from confide.show.charts.drawing import COLOURS, MOST_ROWS, QUIET, aggregated
from confide.show.charts.plan_charts import FORMAT, finished
from confide.show.names import said
from confide.study.tradeoff.risk_names import is_share

if TYPE_CHECKING:
    from confide.study.advise.result import Advice

WIDE, HEIGHT = 620, 380
GIVEN_UP, LIVE, ADVISED, NEAREST = "given up", "compared to the end", "advised", "nearest to the limit"
KINDS = {GIVEN_UP: (QUIET, 22), LIVE: (COLOURS[0], 70), ADVISED: (COLOURS[1], 170), NEAREST: (COLOURS[1], 170)}
"""What a candidate is, with its colour and size."""


def advice_chart(result: Advice) -> Any:
    """All candidates that have numbers: risk of the strongest intruder across, utility upwards."""
    view = AdviceView(result)
    best = ADVISED if result.plan is not None else NEAREST
    rows = [
        (p.risk, p.utility, best if p.chosen else LIVE if p.live else GIVEN_UP, p.words or p.name)
        for p in sorted(view.plane.points, key=lambda p: (p.chosen, p.live))[-MOST_ROWS:]
    ]
    schema = {"x": pl.Float64, "y": pl.Float64, "candidate": pl.String, "words": pl.String}
    data = aggregated(pl.DataFrame(rows, schema=schema, orient="row"), [*schema])
    return finished(_layers(view, data), WIDE, HEIGHT, _title(view))


def _title(view: AdviceView) -> str:
    many = f"{view.tried:,} candidates"
    return f"{many}; limit: {view.limit_words()} ({said(view.risk)})"


def _layers(view: AdviceView, data: pl.DataFrame) -> list[Any]:
    import altair as alt

    m = view.measure
    form = ".3~%" if is_share(view.risk) else ",.6~g"
    x = alt.X("x:Q", title=f"{said(view.risk)}, strongest intruder (dashed: the limit)", scale=alt.Scale(type="sqrt"),
              axis=alt.Axis(format=form, tickCount=7))  # fmt: skip
    up = alt.Scale(zero=False, reverse=m.direction == "lower")
    y = alt.Y("y:Q", title=f"{said(m.name)} (better upwards)", scale=up, axis=alt.Axis(format=FORMAT, tickCount=6))
    there = [k for k in KINDS if k in set(data["candidate"])]
    colours = alt.Scale(domain=there, range=[KINDS[k][0] for k in there])
    sizes = alt.Scale(domain=there, range=[KINDS[k][1] for k in there])
    legend = alt.Legend(title=None, orient="bottom", symbolOpacity=1)
    told = [alt.Tooltip("words:N", title="plan"), alt.Tooltip("x:Q", title=said(view.risk), format=form),
            alt.Tooltip("y:Q", title=said(m.name)), "candidate:N"]  # fmt: skip
    dots = alt.Chart(data).mark_point(filled=True, opacity=0.8).encode(
        x=x, y=y, color=alt.Color("candidate:N", scale=colours, legend=legend),
        size=alt.Size("candidate:N", scale=sizes, legend=None), tooltip=told,
    )  # fmt: skip
    line = alt.Chart(pl.DataFrame({"x": [view.limit]})).mark_rule(strokeDash=[5, 4], color=QUIET).encode(x="x:Q")
    return [line, dots]
