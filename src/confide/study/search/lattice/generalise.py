"""generalise: the levels of several hierarchies that lose least while a condition holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.attack.intruder import Intruder
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed
from confide.core.run.progress import Progress, checked_progress
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.search.lattice.attacked import attacked
from confide.study.search.lattice.cells import Node
from confide.study.search.lattice.goals import Losses, additive, goal_of
from confide.study.search.lattice.problem import Until, problem_of
from confide.study.search.lattice.result import Generalised
from confide.study.search.lattice.told import Found, nobody, told
from confide.study.search.lattice.walk import TOLERANCE, Lattice, best_first, loss_of

SETTLED = 200_000
"""Nodes of a lattice of which all minimal nodes are found; 20,000 where no node tells of another."""


def generalise(
    data: Any, *, hierarchies: Mapping[str, Hierarchy] | Sequence[str], until: Until, goal: str | Measure | None = None,
    share: float = 0.0, plan: Plan | None = None, intruders: Intruder | Mapping[str, Intruder] | None = None,
    threshold: float = 0.2, tries: int = 10, repeats: int = 3, seed: int | None = None, threads: int | None = None,
    progress: Progress = None,
) -> Generalised:  # fmt: skip
    r"""Of all combinations of levels, one per variable, the one that loses least while a condition holds.

    A *node* is one level :math:`\ell_v` of each variable's hierarchy. Nodes are ordered: one is above another if no
    level is lower. `until` is what a node must meet:

    - a customary limit, ``cf.measures.KAnonymity(keys, k=5)`` (or ``{"k": 5}`` on all variables named here),
      `LDiversity`, `TCloseness`, or a list of them; a `share` of rows may fail (0.01: one row in a hundred);
    - limits on what `intruders` find, ``{"expected_matches": 50}`` or ``{"found_share": 0.05}``.

    `hierarchies`: by variable a `cf.Hierarchy`, or names alone, for which hierarchies are proposed. `goal`: the measure
    of utility that is best; by default the mean over variables of the share of entropy lost,

    .. math:: \frac1V \sum_v \frac{H_v - H_v(\ell_v)}{H_v}, \qquad H_v(\ell) = -\sum_g p_g \log p_g

    over groups g of level :math:`\ell`, a variable that is left out counting 1. `plan`: what else is done to the file;
    its steps come after the recodings.

    **Exact where classes tell.** For a plan that only coarsens and an intruder who knows values without mistakes and
    who is in the file, p = 1/f in a class of f records: risks follow from counts of classes, which are rolled up from
    level to level. Such limits are monotone: above a node that meets them all do. The default goal only grows upwards,
    so nodes are taken in the order of their loss, and the first that meets the condition is best; any other goal is
    measured at all nodes that meet it. A share of rows that may fail t-closeness, or l-diversity by entropy or
    recursion, is not monotone: nodes are then judged one by one, and nothing is concluded from neighbours.

    **Attacked where they do not.** With random steps, or an intruder who is unsure, nodes are ranked by the risk that
    coarsening alone leaves. The first that meets the limits by that, and of those that lose less the `tries` least
    risky, are attacked with `repeats` seeds, and the best one again with fresh seeds. A better node may remain
    untried; the result says how many were.

    >>> import confide as cf
    >>> ages = cf.Hierarchy(widths=[5, 10, 20])
    >>> found = cf.generalise(cf.demo("heads"), hierarchies={"sex": cf.Hierarchy(), "age": ages}, until={"k": 5})
    >>> found.best, round(found.loss, 4), found.nodes
    ({'sex': 'as it is', 'age': 'in steps of 5'}, 0.1891, 10)
    """
    _check_numbers(tries, repeats)
    checked_progress(progress)
    problem = problem_of(data, hierarchies, until, share, plan, intruders, threshold)
    measure = goal_of(goal, list(problem.ladders))
    if problem.uncertain:
        return attacked(problem, measure, threshold, tries, repeats, checked_seed(seed), threads, progress)
    losses = additive(measure, problem.ladders, problem.weight)
    lattice = Lattice(problem.shape, problem.holds, problem.monotone)
    if problem.monotone and not problem.holds(lattice.top):
        raise InputError(nobody(problem, [lattice.top]))
    if losses is not None:
        best, before = best_first(lattice, losses)
        complete = _settle(lattice)
        values: dict[Node, float | None] = {node: loss_of(node, losses) for node in lattice.visited}
    else:
        complete = _settle(lattice, must=True)
        made = Losses(
            measure, problem.plan, problem.ladders, problem.file, repeats, checked_seed(seed), threads, progress
        )
        values = made.of(lattice.meeting())
        best, before = _least(made, values), len(lattice.visited)
    if not best:
        raise InputError(nobody(problem, list(lattice.visited)))
    return told(problem, lattice, measure, Found(best, values, before, complete))


def _check_numbers(tries: int, repeats: int) -> None:
    for name, number, what in (
        ("tries", tries, "nodes are attacked"),
        ("repeats", repeats, "seeds a plan is drawn by"),
    ):
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= 1000:
            raise InputError(f"{name} is how many {what}, a whole number from 1 to 1,000.")


def _settle(lattice: Lattice, must: bool = False) -> bool:
    """Know all nodes, if there are not too many; whether they are known."""
    most = SETTLED if lattice.monotone else SETTLED // 10
    if lattice.nodes > most:
        if must:
            raise InputError(
                f"goal: the levels make {lattice.nodes:,} nodes, and such a goal needs to know which of them meet the "
                f"condition; at most {most:,} are judged. Take the default goal, or hierarchies with fewer levels."
            )
        return False
    lattice.settle()
    return True


def _least(made: Losses, values: Mapping[Node, float | None]) -> list[Node]:
    """Nodes of the least loss, the finest first."""
    if not values:
        return []
    loss = {node: made.worse(v) for node, v in values.items()}
    least = min(loss.values())
    if least == float("inf"):
        raise InputError(f'goal: "{made.measure.name}" cannot be computed at any node that meets the condition.')
    return sorted(
        (n for n, x in loss.items() if x <= least + TOLERANCE * max(1.0, abs(least))), key=lambda n: (sum(n), n)
    )
