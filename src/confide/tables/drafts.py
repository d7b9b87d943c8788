"""What a published table says where it must not be published."""

from __future__ import annotations

import polars as pl

from confide.core.random.origin import Origin
from confide.frames.marks import withhold


def refusal_of(origin: Origin | None) -> str:
    """Why something with these draws may not be published; empty where nothing was drawn."""
    return "" if origin is None else origin.refusal


def draft_text(origin: Origin | None) -> str:
    """What a printout says of a draft."""
    return f"; {origin.words}" if origin is not None and origin.refusal else ""


def marked(frame: pl.DataFrame, origin: Origin | None) -> pl.DataFrame:
    """The frame of a draft says so itself, so that confide does not write it."""
    why = refusal_of(origin)
    return withhold(frame, why) if why else frame
