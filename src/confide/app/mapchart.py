"""The map: people found, in powers of ten, against what is kept; the limit dashed, and what lies beyond it shaded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from confide.app.mapparts import Box, cut, heights, line, meet, rect, steps, ticks
from confide.app.words import count, percent, share

SMALL, NORMAL = 6.8, 8.0
"""Widths of a letter of 12 and 13 pixels, rather too wide than too small."""

Row = Mapping[str, Any]


@dataclass
class Map:
    """What is drawn. `rows`: name, found, low, high, height, ends, chosen, hollow; `limit` in people; `analyses`:
    whether heights are shares of 1 and not percentages."""

    rows: Sequence[Row]
    limit: float | None
    over: str
    height: str
    analyses: bool
    wide: int = 972
    high: int = 430
    near: bool = False
    said: str = ""
    taken: list[Box] = field(default_factory=list)
    labels: list[Box] = field(default_factory=list)

    @property
    def narrow(self) -> bool:
        """Whether it is the small form."""
        return self.wide < 640

    def svg(self) -> Markup:
        """The picture."""
        inside = self._inside()
        outside = [r for r in self.rows if r not in inside]
        self.x0, self.x1, self.y0, self.y1 = 46.0, self.wide - 16.0, 30.0, self.high - 46.0
        self.low, self.top = self._risks(inside)
        self.room = max(20.0 * len(side) for side in self._sides(outside))
        self.bottom, self.ceiling = heights([e for r in inside for e in (r["height"], *r["ends"])])
        parts = [*self._ground(), *self._axes(), *self._limit(), *self._corner(outside)]
        self.taken += [self._dot(r) for r in inside]
        for row in inside:
            lines = self._spread(row)
            self.taken += [(x - 2, y - 2, to_x + 2, to_y + 2) for x, y, to_x, to_y in lines]
            parts += [line(*each, "s-strong") for each in lines]
        order = sorted(inside, key=lambda r: (not r["chosen"], r["hollow"], -r["height"]))
        parts += [self._point(r) for r in reversed(order)]
        parts += [self._label(r) for r in order]
        about = f'viewBox="0 0 {self.wide} {self.high}" role="img" aria-label="{escape(self.said)}"'
        return Markup(f"<svg {about}>{''.join(parts)}</svg>")

    def _inside(self) -> list[Row]:
        """Those that are drawn: all, or those near the limit, the chosen one, and what lies between them."""
        limit = self.limit if self.near else None
        if limit is None:
            return list(self.rows)
        near = [r["found"] for r in self.rows if r["chosen"] or limit / 3 <= max(r["found"], 1.0) <= limit * 3]
        return [r for r in self.rows if near and min(near) <= r["found"] <= max(near)] or list(self.rows)

    def _risks(self, rows: Sequence[Row]) -> tuple[float, float]:
        values = [max(v, 1.0) for r in rows for v in (r["found"], r["low"], r["high"]) if v is not None]
        values += [] if self.limit is None else [max(self.limit, 1.0)]
        low, top = min(values) / 1.15, max(values) * 1.15
        return (low, top) if top / low > 1.6 else (low / 1.5, top * 1.5)

    def x(self, found: float) -> float:
        """Where so many people are."""
        at = (math.log(max(found, 1.0)) - math.log(self.low)) / (math.log(self.top) - math.log(self.low))
        return self.x0 + (self.x1 - self.x0) * min(max(at, 0.0), 1.0)

    def y(self, height: float) -> float:
        """Where so much is kept."""
        return self.y1 - (self.y1 - self.y0 - self.room) * (height - self.bottom) / (self.ceiling - self.bottom)

    def _ground(self) -> list[str]:
        if self.limit is None:
            return []
        at = self.x(self.limit)
        return [rect(at, self.y0, self.x1 - at, self.y1 - self.y0, "f-shade")]

    def _axes(self) -> list[str]:
        parts = []
        for v in steps(self.bottom, self.ceiling):
            at, text = (
                self.y(v),
                (share(v) if self.analyses else f"{percent(v, 0 if self.ceiling - self.bottom > 0.03 else 1)} %"),
            )
            parts.append(line(self.x0, at, self.x1, at, "s-line"))
            parts.append(f'<text x="38" y="{at + 4:.0f}" text-anchor="end" class="t-s t-soft">{text}</text>')
        for n in ticks(self.low, self.top, 5 if self.narrow else 9):
            at = self.x(n)
            parts.append(line(at, self.y1, at, self.y1 + 5, "s-axis"))
            parts.append(
                f'<text x="{at:.0f}" y="{self.y1 + 20:.0f}" text-anchor="middle" class="t-s t-soft">{count(n)}</text>'
            )
        parts.append(line(self.x0, self.y1, self.x1, self.y1, "s-axis"))
        said = "people found, worst intruder" if self.narrow else "people found by the worst intruder"
        parts.append(
            f'<text x="{self.x1:.0f}" y="{self.y1 + 40:.0f}" text-anchor="end" class="t-s t-soft">{said}</text>'
        )
        parts.append(f'<text x="0" y="10" class="t-s t-soft">{escape(self.height)}</text>')
        return parts

    def _limit(self) -> list[str]:
        if self.limit is None:
            return []
        at = self.x(self.limit)
        inside, over = ("within", f"over {count(self.limit)}") if self.narrow else ("within the limit", self.over)
        parts = [f'<path d="M{at:.1f} 22L{at:.1f} {self.y1:.1f}" class="f-empty s-warn dash" stroke-width="1.6"/>']
        if at - self.x0 > len(inside) * SMALL:
            parts.append(f'<text x="{at - 7:.0f}" y="22" text-anchor="end" class="t-s t-w">{inside}</text>')
        long = len(over) * NORMAL
        anchor, beside = ("start", at + 7) if at + 7 + long < self.wide else ("end", float(self.wide))
        y = 22 if anchor == "start" else 12
        parts.append(f'<text x="{beside:.0f}" y="{y}" text-anchor="{anchor}" class="t-s t-w t-b">{escape(over)}</text>')
        return parts

    def _corner(self, outside: Sequence[Row]) -> list[str]:
        """What is outside the picture, in words at the corner where it would be."""
        parts: list[str] = []
        for side in self._sides(outside):
            for k, row in enumerate(side):
                over, name = row["found"] > self.top, cut(row["name"], 16 if self.narrow else 44)
                text = f"{name}: {count(row['found'])} found, {self._kept(row)} kept"
                text = f"{text}  →" if over else f"←  {text}"
                y, at, end = self.y0 + 16 + 18 * k, self.x1 - 6, ' text-anchor="end"'
                if not over:
                    at, end = self.x0 + 6, ""
                parts.append(f'<text x="{at:.0f}" y="{y:.0f}"{end} class="t-s t-soft">{escape(text)}</text>')
        return parts

    def _sides(self, outside: Sequence[Row]) -> list[list[Row]]:
        """Those to the left and to the right that are told of; the small form has room for one."""
        most = 1 if self.narrow else 3
        right = sorted((r for r in outside if r["found"] > self.top), key=lambda r: -r["found"])[:most]
        left = sorted((r for r in outside if r["found"] <= self.top), key=lambda r: r["found"])[:most]
        return [right or left] if self.narrow else [left, right]

    def _kept(self, row: Row) -> str:
        return share(row["height"]) if self.analyses else f"{percent(row['height'])} %"

    def _spread(self, row: Row) -> list[Box]:
        """The 95 % intervals as lines, where they are wider than the point."""
        x, y, out = self.x(row["found"]), self.y(row["height"]), []
        if row["low"] is not None and row["high"] is not None and self.x(row["high"]) - self.x(row["low"]) > 14:
            out.append((self.x(row["low"]), y, self.x(row["high"]), y))
        if len(row["ends"]) == 2 and self.y(row["ends"][0]) - self.y(row["ends"][1]) > 14:
            out.append((x, self.y(row["ends"][1]), x, self.y(row["ends"][0])))
        return out

    def _dot(self, row: Row) -> Box:
        x, y, r = self.x(row["found"]), self.y(row["height"]), 12 if row["chosen"] else 7
        return x - r, y - r, x + r, y + r

    def _point(self, row: Row) -> str:
        x, y = self.x(row["found"]), self.y(row["height"])
        title = f"<title>{escape(row['name'])}: {count(row['found'])} found, {self._kept(row)} kept</title>"
        if row["chosen"]:
            tint = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="15" class="f-tint"/>'
            return f'<g>{title}{tint}<circle cx="{x:.1f}" cy="{y:.1f}" r="8" class="f-accent"/></g>'
        kind = 'class="f-none s-strong" stroke-width="1.6"' if row["hollow"] else 'class="f-strong"'
        return f'<g>{title}<circle cx="{x:.1f}" cy="{y:.1f}" r="6" {kind}/></g>'

    def _label(self, row: Row) -> str:
        """The name beside its point, where there is room for it; nothing where there is none."""
        lines = [cut(row["name"], 20 if self.narrow else 46)]
        if row["chosen"]:
            lines.append(f"{count(row['found'])} found, {self._kept(row)} kept")
        long = max(len(lines[0]) * (NORMAL if row["chosen"] else SMALL), len(lines[-1]) * SMALL)
        x, y, off, tall = self.x(row["found"]), self.y(row["height"]), 16 if row["chosen"] else 11, 17 * len(lines)
        own = {self._dot(row), *((a - 2, b - 2, c + 2, d + 2) for a, b, c, d in self._spread(row))}
        others = [box for box in self.taken if box not in own]
        for left, base in self._places(x, y, off, tall, long, row["chosen"]):
            box = (left, base - 12, left + long, base - 12 + tall)
            if not any(meet(box, other) for other in others):
                self.taken.append(box)
                self.labels.append(box)
                return self._text(row, lines, left, base, box)
        return ""

    def _places(
        self, x: float, y: float, off: float, tall: float, long: float, chosen: bool
    ) -> list[tuple[float, float]]:
        """Where a label may begin, the best place first: right, left, above, below; none across the limit, unless it is
        the chosen one's and there is no other."""
        edge = self.x1 if self.limit is None else self.x(self.limit)
        least, most = (self.x0 + 2, edge - 4) if x < edge else (edge + 4, self.wide - 2.0)
        middle = y + 4 - (tall - 17) / 2
        above, below = y - off - 3 - (tall - 17), y + off + 11
        shifted = min(max(x - long / 2, least), max(most - long, least))
        places = [
            (x + off, middle), (x - off - long, middle), (shifted, above), (shifted, below),
            (x + off - 4, y - 10 - (tall - 17)), (x - off + 4 - long, y - 10 - (tall - 17)),
            (x + off - 4, y + 20), (x - off + 4 - long, y + 20),
        ]  # fmt: skip
        inside = [
            p
            for p in places
            if p[1] - 12 >= self.y0 + self.room and p[1] - 12 + tall <= self.y1 + 2 and p[0] >= self.x0
        ]
        kept = [p for p in inside if p[0] >= least - 1 and p[0] + long <= most + 1]
        return kept + [p for p in inside if chosen and p not in kept and p[0] + long <= self.wide]

    def _text(self, row: Row, lines: Sequence[str], left: float, base: float, box: Box) -> str:
        before = left < self.x(row["found"]) - 8 and box[2] < self.x(row["found"])
        at, end = (box[2], ' text-anchor="end"') if before else (left, "")
        halo = "halo-s" if self.limit is not None and box[0] > self.x(self.limit) else "halo"
        out = []
        for k, text in enumerate(lines):
            kind = ("t-b t-a" if k == 0 else "t-s t-a") if row["chosen"] else "t-s"
            out.append(f'<text x="{at:.0f}" y="{base + 17 * k:.0f}"{end} class="{kind} {halo}">{escape(text)}</text>')
        return "".join(out)
