"""What changes of a plan would do: a line from the plan to each, on the plane of risk and utility."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from confide.show.charts.drawable import drawable
from confide.show.charts.drawing import COLOURS, INK, aggregated, chart_title, styled
from confide.show.names import said

if TYPE_CHECKING:
    from confide.study.improve.result import Improvements

WIDE, TALL = 460, 320
LONGEST = 80
"""Letters of a change in the list above the drawing."""
NEAR = 0.05
"""Points nearer than this share of both axes have one label for all."""
SCHEMA = {"change": pl.String, "label": pl.String, "risk": pl.Float64, "utility": pl.Float64}


def improve_chart(found: Improvements) -> Any:
    """The plan as it is, a line to each change, numbered as in the list above it; better is up and left. Dashed: the
    limit of the risk."""
    import altair as alt

    start = {"risk_0": pl.lit(found.before.mean), "utility_0": pl.lit(found.utility.mean)}
    data = aggregated(pl.DataFrame(_points(found), schema=SCHEMA, orient="row"), list(SCHEMA)).with_columns(**start)
    axis = alt.Axis(format=",.3~g", tickCount=6)
    x = alt.X("risk:Q", title=f"Disclosure risk: {said(found.risk)}", scale=alt.Scale(zero=True), axis=axis)
    up = alt.Scale(zero=False, reverse=found.direction == "lower", padding=14)
    y = alt.Y("utility:Q", title=[said(found.by), "(better upward)"], scale=up, axis=axis)
    base = alt.Chart(data).encode(x=x, y=y)
    told = ["change:N", alt.Tooltip("risk:Q", format=",.5~g"), alt.Tooltip("utility:Q", format=",.4~g")]
    ends = base.transform_filter("datum.change != 'as it is'")
    layers = [
        base.mark_rule(strokeWidth=2, color=COLOURS[0], opacity=0.6).encode(x2="risk_0:Q", y2="utility_0:Q"),
        base.mark_point(filled=True, size=80, opacity=1, color=INK).encode(tooltip=told),
        ends.mark_point(filled=True, size=80, opacity=1, color=COLOURS[0]).encode(tooltip=told),
        base.mark_text(align="center", dy=-13, fontSize=13, color=INK).encode(text="label:N"),
        *_limit(found),
    ]
    names = [f"{k}  {_short(name)}" for k, name in enumerate(found.frame["change"], 1)]
    title = chart_title("What changes of the plan would do", names or ["no change that was tried is worth making"])
    return drawable(styled(alt.layer(*layers, width=WIDE, height=TALL, title=title)))


def _points(found: Improvements) -> list[tuple[str, str, float, float]]:
    """The plan and the changes; of points close together the first has the labels of all."""
    rows = found.frame.select("change", "risk_after", "utility_after").rows()
    every = [("as it is", found.before.mean, found.utility.mean), *rows]
    spans = [max(p[k] for p in every) - min((p[k] for p in every), default=0.0) for k in (1, 2)]
    spans[0] = max(p[1] for p in every)  # the axis of risk begins at 0
    labels = ["as it is", *(str(k) for k in range(1, len(every)))]
    of: list[int] = []
    for j, p in enumerate(every):
        near = (
            i for i in range(j) if of[i] == i and all(abs(p[k] - every[i][k]) <= NEAR * spans[k - 1] for k in (1, 2))
        )
        of.append(next(near, j))
    joined = {i: ", ".join(labels[j] for j in range(len(every)) if of[j] == i) for i in set(of)}
    return [(p[0], joined.get(j, ""), p[1], p[2]) for j, p in enumerate(every)]


def _limit(found: Improvements) -> list[Any]:
    """The limit of the risk that is told, where there is one."""
    import altair as alt

    limit = found.limits.get(found.risk)
    if limit is None:
        return []
    rule = alt.Chart(pl.DataFrame({"limit": [limit]})).mark_rule(strokeDash=[5, 4], color=INK)
    return [rule.encode(x=alt.X("limit:Q"))]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
