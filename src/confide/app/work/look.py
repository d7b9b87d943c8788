"""A first look at the file with what one intruder knows: `cf.look`, as counts of people."""

from __future__ import annotations

from typing import Any

import polars as pl

import confide as cf
from confide.app.work.data import data_of
from confide.app.work.plain import rows_of
from confide.app.worker import Work

SIZES = ((1, 1, "alone"), (2, 2, "2"), (3, 4, "3-4"), (5, 9, "5-9"), (10, 24, "10-24"), (25, None, "25+"))
"""Ranges of how many share a person's values, and their names."""


def run(work: Work) -> dict[str, Any]:
    """Who is alone, how many are alike, which variables do it, and who is most exposed."""
    given = work.given
    work.progress(0, 1, "looking")
    found = cf.look(
        data_of(work.folder), keys=given["keys"], sensitive=(), weight=given["weight"], unit=given["unit"], guess=False
    )
    work.progress(1, 1, "looking")
    return {
        "rows": found.rows, "alone": found.counted.alone, "below": found.counted.below[-1],
        "sizes": _sizes(found.frame["alike"]), "growth": rows_of(found.growth), "drivers": rows_of(found.drivers),
        "groups": _groups(found.groups), "small_groups": found.small_groups, "doubts": list(found.doubts),
        "unsure": rows_of(found.attacks.filter(pl.col("membership") != "sure")), "who": found.who.many,
    }  # fmt: skip


def _sizes(alike: pl.Series) -> list[list[Any]]:
    """People by the size of their group."""
    return [[name, int(alike.is_between(low, high or alike.max() or low).sum())] for low, high, name in SIZES]


def _groups(groups: pl.DataFrame) -> list[dict[str, Any]]:
    """Groups of people, the most exposed first."""
    shares = groups.with_columns(alone_share=pl.col("alone") / pl.col("people")).sort(
        "alone_share", descending=True, maintain_order=True
    )
    return rows_of(shares, "variable", "group", "people", "alone", "alone_share", "found", "found_share")
