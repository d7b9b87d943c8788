"""A table of targets made short for one question, where one row per target does not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from confide.attack.results.units import ALIKE
from confide.measure.risk.identification import MARGIN

_KEYS = ["band", "n_max", "hit", "status", "released", "asked"]


def reduced(batches: Iterable[pl.DataFrame], limits: Sequence[float]) -> pl.DataFrame:
    """Targets of whom everything but probabilities is the same, and whose p_max lies between the same limits, as one
    row with their mean probabilities: sums over it are sums over all.

    >>> units = pl.DataFrame({"p_max": [0.1, 0.3, 0.5], "p_absent": [0.0, 0.0, 0.0], "p_true": [0.1, 0.3, None],
    ...     "n_max": [1, 1, 1], "hit": [True, True, False], "status": ["ok", "ok", "ok"]})
    >>> reduced([units[:2], units[2:]], [0.05]).sort("p_max").select("alike", "p_max", "p_true").rows()
    [(2, 0.2, 0.0), (1, 0.5, None)]
    """
    found: pl.DataFrame | None = None
    band = pl.sum_horizontal(
        pl.lit(0, dtype=pl.Int32), *((pl.col("p_max") > x * (1 + MARGIN)).cast(pl.Int32) for x in limits)
    )
    there = [pl.col("p_true").is_not_null().alias("released"), pl.col("p_absent").is_not_null().alias("asked")]
    for batch in batches:
        wide = batch.with_columns(*there, band=band)
        here = wide.group_by(_KEYS).agg(pl.len().cast(pl.Int64).alias(ALIKE), pl.col("p_max", "p_absent").sum())
        both = here if found is None else pl.concat([found, here])
        found = both.group_by(_KEYS).agg(pl.col(ALIKE, "p_max", "p_absent").sum())
    assert found is not None
    return found.with_columns(
        p_max=pl.col("p_max") / pl.col(ALIKE), p_true=pl.when("released").then(0.0),
        p_absent=pl.when("asked").then(pl.col("p_absent") / pl.col(ALIKE)),
    )  # fmt: skip
