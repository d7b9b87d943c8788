"""Charts of tables of counts: the recovery probability by n, by band, by area, and against distortion."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, QUIET, aggregated, chart_title, styled
from confide.show.charts.label_places import LINE, Spot, edge, placed, spread
from confide.tables.risk.bands import BANDS

SHADES = ("#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494", "#081d58")
"""Small to large probabilities, light to dark: in order also without colour (Brewer's YlGnBu)."""

NONE = "#e4e4e4"
"""Probability 0."""

TILE, WIDTH, HEIGHT = 20, 520, 320
MOST_BARS, MOST_DOTS = 40, 31
GROUPS_APART = 0.4
"""Rows left free between groups of tiles."""
FAR = 9
"""Pixels from a point at which its label gets a line."""


def sap_chart(frame: pl.DataFrame, title: str | None = None) -> Any:
    """The recovery probability by the number of people known; a band where it is not exact.

    `frame` as from `confide.sap`: n, sap and, if there, lower and upper. With a column `release` one curve each, named
    at its end.

    >>> import confide as cf
    >>> chart = sap_chart(cf.sap(cf.Table([2, 1, 3]).publish(), known=range(4)))
    >>> chart.to_dict()["title"]["text"]
    'A zero is recovered, by the number of people known'
    """
    import altair as alt

    wanted = [c for c in ("release", "lower", "upper", "status") if c in frame.columns]
    data = aggregated(frame, ["n", "sap", *wanted]).drop_nulls("sap")
    if not data.height:
        raise InputError("No row of the table has a probability, so there is nothing to draw.")
    release = pl.col("release").cast(pl.String) if "release" in wanted else pl.lit("")
    data = data.with_columns(release=release)
    names = list(dict.fromkeys(data["release"]))
    if len(names) > len(COLOURS):
        raise InputError(f"The chart has colours for {len(COLOURS)} releases, but the table has {len(names)}.")
    low, high = min(data["n"]), max(data["n"])
    curves = {r: data.filter(pl.col("release") == r).sort("n") for r in names}
    ends = [low, high] if high > low else [low - 1, low + 1]
    ticks = {"values": sorted(set(data["n"]))} if high - low <= 12 else {"tickMinStep": 1}
    x = alt.X("n:Q", title="People known, n", scale=alt.Scale(domain=ends, nice=False),
              axis=alt.Axis(format=",d", grid=False, labelFlush=False, **ticks))  # fmt: skip
    y = alt.Y("sap:Q", title="SAP", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f", tickCount=6))
    colour = alt.Color("release:N", scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])), legend=None)
    layers, shaded = [], False
    if {"lower", "upper"} <= set(wanted):
        unsure = data.filter((pl.col("upper") - pl.col("lower")).max().over("release") > 0)
        shaded = unsure.height > 0
        if shaded:
            area = alt.Chart(unsure).mark_area(opacity=0.18, line=False)
            layers.append(area.encode(x=x, y=alt.Y("lower:Q", title="SAP"), y2="upper:Q", color=colour))
    tooltip = ["release:N", "n:Q", alt.Tooltip("sap:Q", format=".4f"), *(["status:N"] if "status" in wanted else [])]
    for k, one in enumerate(curves.values()):
        # Curves that fall together stay visible: those drawn first are wider.
        width = 2.0 + 3.0 * sum(_together(one, other) for other in list(curves.values())[k + 1 :])
        dots = {"size": 36, "filled": True} if one.height <= MOST_DOTS else False
        curve = alt.Chart(one).mark_line(strokeWidth=width, point=dots)
        layers.append(curve.encode(x=x, y=y, color=colour, tooltip=tooltip))
    if names != [""]:
        ends = [float(c["sap"][-1]) for c in curves.values()]
        at = [1 - p / HEIGHT for p in spread([HEIGHT * (1 - e) for e in ends], LINE, 0, HEIGHT)]
        labels = pl.DataFrame({"release": names, "n": [high] * len(names), "sap": at})
        text = alt.Chart(labels).mark_text(align="left", dx=12, fontSize=12, clip=False)
        layers.append(text.encode(x=x, y=y, text="release:N", color=colour))
    what = ["Probability that somebody who knows n people, drawn at random, finds a cell with nobody else in it."]
    if shaded:
        what.append("Shaded: what it lies between, where it is not exact.")
    said = chart_title(title or "A zero is recovered, by the number of people known", what, frame="bounds")
    return styled(alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=said))


def bands_chart(bands: pl.DataFrame, title: str | None = None) -> Any:
    """Shares of areas by band of probability, one bar for each n; `bands` as from `confide.sap_bands`.

    >>> import confide as cf
    >>> bands = cf.sap_bands(pl.DataFrame({"n": [2, 2], "sap": [0.0, 0.15]}))
    >>> bands_chart(bands).to_dict()["title"]["text"]
    'Areas by the probability that a zero is recovered'
    """
    import altair as alt

    every = math.ceil(bands.height / MOST_BARS)
    given = aggregated(bands, ["n", *BANDS])[:: max(every, 1)]
    areas = given.select(pl.sum_horizontal(BANDS)).to_series()
    order = pl.DataFrame({"band": BANDS, "place": range(len(BANDS))})
    data = given.with_columns(areas=areas).unpivot(
        list(BANDS), index=["n", "areas"], variable_name="band", value_name="count"
    )
    data = data.filter(pl.col("count") > 0).join(order, on="band").sort("n", "place")
    data = data.with_columns(share=pl.col("count") / pl.col("areas"))
    words = {"=0": "0", "=1": "1", "0-0.1": "above 0 to 0.1", "0.9-1": "0.9 to below 1"}
    shown = [words.get(b, b.replace("-", " to ")) for b in BANDS]
    data = data.with_columns(pl.col("band").replace_strict(BANDS, shown))
    scale = alt.Scale(domain=shown, range=[NONE, *shades(len(BANDS) - 1)])
    legend = alt.Legend(title="SAP", symbolType="square", symbolSize=170, values=shown[::-1], rowPadding=2)
    whole = alt.Scale(domain=[0, 1])
    bars = alt.Chart(aggregated(data, data.columns)).mark_bar(stroke="white", strokeWidth=0.5).encode(
        x=alt.X("n:O", title="People known, n", axis=alt.Axis(labelAngle=0, grid=False, domain=False, ticks=False)),
        y=alt.Y("share:Q", title="Share of areas", stack="zero", axis=alt.Axis(format=".0%"), scale=whole),
        color=alt.Color("band:N", scale=scale, legend=legend),
        order=alt.Order("place:Q"),
        tooltip=["n:O", "band:N", alt.Tooltip("count:Q", format=","), alt.Tooltip("share:Q", format=".1%")],
    )  # fmt: skip
    said = [f"{_between(areas)} areas, one table each. A band holds its lower end."]
    if every > 1:
        said[0] += f" One n in {every} is shown."
    head = chart_title(title or "Areas by the probability that a zero is recovered", said, frame="bounds")
    return styled(bars.properties(width=max(160, 24 * given.height), height=HEIGHT, title=head))


def area_map(
    frame: pl.DataFrame, n: int, group: str | None = None, columns: int | None = None, title: str | None = None
) -> Any:
    """One tile an area, shaded by its probability when n people are known; in rows by the column `group`.

    There is no geography in a table of counts: tiles stand in the order of the frame, `columns` in a row. Takes at most
    500 areas; for more, say blocks, average over larger areas first and say so in `title`.

    >>> import confide as cf
    >>> tables = cf.Tables([[2, 1], [0, 3]], areas=["a", "b"])
    >>> area_map(tables.publish(cf.RoundCells(3)).attack(known=[1]).frame, n=1).to_dict()["title"]["text"]
    'SAP of each area when 1 person is known'
    """
    import altair as alt

    if columns is not None and (isinstance(columns, bool) or not isinstance(columns, int) or columns < 1):
        raise InputError("columns is the number of tiles in a row, from 1 upwards.")
    here = frame.filter(pl.col("n") == n) if "n" in frame.columns else frame
    if frame.height and not here.height:
        raise InputError(f"The table has no rows for n = {n}.")
    data = aggregated(here, ["area", "n", "sap", *([group] if group else [])])
    if data["area"].n_unique() < data.height:
        raise InputError("An area has several rows for this n; the map takes one.")
    of = data[group].cast(pl.String).fill_null("") if group else pl.Series([""] * data.height)
    wide = columns or (30 if group else max(10, math.ceil(math.sqrt(1.6 * data.height))))
    tiles, heads, rows = _tiles(data.select("area", "sap", of=of), wide)
    across = int(max(tiles["column"])) + 1
    x = alt.X("column:Q", scale=alt.Scale(domain=[0, across], nice=False), axis=None)
    y = alt.Y("row:Q", scale=alt.Scale(domain=[rows, 0], nice=False), axis=None)
    top = max(0.1, math.ceil(10 * max(tiles["sap"].drop_nulls(), default=0.0) - 1e-9) / 10)
    length = min(160, max(80, TILE * rows))
    legend = alt.Legend(title="SAP", orient="right", gradientLength=length, format="~g", tickCount=5)
    scale = alt.Scale(domain=[0, top], range=list(SHADES), interpolate="rgb")
    marks = alt.Chart(tiles.drop_nulls("sap")).mark_rect().encode(
        x=x, y=y, x2="right:Q", y2="below:Q", color=alt.Color("sap:Q", scale=scale, legend=legend),
        tooltip=["area:N", alt.Tooltip("sap:Q", format=".4f")],
    )  # fmt: skip
    nobody = tiles.filter(pl.col("sap").is_null())
    blank = alt.Chart(nobody).mark_rect(fill="white", stroke=QUIET, strokeWidth=0.8)
    names = alt.Chart(heads).mark_text(align="right", baseline="top", dx=-8, dy=4, fontSize=12, color=INK)
    layers = [
        marks,
        *([blank.encode(x=x, y=y, x2="right:Q", y2="below:Q", tooltip=["area:N"])] if nobody.height else []),
        *([names.encode(x=x, y=y, text="of:N")] if group else []),
    ]
    what = f"{data.height:,} areas, one tile each, in the order of the table; where they lie is not shown."
    if nobody.height:
        what += f" White: nobody there ({nobody.height:,})."
    known = "1 person is known" if n == 1 else f"{n:,} people are known"
    head = chart_title(title or f"SAP of each area when {known}", [what], frame="bounds")
    return styled(alt.layer(*layers).properties(title=head, width=TILE * across, height=TILE * rows))


def _tiles(data: pl.DataFrame, wide: int) -> tuple[pl.DataFrame, pl.DataFrame, float]:
    """Corners of tiles, `wide` in a row, a new row for each group; the first row of each group; rows in all."""
    parts, heads, row = [], [], 0.0
    for name in dict.fromkeys(data["of"]):
        inside = data.filter(pl.col("of") == name)
        k = pl.int_range(inside.height, eager=True)
        parts.append(inside.with_columns(column=(k % wide).cast(pl.Float64), row=row + (k // wide)))
        heads.append((name, 0.0, row))
        row += math.ceil(inside.height / wide) + GROUPS_APART
    tiles = pl.concat(parts).with_columns(right=pl.col("column") + 0.92, below=pl.col("row") + 0.92)
    return tiles, pl.DataFrame(heads, schema=["of", "column", "row"], orient="row"), row - GROUPS_APART


def scheme_map(frame: pl.DataFrame, title: str | None = None) -> Any:
    """Risk against distortion, one point per scheme; `frame` as that of `confide.compare_schemes`.

    >>> import confide as cf
    >>> compared = cf.compare_schemes(cf.Table([2, 1, 3]), {"exact": cf.Exact(), "base 5": cf.RoundCells(5)}, known=2)
    >>> scheme_map(compared.frame).to_dict()["title"]["text"]
    'Risk and distortion of 2 schemes, 2 people known'
    """
    import altair as alt

    data = aggregated(frame, ["scheme", "n", "sap", "standard_error", "distortion", "frontier"])
    data = data.with_columns(
        pl.col("scheme").cast(pl.String),
        low=(pl.col("sap") - 2 * pl.col("standard_error")).clip(0, 1),
        high=(pl.col("sap") + 2 * pl.col("standard_error")).clip(0, 1),
    )
    right, top = 1.12 * max(data["distortion"]) or 1.0, min(1.0, 1.1 * max(data["high"]) or 0.1)
    axis = alt.Axis(format="~g", tickCount=6, labelFlush=False)
    along = alt.Scale(domain=[0, right], nice=False)
    x = alt.X("distortion:Q", title="Mean absolute error of a published count", axis=axis, scale=along)
    up = alt.Scale(type="sqrt", domain=[0, top], nice=False)  # most schemes lie near 0
    y = alt.Y("sap:Q", title="Mean SAP (square-root scale)", axis=axis, scale=up)
    line = _stairs(data.filter("frontier").sort("distortion", "sap"))
    stairs = alt.Chart(line).mark_line(color=COLOURS[0], strokeWidth=1.5, strokeDash=[5, 4])
    bars = alt.Chart(data.filter(pl.col("standard_error") > 0)).mark_rule(color=QUIET, strokeWidth=1.5)
    dots = alt.Chart(data).mark_circle(size=80, opacity=1, stroke=COLOURS[0], strokeWidth=2)
    full = alt.condition(alt.datum.frontier, alt.value(COLOURS[0]), alt.value("white"))
    tooltip = ["scheme:N", alt.Tooltip("sap:Q", format=".4f"), alt.Tooltip("distortion:Q", format=".3f")]
    points, lows, highs, bends = (
        [(WIDTH * d / right, HEIGHT * (1 - math.sqrt(s / top))) for d, s in f.select("distortion", c).rows()]
        for f, c in ((data, "sap"), (data, "low"), (data, "high"), (line, "sap"))
    )
    lines = [*pairwise(bends), *zip(lows, highs, strict=True)]
    chart = alt.layer(
        _names(points, data["scheme"].to_list(), lines),
        alt.layer(
            stairs.encode(x=x, y=y, order="step:Q"),
            bars.encode(x=x, y=alt.Y("low:Q", scale=up), y2="high:Q"),
            dots.encode(x=x, y=y, fill=full, tooltip=tooltip),
        ),
    ).resolve_scale(x="independent", y="independent")
    n = int(data["n"][0])
    known = "1 person known" if n == 1 else f"{n:,} people known"
    said = ["Full: no other scheme has less risk with no more distortion (dashed line).",
            "Bars: two standard errors over repeated publication."]  # fmt: skip
    head = chart_title(title or f"Risk and distortion of {data.height} schemes, {known}", said, frame="bounds")
    return styled(chart.properties(width=WIDTH, height=HEIGHT, title=head))


def _stairs(best: pl.DataFrame) -> pl.DataFrame:
    """From each point of the frontier right, then down to the next."""
    steps = best.select("distortion", "sap").rows()
    corners = [c for (_, a), (d, b) in pairwise(steps) for c in ((d, a), (d, b))]
    return pl.DataFrame([*steps[:1], *corners], schema=["distortion", "sap"], orient="row").with_row_index("step")


def _names(points: list[Spot], labels: list[str], lines: list[tuple[Spot, Spot]]) -> Any:
    """Labels beside their points and off these lines; a thin line leads to those that had to go farther."""
    import altair as alt

    walls = [((a + c) / 2, (b + d) / 2, abs(a - c), abs(b - d)) for (a, b), (c, d) in lines]
    spots = placed(points, labels, WIDTH, HEIGHT, walls)
    rows = [(t, *p, *s, *edge(p, s, t)) for t, p, s in zip(labels, points, spots, strict=True)]
    data = pl.DataFrame(rows, schema=["label", "px", "py", "tx", "ty", "ex", "ey"], orient="row")
    far = data.filter((pl.col("px") - pl.col("ex")) ** 2 + (pl.col("py") - pl.col("ey")) ** 2 > FAR**2)
    across, down = alt.Scale(domain=[0, WIDTH], nice=False), alt.Scale(domain=[HEIGHT, 0], nice=False)
    leads = alt.Chart(far).mark_rule(color="#bbbbbb").encode(
        x=alt.X("px:Q", scale=across, axis=None), y=alt.Y("py:Q", scale=down, axis=None), x2="ex:Q", y2="ey:Q"
    )  # fmt: skip
    text = alt.Chart(data).mark_text(fontSize=12, color=INK, baseline="middle").encode(
        x=alt.X("tx:Q", scale=across, axis=None), y=alt.Y("ty:Q", scale=down, axis=None), text="label:N"
    )  # fmt: skip
    return alt.layer(leads, text)


def shades(count: int) -> list[str]:
    """So many colours in even steps from light to dark.

    >>> shades(9) == list(SHADES)
    True
    """
    ends = [[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in SHADES]
    steps = [k * (len(ends) - 1) / max(count - 1, 1) for k in range(count)]
    pairs = [(ends[int(t)], ends[min(int(t) + 1, len(ends) - 1)], t - int(t)) for t in steps]
    return ["#" + "".join(f"{round(a + (b - a) * p):02x}" for a, b in zip(x, y, strict=True)) for x, y, p in pairs]


def _together(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    both = a.join(b, on="n")
    return both.height > 0 and float((both["sap"] - both["sap_right"]).abs().max()) < 0.01  # type: ignore[arg-type]


def _between(areas: pl.Series) -> str:
    low, high = min(areas), max(areas)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
