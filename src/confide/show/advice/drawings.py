"""The pictures of advice: all candidates between risk and utility, what each family reaches, how the field was cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from confide.measure.utility.measure import Measure
from confide.show.charts.decision_map import Dot, Scene, decision_map
from confide.show.charts.map_scales import PAD, RiskAxis, UtilityAxis, thinned, usual_scale
from confide.show.charts.svg import LETTER, Picture, Spot, circle, line, rect, text, wrapped
from confide.show.report.map_ticks import risk_ticks, utility_ticks

WIDE, NARROW = (3, 186.0), (2, 164.0)
"""Panels beside each other, and how wide each is."""
PANEL, GAP = 116.0, 14.0
MOST_LETTERS = 45
"""Of an axis title on a narrow page."""
LEAST_RISE = 0.12
"""Of the upward axis, what is shown at least: smaller differences are no matter."""


@dataclass(frozen=True)
class Point:
    """A candidate on the plane. `risk`: of the strongest intruder, in the unit of the limit; `ends`: its interval.
    `name` stands beside it where it has one; `families`: of what it is made; `live`: it was not given up; `front`: none
    of those compared to the end beats it."""

    name: str
    risk: float
    utility: float
    ends: tuple[float, float] | None = None
    families: tuple[str, ...] = ()
    live: bool = False
    chosen: bool = False
    front: bool = False
    words: str = ""


@dataclass(frozen=True, eq=False)
class Plane:
    """Both axes with the limit: where a candidate is drawn. `people`: how many are all, None where risk is no count."""

    points: Sequence[Point]
    measure: Measure
    limit: float | None
    limit_words: str
    risk_words: str
    utility_words: str
    people: float | None
    shares: bool = False
    short_words: str = ""
    """Of utility, where a page is narrow and there is no room for `utility_words`."""

    @property
    def across(self) -> RiskAxis:
        """Risk, from nobody found to the largest that was seen."""
        return RiskAxis(max([p.risk for p in self.points], default=0.0) or 1.0, "sqrt")

    @property
    def up(self) -> UtilityAxis:
        """Utility, better upwards."""
        return UtilityAxis(self.measure, usual_scale(self.measure, "sqrt"))

    @property
    def rise(self) -> tuple[float, float]:
        """The part of the upward axis that candidates need."""
        heights = [self.up.at(p.utility) for p in self.points] or [0.0, 1.0]
        low, high = min(heights), max(heights)
        room = max(high - low, LEAST_RISE) * 0.08
        return max(low - room, -PAD), min(max(high, low + LEAST_RISE) + room, 1 + PAD)


def candidates_map(plane: Plane, alt: str, narrow: bool = False) -> Picture:
    """All candidates; those given up are faint, the line is the best utility at each risk, beyond the limit is shaded.

    >>> import confide as cf
    >>> points = [Point("a", 10, 0.2, live=True, front=True, words="a"), Point("b", 90, 0.5)]
    >>> plane = Plane(points, cf.Hellinger(), 20, "limit: 20", "people found", "distance", 100)
    >>> [w for w in candidates_map(plane, "Two.").words() if w in ("a", "b", "limit: 20")]
    ['limit: 20', 'a']
    """
    across, up = plane.across, plane.up
    dots = []
    for p in sorted(plane.points, key=lambda p: (not p.chosen, not p.words, not p.front)):
        x, y = across.at(p.risk), up.at(p.utility)
        a, b = (x, x) if p.ends is None else (across.at(p.ends[0]), across.at(p.ends[1]))
        dots.append(Dot(p.name, x, y, (a, b, y, y), p.words, "", p.chosen, False, p.front, "", not p.live))
    unit = None if plane.people is None else 1.0 if plane.shares else plane.people
    shares = risk_ticks(0.0, across.top, across.at, unit, (True, not plane.shares), 0.11)
    heights = [(at, words) for at, words in utility_ticks(up, *plane.rise)]
    heights = heights or [(at, [words]) for at, words in thinned(up.ticks(), 0.07)]
    limit = None if plane.limit is None or plane.limit >= across.top else across.at(plane.limit)
    long = narrow and len(plane.utility_words) > MOST_LETTERS
    title = plane.short_words or plane.utility_words if long else plane.utility_words
    scene = Scene((-PAD, 1 + PAD), plane.rise, shares, heights, plane.risk_words, title,
                  limit, plane.limit_words)  # fmt: skip
    return decision_map(dots, scene, alt, narrow).picture


def families_picture(
    plane: Plane, families: Sequence[tuple[str, str, bool]], alt: str, narrow: bool = False,
    named: Callable[[str], str] = str,
) -> Picture:  # fmt: skip
    """A small map for each family: dark what has it, pale all others. `families`: a name, what it reached in words, and
    whether some of it is within the limit; `named`: a family in words.

    >>> import confide as cf
    >>> points = [Point("a", 10, 0.2, families=("swap",)), Point("b", 90, 0.5)]
    >>> plane = Plane(points, cf.Hellinger(), 20, "limit: 20", "people found", "distance", 100)
    >>> families_picture(plane, [("swap", "0.2 within", True)], "One.").words()
    ['swap', '0.2 within']
    """
    across, wide = NARROW if narrow else WIDE
    letters = int(wide / LETTER)
    said = [(wrapped(named(name), letters), wrapped(words, letters)) for name, words, _ in families]
    rows = [said[k : k + across] for k in range(0, len(said), across)]
    parts: list[str] = []
    top, k = 0.0, 0
    for row in rows:
        head = max(len(n) for n, _ in row) * 16.0
        foot = max(len(w) for _, w in row) * 15.0
        for column, (names, words) in enumerate(row):
            left = column * (wide + GAP)
            box = (left, top + head + 2, left + wide, top + head + 2 + PANEL)
            parts += [text((left, top + 12 + 16 * i), n, "t-b") for i, n in enumerate(names)]
            parts += _panel(plane, families[k][0], box)
            classes = "t-b t-soft" if families[k][2] else "t-soft"
            parts += [text((left, box[3] + 16 + 15 * i), w, classes) for i, w in enumerate(words)]
            k += 1
        top += head + PANEL + foot + 22
    return Picture(across * wide + (across - 1) * GAP, max(top, 1.0), tuple(parts), alt)


def _panel(plane: Plane, family: str, box: tuple[float, float, float, float]) -> list[str]:
    left, top, right, bottom = box
    across, up, (low, high) = plane.across, plane.up, plane.rise

    def at(p: Point) -> Spot:
        x = left + 4 + min(across.at(p.risk), 1.0) * (right - left - 8)
        return x, bottom - 4 - (up.at(p.utility) - low) / (high - low) * (bottom - top - 8)

    out = []
    if plane.limit is not None and plane.limit < across.top:
        x = left + 4 + across.at(plane.limit) * (right - left - 8)
        out = [rect(x, top, right - x, bottom - top, "f-shade"), line([(x, top), (x, bottom)], "s-warn dash", 1.2)]
    out.append(line([(left, top), (left, bottom), (right, bottom)], "s-axis"))
    out += [circle(at(p), 2.2, "f-pale") for p in plane.points if family not in p.families]
    mine = [p for p in plane.points if family in p.families]
    out += [circle(at(p), 3.0, "f-strong") for p in mine if not p.chosen]
    return [*out, *(circle(at(p), 5.0, "f-accent") for p in mine if p.chosen)]
