"""Charts of what is learnt: guesses before and after a release, by groups of people."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, QUIET, aggregated, chart_title, styled

WAYS = {
    "loss_relations": "before: published relations", "loss_without_person": "the release without the own record",
    "loss": "after: the release",
}  # fmt: skip
"""The columns that are drawn, and what they are called."""


def learning_chart(frame: pl.DataFrame, title: str = "What guesses lose, before and after the release") -> Any:
    """Mean losses by group of people: before the release, with the release but without the own record, and after it.

    `frame` is that of `Guess.by`. Points further left are guessed better: a long way from before to after is what the
    release adds, the way from the middle point to the last is what people's own records add. Beside each group: how
    many people it has.

    >>> import confide as cf
    >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(500), seed=1)
    >>> found = cf.Intruder(knows=["sex", "age"]).attack(release).guess("tenure")
    >>> learning_chart(found.by("race")).to_dict()["title"]["text"]
    'What guesses lose, before and after the release'
    """
    import altair as alt

    data = _long(frame)
    groups = list(dict.fromkeys(data["shown"]))
    y = alt.Y("shown:N", sort=groups, title=None, axis=alt.Axis(labelLimit=320, ticks=False))
    scale = alt.Scale(zero=False, padding=12)
    x = alt.X("value:Q", title="Mean loss of the best guess (further left: learnt better)", scale=scale)
    palette = alt.Scale(domain=list(WAYS.values()), range=[QUIET, COLOURS[4], COLOURS[0]])
    shapes = alt.Scale(domain=list(WAYS.values()), range=["circle", "diamond", "square"])
    legend = alt.Legend(title=None, orient="top", labelLimit=320, columns=1)
    base = alt.Chart(data).encode(y=y)
    lines = base.mark_rule(color=QUIET, strokeWidth=1.5).encode(x=alt.X("min(value):Q", scale=scale), x2="max(value):Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=x, color=alt.Color("way:N", scale=palette, legend=legend, sort=list(WAYS.values())),
        shape=alt.Shape("way:N", scale=shapes, legend=legend, sort=list(WAYS.values())),
        tooltip=["group:N", "people:Q", "way:N", alt.Tooltip("value:Q", format=",.4g")],
    )  # fmt: skip
    what = ["Groups of fewer than 30 people are left out." if _few(frame) else "All groups have at least 30 people."]
    named = chart_title(title, what)
    drawn = alt.layer(lines, points).properties(width=440, height=max(26 * len(groups), 60), title=named)
    return styled(drawn.configure_axisY(labelColor=INK))


def _few(frame: pl.DataFrame) -> bool:
    return bool(frame["few"].any())


def _long(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per group and way; small groups are left out."""
    seen = aggregated(frame, ["group", "people", "few", *WAYS]).filter(~pl.col("few"))
    if not seen.height:
        raise InputError("Every group has fewer than 30 people; there is nothing to draw.")
    group = pl.col("group").cast(pl.String)
    named = seen.with_columns(group, shown=pl.format("{} ({})", group, pl.col("people")))
    return named.unpivot(list(WAYS), index=["group", "people", "shown"], variable_name="way").with_columns(
        pl.col("way").replace(WAYS)
    )
