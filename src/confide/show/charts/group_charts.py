"""Pictures of what analysts of single groups lose, one panel per measure and variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, QUIET, WORDS, aggregated, chart_title, styled
from confide.show.names import capital, said

if TYPE_CHECKING:
    from confide.measure.utility.by_group import UtilityByGroup

WIDTH, ROW, MOST = 380, 26, 8
"""Pixels of a panel, of a row; how many panels there are at most."""


def utility_by_group_chart(result: UtilityByGroup) -> Any:
    """The value of each measure in each group, with its interval, beside the whole file's (dashed).

    >>> import confide as cf
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(500), seed=1)
    >>> chart = utility_by_group_chart(cf.utility_by_group(release, "sex", cf.Hellinger("race")))
    >>> chart.to_dict()["title"]["text"]
    'What is lost, by group'
    """
    import altair as alt

    known = result.frame.filter(pl.col("value").is_finite())
    parts = [(m, v, part) for (v, m), part in known.group_by(["variable", "measure"], maintain_order=True)]
    if not parts:
        raise InputError("No measure has a value in any group, so there is nothing to draw.")
    bars = ", bars 95% intervals; orange: worse beyond noise" if result.replicates else ""
    guide = [f"Dashed: the whole file. Dots: the group's rows alone{bars}."]
    panels = [_panel(str(m), str(v), part) for m, v, part in parts[:MOST]]
    head = chart_title("What is lost, by group", guide, frame="bounds")
    return styled(alt.vconcat(*panels, spacing=26).properties(title=head).resolve_scale(y="independent"))


def _panel(measure: str, variable: str, part: pl.DataFrame) -> Any:
    import altair as alt

    shown = [f"{x:.3g}" for x in part["value"]]
    data = part.select("low", "high", name="group", at="value", above=pl.col("worse").fill_null(value=False))
    data = aggregated(data.with_columns(pl.Series("shown", shown)), ["name", "at", "low", "high", "above", "shown"])
    first = part.row(0, named=True)
    title = f"{capital(said(measure))} by {variable} ({first['direction']} is better)"
    axis = alt.Axis(labelLimit=220, ticks=False, domain=False, grid=False, labelPadding=10)
    names: Sequence[str] = data["name"].to_list()
    y = alt.Y("name:N", sort=list(names), title=None, axis=axis, scale=alt.Scale(domain=list(names)))
    base = alt.Chart(data).encode(y=y)
    x = alt.X(
        "at:Q", title=title, axis=alt.Axis(tickCount=5, gridDash=[2, 3], format=",.4~g"), scale=alt.Scale(zero=True)
    )
    colour = alt.condition("datum.above", alt.value(WORDS[COLOURS[1]]), alt.value(COLOURS[0]))
    layers = [
        base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=x, color=colour),
        base.mark_text(align="left", dx=10, fontSize=12, color=INK).encode(x=alt.value(WIDTH), text="shown:N"),
    ]
    if first["whole"] is not None:
        line = alt.Chart(pl.DataFrame({"file": [first["whole"]]}))
        layers.insert(0, line.mark_rule(strokeDash=[5, 4], color=QUIET, strokeWidth=1.5).encode(x="file:Q"))
    return alt.layer(*layers).properties(width=WIDTH, height=ROW * len(names))
