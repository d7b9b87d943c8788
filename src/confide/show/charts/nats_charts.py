"""Pictures of contributions in nats, of what one coarsening would clear, and of groups beside the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.show.charts.drawing import COLOURS, INK, QUIET, WORDS, aggregated, chart_title, styled

if TYPE_CHECKING:
    from confide.attack.results.clearing import Clearing
    from confide.attack.results.contributions import Contributions
    from confide.attack.results.nats import Nats
    from confide.measure.risk.by_group import ByGroup

WIDTH, ROW = 440, 30
PALE = "#cfdbe6"
OTHERS = "(others)"


def _y(names: Sequence[str]) -> Any:
    import altair as alt

    axis = alt.Axis(labelLimit=300, ticks=False, domain=False, grid=False, labelPadding=10)
    return alt.Y("name:N", sort=list(names), title=None, axis=axis, scale=alt.Scale(domain=list(names)))


def _words(base: Any, **more: Any) -> Any:
    """What a row says, at its right end."""
    import altair as alt

    return base.mark_text(align="left", dx=10, fontSize=12, color=INK, **more).encode(
        x=alt.value(WIDTH), text="shown:N"
    )


def _signed(frame: pl.DataFrame, title: str, subtitle: Sequence[str]) -> Any:
    """Bars to the right for what makes the person stand out, to the left for what hides it; whiskers of 2 errors."""
    import altair as alt

    data = aggregated(frame, ["name", "nats", "low", "high", "shown"])
    x = alt.X("nats:Q", title="Contribution in nats", axis=alt.Axis(tickCount=6, gridDash=[2, 3]))
    base = alt.Chart(data).encode(y=_y(data["name"].to_list()))
    colour = alt.condition("datum.nats < 0", alt.value(COLOURS[1]), alt.value(COLOURS[0]))
    bars = base.mark_bar(height=16).encode(x=x, color=colour)
    whiskers = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    zero = alt.Chart(pl.DataFrame({"at": [0.0]})).mark_rule(color=QUIET).encode(x="at:Q")
    head = chart_title(title, subtitle, frame="bounds")
    layers = alt.layer(bars, whiskers, zero, _words(base))
    return styled(layers.properties(width=WIDTH, height=ROW * data.height, title=head))


def _rows(frame: pl.DataFrame) -> pl.DataFrame:
    shown = pl.format("{}{}", pl.when(pl.col("nats") >= 0).then(pl.lit("+")).otherwise(pl.lit("")),
                      pl.col("nats").round(3))  # fmt: skip
    ends = {"low": pl.col("nats") - 2 * pl.col("error"), "high": pl.col("nats") + 2 * pl.col("error")}
    ends = {k: pl.when(pl.col("error") > 0).then(v) for k, v in ends.items()}
    return frame.select("nats", name="variable", shown=shown, **ends)


def nats_chart(result: Nats) -> Any:
    """What each known variable adds to the log of one record's probability."""
    which = "The own record" if result.own else "The likeliest record"
    said = f"{which} has probability {result.p:.3g}, log({result.everybody:,.0f} p) = {result.total:.3f} nats in all."
    guide = "To the right: speaks for the record. To the left: speaks for others."
    return _signed(_rows(result.frame), "What makes this person stand out", [said, guide])


def contributions_chart(result: Contributions) -> Any:
    """Mean contributions in the file; where groups were asked for, one bar per group in parts by variable."""
    whole = result.frame.filter(pl.col("by").is_null())
    first = whole.row(0, named=True)
    mean = f"Mean over {first['people']:,} people of log({result.everybody:,.0f} p) of their own record, in nats."
    if result.frame["by"].null_count() == result.frame.height:
        doubt = f"From {first['looked_at']:,} of them; bars: 2 standard errors."
        return _signed(_rows(whole), "What makes people stand out", [mean, *([doubt] if any(whole["error"]) else [])])
    return _stacked(result.frame, whole["variable"].to_list(), mean)


def _stacked(frame: pl.DataFrame, variables: Sequence[str], mean: str) -> Any:
    import altair as alt

    kept = list(variables[: len(COLOURS)]) if len(variables) <= len(COLOURS) else [*variables[:5], OTHERS]
    name = pl.when(pl.col("by").is_null()).then(pl.lit("everybody")).otherwise(
        pl.format("{}: {}", "by", "group"))  # fmt: skip
    part = pl.when(pl.col("variable").is_in(kept)).then("variable").otherwise(pl.lit(OTHERS))
    parts = frame.with_columns(name=name, part=part).group_by("name", "part", maintain_order=True)
    data = parts.agg(pl.col("nats").sum(), pl.col("total").first(), pl.col("people").first())
    order = {v: k for k, v in enumerate(kept)}
    data = data.with_columns(
        shown=pl.Series([f"{t:.2f} ({n:,} people)" for t, n in data.select("total", "people").rows()]),
        place=pl.col("part").replace_strict(order, default=len(kept), return_dtype=pl.Int64),
    )
    data = aggregated(data, ["name", "part", "nats", "shown", "place"])
    names = list(dict.fromkeys(data["name"]))
    base = alt.Chart(data).encode(y=_y(names))
    colours = alt.Scale(domain=kept, range=list(COLOURS[: len(kept)]))
    legend = alt.Legend(title=None, orient="top", columns=6)
    bars = base.mark_bar(height=18).encode(
        x=alt.X("nats:Q", title="Mean contribution in nats", axis=alt.Axis(tickCount=6, gridDash=[2, 3])),
        color=alt.Color("part:N", scale=colours, legend=legend), order="place:Q",
    )  # fmt: skip
    ends = alt.Chart(data.unique("name", maintain_order=True)).encode(y=_y(names))
    head = chart_title("What makes people stand out", [mean, "At the right: the sum."], "bounds")
    layers = alt.layer(bars, _words(ends))
    return styled(layers.properties(width=WIDTH, height=ROW * len(names), title=head))


def clearing_chart(result: Clearing) -> Any:
    """How many targets stay above the limit if one variable becomes coarser; pale: how many are above it now."""
    import altair as alt

    frame = result.frame.filter(pl.col("cleared") > 0)
    if not frame.height:
        nobody = {"coarsening": ["no single coarsening clears anybody"], "cleared": [0], "raised": [0]}
        frame = pl.DataFrame({**nobody, "over": [result.over]})
    said_ = [f"{n:,} cleared" + (f", {k:,} raised" * bool(k)) for n, k in frame.select("cleared", "raised").rows()]
    data = frame.select("over", name="coarsening", now=pl.lit(result.over), shown=pl.Series(said_))
    data = aggregated(data, ["name", "over", "now", "shown"])
    names = list(dict.fromkeys(data["name"]))
    base = alt.Chart(data).encode(y=_y(names))
    axis = alt.Axis(tickCount=5, gridDash=[2, 3], format=",.6~g")
    x = alt.X("now:Q", title=f"Targets above {result.limit:g} afterwards (pale: now)", axis=axis)
    pale, strong = base.mark_bar(height=20, color=PALE).encode(x=x), base.mark_bar(height=12, color=COLOURS[0])
    said = (
        f"{result.over:,} of {result.targets:,} targets are above {result.limit:g}; each row is an attack of its own."
    )
    head = chart_title("What one coarsening would clear", [said], frame="bounds")
    layers = alt.layer(pale, strong.encode(x="over:Q"), _words(base))
    return styled(layers.properties(width=WIDTH, height=26 * len(names), title=head))


def by_group_chart(result: ByGroup) -> Any:
    """The share of each group that is found, with its interval, beside the file's (dashed); without truth, claims.

    >>> import confide as cf
    >>> release = cf.Plan([], identifiers=["id"]).protect(cf.demo("heads").head(300), seed=1)
    >>> by_group_chart(cf.Intruder(knows=["sex", "age"]).attack(release).by("race")).to_dict()["title"]["text"]
    'Who is found, by group'
    """
    import altair as alt

    known = result.found_share is not None
    at = pl.col("found_share") if known else pl.col("claimed") / pl.col("people")
    data = result.frame.select(
        "low", "high", "people", name=pl.format("{}: {}", "variable", "group"), at=at,
        above=pl.col("beyond").fill_null(value=False),
    )  # fmt: skip
    said = [f"{_percent(a)} of {n:,}" for a, n in zip(data["at"], data["people"], strict=True)]
    data = aggregated(data.with_columns(pl.Series("shown", said)), ["name", "at", "low", "high", "above", "shown"])
    names = data["name"].to_list()
    base = alt.Chart(data).encode(y=_y(names))
    axis = alt.Axis(tickCount=5, gridDash=[2, 3], format=".2~%")
    x = alt.X("at:Q", title="Share of the group's people found" if known else "Share claimed", axis=axis,
              scale=alt.Scale(zero=True))  # fmt: skip
    colour = alt.condition("datum.above", alt.value(WORDS[COLOURS[1]]), alt.value(COLOURS[0]))
    bars = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour)
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=x, color=colour)
    layers = [bars, dots, _words(base)]
    if known:
        line = alt.Chart(pl.DataFrame({"file": [result.found_share]}))
        layers.insert(0, line.mark_rule(strokeDash=[5, 4], color=QUIET, strokeWidth=1.5).encode(x="file:Q"))
    guide = ["Dashed: the whole file. Bars: 95% intervals. Orange: above the others beyond noise."] if known else []
    head = chart_title("Who is found, by group", guide, frame="bounds")
    return styled(alt.layer(*layers).properties(width=WIDTH, height=ROW * len(names), title=head))


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"
