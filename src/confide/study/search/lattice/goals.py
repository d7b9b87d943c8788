"""What a search minimises: the loss of a node, from counts where it can be, else from a release made at the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.frames.columns import F64
from confide.frames.encoded import Encoded
from confide.measure.utility.entropy import Entropy
from confide.measure.utility.measure import Measure
from confide.measure.utility.registry import as_measure
from confide.protect.plan import Plan
from confide.study.evaluate import is_random, measured, repeat_seed
from confide.study.search.lattice.cells import Ladder, Node
from confide.study.search.lattice.plans import plan_at
from confide.study.search.trials import side_by_side

MOST = 5_000
"""Nodes that a release is made at, where only that tells the loss."""


def goal_of(goal: str | Measure | Mapping[str, Any] | None, variables: Sequence[str]) -> Measure:
    """The measure that is asked for; by default the mean share of entropy that the variables lose."""
    return Entropy(list(variables), scale="own", label="entropy_lost") if goal is None else as_measure(goal)


def additive(measure: Measure, ladders: Mapping[str, Ladder], weight: F64 | None) -> list[F64] | None:
    """By variable, the part of each level in a loss that is a mean over variables and follows from counts; else None.

    Entropy lost only rises with the level, since groups are put together.
    """
    if not isinstance(measure, Entropy) or measure.variables is None or not set(measure.variables) <= set(ladders):
        return None
    many = len(measure.variables)
    return [
        _parts(measure, ladder, weight) / many if v in measure.variables else np.zeros(ladder.levels)
        for v, ladder in ladders.items()
    ]


def _parts(measure: Entropy, ladder: Ladder, weight: F64 | None) -> F64:
    shares = [ladder.shares(k, weight) for k in range(ladder.levels)]
    lost = [1.0 if _gone(ladder, k) else measure.lost(shares[0], q) for k, q in enumerate(shares)]
    return np.maximum.accumulate(lost)


def _gone(ladder: Ladder, level: int) -> bool:
    """Whether a variable tells nothing at a level: left out, or one value for all, as measures count it."""
    return level > 0 and (ladder.left_out(level) or len(ladder.tree.levels[level]) == 1 < len(ladder.tree.levels[0]))


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of nodes by releases that are made at them: means over `repeats` draws, where the plan draws."""

    measure: Measure
    plan: Plan
    ladders: Mapping[str, Ladder]
    file: Encoded
    repeats: int
    seed: int
    threads: int | None
    progress: Progress

    def of(self, nodes: Sequence[Node]) -> dict[Node, float | None]:
        """The value of the measure at each node; None where it cannot be computed."""
        if len(nodes) > MOST:
            raise InputError(
                f"goal: {len(nodes):,} nodes meet the condition, and {self.measure.name} must be measured at each; at "
                f"most {MOST:,} are. Take the default goal, a hierarchy with fewer levels, or a stricter condition."
            )
        found = side_by_side(
            lambda node, _: self._one(node), nodes, self.file.frame.height, self.threads, "measuring", self.progress
        )
        return dict(zip(nodes, found, strict=True))

    def _one(self, node: Node) -> float | None:
        hierarchies = {v: ladder.hierarchy for v, ladder in self.ladders.items()}
        plan = plan_at(self.plan, hierarchies, dict(zip(self.ladders, node, strict=True)))
        many = self.repeats if is_random(plan) else 1
        found = [self._once(plan, repeat_seed(self.seed, r)) for r in range(many)]
        known = [x for x in found if x is not None]
        return sum(known) / many if len(known) == many else None

    def _once(self, plan: Plan, seed: int) -> float | None:
        release = plan.protect(self.file, seed=seed, draws="shared")
        return measured(release, [self.measure])[0][self.measure.name]

    def worse(self, value: float | None) -> float:
        """A value as a loss: more is worse."""
        if value is None or np.isnan(value):
            return np.inf
        return value if self.measure.direction == "lower" else -value
