"""Charts with one row per plan: a number with its interval, targets by probability.

Each is drawn for a wide page, with names beside the rows, or for a narrow one, with names above them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from confide.show.charts.drawable import drawable
from confide.show.charts.drawing import COLOURS, INK, aggregated, chart_title, styled

WIDE, NARROW = 460, 290
"""Pixels of the drawing itself on a wide and on a narrow page."""
ROW, TALL = 30, 50
FORMAT = ",.6~g"
"""Of numbers on axes; without digits stated, few of them would be written as 8e+2."""
PALE, DARK = ((0xF4, 0xF8, 0xFC), (0x6B, 0xAE, 0xD6)), ((0x2F, 0x74, 0xB0), (0x08, 0x30, 0x6B))
"""Two runs of shades; between them neither black nor white is read easily."""


def interval_chart(
    frame: pl.DataFrame, x_title: str, title: str = "", domain: Sequence[float] | None = None, narrow: bool = False
) -> Any:
    """One row per plan: its number as a dot, the interval as a bar, and the number in words.

    `frame` has `plan`, `at`, `low`, `high` and `shown` (the words); a plan without a number keeps its row.

    >>> frame = pl.DataFrame({"plan": ["swap"], "at": [0.2], "low": [0.1], "high": [0.3], "shown": ["0.2"]})
    >>> chart = interval_chart(frame, "Hellinger distance")
    >>> len(chart.to_dict()["layer"])
    3
    """
    import altair as alt

    data = aggregated(frame, ["plan", "at", "low", "high", "shown"])
    rows = list(dict.fromkeys(data["plan"]))
    width = NARROW if narrow else WIDE
    y = _rows("plan", rows, narrow)
    top = max((abs(v) for c in ("at", "low", "high") for v in data[c] if v is not None), default=0.0)
    ends = list(domain) if domain else None if top else [0, 1]
    scale = alt.Scale(domain=ends) if ends else alt.Scale(zero=True)
    axis = alt.Axis(format=FORMAT, tickCount=5, gridDash=[2, 3], labelFlush=False)
    x = alt.X("at:Q", title=x_title, scale=scale, axis=axis)
    base = alt.Chart(data).encode(y=y)
    bars = base.mark_rule(strokeWidth=2, color=COLOURS[0]).encode(
        x=alt.X("low:Q", scale=scale, title=x_title), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=80, opacity=1, color=COLOURS[0]).encode(
        x=x, tooltip=["plan:N", alt.Tooltip("shown:N", title="value")]
    )
    layers = [bars, dots, *_row_words(data, y, width, narrow)]
    return finished(layers, width, (TALL if narrow else ROW) * len(rows), title)


def finished(layers: Sequence[Any], width: int, height: int, title: str = "", **more: Any) -> Any:
    """Layers as one chart in the common look; made at once, since every later change copies all of it."""
    import altair as alt

    head = {"title": chart_title(title, frame="bounds")} if title else {}
    return drawable(alt.layer(*layers, width=width, height=height, config=_look(), **head, **more))


@functools.cache
def _look() -> dict[str, Any]:
    import altair as alt

    found: dict[str, Any] = styled(alt.Chart(pl.DataFrame({"x": [0]})).mark_point()).to_dict()["config"]
    return found


def _rows(column: str, order: Sequence[str], narrow: bool) -> Any:
    """Rows in order; on a narrow page without an axis, since names stand above."""
    import altair as alt

    axis = None if narrow else alt.Axis(labelLimit=300, ticks=False, domain=False, grid=False, labelPadding=12)
    scale = alt.Scale(domain=list(order))
    return alt.Y(f"{column}:N", sort=list(order), title=None, axis=axis, scale=scale)


def _row_words(data: pl.DataFrame, y: Any, width: int, narrow: bool) -> list[Any]:
    """The number at the right end of each row; on a narrow page its name too, both above the row."""
    import altair as alt

    base = alt.Chart(data).encode(y=y)
    if not narrow:
        right = base.mark_text(align="left", dx=10, fontSize=12, color=INK)
        return [right.encode(x=alt.value(width), text="shown:N")]
    right = base.mark_text(align="right", dy=-15, fontSize=12, color=INK).encode(x=alt.value(width), text="shown:N")
    return [_names_above("plan", data, y, width - 100), right]


def _names_above(column: str, data: pl.DataFrame, y: Any, limit: int, dy: int = -15) -> Any:
    import altair as alt

    names = alt.Chart(data.select(column).unique(maintain_order=True)).encode(y=y)
    text = names.mark_text(align="left", dy=dy, fontSize=12, fontWeight="bold", color=INK, limit=limit)
    return text.encode(x=alt.value(0), text=f"{column}:N")


def targets_chart(frame: pl.DataFrame, title: str = "", narrow: bool = False) -> Any:
    """How many targets have a largest probability in each range, one row per plan; darker means more.

    `frame` has `plan`, `bin` (as "0.2 to 0.5"), `targets` (which makes the shade) and `shown` (the words).

    >>> frame = pl.DataFrame({"plan": ["a", "a"], "bin": ["0 to 0.2", "0.2 to 1"], "targets": [90, 5], "shown": ["90", "5"]})
    >>> len(targets_chart(frame).to_dict()["layer"])
    2
    """  # noqa: E501
    import altair as alt

    data = aggregated(frame, ["plan", "bin", "targets", "shown"])
    colours = _shades(data["targets"].to_list())
    data = data.with_columns(pl.Series("colour", colours), pl.Series("ink", [readable_ink(c) for c in colours]))
    rows, bins = (list(dict.fromkeys(data[c])) for c in ("plan", "bin"))
    width, height = (NARROW + 20, 54) if narrow else (88 * len(bins), 36)
    words = "split(datum.label, ' to ')[1]" if narrow else "datum.label"
    x_title = "Up to this largest probability" if narrow else "Largest probability that the intruder gives to a record"
    x = alt.X("bin:N", sort=bins, title=x_title,
              axis=alt.Axis(labelAngle=0, ticks=False, domain=False, labelExpr=words, labelOverlap=False))  # fmt: skip
    base = alt.Chart(data).encode(x=x, y=_rows("plan", rows, narrow).scale(domain=rows, padding=0))
    size: dict[str, Any] = {"height": 22, "yOffset": 12} if narrow else {}
    cells = base.mark_rect(stroke="white", strokeWidth=2, **size)
    told = ["plan:N", "bin:N", alt.Tooltip("shown:N", title="targets")]
    cells = cells.encode(color=alt.Color("colour:N", scale=None), tooltip=told)
    text = base.mark_text(fontSize=12, dy=12 if narrow else 0)
    text = text.encode(text="shown:N", color=alt.Color("ink:N", scale=None))
    layers = [cells, text]
    if narrow:
        layers.append(
            _names_above("plan", data, _rows("plan", rows, narrow).scale(domain=rows, padding=0), width, dy=-12)
        )
    return finished(layers, width, height * len(rows), title)


def _shades(targets: Sequence[float | None]) -> list[str]:
    """Colours from pale to dark by the logarithm of the count."""
    logs = [math.log10((n or 0) + 1) for n in targets]
    top = max(logs) or 1.0
    return [_between(v / top) for v in logs]


def _between(at: float) -> str:
    """A colour of the scale, 0 pale to 1 dark."""
    low, high = PALE if at < 0.5 else DARK
    part = 2 * at if at < 0.5 else 2 * at - 1
    return "#" + "".join(f"{round(a + part * (b - a)):02x}" for a, b in zip(low, high, strict=True))


def readable_ink(colour: str) -> str:
    """Black or white, whichever is read more easily on a colour.

    >>> readable_ink("#08306b"), readable_ink("#f4f8fc")
    ('#ffffff', '#000000')
    """
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    light = 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    return "#ffffff" if 1.05 / light > light / 0.05 else "#000000"
