"""What would be learnt, as it may go outside: shares of rounded numbers of people, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from confide.study.outside_people import count_outside, counted_outside, merged_groups
from confide.study.tradeoff.risk_names import LEARNT

if TYPE_CHECKING:
    from confide.study.result import StudyResult


def share_outside(share: float | None, people: float | None, fewest: int) -> float | None:
    """A share of so many people, both numbers rounded as counts are.

    >>> share_outside(0.011, 200, 10), share_outside(0.277, 200, 10)
    (0.025, 0.3)
    """
    part, whole = (None if x is None or people is None else count_outside(x * people, fewest) for x in (share, 1.0))
    return None if part is None or not whole or whole < fewest else min(part / whole, 1.0)


def people_learnt(result: StudyResult) -> dict[tuple[str, str, str], float]:
    """By plan, intruder and name of a risk: of how many people it is a share."""
    rows = result.learnt.select("plan", "intruder", "variable", "people").rows() if result.learnt.height else []
    return {(plan, who, f"{LEARNT}{v}"): n for plan, who, v, n in rows if n is not None}


def learnt_outside(learnt: pl.DataFrame, fewest: int) -> pl.DataFrame:
    """Of what would be learnt, the shares and numbers of people, rounded; losses, harm and reasons stay inside."""
    if not learnt.width:
        return learnt
    people = [count_outside(n, fewest) for n in learnt["people"]]
    each = {
        k: [share_outside(x, n, fewest) for x, n in learnt.select(k, "people").rows()]
        for k in ("learnt", "low", "high")
    }
    told = learnt.with_columns(
        pl.Series("people", people, dtype=pl.Float64), *(pl.Series(k, v, dtype=pl.Float64) for k, v in each.items()),
        said=pl.when(pl.col("learnt").is_null()).then(pl.lit("")).otherwise("said"),
    )  # fmt: skip
    hidden = ("misled", "harm", "left_out", "margin", "relations", "without_person", "loss")
    return told.with_columns(pl.lit(None, dtype=pl.Float64).alias(k) for k in hidden)


def learnt_groups_outside(groups: pl.DataFrame, fewest: int) -> pl.DataFrame:
    """Groups of enough people with rounded counts, small ones merged; the losses stay inside."""
    if not groups.width:
        return groups
    parts = [
        merged_groups(part.rename({"people": "targets", "learnt": "found"}), fewest, drop=True).with_columns(
            learnt_of=pl.lit(str(v))
        )
        for (v,), part in groups.group_by(["learnt_of"], maintain_order=True)
    ]
    found = pl.concat(parts) if parts else groups.clear().rename({"people": "targets", "learnt": "found"})
    counts = counted_outside(found.select("targets", "found"), fewest)
    told = found.with_columns(people=counts["targets"], learnt=counts["found"])
    nothing = pl.lit(None, dtype=pl.Float64)
    return told.with_columns(relations=nothing, loss=nothing).select(groups.columns)
