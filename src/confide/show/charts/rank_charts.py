"""Charts of ranks: where true records stand, and how that depends on what is released and known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, aggregated, chart_title, styled

HERE = "here"


def rank_chart(
    tables: Mapping[str, pl.DataFrame], beside: Mapping[str, pl.DataFrame] | None = None, *,
    beside_name: str = "in print", title: str = "Where the true record ranks, by scenario",
) -> Any:  # fmt: skip
    """How many targets have their own record at each rank, one row of bars a scenario, with the numbers.

    `tables` holds rank tables as `Attack.ranks` makes them (columns `rank`, `targets`), by scenario, in their order;
    `beside` others to compare with, for some or all of the scenarios, drawn as bars next to them.

    >>> table = pl.DataFrame({"rank": ["1", "2", ">2"], "targets": [230, 139, 293]})
    >>> chart = rank_chart({"no error": table, "noise": table}, beside={"noise": table})
    >>> chart.to_dict()["title"]["text"]
    'Where the true record ranks, by scenario'
    """
    import altair as alt

    data = _ranked(tables, beside, beside_name)
    ranks, sources = (list(dict.fromkeys(data[c])) for c in ("rank", "source"))
    axis = alt.Axis(labelAngle=0, ticks=False, title="Rank of the target's own record")
    x = alt.X("rank:N", sort=ranks, axis=axis, scale=alt.Scale(paddingInner=0.15, paddingOuter=0.1))
    scale = alt.Scale(domain=[0, 1.25 * max(data["targets"])], nice=False)
    base = alt.Chart(data).encode(x=x, y=alt.Y("targets:Q", scale=scale, axis=None))
    if len(sources) > 1:
        base = base.encode(xOffset=alt.XOffset("source:N", sort=sources))
    legend = alt.Legend(title=None, orient="top", symbolType="square") if len(sources) > 1 else None
    palette = alt.Scale(domain=sources, range=list(COLOURS[: len(sources)]))
    tooltip = ["scenario:N", "rank:N", "source:N", alt.Tooltip("targets:Q", format=",.1f")]
    colour = alt.Color("source:N", sort=sources, scale=palette, legend=legend)
    bars = base.mark_bar().encode(color=colour, tooltip=tooltip)
    numbers = base.mark_text(dy=-6, fontSize=10, color=INK).encode(text=alt.Text("targets:Q", format=",.0f"))
    size = {"width": (52 if len(sources) > 1 else 40) * len(ranks), "height": 62}
    header = alt.Header(
        labelAngle=0, labelAlign="left", labelAnchor="start", labelBaseline="bottom", labelPadding=4,
        labelFontSize=12, labelColor=INK, labelLimit=340, title=None,
    )  # fmt: skip
    rows = alt.Row("scenario:N", sort=list(tables), header=header)
    drawn = alt.layer(bars, numbers).properties(**size).facet(row=rows, spacing=6)
    what = ["Number of targets at each rank; rank 1: the true record is the likeliest"]
    return styled(drawn.properties(title=chart_title(title, what, frame="bounds")))


def _ranked(
    tables: Mapping[str, pl.DataFrame], beside: Mapping[str, pl.DataFrame] | None, beside_name: str
) -> pl.DataFrame:
    """One row per scenario, source and rank."""
    if not tables:
        raise InputError("There is no rank table to draw.")
    strange = [name for name in beside or {} if name not in tables]
    if strange:
        raise InputError(f'beside names "{strange[0]}", which is not among the tables.')
    parts = []
    for source, given in ((HERE, tables), (beside_name, beside or {})):
        for name, table in given.items():
            mine = aggregated(table, ["rank", "targets"])
            number = pl.col("targets").cast(pl.Float64)
            parts.append(
                mine.select(pl.col("rank").cast(pl.String), number, scenario=pl.lit(name), source=pl.lit(source))
            )
    return pl.concat(parts)


def exposure_chart(frame: pl.DataFrame) -> Any:
    """What knowledge and the share released do: people ranked first, and right matches, one line per share.

    `frame` is that of `exposure`: `share`, `known`, `knows`, `first` and `expected` are drawn. On the left the share of
    *released* people whose own record ranks first; on the right the right matches among all people.

    >>> rows = [(1.0, 1, "age", 0.02, 14.0), (1.0, 2, "age, sex", 0.16, 106.0), (0.5, 1, "age", 0.03, 11.0)]
    >>> frame = pl.DataFrame(rows, schema=["share", "known", "knows", "first", "expected"], orient="row")
    >>> [panel["title"]["text"] for panel in exposure_chart(frame).to_dict()["hconcat"]]
    ['Released people ranked first', 'Expected right matches']
    """
    import altair as alt

    data = aggregated(frame, ["share", "known", "knows", "first", "expected"])
    data = data.with_columns(
        released=(100 * pl.col("share")).round(6).map_elements(lambda p: f"{p:g}%", return_dtype=pl.String),
        newest=pl.col("knows").str.split(", ").list.last(),
    )
    data = data.with_columns(
        label=pl.when(pl.col("known") == data["known"].min()).then(pl.col("knows")).otherwise("+ " + pl.col("newest"))
    ).sort("known", "share", descending=[False, True], maintain_order=True)
    panels = [
        _panel(data, "first", "Released people ranked first", ".0%", 1.0),
        _panel(data, "expected", "Expected right matches", ",.0f", max(data["expected"])),
    ]
    what = ["Left: share of the released people whose own record is the likeliest.",
            "Right: right matches among all people, the likeliest record always picked."]  # fmt: skip
    return styled(alt.hconcat(*panels, spacing=40).properties(title=chart_title(_finding(data), what, frame="bounds")))


def _finding(data: pl.DataFrame) -> str:
    """A title that says what the numbers say, and no more."""
    at_most = data.filter(pl.col("known") == pl.col("known").max()).sort("share")
    fewer, clearer = at_most["expected"].is_sorted(), at_most["first"].is_sorted(descending=True)
    if at_most.height > 1 and fewer and clearer:
        return "Fewer released: fewer right matches, but those released stand out more"
    if at_most.height == 1 and data.sort("known")["expected"].is_sorted():
        return "The more is known, the more people are found"
    return "People found, by what is known and what is released"


def _panel(data: pl.DataFrame, value: str, title: str, form: str, top: float) -> Any:
    import altair as alt

    shares, labels = list(dict.fromkeys(data["released"])), list(dict.fromkeys(data["label"]))
    angle = -30 if max(map(len, labels)) * len(labels) > 42 else 0
    axis = alt.Axis(labelAngle=angle, grid=False, labelOverlap=False, title="Known of the target")
    x = alt.X("label:N", sort=labels, axis=axis)
    scale = alt.Scale(domain=[0, top or 1.0], nice=True)
    y = alt.Y(f"{value}:Q", title=None, scale=scale, axis=alt.Axis(format=form, tickCount=5))
    palette = alt.Scale(domain=shares, range=[COLOURS[i % len(COLOURS)] for i in range(len(shares))])
    legend = alt.Legend(title="Share released", orient="bottom", symbolSize=120)
    colour = alt.Color("released:N", sort=shares, scale=palette, legend=legend)
    shape = alt.Shape("released:N", sort=shares, scale=alt.Scale(domain=shares), legend=legend)
    tooltip = ["released:N", "knows:N", alt.Tooltip(f"{value}:Q", format=form)]
    base = alt.Chart(data).encode(x=x, y=y, color=colour)
    points = base.mark_point(filled=True, size=90, opacity=1).encode(shape=shape, tooltip=tooltip)
    ends = data.filter(pl.col("known") == pl.col("known").max())
    ends = ends.with_columns(at=pl.Series(_apart(ends[value].to_list(), 0.05 * (top or 1.0))))
    numbers = alt.Chart(ends).mark_text(align="left", dx=10, fontSize=11)
    numbers = numbers.encode(x=x, y=alt.Y("at:Q", scale=scale), color=colour, text=alt.Text(f"{value}:Q", format=form))
    head = alt.TitleParams(title, anchor="start", frame="group", fontSize=13, fontWeight="normal", color=INK)
    return alt.layer(base.mark_line(strokeWidth=2), points, numbers).properties(width=300, height=260, title=head)


def _apart(values: Sequence[float], gap: float) -> list[float]:
    """Heights for labels, each near its value, none closer than `gap` to the next.

    >>> [round(h, 3) for h in _apart([0.95, 0.96, 0.2], 0.05)]
    [0.93, 0.98, 0.2]
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    groups: list[list[int]] = []
    for i in order:
        groups.append([i])
        # Labels that would overlap share one middle.
        while len(groups) > 1 and _ends(groups[-1], values, gap)[0] - _ends(groups[-2], values, gap)[1] < gap - 1e-12:
            last = groups.pop()
            groups[-1] += last
    heights = [0.0] * len(values)
    for group in groups:
        low, _ = _ends(group, values, gap)
        for k, i in enumerate(group):
            heights[i] = low + k * gap
    return heights


def _ends(group: Sequence[int], values: Sequence[float], gap: float) -> tuple[float, float]:
    """The lowest and highest height of a group of labels around its mean value."""
    middle, half = sum(values[i] for i in group) / len(group), 0.5 * gap * (len(group) - 1)
    return middle - half, middle + half
