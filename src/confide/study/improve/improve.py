"""What to do next for one plan: the changes of it that lower risk most per utility lost, carried out and attacked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed
from confide.core.run.progress import Progress
from confide.frames.roles.result import roles
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.study.advise.outlook import outlook_of
from confide.study.advise.space import offered
from confide.study.improve.result import Improvements
from confide.study.improve.rounds import Rounds
from confide.study.improve.worth import improvements
from confide.study.search.trials import tried
from confide.study.search.worst import only_worst_counts
from confide.study.statement.checks import RISKS
from confide.study.statement.study import Study
from confide.study.statement.sweep import Candidate
from confide.study.tradeoff.asked import checked_limits, chosen_measure
from confide.study.tradeoff.question import ratio_of
from confide.study.tradeoff.repeats import Repeats, worst_of
from confide.study.tradeoff.risk_names import about_learning

PLANNED, WHOLE = "as it is", "with all that may be released again"
TRIES, MOST, REPEATS = 40, 4, 5


def improve(
    data: Any, plan: Plan, *, intruders: Mapping[str, Intruder],
    utility: Sequence[Measure | str | Mapping[str, object]] | Measure | str,
    max_risk: Mapping[str, float | str] | None = None, by: str | Measure | None = None, keep: str | Sequence[str] = (),
    tries: int = TRIES, most: int = MOST, repeats: int = REPEATS, seed: int | None = None, threshold: float = 0.2,
    targets: int = 1_000, file_risks: Sequence[FileRisk | Mapping[str, object]] = (), progress: Progress = None,
    threads: int | None = None,
) -> Improvements:  # fmt: skip
    """The few changes of a plan that lower risk most per utility lost, and those that give utility back at no risk.

    A change is a step added, made weaker or stronger, put in the place of others or taken away, a variable that is
    dropped (or released again, where an intruder knows it), or protection for the risky few: those with a probability
    above `threshold`, by steps that can be told whom to choose. Which steps suit which variables, and how strong they
    may be, every method says for itself. Each is made alone: two together may do less or more than their sum.

    Up to `tries` changes are carried out once and attacked by about so many `targets`, most of them people at risk. The
    `most` promising ones are then carried out in `repeats`, with seeds that none of this has seen and that all share
    with the plan as it is, and attacked by all targets at every level that could find more. So no number that is told
    was chosen for being good.

    `max_risk`: limits, as in `StudyResult.choose`; told is the risk that passes its limit furthest, without limits the
    number of people found. Where the plan keeps its limits already, changes count that give utility back within them.
    `by`: the measure of utility, where there are several. `keep`: variables that must be released as they are now.

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(500)
    >>> plan = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"], weight="weight")
    >>> who = {"near": cf.Intruder(knows=["sex", "marital", "age"])}
    >>> found = cf.improve(heads, plan, intruders=who, utility=["hellinger"], tries=20, most=3, repeats=3, seed=1)
    >>> found.risk, found.tried.height <= 20, found.carried_out.height <= 3
    ('found', True, True)
    """
    _checked(data, plan, tries, most, targets)
    _no_learning(max_risk)
    kept = names_of(keep, "keep") if keep else ()
    plans = {PLANNED: plan, WHOLE: _whole(plan, intruders, kept)}
    needs: Any = utility
    study = Study(data, plans, intruders, needs, repeats, seed, threshold, file_risks=file_risks)
    _releases(study, plan)
    measure = chosen_measure(study.measures, by)
    limits = {RISKS[0]: math.inf} if max_risk is None else checked_limits(
        max_risk, study.measures, learnt=study.own_risks)  # fmt: skip
    known = [v for who in intruders.values() for v in (*who.knows, *who.between)]
    outlook = outlook_of(
        study.source, known=[v for v in dict.fromkeys(known) if v in study.data.columns and v not in plan.identifiers],
        identifiers=(*plan.identifiers, *plan.drop), unit=plan.unit, weight=plan.weight, keep=kept,
        kinds=plan.named_kinds, found=roles(study.data),
    )  # fmt: skip
    dials, untried = offered(outlook)
    began = checked_seed(seed)
    tried(study, [study.everything], began, threads, "the file", False)  # refuses what no plan could mend
    risk = next(iter(limits))
    if len(limits) > 1:
        risk = _told(tried(study, study.candidates[:1], began, threads, "the plan", progress), limits, study)
    rounds = Rounds(study, plan, risk, measure, limits[risk], began, threads, progress)
    chosen = rounds.run(dials, kept, targets, tries, most)
    finalists = [Candidate(PLANNED, plan), *(Candidate(one.what, one.plan) for one in chosen)]
    worst = only_worst_counts(limits)
    frame = tried(study, finalists, began, threads, "on all targets", progress, fresh=True, worst=worst)
    told = {} if max_risk is None else limits
    return improvements(study, frame, finalists, told, limits, risk, measure, rounds, untried)


def _checked(data: Any, plan: Any, tries: int, most: int, targets: int) -> None:
    if isinstance(data, Plan):
        raise InputError("data come first: improve(data, plan, ...).")
    if not isinstance(plan, Plan):
        raise InputError(f"improve takes the data, then the Plan to change; it was given {type(plan).__name__}.")
    for name, value, what in (
        ("tries", tries, "how many changes are tried"),
        ("most", most, "how many changes are carried out on all targets"),
        ("targets", targets, "by how many people changes are tried first"),
    ):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= 1_000_000:
            raise InputError(f"{name} is {what}, a whole number from 1 to 1,000,000.")


def _no_learning(max_risk: object) -> None:
    """Refuse a limit on what is learnt, which is not computed here."""
    if isinstance(max_risk, Mapping) and any(isinstance(r, str) and about_learning(r) for r in max_risk):
        raise InputError(
            'improve does not compute what would be learnt; limit who is found, as max_risk={"found": "2%"}, and ask '
            "what is learnt of the plan that it gives in a Study with learns=[...]."
        )


def _whole(plan: Plan, intruders: Any, kept: Sequence[str]) -> Plan:
    """What every plan's utility is measured on: all that this one releases, or could release again."""
    known = {v for who in intruders.values() for v in who.knows} if isinstance(intruders, Mapping) else set()
    again = [v for v in plan.drop if v in known and v not in kept]
    return Plan(
        [], identifiers=plan.identifiers, drop=[v for v in plan.drop if v not in again], weight=plan.weight,
        unit=plan.unit, categorical=plan.categorical, numeric=plan.numeric,
    )  # fmt: skip


def _releases(study: Study, plan: Plan) -> None:
    """Refuse a plan that releases nothing."""
    gone = {*plan.identifiers, *plan.drop, plan.weight, plan.unit}
    if all(v in gone for v in study.data.columns):
        raise InputError(
            "The plan releases no variable: nobody can be found, and nothing can be used. There is nothing to change; "
            "leave some variables out of drop."
        )


def _told(frame: pl.DataFrame, limits: Mapping[str, float], study: Study) -> str:
    """The risk that passes its limit furthest, or comes nearest to it."""
    every = Repeats.of(frame)
    found = {risk: worst_of(every, risk, list(study.intruders))[0] for risk in limits}
    return max(limits, key=lambda r: ratio_of(None if (f := found[r]) is None else f[1].mean, limits[r]))
