"""Improvements: what changes of a plan would do, as a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from confide.core.result import Result
from confide.protect.plan import Plan
from confide.protect.seam.dials import Untried
from confide.study.tradeoff.repeats import Interval

LOWERS, BACK, WITHIN = "lowers risk", "gives utility back", "gives utility back within the limit"
NONE = "no difference beyond noise"
FRAME = {
    "change": pl.String, "kind": pl.String, "rank": pl.Int64,
    **dict.fromkeys(
        ("risk_before", "risk_after", "lowered", "lowered_low", "lowered_high", "utility_before", "utility_after",
         "lost", "lost_low", "lost_high", "per_utility"), pl.Float64),
    "within": pl.Boolean,
}  # fmt: skip
TRIED = {
    "change": pl.String, **dict.fromkeys(("risk", "lowered", "error", "utility", "lost"), pl.Float64),
    "carried_out": pl.Boolean,
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Improvements(Result):
    """What changes of a plan would do.

    `frame`: one row per change that is worth making: `change` in words; `kind`, "lowers risk", "gives utility back"
    (at no risk that could be seen), or "gives utility back within the limit" (more risk, of a plan that has room);
    `rank`, 1 for the one that lowers risk most per utility lost (or gives back most), the same for changes that cannot
    be told apart; `risk_before` and `risk_after`, of the worst intruder; `lowered`, the difference, repeat by repeat,
    with its interval (`_low`, `_high`); utility likewise, with what is `lost` of it (below 0: gained, whichever way
    the measure goes); `per_utility`, risk lowered per utility lost (null where none is lost beyond noise); `within`,
    whether this change alone brings the plan within all limits, or leaves it there (null without limits). Intervals of
    all changes hold together in 95 percent of cases. `plans`: by the change in words, the plan that it makes. `plan`:
    as it was.
    `carried_out`: as `frame`, of all changes that were carried out on all targets, also those without effect.
    `tried`: every change that was tried on a part of the targets: risk as estimated there, how far it is lowered, the
    standard error of that, utility, what is lost, and whether it was carried out on all targets. `untried`: what
    methods did not offer, and why.
    `risk` and `by`: what was compared. `limits`, and `met`: whether the plan keeps them already (None without).
    `worst`: the intruder whose risk is told, as the plan is. `direction`: which way the measure is better.
    """

    frame: pl.DataFrame
    plans: Mapping[str, Plan] = field(repr=False)
    plan: Plan
    risk: str
    by: str
    before: Interval
    utility: Interval
    worst: str
    targets: float | None
    limits: Mapping[str, float]
    met: bool | None
    carried_out: pl.DataFrame
    tried: pl.DataFrame
    drawn: int
    repeats: int
    untried: Sequence[Untried] = ()
    left: int = 0
    direction: str = "higher"

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of changes in the order in which they are told: a plan within its limits may give utility back."""
        return (BACK, WITHIN, LOWERS) if self.met else (LOWERS, BACK)

    @property
    def best(self) -> Plan | None:
        """The plan of the first change; None where none is worth making."""
        return self.plans[self.frame["change"][0]] if self.frame.height else None

    def summary(self) -> pl.DataFrame:
        """The changes with risk and utility before and after."""
        return self.frame.select(
            "change", "kind", "rank", "risk_before", "risk_after", "utility_before", "utility_after", "within"
        )

    def __str__(self) -> str:
        from confide.study.improve.words import text

        return text(self)

    def __repr__(self) -> str:
        return str(self)
