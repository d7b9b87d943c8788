"""Pictures from counts, as SVG: colour by class only, so that they need no style, and words that say what they show."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from confide.app.words import count


def mini(shares: Sequence[float]) -> Markup:
    """Small bars for a table: how people spread over the values of one variable."""
    wide, high = 118, 30
    top = max(shares, default=0) or 1
    step = wide / max(len(shares), 1)
    gap = 1 if step > 3 else 0.5
    bars = [
        f'<rect x="{i * step:.1f}" y="{high - 1 - 27 * s / top:.1f}" width="{max(step - gap, 0.4):.1f}" '
        f'height="{27 * s / top:.1f}" class="f-bar"/>'
        for i, s in enumerate(shares)
    ]
    return Markup(f'<svg viewBox="0 0 {wide} {high}" aria-hidden="true">{"".join(bars)}</svg>')


def columns(rows: Sequence[tuple[str, float]], said: str, strong: int = 0, wide: int = 430) -> Markup:
    """Upright bars with the number on each; `strong`: the one that matters."""
    high, base = 210, 182
    top = max((n for _, n in rows), default=0) or 1
    step = wide / max(len(rows), 1)
    parts = []
    for i, (name, n) in enumerate(rows):
        tall, x = 158 * n / top, i * step + step * 0.09
        middle = x + step * 0.41
        kind, bold = ("f-accent", "t-b t-s") if i == strong else ("f-bar", "t-s t-soft")
        parts.append(
            f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{step * 0.82:.1f}" height="{tall:.1f}" class="{kind}" '
            f'rx="3"/>'
            f'<text x="{middle:.0f}" y="{base - tall - 6:.0f}" text-anchor="middle" class="{bold}">{count(n)}</text>'
            f'<text x="{middle:.0f}" y="201" text-anchor="middle" class="t-soft t-s">{escape(name)}</text>'
        )
    line = f'<path d="M0 {base}L{wide} {base}" class="f-empty s-axis" stroke-width="1"/>'
    return _svg(wide, high, said, "".join(parts) + line)


def bars(rows: Sequence[tuple[str, float, str]], said: str, wide: int = 430, left: int = 150) -> Markup:
    """Lying bars: name, number, and the class of the bar ("" for the usual one)."""
    top = max((n for _, n, _ in rows), default=0) or 1
    parts = []
    for i, (name, n, kind) in enumerate(rows):
        y, long = 7 + 35 * i, (wide - left - 62) * n / top
        bold = ' class="t-b"' if kind == "f-accent" else ""
        parts.append(
            f'<text x="0" y="{y + 13}"{bold}>{escape(_short(name, left))}</text>'
            f'<rect x="{left}" y="{y}" width="{max(long, 1):.1f}" height="18" class="{kind or "f-bar"}" rx="3"/>'
            f'<text x="{left + long + 8:.0f}" y="{y + 13}" class="t-soft">{count(n)}</text>'
        )
    return _svg(wide, 35 * max(len(rows), 1), said, "".join(parts))


def line_of_steps(values: Sequence[float], limit: float | None, said: str, wide: int = 291) -> Markup:
    """People found on a line in powers of ten: hollow for what was, filled for now, the limit dashed."""
    shown = [max(v, 1.0) for v in values]
    low = 10 ** math.floor(math.log10(min([*shown, limit or math.inf])))
    high = 10 ** math.ceil(math.log10(max([*shown, limit or 0, low * 10])))

    def x(v: float) -> float:
        return 4 + (wide - 8) * (math.log10(v) - math.log10(low)) / (math.log10(high) - math.log10(low))

    parts = []
    if limit is not None and limit >= 1:
        parts.append(f'<rect x="{x(limit):.1f}" y="29" width="{wide - 4 - x(limit):.1f}" height="10" class="f-shade"/>')
    parts.append(f'<path d="M4 34L{wide - 4} 34" class="f-empty s-axis" stroke-width="1.5"/>')
    for k in range(round(math.log10(low)), round(math.log10(high)) + 1):
        at = x(10**k)
        anchor = "start" if at < 12 else "end" if at > wide - 24 else "middle"
        parts.append(f'<path d="M{at:.1f} 30L{at:.1f} 38" class="f-empty s-axis" stroke-width="1"/>')
        parts.append(f'<text x="{at:.0f}" y="56" text-anchor="{anchor}" class="t-s t-soft">{10**k:,}</text>')
    if limit is not None and limit >= 1:
        at = x(limit)
        side = ("end", at - 6) if at > wide * 0.62 else ("start", at + 6)
        parts.append(f'<path d="M{at:.1f} 12L{at:.1f} 42" class="f-empty s-warn dash" stroke-width="1.5"/>')
        parts.append(
            f'<text x="{side[1]:.0f}" y="20" text-anchor="{side[0]}" class="t-s t-w">limit {count(limit)}</text>'
        )
    parts += [f'<circle cx="{x(v):.1f}" cy="34" r="4" class="f-none s-strong" stroke-width="1.5"/>' for v in shown[:-1]]
    parts += [f'<circle cx="{x(v):.1f}" cy="34" r="7" class="f-accent"/>' for v in shown[-1:]]
    return _svg(wide, 60, said, "".join(parts))


def before_after(
    rows: Sequence[tuple[str, float | None, float]], said: str, wide: int = 598, left: int = 190
) -> Markup:
    """Shares of people by value, before (hollow) and after (filled)."""
    top = max((v for _, b, a in rows for v in (b, a) if v is not None), default=0) or 1
    high = _nice(top)
    scale = (wide - left - 8) / high
    parts = []
    tall = 30 * len(rows)
    for k in range(5):
        v = high * k / 4
        at = left + scale * v
        parts.append(f'<path d="M{at:.1f} 0L{at:.1f} {tall}" class="f-empty s-line" stroke-width="1"/>')
        anchor = "end" if k == 4 else "middle"
        parts.append(
            f'<text x="{at:.0f}" y="{tall + 18}" text-anchor="{anchor}" class="t-s t-soft">{100 * v:.3g} %</text>'
        )
    for i, (name, b, a) in enumerate(rows):
        y = 15 + 30 * i
        parts.append(f'<text x="0" y="{y + 4}" class="t-s">{escape(_short(name, left))}</text>')
        if b is not None:
            parts.append(
                f'<path d="M{left + scale * b:.1f} {y}L{left + scale * a:.1f} {y}" class="f-empty s-axis" '
                f'stroke-width="2"/>'
            )
            parts.append(
                f'<circle cx="{left + scale * b:.1f}" cy="{y}" r="5" class="f-none s-ink" stroke-width="1.6"/>'
            )
        parts.append(f'<circle cx="{left + scale * a:.1f}" cy="{y}" r="5" class="f-accent"/>')
    return _svg(wide, tall + 26, said, "".join(parts))


def _svg(wide: float, high: float, said: str, inner: str) -> Markup:
    return Markup(f'<svg viewBox="0 0 {wide} {high}" role="img" aria-label="{escape(said)}">{inner}</svg>')


def _short(name: str, left: int) -> str:
    most = max(int(left / 7), 4)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _nice(top: float) -> float:
    power: float = 10 ** math.floor(math.log10(top))
    return next(power * k for k in (1, 2, 4, 5, 8, 10) if power * k >= top * 0.999)
