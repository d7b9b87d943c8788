"""The map for a board: every plan between risk and utility, the limit as a line, what lies beyond it shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from confide.show.charts.near_labels import Box, Label, drawn_labels, place_labels
from confide.show.charts.svg import LETTER, Picture, Spot, circle, line, rect, text
from confide.show.charts.theory_labels import dense

WIDE, NARROW = (570.0, 430.0), (340.0, 400.0)
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 44.0, 58.0
MARK, CHOSEN, FAINT = 5.0, 7.0, 2.4

Tick = tuple[float, Sequence[str]]
"""A place, and the lines of words below it."""


@dataclass(frozen=True)
class Dot:
    """A plan on the map: its place and the ends of its intervals, all as shares of the full axes. `words` stand beside
    it, or `short`. `weak`: another need is not met; `front`: no plan beats it; `sweep`: plans joined by a line;
    `faint`: one of many that were given up, drawn small and pale below the others."""

    plan: str
    x: float
    y: float
    ends: tuple[float, float, float, float]
    words: str = ""
    short: str = ""
    chosen: bool = False
    weak: bool = False
    front: bool = False
    sweep: str = ""
    faint: bool = False


@dataclass(frozen=True)
class Scene:
    """What is seen of the map: the part of both axes, their ticks and titles, and the limits with their words."""

    across: tuple[float, float]
    up: tuple[float, float]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]
    x_title: str
    y_title: str
    limit: float | None = None
    limit_words: str = ""
    floor: float | None = None
    floor_words: str = ""

    def holds(self, dot: Dot) -> bool:
        """Whether a plan is in sight."""
        slack = 1e-9
        return (
            self.across[0] - slack <= dot.x <= self.across[1] + slack
            and self.up[0] - slack <= dot.y <= self.up[1] + slack
        )


@dataclass(frozen=True)
class Drawn:
    """A map, and the plans on it that have a number in place of a name, or neither."""

    picture: Picture
    numbered: tuple[str, ...]


def decision_map(dots: Sequence[Dot], scene: Scene, alt: str, narrow: bool = False) -> Drawn:
    """Draw the plans in sight. Names stand beside their dots; a plan without room for its name has its number.

    >>> dots = [Dot("a", 0.2, 0.9, (0.2, 0.2, 0.9, 0.9), "a", "1"), Dot("b", 1, 1, (1, 1, 1, 1), "b", "2")]
    >>> scene = Scene((-0.05, 1.05), (-0.05, 1.05), [(0.0, ["0%"])], [(1.0, ["1"])], "found", "kept", 0.5, "limit")
    >>> drawn = decision_map(dots, scene, "Two plans.")
    >>> drawn.numbered, [w for w in drawn.picture.words() if w in ("a", "b", "limit")]
    ((), ['limit', 'a', 'b'])
    """
    size = NARROW if narrow else WIDE
    view = _Page(scene, *size)
    pale = [circle(view.at(d.x, d.y), FAINT, "f-bar") for d in dots if d.faint and scene.holds(d)]
    seen = [d for d in dots if scene.holds(d) and not d.faint]
    lines = [*_curves(view, dots), *_stairs(view, dots)]
    limits, walls = _limits(view)
    named = [_label(view, d) for d in seen]
    soft = [_box(p, 2.0) for way in lines for p in dense(way)] + [_box(p, 2.0) for d in seen for p in _bars(view, d)]
    names = place_labels(named, view.room, walls, soft, 17 if narrow else 25)
    parts = [*_frame(view), *pale, *limits, *(line(way, "s-axis", 1.5) for way in lines)]
    parts += [p for d in seen for p in _mark(view, d)]
    lost = tuple(d.plan for d, n in zip(seen, names, strict=True) if d.short and (n is None or not n.named))
    return Drawn(Picture(*size, (*parts, *drawn_labels(named, names)), alt), lost)


def _label(view: _Page, dot: Dot) -> Label:
    """A dot's name; that of a plan within the limit keeps out of the shade where it can."""
    beyond = _beyond(view)
    within = beyond is not None and view.scene.limit is not None and dot.x <= view.scene.limit
    classes, size = ("t-b t-a", 11.0) if dot.chosen else ("", MARK)
    return Label(view.at(dot.x, dot.y), dot.words, dot.short, classes, size, (beyond,) if within and beyond else ())


@dataclass(frozen=True)
class _Page:
    """From shares of the axes to pixels."""

    scene: Scene
    width: float
    height: float

    @property
    def room(self) -> Box:
        return LEFT, TOP, self.width - RIGHT, self.height - BOTTOM

    def at(self, x: float, y: float) -> Spot:
        (a, b), (c, d) = self.scene.across, self.scene.up
        left, top, right, bottom = self.room
        return left + (x - a) / (b - a) * (right - left), bottom - (y - c) / (d - c) * (bottom - top)

    def clipped(self, way: Sequence[Spot]) -> list[list[Spot]]:
        """Level and upright pieces of a line, as far as they are in sight."""
        left, top, right, bottom = self.room
        out = []
        for (a, b), (c, d) in pairwise(way):
            p = (min(max(a, left), right), min(max(b, top), bottom))
            q = (min(max(c, left), right), min(max(d, top), bottom))
            flat, upright = b == d and top <= b <= bottom, a == c and left <= a <= right
            if (flat and p[0] != q[0]) or (upright and p[1] != q[1]):
                out.append([p, q])
        return out


def _frame(view: _Page) -> list[str]:
    left, _, right, bottom = view.room
    beyond = _beyond(view)
    out = [] if beyond is None else [rect(beyond[0], beyond[1], right - beyond[0], bottom - beyond[1], "f-shade")]
    for at, words in view.scene.y_ticks:
        y = view.at(0, at)[1]
        out += [line([(left, y), (right, y)], "s-line"), text((left - 7, y + 4), words[0], "t-soft", "end")]
    for at, words in _apart(view):
        x = view.at(at, 0)[0]
        out.append(line([(x, bottom), (x, bottom + 5)], "s-axis"))
        out += [text((x, bottom + 18 + 14 * k), w, "t-soft", "middle") for k, w in enumerate(words)]
    out.append(line([(left, bottom), (right, bottom)], "s-axis"))
    out.append(text((right, view.height - 4), view.scene.x_title, "t-soft", "end"))
    return [*out, text((0, 12), view.scene.y_title, "t-soft")]


def _apart(view: _Page) -> list[Tick]:
    """Ticks whose words leave each other room; the largest first, as small risks crowd."""
    out: list[tuple[float, float, Tick]] = []
    for tick in sorted(view.scene.x_ticks, key=lambda t: (t[0] != 0, -t[0])):
        x, half = view.at(tick[0], 0)[0], max(map(len, tick[1])) * LETTER / 2 + 3
        if all(abs(x - other) >= half + room for other, room, _ in out):
            out.append((x, half, tick))
    return [tick for *_, tick in sorted(out)]


def _beyond(view: _Page) -> Box | None:
    """What lies beyond the limit."""
    if view.scene.limit is None:
        return None
    left, top, right, bottom = view.room
    return min(max(view.at(view.scene.limit, 0)[0], left), right), top - 10, right, bottom


def _limits(view: _Page) -> tuple[list[str], list[Box]]:
    """The limit on risk and the floor of utility as lines with words, and the boxes that names keep off."""
    left, top, right, bottom = view.room
    out: list[str] = []
    walls: list[Box] = []
    scene = view.scene
    if scene.limit is not None and left <= (x := view.at(scene.limit, 0)[0]) <= right:
        wide = len(scene.limit_words) * LETTER
        after = x + 6 + wide <= view.width
        out.append(line([(x, top - 16), (x, bottom)], "s-warn dash", 1.6))
        out.append(
            text((x + 6 if after else x - 6, top - 14), scene.limit_words, "t-w t-b", "start" if after else "end")
        )
        walls.append((x - 2, top - 20, x + 2, bottom))
    if scene.floor is not None and top <= (y := view.at(0, scene.floor)[1]) <= bottom:
        out.append(line([(left, y), (right, y)], "s-warn dash", 1.2))
        out.append(text((right - 2, y + 14), scene.floor_words, "t-w", "end"))
        walls += [(left, y - 2, right, y + 2), (right - len(scene.floor_words) * LETTER, y, right, y + 18)]
    return out, walls


def _stairs(view: _Page, dots: Sequence[Dot]) -> list[list[Spot]]:
    """The best utility within each risk."""
    on = sorted((d.x, d.y) for d in dots if d.front)
    way = on[:1]
    for (_, low), (x, y) in pairwise(on):
        way += [(x, low), (x, y)]
    way += [(1.05, way[-1][1])] if way else []
    return view.clipped([view.at(*p) for p in way])


def _curves(view: _Page, dots: Sequence[Dot]) -> list[list[Spot]]:
    """Settings of one parameter, joined where they are in sight."""
    out = []
    for name in dict.fromkeys(d.sweep for d in dots if d.sweep):
        way = [d for d in dots if d.sweep == name and view.scene.holds(d)]
        out += [[view.at(d.x, d.y) for d in way]] if len(way) > 1 else []
    return out


def _bars(view: _Page, dot: Dot) -> list[Spot]:
    return [p for way in _intervals(view, dot) for p in dense(way)]


def _intervals(view: _Page, dot: Dot) -> list[list[Spot]]:
    a, b, c, d = dot.ends
    level = [view.at(a, dot.y), view.at(b, dot.y)]
    upright = [view.at(dot.x, c), view.at(dot.x, d)]
    ways = [way for way, wide in ((level, b - a), (upright, d - c)) if wide > 0]
    return [piece for way in ways for piece in view.clipped(way)]


def _mark(view: _Page, dot: Dot) -> list[str]:
    at = view.at(dot.x, dot.y)
    ink = "s-accent" if dot.chosen else "s-strong"
    out = [line(way, ink, 1.6) for way in _intervals(view, dot)]
    if dot.chosen:
        return [*out, circle(at, 13, "f-tint"), circle(at, CHOSEN, "f-accent")]
    return [*out, circle(at, MARK, "f-none s-strong", 1.6) if dot.weak else circle(at, MARK, "f-strong")]


def _box(at: Spot, half: float) -> Box:
    return at[0] - half, at[1] - half, at[0] + half, at[1] + half
