"""What a search over levels found: the best node as a plan, the minimal nodes, and all that were visited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from confide.core.result import Result
from confide.protect.plan import Plan
from confide.study.search.optimise import Optimum


@dataclass(frozen=True, eq=False, repr=False)
class Generalised(Result):
    """The best combination of levels under a condition.

    `plan`: it as a plan. `best`: by variable, the name of its level. `loss`: the value of the goal there, named
    `goal`. `frame`: one row per node that was visited: the level of each variable by number (0: as it is), the goal
    (null where it was not needed), what the condition limits, whether the node `meets` it, is `minimal` (no node
    directly below meets it) or `best`. `minimal`: the minimal nodes, `ties`: nodes that meet the condition at the same
    loss as the best, with names of levels. `visited` of `nodes` were looked at, `before_best` of them until the best
    was known. `levels`: one row per variable: its level, groups there, values. `complete`: whether all minimal nodes
    are known. `optimum`: where attacks were needed, what they found with fresh seeds. `reason`: in sentences.
    """

    plan: Plan = field(repr=False)
    best: Mapping[str, str]
    loss: float
    goal: str
    frame: pl.DataFrame
    minimal: pl.DataFrame
    ties: pl.DataFrame
    levels: pl.DataFrame
    visited: int
    nodes: int
    before_best: int
    complete: bool
    reason: str
    limits: Mapping[str, float] = field(default_factory=dict)
    optimum: Optimum | None = None

    def summary(self) -> pl.DataFrame:
        """One row per variable: its level in the plan, how many groups that has, and how many values there were."""
        return self.levels

    def __repr__(self) -> str:
        return f"Generalised: {self.reason}"

    def __str__(self) -> str:
        return self.reason
