"""What is learnt by groups of people, with intervals."""

from __future__ import annotations

import polars as pl

from confide.attack.results.grouped import TargetGroups

FEW = 30
"""People of a group below which an interval is not to be trusted."""


def by_group(frame: pl.DataFrame, groups: TargetGroups) -> pl.DataFrame:
    """Means by group: losses, and what is added, with 95 percent intervals by the normal distribution.

    `few` marks groups of fewer than 30 people, whose intervals are not to be trusted.
    """
    data = frame.select(
        "loss", "expected_loss", "loss_relations", "loss_without_person",
        release_adds=pl.col("loss_relations") - pl.col("loss"),
        taking_part_adds=pl.col("loss_without_person") - pl.col("loss"),
    ).with_columns(group=pl.Series(groups.names, dtype=pl.Enum(groups.names)).gather(groups.codes))  # fmt: skip
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
