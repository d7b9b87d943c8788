"""By which sets of variables a person stands out, and which coarsening would end it: counted or attacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from confide.attack.evidence.gather import gather
from confide.attack.results.again import prepared
from confide.attack.results.question import MOST_ASKED, Answer, Question
from confide.frames.comparing import encode_like
from confide.frames.minimal_sets import Agreement, smallest
from confide.protect.coarser import Coarser, ladder, why_fixed

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

ALONE: dict[str, pl.DataType] = {
    "variables": pl.List(pl.String), "size": pl.Int64(), "alike": pl.Int64(), "p_max": pl.Float64(),
}  # fmt: skip
REMEDIES: dict[str, pl.DataType] = {
    "variables": pl.List(pl.String), "coarsening": pl.String(), "steps": pl.Object(), "p_max": pl.Float64(),
    "alike": pl.Int64(),
}  # fmt: skip


def single(question: Question) -> bool:
    """Whether what is certain leaves one candidate."""
    return int(question.attack.units["candidates"][question.target]) == 1


def over(question: Question, limit: float) -> bool:
    """Whether the largest probability exceeds the limit."""
    return float(question.attack.units["p_max"][question.target]) > limit


def by_unknown(question: Question, limit: float) -> bool:
    """Whether what nobody knows of the person exceeds the limit, at a level where that is not asked again."""
    answer = question.ask(question.variables) if question.exact else None
    return answer is not None and answer[1] <= limit


def alone(question: Question, limit: float) -> pl.DataFrame:
    """The smallest sets of known variables that leave one candidate; else those that keep p_max above the limit."""
    names = question.variables
    if single(question):
        agreement = agreement_of(question.attack, question.target, names)
        certain = question.attack.intruder.membership == "certain"
        rows = [(s, n, 1 / n if certain else None) for s, n in agreement.minimal()]
    elif over(question, limit):
        rows = list(_by_probability(question, limit))
    else:
        rows = []
    found = [([names[v] for v in s], len(s), n, p) for s, n, p in rows]
    return pl.DataFrame(found, schema=ALONE, orient="row")


def left_out(question: Question, limit: float) -> pl.DataFrame:
    """The smallest sets of known variables without which the person is no longer alone, or no longer above the limit.

    They hit every set of `alone`: whoever leaves out one variable of each such set has left them all. The probability
    is that of an attack by the others: those that agree on what is certain differ in what was altered.
    """
    names, rows = question.variables, []
    if single(question):
        agreement = agreement_of(question.attack, question.target, names)
        for s in smallest(lambda s: agreement.alike(_others(s, len(names))) > 1, len(names)):
            answer = _without(question, s)
            n = agreement.alike(_others(s, len(names)))
            rows.append(([names[v] for v in s], len(s), n, None if answer is None else answer[1]))
    elif over(question, limit):
        for s in smallest(lambda s: _under(question, s, limit), len(names), largest_tried(question)):
            answer = _without(question, s)
            assert answer is not None
            rows.append(([names[v] for v in s], len(s), *answer))
    return pl.DataFrame(rows, schema=ALONE, orient="row")


def _without(question: Question, s: tuple[int, ...]) -> Answer | None:
    """What is found in the very release without these variables; by the others alone where it cannot do without."""
    others = [question.variables[v] for v in _others(s, len(question.variables))]
    changes = question.dropping([question.variables[v] for v in s])
    found = None if question.exact else question.ask(others, changes, whole=True)
    return question.ask(others) if found is None else found


def _others(s: tuple[int, ...], n: int) -> tuple[int, ...]:
    return tuple(v for v in range(n) if v not in s)


def _under(question: Question, s: tuple[int, ...], limit: float) -> bool:
    answer = question.ask([question.variables[v] for v in _others(s, len(question.variables))])
    if answer is None or answer[1] > limit:
        return False
    whole = _without(question, s)
    return whole is not None and whole[1] <= limit


def largest_tried(question: Question) -> int:
    """The largest sets that there is patience to ask about."""
    d, sizes, total = len(question.variables), 0, 0
    while sizes < d and (total := total + comb(d, sizes + 1)) <= MOST_ASKED:
        sizes += 1
    return sizes


def _by_probability(question: Question, limit: float) -> Iterator[tuple[tuple[int, ...], int, float | None]]:
    names = question.variables

    def holds(s: tuple[int, ...]) -> bool:
        answer = question.ask([names[v] for v in s])
        return answer is not None and answer[1] > limit

    for s in smallest(holds, len(names), largest_tried(question)):
        answer = question.ask([names[v] for v in s])
        assert answer is not None
        yield s, *answer


def agreement_of(attack: Attack, target: int, names: Sequence[str]) -> Agreement:
    """Which released rows agree with the person on what is certain of each of these variables."""
    ready = prepared(attack)
    scene, at = ready.scene_of(target)
    agrees = np.ones((scene.case.released.n, len(names)), dtype=bool)
    for c, labels in zip(scene.knowledge.certain, scene.side.labels, strict=True):
        agrees[:, names.index(c.name)] &= c.released == labels[at]
    for v, pair in scene.fit.between.items():
        if v not in scene.knowledge.limits:
            agrees[:, names.index(v)] &= gather(ready.case, (), {v: pair}).eligible
    return Agreement(agrees, ready.case.count, None if ready.groups is None else ready.groups.released)


def fixed(question: Question) -> dict[str, str]:
    """Known variables that cannot be made coarser afterwards, and why."""
    reasons = {v: why_fixed(question.attack.release, v) for v in question.variables}
    return {v: why for v, why in reasons.items() if why}


def remedies(question: Question, limit: float) -> pl.DataFrame:
    """For each known variable the least coarsening that brings p_max to the limit; failing that, for each pair."""
    if not over(question, limit) or by_unknown(question, limit):
        return pl.DataFrame(schema=REMEDIES)
    out = fixed(question)
    rungs = {v: _ladder(question, v) for v in question.variables if v not in out}
    found = [r for v in rungs if (r := _least(question, limit, [(rung,) for rung in rungs[v]]))]
    if not found:
        pairs = (_together(rungs[a], rungs[b]) for a, b in combinations(rungs, 2))
        found = [r for pair in pairs if (r := _least(question, limit, pair))]
    rows = [
        ([c.variable for c in changes], " and ".join(c.words for c in changes), [c.step for c in changes], p, n)
        for changes, n, p in sorted(found, key=lambda r: (r[2], -r[1]), reverse=True)
    ]
    return pl.DataFrame(rows, schema=REMEDIES, orient="row")


def _ladder(question: Question, variable: str) -> list[Coarser]:
    release = question.attack.release
    if variable not in question.knows:
        return [Coarser(variable, f"{variable} left out")]
    model = release.encoded([variable])[0][variable]
    return ladder(release, variable, encode_like(question.person[0].get_column(variable), model))


def _together(a: Sequence[Coarser], b: Sequence[Coarser]) -> list[tuple[Coarser, ...]]:
    """Two ladders climbed side by side."""
    steps = range(max(len(a), len(b)))
    return [(a[min(i, len(a) - 1)], b[min(i, len(b) - 1)]) for i in steps]


def _least(
    question: Question, limit: float, rungs: Sequence[tuple[Coarser, ...]]
) -> tuple[tuple[Coarser, ...], int, float] | None:
    """The first rung that suffices; none is tried where the last, the variable left out, does not."""
    last = question.ask(question.variables, rungs[-1])
    if last is None or last[1] > limit:
        return None
    for changes in rungs:
        answer = question.ask(question.variables, changes)
        if answer is not None and answer[1] <= limit and not question.exact:
            answer = question.ask(question.variables, changes, whole=True)
        if answer is not None and answer[1] <= limit:
            return changes, *answer
    return None
