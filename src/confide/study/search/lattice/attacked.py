"""Where classes do not tell the risk: nodes ranked by what coarsening alone leaves, the best few attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.frames.columns import F64
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.search.lattice.cells import Node
from confide.study.search.lattice.goals import additive, goal_of
from confide.study.search.lattice.possible import Possible, spaced
from confide.study.search.lattice.problem import Problem
from confide.study.search.lattice.result import Generalised
from confide.study.search.lattice.told import levels_frame, named, released_words, visited_frame
from confide.study.search.lattice.walk import Lattice, best_first, loss_of
from confide.study.search.optimise import NothingMeets, Optimum, optimise
from confide.study.statement.sweep import Sweep

PARAMETER = "levels"
MOST = 20_000
"""Nodes that are ranked where coarsening alone never does."""


def attacked(
    problem: Problem, measure: Measure, threshold: float, tries: int, repeats: int, seed: int, threads: int | None,
    progress: Progress,
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
    search = _Search(problem, measure, threshold, repeats, seed, threads, progress)
    try:
        tried = search.over(plans)
    except NothingMeets as error:
        tried = _coarser(search, possible, lattice, ranking, sure, tries, plans, error)
    losses = {n: loss_of(n, ranking) for n in lattice.visited}
    return _told(possible, lattice, measure, tried, losses, sure)


@dataclass(frozen=True, eq=False)
class _Tried:
    """What attacks found: the best, all that was `searched`, and the `plans` by their words. `upward`: coarser nodes
    than the one that meets the limits by coarsening alone were tried too."""

    best: Optimum
    searched: pl.DataFrame
    plans: Mapping[str, Plan]
    upward: bool = False


@dataclass(frozen=True, eq=False)
class _Search:
    """How plans are attacked."""

    problem: Problem
    measure: Measure
    threshold: float
    repeats: int
    seed: int
    threads: int | None
    progress: Progress

    def over(self, plans: Mapping[str, Plan]) -> _Tried:
        """The best of some plans."""
        found = optimise(
            self.problem.data, Sweep(lambda levels: plans[levels], **{PARAMETER: list(plans)}),
            intruders=self.problem.intruders, utility=[self.measure], max_risk=self.problem.limits,
            by=self.measure.name, repeats=self.repeats, rounds=0, seed=self.seed, threshold=self.threshold,
            threads=self.threads, progress=self.progress,
        )  # fmt: skip
        return _Tried(found, found.searched, plans)


def _coarser(
    search: _Search, possible: Possible, lattice: Lattice, ranking: Sequence[F64], sure: Sequence[Node], tries: int,
    plans: Mapping[str, Plan], error: NothingMeets,
) -> _Tried:  # fmt: skip
    """Where the node that meets the limits by coarsening alone does not with the plan, some that lose more."""
    more: dict[str, Plan] = {}
    if sure and lattice.nodes <= MOST:
        lattice.settle()
        left = {n: loss_of(n, ranking) for n, met in lattice.visited.items() if met}
        higher = sorted((n for n in left if search.problem.said(n) not in plans), key=lambda n: (left[n], n))
        more = _plans(possible, spaced(higher, tries), tries)
    try:
        if not more:
            raise error
        found = search.over(more)
    except NothingMeets as last:
        many = f"{len(plans) + len(more):,} of {lattice.nodes:,} combinations of levels were attacked."
        raise NothingMeets(" ".join([str(last), many, *possible.words()]), last.searched) from error
    return _Tried(found.best, pl.concat([error.searched, found.searched]), {**plans, **more}, upward=True)


def _judge_all(lattice: Lattice) -> None:
    if lattice.nodes > MOST:
        raise InputError(
            f"No combination of levels meets the limits by coarsening alone, and there are {lattice.nodes:,} to rank; "
            f"at most {MOST:,} are. Take hierarchies with fewer levels."
        )
    lattice.settle()


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
    possible: Possible, lattice: Lattice, measure: Measure, tried: _Tried, losses: Mapping[Node, float],
    sure: Sequence[Node],
) -> Generalised:  # fmt: skip
    problem, found = possible.problem, tried.best
    words = {problem.said(n): n for n in lattice.visited}
    best, value = words[found.parameters[PARAMETER]], found.utility[measure.name].mean
    frame = visited_frame(problem, lattice.visited, "entropy_lost", losses, set(), best)
    attacks = tried.searched.drop("round").rename(lambda c: c if c == PARAMETER else f"attacked_{c}")
    named_rows = frame.with_columns(pl.Series(PARAMETER, list(words)))
    frame = named_rows.join(attacks, on=PARAMETER, how="left", maintain_order="left")
    empty: dict[Node, Any] = {}
    return Generalised(
        found.plan, {v: ladder.tree.names[k] for (v, ladder), k in zip(problem.ladders.items(), best, strict=True)},
        float(value), measure.name, frame, named(problem, [], measure.name, empty),
        named(problem, [], measure.name, empty), levels_frame(problem, best), len(lattice.visited), lattice.nodes,
        len(tried.plans), False, _reason(possible, lattice, measure, tried, best, sure), dict(problem.limits), found,
    )  # fmt: skip


def _reason(
    possible: Possible, lattice: Lattice, measure: Measure, tried: _Tried, best: Node, sure: Sequence[Node]
) -> str:
    problem, found, many = possible.problem, tried.best, len(tried.plans)
    rest = len(lattice.visited) - many - possible.refused
    untried = (
        "No node that loses less was left out." if rest <= 0
        else f"{rest:,} were not, of which some may lose less." if tried.upward
        else f"{rest:,} that may lose less were not: coarsening alone leaves more risk there."
    )  # fmt: skip
    return " ".join([
        f"Best of {many:,} combinations of levels that were attacked: {problem.said(best)}; {measure.name} "
        f"{found.utility[measure.name].mean:.4g}.",
        f"Attacks were needed, since {problem.uncertain}.",
        _safe(possible, tried, sure),
        f"Of {lattice.nodes:,} combinations, {len(lattice.visited):,} were ranked by what coarsening alone leaves, and "
        f"{many:,} of them attacked. {untried}",
        *possible.words(), *(["Among the coarser ones:"] if tried.upward else []), found.reason,
        *released_words(problem),
    ])  # fmt: skip


def _safe(possible: Possible, tried: _Tried, sure: Sequence[Node]) -> str:
    """What would meet the limits by coarsening alone."""
    if sure:
        but = ", but not with the plan, so that coarser ones were attacked too" if tried.upward else ""
        return f"By coarsening alone, {possible.problem.said(sure[0])} would meet the limits{but}."
    which = " that can be carried out with the plan" if possible.refused else ""
    return f"By coarsening alone no combination of levels{which} meets the limits."
