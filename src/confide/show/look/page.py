"""The page of a look as one HTML file: it has no script, asks no network and holds no record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.core.shares import percent
from confide.core.version import __version__
from confide.frames import atomic_write
from confide.show.look.sections import sections
from confide.show.look.words import answer, guessed_words, keys_listed
from confide.show.still_pages import parts_of, style_of, template
from confide.study.look.attacks import SURE

if TYPE_CHECKING:
    from confide.study.look.result import Look

KIND = "Internal: exact counts. Not for release. No record is shown."
ELSEWHERE = "In other tools: sample uniques (fk = 1); records that are not 5-anonymous; expected re-identifications."


def write_look(look: Look, path: str | os.PathLike[str], overwrite: bool = False) -> Path:
    """Write the page, for its owner alone."""
    with atomic_write(path, overwrite, private=True) as temporary:
        temporary.write_text(look_html(look), encoding="utf-8", newline="\n")
    return Path(path)


def look_html(look: Look) -> str:
    """The page as text."""
    units = f" in {look.units:,} units" if look.units is not None else ""
    return template("look", "look.html.j2").render(
        title="A first look: who could be recognised?", kind=KIND, marks={}, style=style_of("look/look.css"),
        sections=parts_of(sections(look)),
        size=f"{look.rows:,} rows{units}, {look.roles.frame.height:,} variables", answer=answer(look),
        alone=look.counted.alone > 0, numbers=_numbers(look), elsewhere=ELSEWHERE, guessed=guessed_words(look),
        builds="Everything on this page builds on the keys." if "keys" in look.stated.guessed else "",
        made=f"Made by confide {__version__} from the file alone; nothing was sent anywhere.",
    )  # fmt: skip


def _numbers(look: Look) -> list[dict[str, Any]]:
    """The three large numbers: alone, fewer than five alike, found."""
    n, c, found = look.rows, look.counted, look.found(SURE)
    keys, who = keys_listed(look), look.who.many
    rows = [
        (c.alone, "alone", f"{c.alone:,} {who}: nobody else has their {keys}"),
        (c.below[-1], "fewer than five alike", f"{c.below[-1]:,} {who} share these with fewer than four others"),
        (
            found or 0.0,
            "found",
            f"{found or 0.0:,.0f} {who}, by somebody who knows these and that they are in the file",
        ),
    ]
    return [{"value": percent(many, n).rstrip("%"), "name": name, "words": words} for many, name, words in rows]
