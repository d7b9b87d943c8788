"""Charts of the risk-utility theory: the R-U map, the swapping rate under a limit, uniques by noise."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError
from confide.show.charts.drawing import COLOURS, INK, QUIET, aggregated, chart_title, log_ticks, styled
from confide.show.charts.label_places import LETTER, LINE, Spot, placed
from confide.show.charts.theory_labels import curve_labels, dense, text_layer, together
from confide.theory import SwapRelease, UniquesNoise, best_rate, ru_curve
from confide.theory.base import is_number

WIDTH, HEIGHT, LOWER = 620, 440, 320
HEADROOM = 1.05
"""Heights above the largest risk that stay free."""
SAID = {
    "mean": "by the mean", "linked": "linked", "shrink_known": "linked, shrinks to known mean",
    "shrink_sample": "linked, shrinks to sample mean", "value": "by one value", "mu": "by mu of a copy",
    "copy_mean": "by a copy's mean", "grand_mean": "by the grand mean", "attribute": "value in place",
    "worst": "best snooper", "nobody": "",
}  # fmt: skip
RISKS = (0.0, 0.2, 0.5, 1.0, 2.0, 5.0, math.inf)
ENDLESS = "∞"


def theory_map(frame: pl.DataFrame, *, relative: bool = False, half: float = 1.0, title: str | None = None) -> Any:
    """The R-U map: one curve a release and snooper, named beside it; a point where there is one row.

    `frame` has the columns of `confide.theory.ru_curve` and `ru_anchors`; say `relative=True` if they were made
    so. Risk reaches from 0 to infinity, so its height is R / (half + R): `half` is the risk drawn at half height.

    >>> from confide.theory import NoiseRelease, ru_anchors, ru_curve
    >>> curve = ru_curve(NoiseRelease(100, 1.0, 0.0), [0.1, 0.5, 1, 2], snoopers="linked", relative=True)
    >>> chart = theory_map(pl.concat([curve, ru_anchors(100, 1.0, relative=True)]), relative=True)
    >>> chart.to_dict()["title"]["text"]
    'Disclosure risk and data utility'
    """
    import altair as alt

    data = _map_rows(frame, half)
    names = list(dict.fromkeys(data["release"]))
    with_curves = [n for n in names if data.filter((pl.col("release") == n) & pl.col("many")).height]
    if len(with_curves) > len(COLOURS):
        raise InputError(f"The chart has colours for {len(COLOURS)} releases, but the table has {len(with_curves)}.")
    colours = {**dict.fromkeys(names, INK), **dict(zip(with_curves, COLOURS, strict=False))}
    right = HEADROOM * max(data["utility"]) or 1.0
    x, y = _map_axes(relative, half, right)
    colour = alt.Color("release:N", scale=alt.Scale(domain=names, range=[colours[n] for n in names]), legend=None)
    numbers = [alt.Tooltip(f"{c}:Q", format=".4g") for c in ("parameter", "risk", "utility")]
    encoding = {"x": x, "y": y, "color": colour, "tooltip": ["release:N", "snooper:N", *numbers]}
    parts = data.partition_by("release", "snooper", maintain_order=True)
    curves = [[(WIDTH * u / right, HEIGHT * (1 - h / HEADROOM)) for u, h in p.select("utility", "height").rows()]
              for p in parts]  # fmt: skip
    words = [", ".join(t for t in (p["release"][0], SAID.get(p["snooper"][0], p["snooper"][0])) if t) for p in parts]
    labels = curve_labels(curves, words, WIDTH, HEIGHT)
    text = text_layer(labels, [colours[p["release"][0]] for p in parts], WIDTH, HEIGHT)
    layers = []
    for k, part in enumerate(parts):
        # Curves that fall together stay visible: those drawn first are wider.
        width = 2.2 + 3.0 * sum(together(curves[k], other) for other in curves[k + 1 :])
        base = alt.Chart(part)
        mark = (
            base.mark_line(strokeWidth=width) if part.height > 1 else base.mark_point(size=90, filled=True, opacity=1)
        )
        layers.append(mark.encode(**encoding, **({"order": "parameter:Q"} if part.height > 1 else {})))
    chart = alt.layer(alt.layer(*layers), text).resolve_scale(x="independent", y="independent", color="independent")
    said = [f"Up: more risk, at height R / ({half:g} + R), so that {ENDLESS} has a place. Right: more utility."]
    if relative:
        said.append("No units: R sigma² = 1 is the risk from somebody who knows the mean and nothing else.")
    head = chart_title(title or "Disclosure risk and data utility", said, frame="bounds")
    return styled(chart.properties(width=WIDTH, height=HEIGHT, title=head))


def _map_rows(frame: pl.DataFrame, half: float) -> pl.DataFrame:
    """The rows of a map with their heights; an infinite risk is written as nothing, since JSON has no word for it."""
    if not is_number(half) or not 0 < half < math.inf:
        raise InputError("half is the risk that is drawn at half height, a finite number above 0.")
    data = aggregated(frame, ["release", "parameter", "snooper", "risk", "utility"])
    if "identity" in set(data["snooper"]):
        raise InputError('The risk of snooper "identity" is a probability, on another scale: leave these rows out.')
    if data["risk"].is_null().any() or data["utility"].is_null().any():
        raise InputError("Every row of the table must have a risk and a utility.")
    endless = pl.col("risk").is_infinite()
    return data.with_columns(
        many=pl.len().over("release", "snooper") > 1,
        height=pl.when(endless).then(1.0).otherwise(pl.col("risk") / (half + pl.col("risk"))),
        risk=pl.when(~endless).then(pl.col("risk")),
    )


def _map_axes(relative: bool, half: float, right: float) -> tuple[Any, Any]:
    import altair as alt

    what = "Utility kept: U of the release / U of the original" if relative else "Data utility, U = 1 / MSE of the user"
    how = "Disclosure risk, R sigma²" if relative else "Disclosure risk, R = 1 / MSE of the snooper"
    marks = {1.0 if math.isinf(r) else r / (1 + r): ENDLESS if math.isinf(r) else f"{r * half:g}" for r in RISKS}
    words = " : ".join(f"abs(datum.value - {at}) < 1e-6 ? '{t}'" for at, t in marks.items()) + " : ''"
    x = alt.X("utility:Q", title=what, scale=alt.Scale(domain=[0, right], nice=False),
              axis=alt.Axis(format="~g", tickCount=6, labelFlush=False))  # fmt: skip
    y = alt.Y("height:Q", title=how, scale=alt.Scale(domain=[0, HEADROOM], nice=False),
              axis=alt.Axis(values=list(marks), labelExpr=words, labelFlush=False))  # fmt: skip
    return x, y


def swap_chart(release: SwapRelease, limit: float | None = None, title: str | None = None) -> Any:
    """R against U while the swapping rate runs from 0 to 1, as in print; with a limit, the best rate under it.

    The second curve is that of a snooper who guesses by the mean of the target's area, beyond print.

    >>> chart = swap_chart(SwapRelease(sigma=1.0, difference=1.0, rate=0.0), limit=1.0)
    >>> chart.to_dict()["title"]["text"]
    'The swapping rate, from 1 (left) to 0 (right)'
    """
    import altair as alt

    if not release.difference:
        raise InputError("With no difference between the areas swapping costs no utility: there is no curve to draw.")
    top = max(1.6 * (limit or 0.0), replace(release, rate=0.1).risk("attribute")) * HEADROOM
    data = aggregated(ru_curve(release, np.linspace(0, 1, 201)), ["parameter", "snooper", "risk", "utility"])
    data = data.filter(pl.col("risk") <= top)
    low, high = min(data["utility"]), max(data["utility"])
    low, high = low - 0.08 * (high - low), high + 0.08 * (high - low)
    tenths = data.filter(pl.col("snooper") == "attribute")
    tenths = tenths.filter((tenths["parameter"] * 10 - (tenths["parameter"] * 10).round()).abs() < 1e-6)
    x = alt.X("utility:Q", title="Data utility, U = 1 / MSE of the difference of means",
              scale=alt.Scale(domain=[low, high], nice=False), axis=alt.Axis(format="~g", tickCount=7))  # fmt: skip
    y = alt.Y("risk:Q", title="Disclosure risk, R = 1 / MSE of the snooper",
              scale=alt.Scale(domain=[0, top], nice=False), axis=alt.Axis(format="~g", tickCount=6))  # fmt: skip
    colour = alt.Color("snooper:N", legend=None,
                       scale=alt.Scale(domain=["attribute", "mean"], range=list(COLOURS[:2])))  # fmt: skip
    layers = [
        alt.Chart(data).mark_line(strokeWidth=2.2).encode(x=x, y=y, color=colour, order="parameter:Q"),
        alt.Chart(tenths).mark_point(size=45, filled=True, opacity=1, color=COLOURS[0]).encode(x=x, y=y),
    ]
    marks = tenths.select("utility", "risk", words=pl.col("parameter").round(1).cast(pl.String), ink=pl.lit(COLOURS[0]))
    if limit is not None:
        rate = best_rate(limit, sigma=release.sigma, difference=release.difference, sizes=release.sizes)
        utility = replace(release, rate=rate).utility()
        words = f"limit {limit:g}: rate {rate:.3g}, U {utility:.3g}"
        best = pl.DataFrame({"utility": [utility], "risk": [float(limit)], "words": [words], "ink": [COLOURS[2]]})
        layers += [
            alt.Chart(best).mark_rule(strokeDash=[5, 4], color=QUIET).encode(y=y),
            alt.Chart(best).mark_point(size=110, filled=True, opacity=1, color=COLOURS[2]).encode(x=x, y=y),
        ]
        marks = pl.concat([best, marks])
    text = _swap_words(data, marks, limit, (low, high, top))
    chart = alt.layer(alt.layer(*layers), text).resolve_scale(x="independent", y="independent", color="independent")
    a, b = release.sizes
    said = [
        f"Areas of {a} and {b}, sigma = {release.sigma:g}, difference of means = {release.difference:g}. Dots: rates.",
        "At small rates the risk leaves the drawing: at rate 0 it is infinite.",
    ]
    head = chart_title(title or "The swapping rate, from 1 (left) to 0 (right)", said, frame="bounds")
    return styled(chart.properties(width=WIDTH, height=HEIGHT, title=head))


def _swap_words(data: pl.DataFrame, marks: pl.DataFrame, limit: float | None, ends: tuple[float, ...]) -> Any:
    """Names of curves, rates and limit, off the curves and off each other."""
    low, high, top = ends

    def pixels(frame: pl.DataFrame) -> list[Spot]:
        rows = frame.select("utility", "risk").rows()
        return [(WIDTH * (u - low) / (high - low), HEIGHT * (1 - r / top)) for u, r in rows]

    curves = [pixels(data.filter(pl.col("snooper") == k)) for k in ("attribute", "mean")]
    walls = [(p, q, 4.0, 4.0) for c in curves for p, q in dense(c)]
    if limit is not None:
        walls.append((WIDTH / 2, HEIGHT * (1 - limit / top), float(WIDTH), 2.0))
    words = marks["words"].to_list()
    spots = placed(pixels(marks), words, WIDTH, HEIGHT, walls)
    boxes = [(*s, LETTER * len(w), LINE) for s, w in zip(spots, words, strict=True)]
    names = curve_labels(curves, ["by the value in place", "by the area's mean"], WIDTH, HEIGHT, [*walls, *boxes])
    labels = [*((w, *s) for w, s in zip(words, spots, strict=True)), *names]
    return text_layer(labels, [*marks["ink"], *COLOURS[:2]], WIDTH, HEIGHT)


def uniques_chart(frame: pl.DataFrame, found: UniquesNoise | None = None, title: str | None = None) -> Any:
    """The share of linkable uniques by the size of the noise, with the limit and the smallest noise that meets it.

    `frame` as from `uniques_curve` (ratios above 0: the axis is logarithmic), `found` from
    `smallest_noise_for_uniques`.

    >>> from confide.theory import uniques_curve
    >>> frame = uniques_curve([1.0, 2.0, 4.0, 7.0], [0.01, 0.1, 1.0])
    >>> uniques_chart(frame).to_dict()["title"]["text"]
    'Uniques that can be linked, by the size of the noise'
    """
    import altair as alt

    data = aggregated(frame, ["ratio", "share", "standard_error"]).filter(pl.col("ratio") > 0).sort("ratio")
    if data.height < 2:
        raise InputError("The chart needs at least two ratios above 0.")
    low, high = float(data["ratio"][0]), float(data["ratio"][-1])
    near = 2 * pl.col("standard_error")
    data = data.with_columns(low=(pl.col("share") - near).clip(0, 1), high=(pl.col("share") + near).clip(0, 1))
    x = alt.X("ratio:Q", title="Noise, in standard deviations of each variable",
              scale=alt.Scale(type="log", domain=[low, high], nice=False),
              axis=alt.Axis(values=log_ticks(low, high), format="~g", grid=False, labelFlush=False))  # fmt: skip
    y = alt.Y("share:Q", title="Share of records", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".0%"))
    layers = [
        alt.Chart(data).mark_area(opacity=0.2, color=COLOURS[0]).encode(x=x, y=alt.Y("low:Q"), y2="high:Q"),
        alt.Chart(data).mark_line(strokeWidth=2.2, color=COLOURS[0]).encode(x=x, y=y),
    ]
    chart = alt.layer(*layers)
    if found is not None and low <= found.ratio <= high:
        here = pl.DataFrame({"ratio": [found.ratio], "share": [found.share], "limit": [found.limit]})
        chart += alt.Chart(here).mark_rule(strokeDash=[5, 4], color=QUIET).encode(y=alt.Y("limit:Q"))
        chart += alt.Chart(here).mark_point(size=110, filled=True, opacity=1, color=COLOURS[2]).encode(x=x, y=y)
        *curve, point = [
            (WIDTH * math.log(r / low) / math.log(high / low), LOWER * (1 - s))
            for r, s in [*data.select("ratio", "share").rows(), (found.ratio, found.share)]
        ]
        walls = [*((p, q, 4.0, 4.0) for p, q in dense(curve)), (WIDTH / 2, LOWER * (1 - found.limit), 1.0 * WIDTH, 2.0)]
        words = f"limit {100 * found.limit:.3g}%: noise {found.ratio:.3g}"
        [spot] = placed([point], [words], WIDTH, LOWER, walls)
        text = text_layer([(words, *spot)], [COLOURS[2]], WIDTH, LOWER)
        chart = alt.layer(chart, text).resolve_scale(x="independent", y="independent", color="independent")
    said = ["Records that no other equals and whose own noisy record is the nearest to their true values."]
    head = chart_title(title or "Uniques that can be linked, by the size of the noise", said, frame="bounds")
    return styled(chart.properties(width=WIDTH, height=LOWER, title=head))
