"""Plans as points between risk and utility, numbered or named; from a table of numbers as they are shown."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl

from confide.show.drawing import COLOURS, INK, QUIET, aggregated
from confide.show.label_places import Spot, placed
from confide.show.plan_charts import FORMAT, finished
from confide.show.theory_labels import dense, text_layer

WIDE, NARROW = (620, 400), (270, 300)
LETTERS, TOGETHER = 28, 10.0
"""Letters of the longest name beside a point; pixels within which points share one."""
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
    frame: pl.DataFrame, risk: str, utility: str, better: str, title: str = "", narrow: bool = False,
    chosen: str | None = None,
) -> Any:  # fmt: skip
    """One point a plan: risk to the right, utility upwards, whichever way the measure points (`better`).

    `frame` has the columns in `FIELDS`. Points of the frontier are filled and joined; a ring marks the choice.

    >>> rows = {"number": [1, 2], "plan": ["a", "b"], "on_frontier": [True, True], "shown": ["", ""]}
    >>> rows |= {k: [9.0, 1.0] for k in ("risk", "risk_low", "risk_high")}
    >>> rows |= {k: [0.1, 0.4] for k in ("utility", "utility_low", "utility_high")}
    >>> points_chart(pl.DataFrame(rows), "expected matches", "hellinger", "lower").to_dict()["height"]
    400
    """
    import altair as alt

    data = aggregated(frame, list(FIELDS)).drop_nulls(["risk", "utility"])
    width, height = NARROW if narrow else WIDE
    spans = {"utility": _domain(data, "utility"), "risk": (0.0, 1.12 * (max(_all(data, "risk")) or 1.0))}
    x = _axis("risk", risk, spans["risk"])
    y = _axis("utility", f"{utility} (up: better)", spans["utility"], reverse=better == "lower")
    front = data.filter("on_frontier").sort("risk", "utility")
    line = alt.Chart(front).mark_line(color=COLOURS[0], strokeWidth=1.5, interpolate="step-after")
    layers = [
        line.encode(x=x, y=y, order="risk:Q"),
        alt.Chart(data).mark_rule(color=QUIET).encode(y=y, x=_end("risk_low", x), x2="risk_high:Q"),
        alt.Chart(data).mark_rule(color=QUIET).encode(x=x, y=_end("utility_low", y), y2="utility_high:Q"),
    ]
    tooltip = ["number:Q", "plan:N", alt.Tooltip("shown:N", title="risk; utility")]
    for on, fill in ((False, "white"), (True, COLOURS[0])):
        dots = alt.Chart(data.filter(pl.col("on_frontier") == on))
        mark = dots.mark_point(size=75, fill=fill, stroke=COLOURS[0], strokeWidth=1.6, opacity=1)
        layers.append(mark.encode(x=x, y=y, tooltip=tooltip))
    ring = alt.Chart(data.filter(pl.col("plan") == (chosen or "")))
    layers.append(
        ring.mark_point(size=330, stroke=COLOURS[1], strokeWidth=2.5, filled=False, opacity=1).encode(x=x, y=y)
    )
    few = narrow or data.height > MOST_NAMES
    names = _labels(data, spans, (width, height), better, few, chosen)
    apart = alt.Resolve(scale={"x": "independent", "y": "independent", "color": "independent"})
    return finished([alt.layer(*layers), names], width, height, title, resolve=apart)


def _axis(field: str, title: str, span: tuple[float, float], reverse: bool = False) -> Any:
    import altair as alt

    kind = alt.Y if field == "utility" else alt.X
    scale = alt.Scale(domain=list(span), nice=False, reverse=reverse)
    axis = alt.Axis(format=FORMAT, tickCount=5, labelFlush=False)
    return kind(f"{field}:Q", title=title, scale=scale, axis=axis)


def _end(field: str, like: Any) -> Any:
    out = like.copy()
    out.shorthand = f"{field}:Q"
    return out


def _all(data: pl.DataFrame, name: str) -> list[float]:
    return [v for c in (name, f"{name}_low", f"{name}_high") for v in data[c] if v is not None] or [0.0]


def _domain(data: pl.DataFrame, name: str) -> tuple[float, float]:
    every = _all(data, name)
    low, high = min(every), max(every)
    room = 0.08 * (high - low) or 0.1 * abs(high) or 0.1
    return low - room, high + room


def _labels(
    data: pl.DataFrame, spans: dict[str, tuple[float, float]], size: tuple[int, int], better: str, few: bool,
    chosen: str | None,
) -> Any:  # fmt: skip
    """Names beside their points, numbers where names would not fit; one label for points that fall together."""
    (left, right), (low, high) = spans["utility"], spans["risk"]

    def pixels(utility: float, risk: float) -> Spot:
        up = (utility - left) / (right - left)
        return size[0] * (risk - low) / (high - low), size[1] * (up if better == "lower" else 1 - up)

    rows = data.select("utility", "risk", "number", "plan", "on_frontier").rows()
    at: dict[Spot, list[tuple[int, str]]] = {}
    for utility, risk, number, plan, _ in rows:
        x, y = pixels(utility, risk)
        near = next((s for s in at if abs(s[0] - x) < TOGETHER and abs(s[1] - y) < TOGETHER), (x, y))
        at.setdefault(near, []).append((number, plan))
    front = sorted(pixels(u, r) for u, r, *_, on in rows if on)
    steps = [spot for (x, y), (z, _) in pairwise(front) for spot in ((x, y), (z, y))] + front[-1:]
    walls = [(x, y, 5.0, 5.0) for x, y in (dense(steps) if steps else [])]
    for r, low_end, high_end in data.select("risk", "utility_low", "utility_high").drop_nulls().rows():
        walls += [(x, y, 4.0, 4.0) for x, y in dense([pixels(low_end, r), pixels(high_end, r)])]
    walls += [(*pixels(u, r), 30.0, 30.0) for u, r, _, plan, _ in rows if plan == chosen]
    words = [_numbers([k for k, _ in here]) if few else _names([p for _, p in here]) for here in at.values()]
    spots = placed(list(at), words, *size, walls)
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
