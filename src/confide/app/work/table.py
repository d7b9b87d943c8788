"""The table that was asked for: how many tables, cells and people, and how many counts are small. No cell is named."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import confide as cf
from confide.app.work.data import data_of
from confide.app.worker import Work

MOST = 20_000_000
"""Cells of all tables together, at most."""

BANDS = (("0", 0, 0), ("1", 1, 1), ("2", 2, 2), ("3 or 4", 3, 4), ("5 to 9", 5, 9), ("10 and more", 10, 2**62))


def run(work: Work) -> dict[str, Any]:
    """What the table is, in numbers."""
    tables = tables_of(work.folder, work.given)
    many = isinstance(tables, cf.Tables)
    people = tables.totals if isinstance(tables, cf.Tables) else np.array([tables.total])
    flat = tables.counts.ravel()
    bands = [[name, int(((flat >= low) & (flat <= high)).sum())] for name, low, high in BANDS]
    return {
        "many": many, "areas": len(people), "cells": int(flat.size), "people": int(people.sum()),
        "shape": [[n, len(v)] for n, v in zip(tables.names, tables.levels, strict=True)],
        "bands": bands, "small": int(((flat > 0) & (flat < 3)).sum()), "fewest": int(np.sort(people)[0]),
        "median": float(np.median(people)),
    }  # fmt: skip


def tables_of(folder: Path, given: Mapping[str, Any], **keys: Any) -> cf.Table | cf.Tables:
    """The table, or one per area, of the project's file."""
    data = data_of(folder)
    by, area = list(given["by"]), given["area"]
    _check_size(data, [*by, *([area] if area else [])])
    if given["holds"] == "counts":
        count = given["count"]
        return cf.Tables.from_counts(data, area, count, by) if area else cf.Table.from_counts(data, count, by)
    return cf.Tables.of(data, by, area, **keys) if area else cf.Table.of(data, by, **keys)


def _check_size(data: Any, names: list[str]) -> None:
    """Refuse what would not fit, before it is tried."""
    frame = data if isinstance(data, pl.DataFrame) else data.to_polars()
    cells = prod(frame[n].n_unique() for n in names if n in frame.columns)
    if cells > MOST:
        raise cf.InputError(
            f"This would be {cells:,} counts, for {frame.height:,} rows; at most {MOST:,} can be compared here. "
            "Take fewer variables, or some with fewer values."
        )
