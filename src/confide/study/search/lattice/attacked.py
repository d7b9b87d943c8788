"""Where classes do not tell the risk: nodes ranked by what coarsening alone leaves, the best few attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    lattice = Lattice(problem.shape, problem.holds, monotone=False)
    sure = best_first(lattice, ranking)[0][:1] if problem.holds(lattice.top) else []
    if not sure:
        _judge_all(lattice)
    finer = [n for n in lattice.visited if n not in sure and problem.customary(n)]
    plans, refused = _plans(problem, [*sure, *sorted(finer, key=problem.excess)], tries)
    if not plans:
        raise InputError(f"No combination of levels can be carried out with the plan: {refused}")
    sweep = Sweep(lambda levels: plans[levels], **{PARAMETER: list(plans)})
    found = optimise(
        problem.data, sweep, intruders=problem.intruders, utility=[measure], max_risk=problem.limits,
        by=measure.name, repeats=repeats, rounds=0, seed=seed, threshold=threshold, threads=threads, progress=progress,
    )  # fmt: skip
    places = {problem.said(n): n for n in lattice.visited}
    best = places[found.parameters[PARAMETER]]
    losses = {n: loss_of(n, ranking) for n in lattice.visited}
    return _told(problem, lattice, measure, found, plans, best, losses, sure)


def _judge_all(lattice: Lattice) -> None:
    if lattice.nodes > MOST:
        raise InputError(
            f"No combination of levels meets the limits by coarsening alone, and there are {lattice.nodes:,} to rank; "
            f"at most {MOST:,} are. Take hierarchies with fewer levels."
        )
    lattice.settle()


def _plans(problem: Problem, nodes: Sequence[Node], tries: int) -> tuple[dict[str, Plan], str]:
    """The first nodes that can be carried out, as plans by their words; and why one could not."""
    hierarchies = {v: ladder.hierarchy for v, ladder in problem.ladders.items()}
    plans: dict[str, Plan] = {}
    refused = ""
    for node in nodes:
        if len(plans) > tries:
            break
        try:
            plans[problem.said(node)] = plan_at(problem.plan, hierarchies, dict(zip(hierarchies, node, strict=True)))
        except InputError as error:
            refused = refused or str(error)
    return plans, refused


def _told(
    problem: Problem, lattice: Lattice, measure: Measure, found: Optimum, plans: Mapping[str, Plan], best: Node,
    losses: Mapping[Node, float], sure: Sequence[Node],
) -> Generalised:  # fmt: skip
    value = found.utility[measure.name].mean
    frame = visited_frame(problem, lattice.visited, "entropy_lost", losses, set(), best)
    words = pl.Series(PARAMETER, [problem.said(n) for n in lattice.visited])
    tried = found.searched.drop("round").rename(lambda c: c if c == PARAMETER else f"attacked_{c}")
    frame = frame.with_columns(words).join(tried, on=PARAMETER, how="left", maintain_order="left")
    empty: dict[Node, Any] = {}
    return Generalised(
        found.plan, {v: ladder.tree.names[k] for (v, ladder), k in zip(problem.ladders.items(), best, strict=True)},
        float(value), measure.name, frame, named(problem, [], measure.name, empty),
        named(problem, [], measure.name, empty), levels_frame(problem, best), len(lattice.visited), lattice.nodes,
        len(plans), False, _reason(problem, lattice, measure, found, plans, best, sure), dict(problem.limits), found,
    )  # fmt: skip


def _reason(
    problem: Problem, lattice: Lattice, measure: Measure, found: Optimum, plans: Mapping[str, Plan], best: Node,
    sure: Sequence[Node],
) -> str:  # fmt: skip
    rest = len(lattice.visited) - len(plans)
    untried = (
        f"{rest:,} that may lose less were not: coarsening alone leaves more risk there." if rest > 0
        else "No node that loses less was left out."
    )  # fmt: skip
    safe = (
        f"By coarsening alone, {problem.said(sure[0])} would meet the limits." if sure
        else "By coarsening alone no combination of levels meets the limits."
    )  # fmt: skip
    return " ".join([
        f"Best of {len(plans):,} combinations of levels that were attacked: {problem.said(best)}; {measure.name} "
        f"{found.utility[measure.name].mean:.4g}.",
        f"Attacks were needed, since {problem.uncertain}.",
        safe, f"Of {lattice.nodes:,} combinations, {len(lattice.visited):,} were ranked by what coarsening alone "
        f"leaves, and {len(plans):,} of them attacked. {untried}", found.reason,
        *released_words(problem),
    ])  # fmt: skip
