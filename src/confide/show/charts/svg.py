"""Pictures in SVG, drawn without a browser or a script: every colour is a class, so that one style sheet rules all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from confide.core.visible import visible

LETTER = 7.2
"""Pixels that a letter of 13 takes at most, on average over words."""
LINE = 16.0

STYLE = (
    "text{font:13px Inter,'Segoe UI','Helvetica Neue','Liberation Sans',Arial,sans-serif;fill:#12171e}"
    ".t-soft{fill:#47515f}.t-b{font-weight:650}.t-a{fill:#0b5fa5}.t-w{fill:#a3430a}"
    ".halo{stroke:#fff;stroke-width:4px;paint-order:stroke;stroke-linejoin:round}"
    ".f-bar{fill:#7d8da0}.f-strong{fill:#44546a}.f-accent{fill:#0b5fa5}.f-none{fill:#fff}.f-pale{fill:#d5dbe3}"
    ".f-shade{fill:#faf3ea}.f-tint{fill:#0b5fa5;fill-opacity:.13}.f-empty{fill:none}"
    ".s-line{stroke:#e1e5ea}.s-axis{stroke:#7d8896}.s-accent{stroke:#0b5fa5}.s-warn{stroke:#a3430a}"
    ".s-strong{stroke:#44546a}.dash{stroke-dasharray:5 4}"
)
"""The classes and their colours; the same on a page, in a file of its own, and in print."""

Spot = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Picture:
    """A finished drawing: `width` x `height` pixels, its parts in SVG, and what it shows in words."""

    width: float
    height: float
    parts: tuple[str, ...]
    alt: str

    def inline(self) -> str:
        """For a page that has the style sheet."""
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label="{_text(self.alt)}">'
            f"{''.join(self.parts)}</svg>"
        )

    def standalone(self) -> str:
        """As a file of its own, on white."""
        size = f'width="{self.width + 28:g}" height="{self.height + 28:g}"'
        box = f'viewBox="-14 -14 {self.width + 28:g} {self.height + 28:g}"'
        paper = f'<rect x="-14" y="-14" {size} fill="#ffffff"/>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} role="img" aria-label="{_text(self.alt)}">'
        return f"{head}<style>{STYLE}</style>{paper}{''.join(self.parts)}</svg>\n"

    def words(self) -> list[str]:
        """Every text in it."""
        return re.findall(r"<text[^>]*>([^<]*)</text>", "".join(self.parts))


def line(points: Sequence[Spot], classes: str, width: float = 1.0) -> str:
    """A line through points.

    >>> line([(0, 0), (5, 2)], "s-axis")
    '<path d="M0 0L5 2" class="f-empty s-axis" stroke-width="1"/>'
    """
    way = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
    return f'<path d="M{way}" class="f-empty {classes}" stroke-width="{width:g}"/>'


def rect(x: float, y: float, width: float, height: float, classes: str, corner: float = 0.0) -> str:
    """A box."""
    round_ = f' rx="{corner:g}"' if corner else ""
    return f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" class="{classes}"{round_}/>'


def circle(at: Spot, radius: float, classes: str, stroke: float = 0.0) -> str:
    """A dot, or with a stroke a ring."""
    edge = f' stroke-width="{stroke:g}"' if stroke else ""
    return f'<circle cx="{_n(at[0])}" cy="{_n(at[1])}" r="{radius:g}" class="{classes}"{edge}/>'


def text(at: Spot, words: str, classes: str = "", anchor: str = "start") -> str:
    """One line of words; `at` is the base of the first letter, or of the middle or last by `anchor`.

    >>> text((1, 2), "a<b", "t-soft", "end")
    '<text x="1" y="2" text-anchor="end" class="t-soft">a&lt;b</text>'
    """
    how = f' text-anchor="{anchor}"' if anchor != "start" else ""
    of = f' class="{classes}"' if classes else ""
    return f'<text x="{_n(at[0])}" y="{_n(at[1])}"{how}{of}>{_text(words)}</text>'


def wrapped(words: str, letters: int) -> list[str]:
    """Words in lines of about so many letters; nothing is cut, a long word stands on a line of its own.

    >>> wrapped("Age recode + RM swap + P perturbed/topcoded", 24)
    ['Age recode + RM swap + P', 'perturbed/topcoded']
    """
    out = [""]
    for word in words.split(" "):
        if out[-1] and len(out[-1]) + 1 + len(word) > letters:
            out.append(word)
        else:
            out[-1] = f"{out[-1]} {word}".strip()
    return out


def _text(words: str) -> str:
    return escape(visible(words), quote=True)


def _n(x: float) -> str:
    return f"{round(x, 1):g}"
