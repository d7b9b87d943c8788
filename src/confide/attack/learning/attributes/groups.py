"""What is learnt by groups of people, with intervals."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from confide.frames.columns import F64

RANGES, MANY = 5, 20
"""Ranges of a number that has more values than a few."""
FEW = 30
"""People of a group below which an interval is not to be trusted."""


def by_group(frame: pl.DataFrame, groups: pl.Series) -> pl.DataFrame:
    """Means by group: losses, and what is added, with 95 percent intervals by the normal distribution.

    `few` marks groups of fewer than 30 people, whose intervals are not to be trusted.
    """
    data = frame.select(
        "loss", "expected_loss", "loss_relations", "loss_without_person",
        release_adds=pl.col("loss_relations") - pl.col("loss"),
        taking_part_adds=pl.col("loss_without_person") - pl.col("loss"),
    ).with_columns(_ranges(groups).alias("group"))  # fmt: skip
    data = data.filter(pl.col("loss").is_not_null())
    out = [pl.len().alias("people")]
    for name in ("loss", "expected_loss", "loss_relations", "loss_without_person"):
        out.append(pl.col(name).mean())
    for name in ("release_adds", "taking_part_adds"):
        half = 1.96 * pl.col(name).std() / pl.len().sqrt()
        out += [
            pl.col(name).mean(),
            (pl.col(name).mean() - half).alias(f"{name}_low"),
            (pl.col(name).mean() + half).alias(f"{name}_high"),
        ]
    found = data.group_by("group", maintain_order=False).agg(out).sort("group")
    return found.with_columns(few=pl.col("people") < FEW)


def _ranges(values: pl.Series) -> pl.Series:
    """Categories as they are; many numbers in about five ranges of about equal counts."""
    if not values.dtype.is_numeric() or values.n_unique() <= MANY:
        return values.cast(pl.String) if not isinstance(values.dtype, pl.Enum) else values
    x: F64 = values.cast(pl.Float64).fill_null(np.nan).to_numpy()
    cuts = np.unique([float(f"{c:.2g}") for c in np.nanquantile(x, np.arange(1, RANGES) / RANGES)])
    names = [f"below {cuts[0]:,g}", *(f"{a:,g} to {b:,g}" for a, b in pairwise(cuts))]
    names += [f"{cuts[-1]:,g} and more", "missing"]
    order = [f"{i + 1}. {name}" for i, name in enumerate(names)]
    at = np.where(np.isnan(x), len(order) - 1, np.searchsorted(cuts, x, side="right"))
    return pl.Series(order).gather(at)
