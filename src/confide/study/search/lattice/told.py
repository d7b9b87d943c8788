"""What a search over levels found, as tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from confide.core.shares import percent
from confide.measure.utility.measure import Measure
from confide.study.search.lattice.cells import Node
from confide.study.search.lattice.customary import Customary
from confide.study.search.lattice.plans import plan_at
from confide.study.search.lattice.problem import Problem
from confide.study.search.lattice.result import Generalised
from confide.study.search.lattice.walk import Lattice

SHOWN = 4
"""Tied nodes that a sentence names."""


@dataclass(frozen=True, eq=False)
class Found:
    """`best`: nodes of the least loss, the chosen one first. `values`: the goal at nodes. `before`: nodes visited until
    the best was known. `complete`: whether all minimal nodes are known."""

    best: Sequence[Node]
    values: Mapping[Node, float | None]
    before: int
    complete: bool


def told(problem: Problem, lattice: Lattice, measure: Measure, found: Found) -> Generalised:
    """The result."""
    best = found.best[0]
    minimal = lattice.minimal() if found.complete else []
    values = dict(found.values)
    frame = visited_frame(problem, lattice.visited, measure.name, values, set(minimal), best)
    loss = values[best]
    assert loss is not None
    hierarchies = {v: ladder.hierarchy for v, ladder in problem.ladders.items()}
    levels = dict(zip(problem.ladders, best, strict=True))
    return Generalised(
        plan_at(problem.plan, hierarchies, levels),
        {v: problem.ladders[v].tree.names[k] for v, k in levels.items()}, float(loss), measure.name, frame,
        named(problem, minimal, measure.name, values), named(problem, found.best[1:], measure.name, values),
        levels_frame(problem, best), len(lattice.visited), lattice.nodes, found.before, found.complete,
        _reason(problem, lattice, measure, found, float(loss), len(minimal)),
        {c.name: c.limit for c in problem.criteria},
    )  # fmt: skip


def visited_frame(
    problem: Problem, visited: Mapping[Node, bool], goal: str, values: Mapping[Node, float | None], minimal: set[Node],
    best: Node | None,
) -> pl.DataFrame:  # fmt: skip
    """One row per node that was visited."""
    nodes = list(visited)
    columns = [pl.Series(v, [n[i] for n in nodes], dtype=pl.Int64) for i, v in enumerate(problem.ladders)]
    columns.append(pl.Series(goal, [values.get(n) for n in nodes], dtype=pl.Float64))
    for c in problem.criteria:
        columns.append(pl.Series(c.name, [problem.value(n)[c.name] for n in nodes], dtype=pl.Float64))
    columns.append(pl.Series("meets", list(visited.values()), dtype=pl.Boolean))
    columns.append(pl.Series("minimal", [n in minimal for n in nodes], dtype=pl.Boolean))
    columns.append(pl.Series("best", [n == best for n in nodes], dtype=pl.Boolean))
    return pl.DataFrame(columns)


def named(problem: Problem, nodes: Sequence[Node], goal: str, values: Mapping[Node, float | None]) -> pl.DataFrame:
    """Nodes with the names of their levels, and the goal, the best first."""
    columns = [
        pl.Series(v, [ladder.tree.names[n[i]] for n in nodes], dtype=pl.String)
        for i, (v, ladder) in enumerate(problem.ladders.items())
    ]
    losses = pl.Series(goal, [values.get(n) for n in nodes], dtype=pl.Float64)
    return pl.DataFrame([*columns, losses]).sort(goal, maintain_order=True, nulls_last=True)


def levels_frame(problem: Problem, node: Node) -> pl.DataFrame:
    """One row per variable: its level, and how many groups that has."""
    rows = [
        (v, ladder.tree.names[k], k, len(ladder.tree.levels[k]), len(ladder.tree.levels[0]))
        for (v, ladder), k in zip(problem.ladders.items(), node, strict=True)
    ]
    schema = {"variable": pl.String, "level": pl.String, "number": pl.Int64, "groups": pl.Int64, "values": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def nobody(problem: Problem, nodes: Sequence[Node]) -> str:
    """That no node meets the condition, and how near the best comes."""
    near = min(nodes, key=problem.excess)
    found = problem.value(near)
    said = "; ".join(f"{c.name} is {found[c.name]:,.6g}, and at most {c.limit:,.6g} is asked" for c in problem.criteria)
    left = [v for v, ladder in problem.ladders.items() if not ladder.hierarchy.leaves_out]
    more = f" Let {', '.join(left)} be left out (hide=True), or take broader levels." if left else ""
    return (
        f"No combination of levels meets the condition ({problem.words()}). The nearest is {problem.said(near)}: "
        f"{said}.{more or ' Ask for less, or make other keys coarser too.'}"
    )


def _reason(problem: Problem, lattice: Lattice, measure: Measure, found: Found, loss: float, minimal: int) -> str:
    best = found.best[0]
    number = f"{loss:.4g}"
    said = [
        f"Best of {lattice.nodes:,} combinations of levels: {problem.said(best)}; {measure.name} {number}.",
        f"Condition: {problem.words()}.",
        f"{found.before:,} nodes were visited until it was known, {len(lattice.visited):,} in all.",
    ]
    ties = found.best[1:]
    if ties:
        names = "; ".join(problem.said(n) for n in ties[:SHOWN]) + ("; ..." if len(ties) > SHOWN else "")
        said.append(f"{len(ties):,} other{'s lose' if len(ties) > 1 else ' loses'} as little: {names}.")
    if found.complete:
        said.append(f"{minimal:,} minimal node{'s meet' if minimal != 1 else ' meets'} the condition.")
    else:
        said.append("There are too many nodes to list all minimal ones.")
    if not problem.monotone:
        said.append("The condition is not monotone, so that every node was judged by itself.")
    return " ".join([*said, *_failing(problem, best), *released_words(problem)])


def released_words(problem: Problem) -> list[str]:
    """What to know of a plan that names no identifiers."""
    if problem.plan.identifiers:
        return []
    return ["The plan releases all other columns as they are: name identifiers in plan=cf.Plan(identifiers=[...])."]


def _failing(problem: Problem, node: Node) -> list[str]:
    """What a share of rows that may fail leaves in the release."""
    n, values = problem.file.frame.height, problem.value(node)
    many = max((values[c.name] for c in problem.criteria if isinstance(c, Customary)), default=0.0)
    if many < 1:
        return []
    return [
        f"{many:,.0f} rows ({percent(many, n)}) fail, and are released as they are: hide some of their values, or "
        "leave them out."
    ]
