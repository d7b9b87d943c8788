"""Plans as points between risk and utility, numbered or named; from a table of numbers as they are shown."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import polars as pl

from confide.measure.utility.measure import Measure
from confide.show.charts.drawing import COLOURS, INK, QUIET, aggregated
from confide.show.charts.label_places import Spot, placed
from confide.show.charts.map_labels import pixels
from confide.show.charts.map_points import NOTHING
from confide.show.charts.map_scales import PAD, RiskAxis, Tick, UtilityAxis, thinned, ticked, usual_scale
from confide.show.charts.plan_charts import finished
from confide.show.charts.theory_labels import dense, text_layer

WIDE, NARROW = (620, 400), (270, 300)
LETTERS, TOGETHER = 28, 10.0
"""Letters of the longest name beside a point; pixels within which points share one."""
BESIDE = 14.0
"""Pixels up or down from the corner within which "release nothing" is still read as its name."""
MOST_NAMES = 12
"""With more plans than that names would cover points; numbers stand for them."""
FIELDS = (
    "number",
    "plan",
    "risk",
    "risk_low",
    "risk_high",
    "utility",
    "utility_low",
    "utility_high",
    "on_frontier",
    "shown",
)


def points_chart(
    frame: pl.DataFrame, risk: str, measure: Measure, top: float, title: str = "", narrow: bool = False,
    chosen: str | None = None,
) -> Any:  # fmt: skip
    """One point per plan between the same fixed ends as the R-U map: risk from 0 to `top`, that of "release
    everything", utility from the worse end of the measure's range to its best.

    `frame` has the columns in `FIELDS`. Points of the frontier are filled and joined; a ring marks the choice.

    >>> import confide as cf
    >>> rows = {"number": [1, 2], "plan": ["a", "b"], "on_frontier": [True, True], "shown": ["", ""]}
    >>> rows |= {k: [9.0, 1.0] for k in ("risk", "risk_low", "risk_high")}
    >>> rows |= {k: [0.1, 0.4] for k in ("utility", "utility_low", "utility_high")}
    >>> points_chart(pl.DataFrame(rows), "expected matches", cf.Hellinger(), 9.0).to_dict()["height"]
    400
    """
    import altair as alt

    known = aggregated(frame, list(FIELDS)).drop_nulls(["risk", "utility"])
    axes = RiskAxis(top, "sqrt"), UtilityAxis(measure, usual_scale(measure, "sqrt"))
    places = [_placed(known[f"risk{end}"], f"x{end}", axes[0].at) for end in ("", "_low", "_high")]
    places += [_placed(known[f"utility{end}"], f"y{end}", axes[1].at) for end in ("", "_low", "_high")]
    data = known.select("number", "plan", "on_frontier", "shown").with_columns(places)
    width, height = NARROW if narrow else WIDE
    x = _axis("x", f"{risk}, square-root scale", axes[0].ticks(), 0.18 if narrow else 0.08)
    y = _axis("y", f"{measure.name} (up: better)", axes[1].ticks(), 0.07)
    front = data.filter("on_frontier").sort("x", "y")
    line = alt.Chart(front).mark_line(color=COLOURS[0], strokeWidth=1.5, interpolate="step-after")
    layers = [
        line.encode(x=x, y=y, order="x:Q"),
        alt.Chart(data).mark_rule(color=QUIET).encode(y=y, x=_end("x_low", x), x2="x_high:Q"),
        alt.Chart(data).mark_rule(color=QUIET).encode(x=x, y=_end("y_low", y), y2="y_high:Q"),
    ]
    tooltip = ["number:Q", "plan:N", alt.Tooltip("shown:N", title="risk; utility")]
    for on, fill in ((False, "white"), (True, COLOURS[0])):
        dots = alt.Chart(data.filter(pl.col("on_frontier") == on))
        mark = dots.mark_point(size=75, fill=fill, stroke=COLOURS[0], strokeWidth=1.6, opacity=1)
        layers.append(mark.encode(x=x, y=y, tooltip=tooltip))
    nothing = alt.Chart(pl.DataFrame({"x": [0.0], "y": [0.0]}))
    layers.append(nothing.mark_point(shape="diamond", size=60, color=INK, filled=True, opacity=1).encode(x=x, y=y))
    ring = alt.Chart(data.filter(pl.col("plan") == (chosen or "")))
    layers.append(
        ring.mark_point(size=330, stroke=COLOURS[1], strokeWidth=2.5, filled=False, opacity=1).encode(x=x, y=y)
    )
    names = _labels(data, (width, height), narrow or data.height > MOST_NAMES, chosen)
    apart = alt.Resolve(scale={"x": "independent", "y": "independent", "color": "independent"})
    return finished([alt.layer(*layers), names], width, height, title, resolve=apart)


def _placed(values: pl.Series, name: str, at: Callable[[float], float]) -> pl.Series:
    """Numbers as places on an axis."""
    return pl.Series(name, [None if v is None else at(v) for v in values], dtype=pl.Float64)


def _axis(field: str, title: str, ticks: list[Tick], gap: float) -> Any:
    import altair as alt

    kind = alt.Y if field == "y" else alt.X
    scale = alt.Scale(domain=[-PAD, 1 + PAD], nice=False, zero=False)
    return kind(f"{field}:Q", title=title, scale=scale, axis=ticked(thinned(ticks, gap)))


def _end(field: str, like: Any) -> Any:
    out = like.copy()
    out.shorthand = f"{field}:Q"
    return out


def _labels(data: pl.DataFrame, size: tuple[int, int], few: bool, chosen: str | None) -> Any:
    """Names beside their points, numbers where names would not fit; one label for points that fall together."""

    def spot(x: float, y: float) -> Spot:
        return pixels(x, y, *size)

    rows = data.select("x", "y", "number", "plan", "on_frontier").rows()
    at: dict[Spot, list[tuple[int, str]]] = {}
    for across, up, number, plan, _ in rows:
        x, y = spot(across, up)
        near = next((s for s in at if abs(s[0] - x) < TOGETHER and abs(s[1] - y) < TOGETHER), (x, y))
        at.setdefault(near, []).append((number, plan))
    front = sorted(spot(x, y) for x, y, *_, on in rows if on)
    steps = [place for (x, y), (z, _) in pairwise(front) for place in ((x, y), (z, y))] + front[-1:]
    walls = [(x, y, 5.0, 5.0) for x, y in (dense(steps) if steps else [])]
    for x, low_end, high_end in data.select("x", "y_low", "y_high").drop_nulls().rows():
        walls += [(p, q, 4.0, 4.0) for p, q in dense([spot(x, low_end), spot(x, high_end)])]
    walls += [(*spot(x, y), 30.0, 30.0) for x, y, _, plan, _ in rows if plan == chosen]
    words = [_numbers([k for k, _ in here]) if few else _names([p for _, p in here]) for here in at.values()]
    places = [*at, spot(0.0, 0.0)]
    words.append(NOTHING)
    spots = placed(places, words, *size, walls)
    if abs(spots[-1][1] - places[-1][1]) > BESIDE:  # no room beside the corner, and elsewhere it would be misread
        words, spots = words[:-1], spots[:-1]
    return text_layer([(w, *s) for w, s in zip(words, spots, strict=True)], [INK] * len(words), *size)


def _names(plans: list[str]) -> str:
    first = plans[0] if len(plans[0]) <= LETTERS else plans[0][: LETTERS - 1] + "…"
    return first if len(plans) == 1 else f"{first} and {len(plans) - 1} more"


def _numbers(found: list[int]) -> str:
    """Numbers as text, runs shortened.

    >>> _numbers([1, 2, 3, 7])
    '1-3, 7'
    """
    runs: list[list[int]] = []
    for k in sorted(found):
        if runs and k == runs[-1][-1] + 1:
            runs[-1].append(k)
        else:
            runs.append([k])
    return ", ".join(str(r[0]) if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs)
