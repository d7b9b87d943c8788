"""Names beside the points of the R-U map: near their points, off each other, off lines and bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from confide.show.charts.drawing import INK, WORDS
from confide.show.charts.label_places import Box, Spot, edge, placed
from confide.show.charts.map_scales import PAD
from confide.show.charts.theory_labels import dense

FAR, CLEAR, TOO_FAR = 22.0, 8.0, 45.0
"""Pixels from a point: where its name gets a line, where that line begins, and where a setting between the ends of its
sweep is not named at all."""
MOST = 26
"""Names beyond which only the ends of sweeps, the frontier and the choice are named."""
LONGEST = 44
RING = 14.0
"""A larger mark than this keeps even its own name at a distance."""


Name = tuple[str, float, float, str, bool]
"""Words, place, colour, and whether it is needed: others are left out where there is no room near their point."""


def pixels(x: float, y: float, width: float, height: float) -> Spot:
    """Places on the axes as pixels from the upper left corner."""
    across, up = ((v + PAD) / (1 + 2 * PAD) for v in (x, y))
    return width * across, height * (1 - up)


def named_points(points: pl.DataFrame, chosen: str | None) -> list[Name]:
    """The names of points; those that fall together share theirs.

    A setting of a sweep is named by its value; at both ends of the sweep, and if chosen, with the sweep's name as well.
    """
    ends = {p for _, part in points.filter(pl.col("sweep").is_not_null()).group_by("sweep", maintain_order=True)
            for p in (part["plan"][0], part["plan"][-1])}  # fmt: skip
    # The choice finds its place first, then the frontier.
    rows = sorted(points.iter_rows(named=True), key=lambda r: (r["plan"] != chosen, not r["on_frontier"]))
    if len(rows) > MOST:
        rows = [r for r in rows if r["plan"] in ends or r["on_frontier"] or r["plan"] == chosen]
    # Where even these are many, the choice and the ends of sweeps stay; the others are in the tooltips.
    if len(rows) > MOST:
        rows = [r for r in rows if r["plan"] in ends or r["plan"] == chosen][:MOST]
    at: dict[tuple[int, int], list[Name]] = {}
    for r in rows:
        words = _words(r, r["plan"] in ends, r["plan"] == chosen)
        key = round(r["x"] * 500), round(r["y"] * 500)
        needed = r["sweep"] is None or r["plan"] in ends or r["plan"] == chosen
        at.setdefault(key, []).append((words, r["x"], r["y"], r["ink"], needed))
    return [(_shortened(" = ".join(w for w, *_ in same)), *same[0][1:]) for same in at.values()]


def _words(row: dict[str, Any], end: bool, chosen: bool) -> str:
    if row["sweep"] is None or not row["setting"]:
        name = row["plan"]
    elif end or chosen:
        name = f"{row['sweep']}, {row['setting']}"
    else:
        name = row["setting"] if row["value"] is None else f"{row['value']:g}"
    return f"chosen: {name}" if chosen else name


def _shortened(words: str) -> str:
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def label_layer(
    names: Sequence[Name], lines: Sequence[Sequence[tuple[float, float]]], width: float,
    height: float, points: Sequence[tuple[float, float, float]] = (),
) -> Any:  # fmt: skip
    """The names as a layer in pixels. `lines`: what they keep off, in places of the axes, as are `points` with
    their sizes in pixels."""
    import altair as alt

    walls: list[Box] = [(p, q, 6.0, 6.0) for line in lines for p, q in
                        dense([pixels(x, y, width, height) for x, y in line])[::2]]  # fmt: skip
    at = [pixels(x, y, width, height) for _, x, y, *_ in names]
    spots_of = [(*pixels(x, y, width, height), size, size) for x, y, size in points]
    # A named point keeps others' names off by itself; the ring of the choice keeps its own name off as well.
    walls += [b for b in spots_of if b[:2] not in at or b[2] > RING]
    words = [w for w, *_ in names]
    spots = placed(at, words, width, height, walls)
    # Letters are narrower than they are reckoned, so a line that ended at the reckoned edge would end in the air.
    rows = [
        (t, WORDS.get(ink, ink), needed, *p, *s, *edge(p, s, t[: len(t) * 7 // 8]))
        for (t, _, _, ink, needed), p, s in zip(names, at, spots, strict=True)
    ]
    columns = ["label", "ink", "needed", "px", "py", "tx", "ty", "ex", "ey"]
    away = ((pl.col("px") - pl.col("ex")) ** 2 + (pl.col("py") - pl.col("ey")) ** 2).sqrt()
    data = pl.DataFrame(rows, schema=columns, orient="row").filter(pl.col("needed") | (away < TOO_FAR))
    far = data.filter(away > FAR)
    across, down = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False)
    text = alt.Chart(data).mark_text(fontSize=12, color=INK, baseline="middle").encode(
        x=alt.X("tx:Q", scale=across, axis=None), y=alt.Y("ty:Q", scale=down, axis=None), text="label:N",
        color=alt.Color("ink:N", scale=None),
    )  # fmt: skip
    if not far.height:
        return text
    share = CLEAR / away
    far = far.with_columns(px=pl.col("px") + share * (pl.col("ex") - pl.col("px")),
                           py=pl.col("py") + share * (pl.col("ey") - pl.col("py")))  # fmt: skip
    leads = alt.Chart(far).mark_rule(color="#bbbbbb").encode(
        x=alt.X("px:Q", scale=across, axis=None), y=alt.Y("py:Q", scale=down, axis=None), x2="ex:Q", y2="ey:Q"
    )  # fmt: skip
    return alt.layer(leads, text)
