"""What a published table says where it must not be published."""

from __future__ import annotations

import warnings

import polars as pl

from confide.core.random.origin import Origin
from confide.frames.marks import withhold


def refusal_of(origin: Origin | None) -> str:
    """Why something with these draws may not be published; empty where nothing was drawn."""
    return "" if origin is None else origin.refusal


def draft_text(origin: Origin | None) -> str:
    """What a printout says of a draft."""
    return f"; {origin.words}" if origin is not None and origin.refusal else ""


class TidyFrame(pl.DataFrame):
    """The frame of what is published; the old spelling `published.frame()` still gives it."""

    def __call__(self) -> TidyFrame:
        """The frame itself."""
        warnings.warn("frame is no method any more: write published.frame", DeprecationWarning, stacklevel=3)
        return self


def marked(frame: pl.DataFrame, origin: Origin | None) -> TidyFrame:
    """The frame of a draft says so itself, so that confide does not write it."""
    tidy, why = TidyFrame(frame), refusal_of(origin)
    return withhold(tidy, why) if why else tidy


def seen_outside(frame: pl.DataFrame, origin: Origin | None, empty_levels: bool) -> TidyFrame:
    """The columns that go out: no numbers of entries, and not what can be stated of each count."""
    seen = frame.drop("entry", "lower", "upper")
    return marked(seen if empty_levels else _with_levels_shown(seen), origin)


def _with_levels_shown(seen: pl.DataFrame) -> pl.DataFrame:
    """Without levels of which nothing but zeros is published: records name them, so that somebody has them."""
    for name in (n for n in seen.columns if n not in ("margin", "published", "mark")):
        shown = seen.filter(pl.col(name).is_not_null()).group_by(name).agg(pl.col("published").fill_null(0).sum())
        empty = shown.filter(pl.col("published") == 0)[name]
        seen = seen.filter(pl.col(name).is_null() | ~pl.col(name).is_in(empty.implode()))
    return seen


def stated_by_margin(frame: pl.DataFrame) -> pl.DataFrame:
    """One row per margin: how many counts, how many are hidden, how many can be stated exactly."""
    hidden, exact = pl.col("published").is_null().sum(), (pl.col("lower") == pl.col("upper")).sum()
    return frame.group_by("margin", maintain_order=True).agg(counts=pl.len(), hidden=hidden, exact=exact)
