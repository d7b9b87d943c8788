"""Who would learn most of a variable, and who cannot since it is known already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from confide.study.statement.learns import Learns

if TYPE_CHECKING:
    from confide.study.result import StudyResult


def knowers(result: StudyResult, one: Learns) -> list[str]:
    """The intruders who know the variable."""
    return [name for name, who in result.intruders.items() if one.variable in who.knows]


def worst_learner(result: StudyResult, one: Learns, plan: str) -> dict[str, Any] | None:
    """The row of `learnt` of the intruder who learns most from a plan; None where one is not known: it might be."""
    asked = [name for name in result.intruders if name not in knowers(result, one)]
    rows = result.learnt.filter((pl.col("plan") == plan) & (pl.col("variable") == one.variable)).drop_nulls("learnt")
    if rows.height < len(asked):
        return None
    return rows.sort("learnt", descending=True, maintain_order=True).row(0, named=True)
