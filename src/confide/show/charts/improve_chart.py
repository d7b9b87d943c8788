"""What changes of a plan would do: an arrow from the plan to each, on the plane of risk and utility."""

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


def improve_chart(found: Improvements) -> Any:
    """The plan as it is, a line to each change, numbered as in the list above it; dashed: the limit of the risk."""
    import altair as alt

    names = found.frame["change"].to_list()
    rows = [("as it is", "", found.before.mean, found.utility.mean)]
    rows += [
        (name, str(k), after, utility)
        for k, (name, after, utility) in enumerate(
            found.frame.select("change", "risk_after", "utility_after").rows(), 1
        )
    ]
    schema = {"change": pl.String, "number": pl.String, "risk": pl.Float64, "utility": pl.Float64}
    data = aggregated(pl.DataFrame(rows, schema=schema, orient="row"), list(schema))
    data = data.with_columns(risk_0=pl.lit(found.before.mean), utility_0=pl.lit(found.utility.mean))
    x = alt.X("risk:Q", title=f"Disclosure risk: {said(found.risk)}", scale=alt.Scale(zero=True))
    y = alt.Y("utility:Q", title=said(found.by), scale=alt.Scale(zero=False))
    base = alt.Chart(data)
    lines = base.mark_rule(strokeWidth=2, color=COLOURS[0], opacity=0.6).encode(
        x=x, y=y, x2="risk_0:Q", y2="utility_0:Q"
    )
    dots = base.mark_point(filled=True, size=80, opacity=1, color=COLOURS[0]).encode(
        x=x, y=y, tooltip=["change:N", alt.Tooltip("risk:Q", format=",.5~g"), alt.Tooltip("utility:Q", format=",.4~g")]
    )
    words = base.mark_text(align="left", dx=8, dy=-8, fontSize=13, color=INK).encode(x=x, y=y, text="number:N")
    layers = [lines, dots, words, *_limit(found)]
    listed = [f"{k}  {_short(name)}" for k, name in enumerate(names, 1)] or ["no change that was tried is worth making"]
    title = chart_title("The plan, and what changes of it would do", listed)
    return drawable(styled(alt.layer(*layers, width=WIDE, height=TALL, title=title)))


def _limit(found: Improvements) -> list[Any]:
    """The limit of the risk that is told, where there is one."""
    import altair as alt

    limit = found.limits.get(found.risk)
    if limit is None:
        return []
    rule = alt.Chart(pl.DataFrame({"limit": [limit]})).mark_rule(strokeDash=[5, 4], color=INK)
    return [rule.encode(x=alt.X("limit:Q", title=f"Disclosure risk: {said(found.risk)}"))]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
