"""Improvements of a plan that a study compared, by the study's own intruders, measures and limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confide.core.errors import InputError, did_you_mean
from confide.study.improve.improve import improve
from confide.study.improve.result import Improvements

if TYPE_CHECKING:
    from confide.study.result import StudyResult


def improve_plan(result: StudyResult, data: Any, plan: str | None, options: Mapping[str, Any]) -> Improvements:
    """What `cf.improve` finds for one plan of a study."""
    name = _named(result, plan)
    sweep = name.partition(" [")[0]
    if max(result.copies.get(name, 1), result.copies.get(sweep, 1)) > 1:
        raise InputError(f'improve compares single files, and "{name}" is released in several copies.')
    rule = result.rule
    stated: dict[str, Any] = {} if rule is None else {"max_risk": rule.max_risk, "by": rule.by}
    if (
        "max_risk" not in options
        and rule is not None
        and set(rule.max_risk) & {r for one in result.learns for r in one.risks}
    ):
        raise InputError("The study limits what is learnt, which improve does not compute; give max_risk=, as in "
                         'improve(data, plan, max_risk={"found": "2%"}).')  # fmt: skip
    who = (
        result.intruders if rule is None or rule.intruder is None else {rule.intruder: result.intruders[rule.intruder]}
    )
    asked = {"threshold": result.info.threshold, "file_risks": result.file_risks, **stated, **options}
    if asked.get("by") is None and len(result.measures) > 1:
        asked["by"] = result.measures[0].name
    return improve(data, result.plans[name], intruders=who, utility=list(result.measures), **asked)


def _named(result: StudyResult, plan: str | None) -> str:
    """The name of a plan of the study; by default the one that its rule chooses."""
    if plan is None and result.rule is None:
        raise InputError(
            "The study states no rule, so none of its plans is chosen; name one, as in improve(data, plan)."
        )
    name = result.choose().plan if plan is None else plan
    if name not in result.plans:
        raise InputError(f'The study has no plan "{name}" to change.{did_you_mean(str(name), list(result.plans))}')
    return name
