"""What all charts share: their look, the check that no record enters one, and how they are saved."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean, raise_all
from confide.frames import atomic_write
from confide.show.charts.drawable import drawable
from confide.show.charts.svg import Picture

MOST_ROWS = 500
"""An aggregated table has few rows; a longer one is taken for records and refused."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's palette, told apart with every common form of colour blindness."""

INK, QUIET = "#222222", "#8a8a8a"

WORDS = {
    "#0072B2": "#005a8e", "#D55E00": "#a34700", "#009E73": "#00694d", "#CC79A7": "#9c3f72", "#E69F00": "#8a5a00",
    "#56B4E9": "#1f6f9f", QUIET: "#666666",
}  # fmt: skip
"""The same colours, dark enough for words on white (a contrast of 4.5 and more)."""


def chart_licences() -> str:
    """The notices of the software that a page with charts carries; its licences ask for them.

    >>> chart_licences().count("Copyright")
    3
    """
    return resources.files("confide.show").joinpath("chart_licences.txt").read_text(encoding="utf-8")


def save_chart(chart: Any, path: str | os.PathLike[str], overwrite: bool = False, private: bool = False) -> Path:
    """Write a chart as .png (twice the screen's resolution), .svg or .html (one file that needs no network).

    With `private` only its owner can read the file.

    >>> save_chart(None, "risk.pdf")
    Traceback (most recent call last):
    confide.InputError: A chart is saved as .png, .svg or .html, not as ".pdf".
    """
    target = Path(path)
    kind = check_picture(target)
    drawn = chart if isinstance(chart, Picture) else None
    chart = drawable(chart)
    with atomic_write(target, overwrite, private) as temporary:
        if drawn is not None:
            temporary.write_bytes(_bytes_of(drawn, kind))
        elif kind == ".html":
            menu = {"actions": {"export": True, "source": False, "compiled": False, "editor": False}}
            page = chart.to_html(inline=True, embed_options=menu)
            temporary.write_text(f"{page.rstrip()}\n<!--\n{chart_licences()}-->\n", encoding="utf-8")
        else:
            temporary.write_bytes(_of_svg(_svg(chart), kind))
    return target


def save_pictures(chart: Any, stem: Path, overwrite: bool, private: bool) -> list[Path]:
    """A chart as .png and as .svg, drawn once for both."""
    svg = chart.standalone() if isinstance(chart, Picture) else _svg(drawable(chart))
    out = []
    for kind in (".png", ".svg"):
        out.append(stem.with_name(stem.name + kind))
        with atomic_write(out[-1], overwrite, private) as temporary:
            temporary.write_bytes(_of_svg(svg, kind))
    return out


def _svg(chart: Any) -> str:
    """A chart of altair, drawn."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart.to_dict()))


def _of_svg(svg: str, kind: str) -> bytes:
    """A drawing as a file."""
    import vl_convert

    return packed_png(bytes(vl_convert.svg_to_png(svg, scale=2))) if kind == ".png" else svg.encode()


def _bytes_of(picture: Picture, kind: str) -> bytes:
    """A finished picture as a file."""
    if kind != ".html":
        return _of_svg(picture.standalone(), kind)
    page = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(picture.alt[:60])}</title>'
    return f"{page}{picture.standalone()}".encode()


def check_picture(path: Path) -> str:
    """The kind of picture that a name asks for; refused where there is no such kind."""
    kind = path.suffix.lower()
    if kind not in (".png", ".svg", ".html"):
        raise InputError(f'A chart is saved as .png, .svg or .html, not as "{path.suffix}".')
    return kind


def packed_png(picture: bytes) -> bytes:
    """The same picture in a third of the space: its data packed again. (The tightest that zlib can takes five times as
    long for three percent.)"""
    before, data, after, at = picture[:8], b"", b"", 8
    while at < len(picture):
        (size,) = struct.unpack(">I", picture[at : at + 4])
        kind, body = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + size]
        if kind == b"IDAT":
            data += body
        elif data:
            after += _png_part(kind, body)
        else:
            before += _png_part(kind, body)
        at += 12 + size
    return before + _png_part(b"IDAT", zlib.compress(zlib.decompress(data), 6)) + after


def _png_part(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def aggregated(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The columns a chart needs, and no others; refused where they look like records.

    >>> aggregated(pl.DataFrame({"p": range(1_000)}), ["p"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    confide.InputError: The table has 1,000 rows, but a chart carries its data with it: it takes ...
    """
    lost = [c for c in columns if c not in frame.columns]
    raise_all(f'The chart needs a column "{c}".{did_you_mean(c, frame.columns)}' for c in lost)
    if not frame.height:
        raise InputError("The table has no rows, so there is nothing to draw.")
    if frame.height > MOST_ROWS:
        raise InputError(
            f"The table has {frame.height:,} rows, but a chart carries its data with it: it takes aggregated "
            f"tables of at most {MOST_ROWS} rows, never records."
        )
    return frame.select(columns)


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers; with 2 and 5 times them where there would be few.

    >>> log_ticks(80, 1200)
    [100.0, 200.0, 500.0, 1000.0]
    """
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    tens = [10.0**k for k in powers if low <= 10.0**k <= high]
    if len(tens) > 3:
        return tens
    # 2 times 0.001 and 0.002 are one number on an axis, not in binary.
    return [float(f"{m}e{k}") for k in powers for m in (1, 2, 5) if low <= float(f"{m}e{k}") <= high]


def chart_title(text: str, subtitle: Sequence[str] = (), frame: str = "group") -> Any:
    """A title flush left with the drawing ("group") or with its labels ("bounds")."""
    import altair as alt

    return alt.TitleParams(
        text=text, subtitle=list(subtitle), anchor="start", frame=frame, offset=14, fontSize=16,
        subtitleFontSize=12, subtitleColor="#555555", subtitlePadding=4,
    )  # fmt: skip


def styled(chart: Any) -> Any:
    """One look for all charts: plain, readable, the same on paper."""
    plain = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    return drawable(chart).configure(
        background="white", font="DejaVu Sans, Verdana, sans-serif", padding=14,
        axis={"gridColor": "#e6e6e6", "labelColor": INK, "labelPadding": 6, "titlePadding": 10, **plain},
        legend=plain, view={"stroke": None},
    )  # fmt: skip
