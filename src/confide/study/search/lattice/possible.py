"""Nodes that can be carried out with a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from confide.core.errors import InputError
from confide.protect.plan import Plan
from confide.study.search.lattice.cells import Node
from confide.study.search.lattice.plans import plan_at
from confide.study.search.lattice.problem import Problem


@dataclass(eq=False)
class Possible:
    """Nodes that can be carried out with the plan of a problem: `plans` by node, None for one that is refused.
    `reason`: why the first that was refused is."""

    problem: Problem
    plans: dict[Node, Plan | None] = field(default_factory=dict)
    reason: str = ""

    def plan(self, node: Node) -> Plan | None:
        """The node as a plan; None where it is refused."""
        if node not in self.plans:
            hierarchies = {v: ladder.hierarchy for v, ladder in self.problem.ladders.items()}
            try:
                self.plans[node] = plan_at(self.problem.plan, hierarchies, dict(zip(hierarchies, node, strict=True)))
            except InputError as error:
                self.plans[node] = None
                self.reason = self.reason or " ".join(error.problems)
        return self.plans[node]

    def __contains__(self, node: Node) -> bool:
        return self.plan(node) is not None

    @property
    def refused(self) -> int:
        """How many of the nodes that were asked for cannot be carried out."""
        return sum(plan is None for plan in self.plans.values())

    def words(self) -> list[str]:
        """How many that is, and why one of them cannot; nothing where all can."""
        many = f"{self.refused:,} combination{'' if self.refused == 1 else 's'} of levels"
        said = f"{many} could not be attacked, since the plan cannot be carried out there; the first: {self.reason}"
        return [said] if self.refused else []


def spaced(nodes: Sequence[Node], many: int) -> list[Node]:
    """At most so many of the nodes, the first and the last among them, and more of the first than of the last.

    >>> spaced([(k,) for k in range(101)], 5)
    [(0,), (6,), (25,), (56,), (100,)]
    """
    at = np.round((len(nodes) - 1) * np.linspace(0, 1, min(many, len(nodes))) ** 2).astype(int)
    return [nodes[k] for k in np.unique(at)] if many < len(nodes) else list(nodes)
