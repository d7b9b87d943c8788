"""Small sets of keys that single people out, as SUDA2 counts them, and how many are alone on each."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import comb
from typing import Any

import polars as pl

from confide.measure.risk.file_risks.result import FileRiskResult
from confide.measure.risk.file_risks.suda import SpecialUniques
from confide.study.look.classes import Classes

ALL_SIZES, MOST_SETS = 8, 800
"""Keys of which sets of all sizes are looked at; with more, small sizes first, as long as there are not too many."""
LISTED = 40
"""Sets that are kept: those that single most people out."""
SETS: dict[str, Any] = {
    "variables": pl.List(pl.String), "size": pl.Int64, "alone": pl.Int64, "alone_share": pl.Float64,
    "minimal": pl.Int64,
}  # fmt: skip


def largest_size(m: int) -> int:
    """The largest size of sets of m keys that are looked at.

    >>> largest_size(6), largest_size(12), largest_size(20), largest_size(200)
    (6, 4, 2, 1)
    """
    size, total = 0, 0
    while size < m and (m <= ALL_SIZES or total + comb(m, size + 1) <= max(MOST_SETS, m)):
        size += 1
        total += comb(m, size)
    return size


def isolating(classes: Classes, found: FileRiskResult | None) -> tuple[pl.DataFrame, Mapping[int, int]]:
    """The sets that are minimal for most people; and by size of set, the people whose smallest set has so many keys.

    `alone`: people who are alone on the set; `minimal`: those of them who are alone on no set inside it.
    """
    if not isinstance(found, SpecialUniques):
        return pl.DataFrame(schema=SETS), {}
    best = found.sets.sort("records", descending=True, maintain_order=True).head(LISTED)
    places = {
        ", ".join(classes.names[k] for k in keys): keys
        for size in set(best["size"].to_list())
        for keys in combinations(range(len(classes.names)), size)
    }
    rows = []
    for r in best.iter_rows(named=True):
        keys = places[r["variables"]]
        alone = classes.counted(keys).alone
        rows.append(([classes.names[k] for k in keys], r["size"], alone, alone / classes.rows, r["records"]))
    sizes = found.frame["smallest"].drop_nulls().value_counts(sort=False).sort("smallest")
    return pl.DataFrame(rows, schema=SETS, orient="row"), dict(sizes.rows())
