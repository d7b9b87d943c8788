"""The heat map of an intruder's choices."""

from __future__ import annotations

from typing import Any

import polars as pl

from confide.show.charts.drawing import INK, QUIET, aggregated, chart_title, styled

WORDS = {"sdl": "informed", "average": "average", "naive": "naive", "ignore": "left out"}


def grid_chart(frame: pl.DataFrame) -> Any:
    """What is found by the levels of C (columns), B (across) and A (down), beside what is claimed.

    Pale cells with a cross are combinations that do not fit together: a part is left out that another one needs, or
    two parts reason about different plans.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(300), seed=1)
    >>> grid = cf.Intruder.at("naive", knows=["sex", "race"]).attack(release).grid()
    >>> grid_chart(grid.frame).to_dict()["title"]["text"]
    'What each choice of an intruder gets right'
    """
    import altair as alt

    columns = ["available", "unavailable", "others", "coherent", "claimed", "found"]
    data = aggregated(frame, columns).with_columns(
        pl.col("available", "unavailable", "others").replace_strict(WORDS),
        shown=pl.when(pl.col("found").is_null()).then(pl.lit("refused")).otherwise(_number("found")),
        beside=pl.when(pl.col("found").is_null()).then(pl.lit("")).otherwise(pl.lit("claims ") + _number("claimed")),
    )
    order = [w for w in WORDS.values() if w in set(data["available"])]
    top = float(data["found"].max() or 1.0)  # type: ignore[arg-type]
    x = alt.X("unavailable:N", sort=order, title="B: unknown variables", axis=alt.Axis(labelAngle=0, orient="bottom"))
    y = alt.Y("others:N", sort=order, title="A: how common the record is")
    colour = alt.Color(
        "found:Q", title="found", legend=None, scale=alt.Scale(domain=[0, top], range=["#f2f6fa", "#5b9bd0"])
    )
    fits = alt.condition(alt.datum.coherent, alt.value(1.0), alt.value(0.25))
    base = alt.Chart(data).encode(x=x, y=y)
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(
        color=colour, opacity=fits,
        tooltip=[alt.Tooltip(f"{c}:N") for c in ("available", "unavailable", "others", "coherent", "shown", "beside")],
    )  # fmt: skip
    ink = alt.condition(alt.datum.coherent, alt.value(INK), alt.value(QUIET))
    big = base.mark_text(fontSize=13, dy=-6).encode(text="shown:N", color=ink)
    small = base.mark_text(fontSize=10, dy=9).encode(text="beside:N", color=ink)
    cross = base.transform_filter(~alt.datum.coherent).mark_point(
        shape="cross", angle=45, size=40, filled=True, xOffset=36, yOffset=-14, color=QUIET, opacity=0.7
    )
    size = 92
    layers = alt.layer(cells, big, small, cross).properties(width=size * len(order), height=46 * len(order))
    head = alt.Header(title="C: known variables", labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
    facets = layers.facet(column=alt.Column("available:N", sort=order, header=head), spacing=14)
    subtitle = [
        "Large: right matches that count (found); small: matches that the intruder claims.",
        "Pale, with a cross: parts that do not fit together. A naive choice for C leaves B and A out.",
        "Informed: knows the plan, not the draws.",
    ]
    return styled(facets.properties(title=chart_title("What each choice of an intruder gets right", subtitle)))


def _number(column: str) -> pl.Expr:
    """Whole numbers with commas from 10 upwards, one decimal below."""
    small = pl.col(column).round(1).cast(pl.String)
    return (
        pl.when(pl.col(column) < 10)
        .then(small)
        .otherwise(pl.col(column).fill_null(0).map_elements(lambda v: f"{v:,.0f}", return_dtype=pl.String))
    )
