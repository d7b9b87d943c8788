"""The end of a search: who goes into the study, the choice there, and fresh draws that confirm it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from confide.core.errors import InputError
from confide.core.run.progress import Progress
from confide.protect.plan import Plan
from confide.study.advise.numbers import holds, loss_of, risks_of, worst
from confide.study.advise.result import CONFIRMED, RunnerUp
from confide.study.advise.search import ALIKE, Search
from confide.study.advise.trials import WHOLE, Tried
from confide.study.evaluate import is_random
from confide.study.result import EVERYTHING, StudyResult
from confide.study.search.trials import tried
from confide.study.search.worst import only_worst_counts
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate
from confide.study.tradeoff.asked import checked_floors
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.question import Question
from confide.study.tradeoff.repeats import Interval, Repeats

FINALISTS, FEW = 8, 5
"""Plans of the study at the end; of a quick search."""
ROOM = (0.8, 0.5)
"""Shares of the limit: the best plans with so little risk are finalists too."""
ABOVE = 2.0
"""Times the limit: the best plan with so much risk is a finalist, to show what the limit costs."""
AS_IT_IS = "as it is"


def finalists_of(search: Search, most: int) -> list[Tried]:
    """Plans from low risk to high that differ: the best within the limits, the best with room to them, the best of each
    family, and one beyond."""
    known = [(c, worst(risks_of(c, search.limits)), loss_of(c, search.measure)) for c in search.candidates
             if not c.error and c.plan is not None]  # fmt: skip
    rows = [(c, w, x) for c, w, x in known if x is not None and math.isfinite(w)]
    whole = [r for r in rows if r[0].rung >= WHOLE]
    rows = whole if any(holds(c, search.limits) for c, _, _ in whole) or len(whole) >= most else rows
    rows.sort(key=lambda r: (r[2], r[1], r[0].name))
    inside = [c for c, w, _ in rows if w <= 1e-12]
    out: list[Tried] = []
    _take(out, inside, max(most // 2, 2))
    for share in ROOM:
        _take(out, [c for c, w, _ in rows if w <= math.log(share)], len(out) + 1)
    beyond = [c for c, w, _ in rows if 1e-12 < w <= math.log(ABOVE)]
    _take(out, beyond, min(len(out) + 1, most))
    for family in dict.fromkeys(f for c in inside for f in c.families):
        if not any(family in c.families for c in out):
            _take(out, [c for c in inside if family in c.families], min(len(out) + 1, most))
    if not inside:
        _take(out, [c for c, _, _ in sorted(rows, key=lambda r: (r[1], r[2], r[0].name))], most)
    return out[:most]


def _take(out: list[Tried], candidates: Sequence[Tried], until: int) -> None:
    """The first of some that are not there yet and do not turn the dials of too many that are."""
    for c in candidates:
        dials = c.base, tuple(k for k, _ in c.setting)
        alike = sum((o.base, tuple(k for k, _ in o.setting)) == dials for o in out)
        if len(out) < until and c not in out and alike < ALIKE:
            out.append(c)


def names_of(chosen: Sequence[Tried]) -> dict[str, Tried]:
    """Finalists by name; of two that are called the same, the second with a number. A study has the file as it is in
    any case, under a name of its own."""
    out: dict[str, Tried] = {}
    for c in chosen:
        name, k = (c.name, 1) if c.base or c.setting else (EVERYTHING, 1)
        while name in out:
            k += 1
            name = f"{c.name} ({k})"
        out[name] = c
    return out


def with_anchor(plans: Mapping[str, Plan], base: Plan) -> dict[str, Plan]:
    """Plans of the study: with one that releases all variables where none of them does, so that what is dropped by all
    still counts as lost."""
    stated = {name: plan for name, plan in plans.items() if name != EVERYTHING}
    gone = set.intersection(*(set(p.drop) for p in stated.values())) - set(base.drop) if stated else {""}
    return {**stated, **({AS_IT_IS: base} if gone else {})}


@dataclass(frozen=True, eq=False)
class Ending:
    """The study, its choice (None where nothing meets the limits), the name of the plan that was confirmed (or of the
    nearest), its confirmed numbers, and who came second. `failed`: plans that the study would have taken, and that
    broke a limit with fresh draws. `close`: others within the limits that cannot be told apart from the chosen one."""

    result: StudyResult
    choice: Choice | None
    name: str | None
    nearest: str | None
    confirmed: pl.DataFrame
    runner_up: RunnerUp | None
    failed: tuple[str, ...]
    close: tuple[str, ...]
    asked: Question


def ended(
    study: Study, result: StudyResult, limits: Mapping[str, float], by: str, seed: int, threads: int | None,
    progress: Progress,
) -> Ending:  # fmt: skip
    """Choose by the study, and confirm with fresh draws. The plan that comes next is drawn beside it, so that the
    difference between both comes from draws that chose neither."""
    asked = _question(study, result.frame, limits, by)
    order = [k for k in asked.order() if asked.every.plans[k] != AS_IT_IS]  # it is there as "release everything"
    try:
        choice: Choice | None = result.choose()
    except InputError:
        choice = None
    if choice is None or not order:
        k = min(range(len(asked.every.plans)), key=lambda k: _far(asked, k))
        return Ending(result, None, None, asked.every.plans[k], _numbers(study, asked, k), None, (), (), asked)
    failed: list[str] = []
    broke: list[pl.DataFrame] = []
    for at, k in enumerate(order):
        pair = [asked.every.plans[p] for p in (k, *order[at + 1 : at + 2])]
        fresh = _question(study, _drawn(study, pair, limits, seed, threads, progress), limits, by)
        if fresh.meets(0):
            second = _second(study, pair, fresh) if len(pair) > 1 else None
            name = asked.every.plans[k]
            close = [asked.every.plans[p] for p in order[at + 1 :] if not _apart(asked, k, p)]
            chosen = choice if not failed else _replaced(result, study, failed)
            return Ending(
                result, chosen, name, None, _numbers(study, fresh, 0), second, tuple(failed), tuple(close), asked
            )
        failed.append(asked.every.plans[k])
        broke.append(_numbers(study, fresh, 0))
    return Ending(result, None, None, failed[0], broke[0], None, tuple(failed), (), asked)


def _far(asked: Question, k: int) -> tuple[float, ...]:
    """How far a plan is from the limits: by the ratio, then by the risk itself, which tells where a limit is 0."""
    risks = [f[1].mean for f in asked.risks[k].values() if f is not None]
    return (asked.ratio(k), max(risks, default=math.inf), *asked.better(k))


def _question(study: Study, frame: pl.DataFrame, limits: Mapping[str, float], by: str) -> Question:
    measure = next(m for m in study.measures if m.name == by)
    rule = study.choice
    least = checked_floors(rule.min_utility if rule is not None else {}, study.measures)
    floors = {m: least[m.name] for m in study.measures if m.name in least}
    random = {c.name: is_random(c.plan) for c in (study.everything, *study.candidates)}
    return Question.of(Repeats.of(frame, random), limits, measure, floors=floors)


def _drawn(
    study: Study, names: Sequence[str], limits: Mapping[str, float], seed: int, threads: int | None, progress: Progress
) -> pl.DataFrame:
    every = {c.name: c for c in (study.everything, *study.candidates)}
    chosen: list[Candidate] = [every[n] for n in names]
    worst = only_worst_counts(limits)
    return tried(study, chosen, seed, threads, "confirming with fresh draws", progress, fresh=True, worst=worst)


def _replaced(result: StudyResult, study: Study, failed: Sequence[str]) -> Choice:
    """The choice among those that did not fail."""
    from confide.study.tradeoff.choice import choose

    rule = study.choice
    assert rule is not None
    left = result.frame.filter(~pl.col("plan").is_in(list(failed)))
    return choose(left, study.measures, rule.max_risk, rule.by, random=result.random, min_utility=rule.min_utility,
                  released=result.released)  # fmt: skip


def _apart(asked: Question, a: int, b: int) -> bool:
    """Whether a is better than b beyond the spread over repeats."""
    found = _gain(asked, a, b)
    return found.low is not None and found.low > 0


def _gain(asked: Question, a: int, b: int) -> Interval:
    """How much better a is than b, repeat by repeat, whatever the direction."""
    found = asked.every.paired(asked.values, a, b)
    if asked.measure.direction == "higher":
        return found
    low, high = (None if e is None else 0.0 - e for e in (found.high, found.low))
    return Interval(0.0 - found.mean, low, high, found.sd, found.repeats)


def _second(study: Study, pair: Sequence[str], fresh: Question) -> RunnerUp:
    plans = {c.name: c.plan for c in (study.everything, *study.candidates)}
    return RunnerUp(pair[1], plans[pair[1]], _gain(fresh, 0, 1))


def _numbers(study: Study, asked: Question, k: int) -> pl.DataFrame:
    """Risks of the worst intruder and utilities of one plan."""
    rows = [("risk", name, f[1].mean, f[1].low, f[1].high) for name, f in asked.risks[k].items() if f is not None]
    for m in study.measures:
        found = asked.every.intervals(asked.every.utility(m.name), m.range)[k]
        if found is not None:
            rows.append(("utility", m.name, found.mean, found.low, found.high))
    return pl.DataFrame(rows, schema=CONFIRMED, orient="row")
