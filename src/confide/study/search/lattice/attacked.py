"""Where classes do not tell the risk: nodes ranked by what coarsening alone leaves, the best few attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.search.lattice.cells import Node
from confide.study.search.lattice.goals import additive, goal_of
from confide.study.search.lattice.plans import plan_at
from confide.study.search.lattice.problem import Problem
from confide.study.search.lattice.result import Generalised
from confide.study.search.lattice.told import levels_frame, named, released_words, visited_frame
from confide.study.search.lattice.walk import Lattice, best_first, loss_of
from confide.study.search.optimise import Optimum, optimise
from confide.study.statement.sweep import Sweep

PARAMETER = "levels"
MOST = 20_000
"""Nodes that are ranked where coarsening alone never does."""


def attacked(
    problem: Problem, measure: Measure, threshold: float, tries: int, repeats: int, seed: int, threads: int | None,
    progress: bool | None,
) -> Generalised:  # fmt: skip
    """The best node of those that were attacked."""
    ranking = additive(goal_of(None, list(problem.ladders)), problem.ladders, problem.weight)
    assert ranking is not None
    possible = Possible(problem)
    lattice = Lattice(problem.shape, lambda n: problem.holds(n) and n in possible, monotone=False)
    sure = best_first(lattice, ranking)[0][:1] if problem.holds(lattice.top) else []
    if not sure:
        _judge_all(lattice)
    finer = [n for n in lattice.visited if n not in sure and problem.customary(n)]
    plans = _plans(possible, [*sure, *sorted(finer, key=problem.excess)], tries)
    if not plans:
        raise InputError(f"No combination of levels can be carried out with the plan: {possible.reason}")
    sweep = Sweep(lambda levels: plans[levels], **{PARAMETER: list(plans)})
    try:
        found = optimise(
            problem.data, sweep, intruders=problem.intruders, utility=[measure], max_risk=problem.limits,
            by=measure.name, repeats=repeats, rounds=0, seed=seed, threshold=threshold, threads=threads,
            progress=progress,
        )  # fmt: skip
    except InputError as error:
        if not possible.refused:
            raise
        raise InputError(f"{error} {possible.words()[0]}") from error
    places = {problem.said(n): n for n in lattice.visited}
    best = places[found.parameters[PARAMETER]]
    losses = {n: loss_of(n, ranking) for n in lattice.visited}
    return _told(possible, lattice, measure, found, plans, best, losses, sure)


def _judge_all(lattice: Lattice) -> None:
    if lattice.nodes > MOST:
        raise InputError(
            f"No combination of levels meets the limits by coarsening alone, and there are {lattice.nodes:,} to rank; "
            f"at most {MOST:,} are. Take hierarchies with fewer levels."
        )
    lattice.settle()


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


def _plans(possible: Possible, nodes: Sequence[Node], tries: int) -> dict[str, Plan]:
    """The first nodes that can be carried out, as plans by their words."""
    plans: dict[str, Plan] = {}
    for node in nodes:
        if len(plans) > tries:
            break
        plan = possible.plan(node)
        if plan is not None:
            plans[possible.problem.said(node)] = plan
    return plans


def _told(
    possible: Possible, lattice: Lattice, measure: Measure, found: Optimum, plans: Mapping[str, Plan], best: Node,
    losses: Mapping[Node, float], sure: Sequence[Node],
) -> Generalised:  # fmt: skip
    problem, value = possible.problem, found.utility[measure.name].mean
    frame = visited_frame(problem, lattice.visited, "entropy_lost", losses, set(), best)
    words = pl.Series(PARAMETER, [problem.said(n) for n in lattice.visited])
    tried = found.searched.drop("round").rename(lambda c: c if c == PARAMETER else f"attacked_{c}")
    frame = frame.with_columns(words).join(tried, on=PARAMETER, how="left", maintain_order="left")
    empty: dict[Node, Any] = {}
    return Generalised(
        found.plan, {v: ladder.tree.names[k] for (v, ladder), k in zip(problem.ladders.items(), best, strict=True)},
        float(value), measure.name, frame, named(problem, [], measure.name, empty),
        named(problem, [], measure.name, empty), levels_frame(problem, best), len(lattice.visited), lattice.nodes,
        len(plans), False, _reason(possible, lattice, measure, found, plans, best, sure), dict(problem.limits), found,
    )  # fmt: skip


def _reason(
    possible: Possible, lattice: Lattice, measure: Measure, found: Optimum, plans: Mapping[str, Plan], best: Node,
    sure: Sequence[Node],
) -> str:  # fmt: skip
    problem = possible.problem
    rest = len(lattice.visited) - len(plans) - possible.refused
    untried = (
        f"{rest:,} that may lose less were not: coarsening alone leaves more risk there." if rest > 0
        else "No node that loses less was left out."
    )  # fmt: skip
    safe = (
        f"By coarsening alone, {problem.said(sure[0])} would meet the limits." if sure
        else "By coarsening alone no combination of levels meets the limits"
        f"{' that can be carried out with the plan' if possible.refused else ''}."
    )  # fmt: skip
    return " ".join([
        f"Best of {len(plans):,} combinations of levels that were attacked: {problem.said(best)}; {measure.name} "
        f"{found.utility[measure.name].mean:.4g}.",
        f"Attacks were needed, since {problem.uncertain}.",
        safe, f"Of {lattice.nodes:,} combinations, {len(lattice.visited):,} were ranked by what coarsening alone "
        f"leaves, and {len(plans):,} of them attacked. {untried}",
        *possible.words(), found.reason, *released_words(problem),
    ])  # fmt: skip
