"""Names close beside their dots: no leader line is ever needed, since what has no room there gets a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from confide.show.charts.svg import LETTER, LINE, Spot, text, wrapped

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""

AWAY = 10.0
"""Pixels from the middle of a dot to its name."""
BOLD = 1.12
"""How much wider bold letters are."""
REACH = (0.0, 5.0, 10.0, 16.0)
"""How much farther a name may stand and still be read as that dot's."""


@dataclass(frozen=True)
class Label:
    """What stands beside a dot: `words`, or where they find no room `short`, or nothing. `size`: of the dot; `avoid`:
    where its name had better not stand."""

    at: Spot
    words: str
    short: str
    classes: str = ""
    size: float = 6.0
    avoid: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Placed:
    """A label where it stands: its lines, its box, at which end its words are held, and whether they are its own
    (`named`) or short."""

    lines: tuple[str, ...]
    box: Box
    anchor: str
    named: bool

    @property
    def spots(self) -> list[tuple[str, float, float]]:
        """Each line with the place of its base."""
        at = {"start": self.box[0], "middle": (self.box[0] + self.box[2]) / 2, "end": self.box[2]}[self.anchor]
        return [(words, at, self.box[1] + LINE * k + 12.5) for k, words in enumerate(self.lines)]


def place_labels(
    labels: Sequence[Label], room: Box, hard: Sequence[Box], soft: Sequence[Box] = (), letters: int = 24
) -> list[Placed | None]:
    """Each label beside its dot, the first ones first: off other dots and labels and `hard` boxes always, off `soft`
    ones (lines, which a halo parts) where there is a place; None where there is none for any of its words.

    >>> found = place_labels([Label((50, 50), "swap", "1"), Label((52, 50), "swop", "2")], (0, 0, 200, 100), [])
    >>> [one.lines for one in found]
    [('swap',), ('swop',)]
    """
    taken = [*hard, *(_around(one.at, one.size + 2) for one in labels)]
    out: list[Placed | None] = []
    for one in labels:
        tries = ([*taken, *soft, *one.avoid], [*taken, *one.avoid], [*taken, *soft], taken)
        ways = [(wrapped(one.words, letters), walls, True) for walls in tries if one.words]
        ways += [([one.short], taken, False)] if one.short else []  # as near as can be
        found = next((f for lines, walls, own in ways if (f := _free(one, lines, room, walls, own)) is not None), None)
        taken += [found.box] if found else []
        out.append(found)
    return out


def drawn_labels(labels: Sequence[Label], placed: Sequence[Placed | None]) -> list[str]:
    """The labels as SVG."""
    return [
        text((x, y), words, f"{one.classes} halo".strip(), found.anchor)
        for one, found in zip(labels, placed, strict=True) if found is not None for words, x, y in found.spots
    ]  # fmt: skip


def _around(at: Spot, size: float) -> Box:
    return at[0] - size, at[1] - size, at[0] + size, at[1] + size


def _free(one: Label, lines: Sequence[str], room: Box, taken: Sequence[Box], named: bool) -> Placed | None:
    """The first place beside a dot that nothing covers."""
    w, h = max(map(len, lines)) * LETTER * (BOLD if "t-b" in one.classes else 1.0), len(lines) * LINE
    (x, y), off = one.at, one.size + AWAY - 6.0
    own = _around(one.at, one.size + 2)
    for far in REACH:
        d = off + far
        e = 0.7 * d
        for left, top, anchor in (
            (x + d, y - h / 2, "start"), (x - d - w, y - h / 2, "end"), (x - w / 2, y - d - h, "middle"),
            (x - w / 2, y + d, "middle"), (x + e, y - e - h, "start"), (x - e - w, y - e - h, "end"),
            (x + e, y + e, "start"), (x - e - w, y + e, "end"), (x - w * 0.8, y - d - h, "middle"),
            (x - w * 0.2, y - d - h, "middle"), (x - w * 0.8, y + d, "middle"), (x - w * 0.2, y + d, "middle"),
        ):  # fmt: skip
            box = (left, top, left + w, top + h)
            if _inside(box, room) and not any(_touch(box, b) for b in taken if b != own):
                return Placed(tuple(lines), box, anchor, named)
    return None


def _inside(box: Box, room: Box) -> bool:
    return box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2] and box[3] <= room[3]


def _touch(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
