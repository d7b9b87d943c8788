"""The R-U map of a study: candidates between "release nothing" and "release everything", and which none beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.measure.utility.measure import Measure
from confide.show.charts.drawing import INK, QUIET, chart_title, styled
from confide.show.charts.map_labels import label_layer, named_points
from confide.show.charts.map_points import NOTHING, limit_of, marked_plan, points_of
from confide.show.charts.map_scales import PAD, SCALES, RiskAxis, UtilityAxis, ticked, unstretched, usual_scale
from confide.show.charts.svg import wrapped
from confide.show.names import said as in_words
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.asked import checked_risk
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.frontier import frontier, frontier_band
from confide.study.tradeoff.question import number
from confide.study.tradeoff.risk_names import about_file, own_risks

WIDTH, HEIGHT = 640, 440
LETTERS = 100
"""Of a line of the subtitle."""
MOST_NAMED = 5
"""Plans that the subtitle names."""
BAND, BAND_STEPS = "#dedede", 160
TOLD = ["plan", "risk", "utility", "on the frontier", "beaten by", "worst intruder"]


def map_chart(
    frame: pl.DataFrame, risk: str, utility: Measure, *, intruder: str | None = None, scale: str = "sqrt",
    utility_scale: str | None = None, limits: Mapping[str, float] | None = None, choice: Choice | str | None = None,
    title: str | None = None, random: Mapping[str, bool] | None = None,
) -> Any:  # fmt: skip
    """Risk to the right, utility upwards; each candidate with its 95% intervals, sweeps joined in their order.

    The axes are absolute: risk from 0 to that of "release everything", utility from the worse end of the measure's
    range to its best value (`UtilityAxis` says how an infinite end is drawn). No candidate moves them: one with more
    risk than "release everything" is drawn as a triangle at the right edge. `scale`: "sqrt" gives more room to small
    risks and small losses, "symlog" still more, "linear" is how the R-U map was first drawn; `utility_scale` where the
    upward axis should differ (a share that is kept, such as ci_overlap, is linear unless said otherwise). `limits`: a
    line at the limit of the risk that is drawn. `choice`: the plan to mark. Of more than 300 plans the frontier, the
    choice, the ends of sweeps and some of the others are drawn, and the subtitle says how many are not. `frame` is the
    table of a study; `random` says which plans have random steps.
    """
    import altair as alt

    learnt = own_risks(frame.columns)
    risk = checked_risk(risk, [utility], learnt=learnt)
    for what, given in (("scale", scale), ("utility_scale", utility_scale)):
        if given not in SCALES and (what, given) != ("utility_scale", None):
            raise InputError(f'{what} is one of {", ".join(SCALES)}, not "{given}".')
    found = frontier(frame, risk, utility, intruder, random=random)
    axes = RiskAxis(_top(found, risk), scale), UtilityAxis(utility, utility_scale or usual_scale(utility, scale))
    limit, chosen = limit_of(limits, choice, risk, utility, learnt), marked_plan(choice, found)
    points = points_of(found, frame, *axes, chosen)
    place = _Places(*axes, risk)
    steps = staircase(points)
    band = frontier_band(frame, risk, utility, _risks(axes[0]), intruder, random=random)
    parts = [*_frontier_layers(place, steps, _band(band, *axes)), *_limit_layers(place, axes[0], limit)]
    parts += _point_layers(place, points, chosen)
    names = [*named_points(points, chosen), (NOTHING, 0.0, 0.0, INK, True)]
    lines = [*([steps] if len(steps) > 1 else []), *_bars(points), *_sweeps(points)]
    if limit is not None:
        at = axes[0].at(limit)
        lines.append([(at, -PAD), (at, 1 + PAD)])
        names.append((f"limit {number(limit)}", at, -PAD * 0.6, QUIET, True))
    text, lettered = label_layer(names, lines, WIDTH, HEIGHT, _spots(points, chosen))
    chart = alt.layer(alt.layer(*parts), text).resolve_scale(x="independent", y="independent", color="independent")
    said = [*_subtitle(found, frame, "" if about_file(risk) else intruder, axes[0], points.height), *_letters(lettered)]
    head = chart_title(title or "Risk and utility of candidate releases", said, frame="bounds")
    return styled(chart.properties(width=WIDTH, height=HEIGHT, title=head))


def _top(found: pl.DataFrame, risk: str) -> float:
    """The risk of releasing everything, at which the axis ends."""
    anchor = found.filter(pl.col("plan") == EVERYTHING)["risk"]
    if not len(anchor) or anchor[0] is None:
        raise InputError(
            f'The map ends at the {risk} of "{EVERYTHING}", which is not known; run a study, which has it.'
        )
    return float(anchor[0])


class _Places:
    """Channels on the two axes, the same for every layer."""

    def __init__(self, across: RiskAxis, up: UtilityAxis, risk: str) -> None:
        how = {"sqrt": ", square-root scale", "symlog": ", logarithmic scale", "linear": ""}
        self.x = f"Disclosure risk: {in_words(risk)}{how[across.scale]}", across.ticks()
        self.y = f"{up.title}{how[up.scale]}", up.ticks()

        self.told = False

    def encode(self, x: str = "x", y: str = "y", **more: Any) -> dict[str, Any]:
        """Both channels; the first layer that asks has the ticks, the others share them."""
        import altair as alt

        out: dict[str, Any] = {}
        for name, channel, field, (title, ticks) in (("x", alt.X, x, self.x), ("y", alt.Y, y, self.y)):
            scale = alt.Scale(domain=[-PAD, 1 + PAD], nice=False, zero=False)
            axis = alt.Undefined if self.told else ticked(ticks)
            out[name] = channel(f"{field}:Q", title=title, scale=scale, axis=axis)
        self.told = True
        return out | more


def _risks(axis: RiskAxis) -> list[float]:
    places = np.linspace(0, 1, BAND_STEPS + 1)
    return [axis.top * unstretched(float(p), axis.scale) for p in places]


def _band(band: pl.DataFrame, across: RiskAxis, up: UtilityAxis) -> pl.DataFrame:
    """The band as places, from where nearly all draws have a plan with so little risk."""
    higher = up.measure.direction == "higher"
    rows = []
    for risk, _, low, high in band.iter_rows():
        worse, better = (low, high) if higher else (high, low)
        if better is not None and worse is not None:
            rows.append((across.at(risk), up.at(worse), up.at(better)))
    return pl.DataFrame(rows, schema={"x": pl.Float64, "y": pl.Float64, "top": pl.Float64}, orient="row")


def staircase(points: pl.DataFrame) -> list[tuple[float, float]]:
    """The frontier as a staircase: the best utility within each risk."""
    on = points.filter("on_frontier").sort("x", "y").select("x", "y").rows()
    out = list(on[:1])
    for (_, low), (x, y) in pairwise(on):
        out += [(x, low), (x, y)]
    return [*out, (1.0, out[-1][1])] if out and out[-1][0] < 1 else out


def _spots(points: pl.DataFrame, chosen: str | None) -> list[tuple[float, float, float]]:
    """Points that names keep off, with their sizes in pixels."""
    return [(x, y, 24.0 if plan == chosen else 14.0) for plan, x, y in points.select("plan", "x", "y").iter_rows()]


def _bars(points: pl.DataFrame) -> list[list[tuple[float, float]]]:
    rows = points.select("x", "y", "x_low", "x_high", "y_low", "y_high").rows()
    flat = [[(a, y), (b, y)] for _, y, a, b, _, _ in rows if b > a]
    return flat + [[(x, c), (x, d)] for x, _, _, _, c, d in rows if d > c]


def _sweeps(points: pl.DataFrame) -> list[list[tuple[float, float]]]:
    parts = points.filter(pl.col("value").is_not_null()).partition_by("sweep", maintain_order=True)
    return [p.select("x", "y").rows() for p in parts if p.height > 1]


def _frontier_layers(place: _Places, steps: list[tuple[float, float]], band: pl.DataFrame) -> list[Any]:
    import altair as alt

    out = []
    if band.height > 1:
        area = alt.Chart(band).mark_area(color=BAND, opacity=0.8, interpolate="step-after", line=False)
        out.append(area.encode(**place.encode(), y2="top:Q"))
    if len(steps) > 1:
        rows = pl.DataFrame([(k, *s) for k, s in enumerate(steps)], schema=["k", "x", "y"], orient="row")
        line = alt.Chart(rows).mark_line(color=INK, strokeWidth=1.2, interpolate="linear")
        out.append(line.encode(**place.encode(), order="k:Q"))
    return out


def _limit_layers(place: _Places, axis: RiskAxis, limit: float | None) -> list[Any]:
    import altair as alt

    if limit is None:
        return []
    at = pl.DataFrame({"x": [axis.at(limit)], "y": [-PAD], "to": [1 + PAD]})
    return [alt.Chart(at).mark_rule(strokeDash=[5, 4], color=QUIET).encode(**place.encode(), y2="to:Q")]


def _point_layers(place: _Places, points: pl.DataFrame, chosen: str | None) -> list[Any]:
    """Lines of sweeps, intervals, points, and a ring around the choice."""
    import altair as alt

    ink = alt.Color("ink:N", scale=None)
    out = []
    curves = points.filter(pl.col("value").is_not_null() & (pl.len().over("sweep") > 1))
    if curves.height:
        line = alt.Chart(curves).mark_line(strokeWidth=1.8)
        out.append(line.encode(**place.encode(color=ink, detail="sweep:N", order="value:Q")))
    for low, high, way in (("x_low", "x_high", "x"), ("y_low", "y_high", "y")):
        bars = points.filter(pl.col(high) > pl.col(low))
        if bars.height:
            rule = alt.Chart(bars).mark_rule(strokeWidth=1.4, opacity=0.75)
            channels = place.encode(**{way: low}, color=ink)
            out.append(rule.encode(**channels, **{f"{way}2": f"{high}:Q"}))
    under = alt.Chart(points).mark_point(size=80, filled=True, opacity=1, color="white")
    shape = alt.Shape("shape:N", scale=None)
    out.append(under.encode(**place.encode(shape=shape)))
    dots = alt.Chart(points).mark_point(size=80, strokeWidth=1.6, opacity=1)
    told = [alt.Tooltip(f"{name}:N") for name in TOLD]
    out.append(dots.encode(**place.encode(
        stroke=alt.Stroke("ink:N", scale=None), fill=alt.Fill("ink:N", scale=None), shape=shape, tooltip=told,
        fillOpacity=alt.FillOpacity("sure:Q", scale=None, legend=None),
    )))  # fmt: skip
    anchors = (
        points.filter(pl.col("plan") == EVERYTHING).select("x", "y").vstack(pl.DataFrame({"x": [0.0], "y": [0.0]}))
    )
    out.append(alt.Chart(anchors).mark_point(size=90, shape="diamond", filled=True, color=INK, opacity=1)
               .encode(**place.encode()))  # fmt: skip
    ring = points.filter(pl.col("plan") == chosen) if chosen else points.clear()
    if ring.height:
        mark = alt.Chart(ring).mark_point(size=330, strokeWidth=2.2, color=INK, opacity=1, filled=False)
        out.append(mark.encode(**place.encode()))
    return out


def _letters(names: Sequence[str]) -> list[str]:
    """What letters beside points stand for, in lines."""
    return wrapped("; ".join(names), LETTERS) if names else []


def _subtitle(found: pl.DataFrame, frame: pl.DataFrame, intruder: str | None, axis: RiskAxis, drawn: int) -> list[str]:
    who = frame["intruder"].unique(maintain_order=True).to_list()
    by = f'intruder "{intruder or who[0]}"' if intruder or len(who) == 1 else f"the worst of {len(who)} intruders"
    by = "of the released file, the same for every intruder" if intruder == "" else f"by {by}"
    said = [f"Risk {by}. Better: left and up. Bars: 95% intervals over repeats. Line: the frontier."]
    if frame["repeat"].n_unique() > 1:
        said.append("Grey: the frontier in 95% of draws of the means. Fill of a point: how often no other beats it.")
    lost = found.filter(pl.col("note").is_not_null())["plan"].to_list()
    if lost:
        more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        said.append(f"Not drawn, a number cannot be computed: {', '.join(lost[:MOST_NAMED])}{more}.")
    many = found.height - len(lost)
    if many > drawn:
        said.append(f"{drawn:,} of {many:,} plans are drawn; {many - drawn:,} are not.")
    over = found.filter(pl.col("risk") > axis.top * (1 + 1e-9))["plan"].to_list()
    if over:
        said.append(f'Triangle: more risk than "{EVERYTHING}", beyond the axis.')
    return said
