"""The map of ways to publish: risk on a scale of powers of ten against the mean error, with labels that do not meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from confide.app.counted import plain

HIGH, TOP, BASE = 380, 44, 334
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Point:
    """A way: its risk and error, what it is called, whether it is chosen or hides counts."""

    risk: float
    error: float
    label: str
    chosen: bool = False
    hides: bool = False


@dataclass(frozen=True)
class _Scale:
    wide: int
    low: int
    zero: bool
    top: float

    @property
    def right(self) -> float:
        return self.wide - 16.0

    def x(self, risk: float) -> float:
        first = 44 + (46 if self.zero else 14)
        if risk < 10.0**self.low * 0.999:
            return 44 + 14.0
        return first + (self.right - 22 - first) * (math.log10(risk) - self.low) / -self.low

    def y(self, error: float) -> float:
        return TOP + (BASE - 22 - TOP) * error / self.top


def scheme_map(points: Sequence[Point], limit: float, said: str, worst: str, wide: int = 972) -> Markup:
    """The map; `worst`: what the risk is of ("worst area"), `limit`: what it may be at most."""
    scale = _scale(points, limit, wide)
    at = [(scale.x(p.risk), scale.y(p.error)) for p in points]
    edge = scale.x(limit)
    parts = [*_ground(scale, edge, limit, worst), *_labels(points, at, scale, edge)]
    return Markup(f'<svg viewBox="0 0 {wide} {HIGH}" role="img" aria-label="{escape(said)}">{"".join(parts)}</svg>')


def _scale(points: Sequence[Point], limit: float, wide: int) -> _Scale:
    risks = [p.risk for p in points if p.risk > 1e-9]
    low = min(math.floor(math.log10(min([*risks, limit, 0.1]))), -1)
    errors = max((p.error for p in points), default=0.0)
    return _Scale(wide, low, any(p.risk <= 1e-9 for p in points), errors * 1.04 or 1.0)


def _ground(scale: _Scale, edge: float, limit: float, worst: str) -> list[str]:
    """Axes, and the part beyond the limit."""
    right, narrow = scale.right, scale.wide < 600
    out = [f'<rect x="{edge:.1f}" y="30" width="{max(right - edge, 0):.1f}" height="{BASE - 30}" class="f-shade"/>']
    step = _step(scale.top)
    for k in range(int(scale.top / step + 1e-9) + 1):
        y = scale.y(k * step)
        out.append(f'<path d="M44 {y:.1f}L{right:.1f} {y:.1f}" class="f-empty s-line" stroke-width="1"/>')
        out.append(f'<text x="36" y="{y + 4:.0f}" text-anchor="end" class="t-s t-soft">{k * step:g}</text>')
    out += _ticks(scale)
    out.append(f'<path d="M44 {BASE}L{right:.1f} {BASE}" class="f-empty s-axis" stroke-width="1"/>')
    out.append(f'<path d="M{edge:.1f} 22L{edge:.1f} {BASE}" class="f-empty s-warn dash" stroke-width="1.6"/>')
    if edge > (110 if narrow else 160):
        within = "within" if narrow else "within the limit"
        out.append(f'<text x="{edge - 7:.0f}" y="22" text-anchor="end" class="t-s t-w">{within}</text>')
    side = ("start", edge + 7) if edge < right - 76 else ("end", right)
    out.append(
        f'<text x="{side[1]:.0f}" y="{22 if side[0] == "start" else 8}" text-anchor="{side[0]}" '
        f'class="t-s t-w t-b">above {plain(limit)}</text>'
    )
    out.append('<text x="0" y="7" class="t-s t-soft">mean error of a count</text>')
    said = f"probability of a sure finding{', ' + worst if worst else ''}"
    out.append(f'<text x="{right:.0f}" y="374" text-anchor="end" class="t-s t-soft">{escape(said)}</text>')
    return out


def _ticks(scale: _Scale) -> list[str]:
    out, last = [], math.inf
    ticks = [(scale.x(10.0**k), _power(k)) for k in range(0, scale.low - 1, -1)]
    for x, text in [*ticks, *([(scale.x(0), "0")] if scale.zero else [])]:
        if last - x < 12 + 7 * len(text):
            continue
        last = x
        out.append(f'<path d="M{x:.1f} {BASE}L{x:.1f} {BASE + 5}" class="f-empty s-axis" stroke-width="1"/>')
        out.append(f'<text x="{x:.0f}" y="354" text-anchor="middle" class="t-s t-soft">{text}</text>')
    return out


def _power(k: int) -> str:
    return f"{10.0**k:.{-k}f}" if k > -5 else f"10{str(k).translate(SUPERSCRIPTS)}"


def _step(top: float) -> float:
    power = 10 ** math.floor(math.log10(top))
    return float(next(power * s for s in (0.2, 0.25, 0.5, 1, 2, 2.5, 5) if top / (power * s) <= 5))


def _labels(points: Sequence[Point], at: Sequence[tuple[float, float]], scale: _Scale, edge: float) -> list[str]:
    """Points, and their labels where there is room: the chosen one first, then by how crowded they are."""
    reach = [16 if p.chosen else 9 for p in points]
    circles = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(at, reach, strict=True)]
    placed: list[Box] = []
    texts = [""] * len(points)
    order = sorted(range(len(points)), key=lambda i: (not points[i].chosen, -_crowd(at, i)))
    for i in order:
        found = _place(points[i], at[i], [c for j, c in enumerate(circles) if j != i], placed, scale, edge)
        if found is not None:
            texts[i], box = found
            placed.append(box)
    dots = [_dot(p, x, y) for p, (x, y) in sorted(zip(points, at, strict=True), key=lambda pair: pair[0].chosen)]
    return [*dots, *texts]


def _crowd(at: Sequence[tuple[float, float]], i: int) -> int:
    return sum(abs(x - at[i][0]) < 120 and abs(y - at[i][1]) < 24 for x, y in at)


def _dot(point: Point, x: float, y: float) -> str:
    title = f"<title>{escape(point.label)}</title>"
    if point.chosen:
        kind = "f-none s-accent" if point.hides else "f-accent"
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="14" class="f-tint"/>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7.5" class="{kind}" stroke-width="2">{title}</circle>'
        )
    kind = 'class="f-none s-strong" stroke-width="1.6"' if point.hides else 'class="f-strong"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5" {kind}>{title}</circle>'


def _place(
    point: Point, at: tuple[float, float], circles: Sequence[Box], placed: Sequence[Box], scale: _Scale, edge: float
) -> tuple[str, Box] | None:
    """A place for a label that touches nothing, best one that the limit does not cross; None where there is none."""
    (x, y), size = at, (7.9 if point.chosen else 6.8) * len(point.label)
    far = 18 if point.chosen else 12
    spots = [
        (x - far, y + 4, "end"), (x + far, y + 4, "start"), (x - far, y - 8, "end"), (x + far, y - 8, "start"),
        (x, y - 12 - far / 4, "middle"), (x, y + 20 + far / 4, "middle"), (x - far, y + 17, "end"),
        (x + far, y + 17, "start"), (x, y - 26, "middle"), (x, y + 34, "middle"),
        *((scale.right, ty, "end") for ty in (y - 12, y + 20) if x > scale.right - size / 2 - far),
        *((46.0, ty, "start") for ty in (y - 12, y + 20) if x < 46 + size / 2 + far),
    ]  # fmt: skip
    best: tuple[float, str, Box] | None = None
    for rank, (tx, ty, anchor) in enumerate(spots):
        left = tx - size if anchor == "end" else tx - size / 2 if anchor == "middle" else tx
        box = (left - 2, ty - 12, left + size + 2, ty + 4)
        if box[0] < 44 or box[2] > scale.right + 2 or box[1] < 26 or box[3] > BASE - 2:
            continue
        if any(_meet(box, other) for other in (*circles, *placed)):
            continue
        cost = rank + (20 if box[0] < edge < box[2] else 0)
        if best is None or cost < best[0]:
            halo = "halo-s" if left > edge else "halo"
            kind = "t-b t-a" if point.chosen else "t-s"
            text = (
                f'<text x="{tx:.0f}" y="{ty:.0f}" text-anchor="{anchor}" class="{kind} {halo}">'
                f"{escape(point.label)}</text>"
            )
            best = (cost, text, box)
    return None if best is None else (best[1], best[2])


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
