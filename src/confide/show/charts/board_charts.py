"""Small charts for a board, as finished pictures: shares as bars, before and after, claimed against true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.show.charts.svg import LETTER, Picture, Spot, circle, line, rect, text, wrapped

WIDE, NARROW = 520.0, 340.0
NUMBER, SHORT = 176.0, 66.0
"""Pixels for the words at the end of a row, on wide and on narrow pages."""
LEAST_NAME, MOST_NAME = 60.0, 190.0


@dataclass(frozen=True)
class Row:
    """A row of bars: its name, its share, the share before, the words at its end (`short` on narrow pages), and whether
    it stands out."""

    name: str
    share: float | None
    before: float | None
    words: str
    short: str
    strong: bool = False


def bars_picture(rows: Sequence[Row], alt: str, narrow: bool = False, long: bool = False) -> Picture:
    """One row per group: a bar for its share, and behind it a pale one for the share before.

    `long`: the words at the end of rows may need more room than a share does.

    >>> rows = [Row("men", 0.1, 0.6, "10% (20 of 200)", "10%"), Row("women", 0.05, 0.5, "5% (15 of 300)", "5%")]
    >>> bars_picture(rows, "Two groups.").words()
    ['men', '10% (20 of 200)', 'women', '5% (15 of 300)']
    """
    width = NARROW if narrow else WIDE
    widest = max((len(r.name) for r in rows), default=0) * LETTER
    left = min(max(widest + 10, LEAST_NAME), MOST_NAME if not narrow else 120.0)
    letters = max(int((left - 8) / LETTER), 6)
    top = max((v for r in rows for v in (r.share, r.before) if v is not None), default=1.0) or 1.0
    room = SHORT if narrow else NUMBER
    if long:
        room = max(room, max((len(r.short if narrow else r.words) for r in rows), default=0) * LETTER + 12)
    scale = (width - left - room) / top
    parts: list[str] = []
    y = 4.0
    for r in rows:
        names = _broken(r.name, letters)
        height = max(24.0, 15.0 * len(names) + 6)
        middle = y + height / 2
        parts += [text((0, middle + 4.5 + 15 * (k - (len(names) - 1) / 2)), n) for k, n in enumerate(names)]
        if r.before is not None:
            parts.append(rect(left, middle - 10, max(r.before * scale, 1), 20, "f-pale", 3))
        if r.share is not None:
            parts.append(
                rect(left, middle - 6, max(r.share * scale, 1.5), 12, "f-accent" if r.strong else "f-strong", 2)
            )
        end = max((v for v in (r.share, r.before) if v is not None), default=0.0) * scale
        parts.append(
            text((left + end + 8, middle + 4.5), r.short if narrow else r.words, "t-b" if r.strong else "t-soft")
        )
        y += height + 4
    return Picture(width, y, tuple(parts), alt)


def _broken(name: str, letters: int) -> list[str]:
    """A name in lines, none longer than so many letters; nothing is left out."""
    return [line_[k : k + letters] for line_ in wrapped(name, letters) for k in range(0, max(len(line_), 1), letters)]


def shares_picture(levels: Sequence[tuple[str, float | None, float]], alt: str) -> Picture:
    """Before and after as pairs of bars: pale what the file has, strong what is released.

    `levels`: a name, the share before (None for a level that only the release has) and the share after.

    >>> shares_picture([("men", 0.5, 0.4), ("women", 0.5, 0.6)], "By sex.").words()[:2]
    ['men', '50% → 40%']
    """
    width, left = 340.0, 118.0
    top = max((max(before or 0.0, after) for _, before, after in levels), default=1.0) or 1.0
    scale = (width - left - 92) / top
    parts: list[str] = []
    y = 2.0
    for name, before, after in levels:
        names = _broken(name, int((left - 8) / LETTER))
        height = max(24.0, 14.0 * len(names) + 6)
        middle = y + height / 2
        parts += [text((0, middle + 4.5 + 14 * (k - (len(names) - 1) / 2)), n) for k, n in enumerate(names)]
        if before is not None:
            parts.append(rect(left, middle - 9, max(before * scale, 1), 8, "f-pale", 1))
        parts.append(rect(left, middle + (1 if before is not None else -4), max(after * scale, 1), 8, "f-strong", 1))
        words = percent(after) if before is None else f"{percent(before)} → {percent(after)}"
        parts.append(text((left + max(before or 0.0, after) * scale + 7, middle + 4.5), words, "t-soft"))
        y += height + 3
    return Picture(width, y, tuple(parts), alt)


def percent(share: float) -> str:
    """A share in percent, with one digit where it is small.

    >>> percent(0.5), percent(0.0312), percent(0.00004), percent(0)
    ('50%', '3.1%', '<0.1%', '0%')
    """
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.1f}%".replace(".0%", "%") if share < 0.0995 else f"{100 * share:.0f}%"


def calibration_picture(
    bins: Sequence[tuple[float, float, float]], alt: str, narrow: bool = False, least: float = 1e-4
) -> Picture:
    """Claimed to the right, true upwards, both on logarithmic scales; the dashed line is where they agree.

    `bins`: claimed and true shares and the standard error of the true one; what is below `least` stands at the edge.

    >>> calibration_picture([(0.1, 0.11, 0.01), (0.5, 0.48, 0.03)], "Two ranges.").words()[-1]
    'how often it is right'
    """
    width, height = (NARROW if narrow else 470.0), 320.0
    low = max(min((c for c, _, _ in bins), default=0.01) / 2, least)
    start = math.floor(math.log10(low))
    left, top, right, bottom = 52.0, 30.0, width - 14, height - 46

    def at(claimed: float, true: float) -> Spot:
        x, y = (min(max((math.log10(max(v, 10.0**start)) - start) / -start, 0.0), 1.0) for v in (claimed, true))
        return left + x * (right - left), bottom - y * (bottom - top)

    parts: list[str] = []
    for k in range(start, 1):
        share = 10.0**k
        x, y = at(share, share)
        parts += [line([(left, y), (right, y)], "s-line"), line([(x, top), (x, bottom)], "s-line")]
        parts.append(text((left - 7, y + 4), f"{100 * share:g}%", "t-soft", "end"))
        parts.append(text((x, bottom + 18), f"{100 * share:g}%", "t-soft", "middle" if k else "end"))
    parts += [
        line([(left, bottom), (right, top)], "s-axis dash", 1.4),
        line([(left, bottom), (right, bottom)], "s-axis"),
    ]
    for claimed, true, error in bins:
        ends = at(claimed, true - 2 * error), at(claimed, true + 2 * error)
        parts += [line(ends, "s-accent", 2), circle(at(claimed, true), 4.5, "f-accent")]
    parts.append(text((right, height - 8), "what the intruder claims", "t-soft", "end"))
    parts.append(text((0, 12), "how often it is right", "t-soft"))
    return Picture(width, height, tuple(parts), alt)
