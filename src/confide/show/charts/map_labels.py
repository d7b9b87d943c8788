"""Names beside the points of the R-U map: near their points, off each other, off lines and bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from confide.show.charts.drawing import INK, WORDS
from confide.show.charts.map_scales import PAD
from confide.show.charts.near_labels import Label, place_labels
from confide.show.charts.svg import Spot
from confide.show.charts.theory_labels import dense

MOST = 26
"""Names beyond which only the ends of sweeps, the frontier and the choice are named."""
LETTERS, EDGE = 24, 10.0
"""Letters of a line of a name; pixels by which a name may seem to reach out of the drawing, as letters are narrower."""
RING = 14.0
"""Pixels of a mark; that of the choice is larger."""


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
    return [(" = ".join(w for w, *_ in same), *same[0][1:]) for same in at.values()]


def _words(row: dict[str, Any], end: bool, chosen: bool) -> str:
    if row["sweep"] is None or not row["setting"]:
        name = row["plan"]
    elif end or chosen:
        name = f"{row['sweep']}, {row['setting']}"
    else:
        name = row["setting"] if row["value"] is None else f"{row['value']:g}"
    return f"chosen: {name}" if chosen else name


def label_layer(
    names: Sequence[Name], lines: Sequence[Sequence[tuple[float, float]]], width: float,
    height: float, points: Sequence[tuple[float, float, float]] = (),
) -> tuple[Any, list[str]]:  # fmt: skip
    """The names as a layer in pixels, and what letters stand for, as "A: swap both".

    `lines`: what names keep off, in places of the axes, as are `points` with their sizes in pixels. No line leads to a
    name: it stands beside its point, or where there is no room a letter does. One that is not needed is left out.
    """
    names = sorted(names, key=lambda name: not name[-1])
    size = {pixels(x, y, width, height): max(s, RING) for x, y, s in points}
    at = [pixels(x, y, width, height) for _, x, y, *_ in names]
    labels = [Label(p, name[0], "A" if name[-1] else "", size=size.get(p, RING) / 2)
              for p, name in zip(at, names, strict=True)]  # fmt: skip
    hard = [_box(p, s / 2) for p, s in size.items() if p not in at]
    soft = [_box(pixel, 3.0) for line in lines for pixel in dense([pixels(x, y, width, height) for x, y in line])[::2]]
    found = place_labels(labels, (-EDGE, 0.0, width + EDGE, height), hard, soft, LETTERS)
    lost = [k for k, (one, f) in enumerate(zip(labels, found, strict=True)) if one.short and not (f and f.named)]
    letters = {k: letter(place) for place, k in enumerate(lost)}
    rows = [(letters.get(k, words), x, y - 4.5, one.anchor, WORDS.get(names[k][3], names[k][3]))
            for k, one in enumerate(found) if one is not None for words, x, y in one.spots]  # fmt: skip
    told = [f"{mark}: {labels[k].words}" for k, mark in letters.items()]
    return _drawn(rows, width, height), told


def letter(place: int) -> str:
    """A, B and so on to Z, then AA. Numbers could be taken for settings of a sweep.

    >>> letter(0), letter(25), letter(26)
    ('A', 'Z', 'AA')
    """
    return (letter(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _box(at: Spot, half: float) -> tuple[float, float, float, float]:
    return at[0] - half, at[1] - half, at[0] + half, at[1] + half


def _drawn(rows: Sequence[tuple[Any, ...]], width: float, height: float) -> Any:
    """Words at their places, held at their left end, middle or right end."""
    import altair as alt

    data = pl.DataFrame(rows, schema=["label", "tx", "ty", "anchor", "ink"], orient="row")
    across, down = alt.Scale(domain=[0, width], nice=False), alt.Scale(domain=[height, 0], nice=False)
    layers = []
    aligned: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}
    for anchor, align in aligned.items():
        mine = data.filter(pl.col("anchor") == anchor).select("label", "tx", "ty", "ink")
        if mine.height:
            layers.append(alt.Chart(mine).mark_text(fontSize=12, color=INK, baseline="middle", align=align).encode(
                x=alt.X("tx:Q", scale=across, axis=None), y=alt.Y("ty:Q", scale=down, axis=None), text="label:N",
                color=alt.Color("ink:N", scale=None),
            ))  # fmt: skip
    return alt.layer(*layers)
