"""What a choice is asked by: which intruder, which measure of utility, which limits on which risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confide.core.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.study.statement.checks import RISKS
from confide.study.tradeoff.risk_names import HARM, LEARNT, SHARE, about_file, is_share, shared

COUNTS = {"targets": "the records that were attacked", "unevaluated": "the records whose risk is not known"}
"""Of what a study keeps beside its risks, what says how much was attacked, not how much was found."""
SAFER = ("false_match_rate", "wrong")
"""What is safer where it is higher, so that no limit can be set to it."""
USABLE = tuple(r for r in RISKS if r not in (*SAFER, *COUNTS))
PEOPLE = tuple(r for r in USABLE if not r.endswith(SHARE))
"""Risks that count people; each also goes as a share of targets, as "found_share"."""


def chosen_intruders(known: Sequence[str], intruder: str | None) -> tuple[str, ...]:
    """All intruders, or the one that is named."""
    if intruder is None:
        return tuple(known)
    if not isinstance(intruder, str):
        raise InputError(f"intruder is the name of one ({', '.join(known)}), not {type(intruder).__name__}.")
    if intruder not in known:
        raise InputError(f'There is no intruder named "{intruder}".{did_you_mean(intruder, known)}')
    return (intruder,)


def chosen_measure(measures: Sequence[Measure], name: str | Measure | None, what: str = "by") -> Measure:
    """The measure of this name; the only one where none is named."""
    names = [m.name for m in measures]
    if not names:
        raise InputError("The study measures no utility, so there is nothing to choose by.")
    if name is None:
        if len(names) > 1:
            raise InputError(f"There are several measures of utility; name one in {what}: {', '.join(names)}.")
        return measures[0]
    wanted = name if isinstance(name, str) else getattr(name, "name", None)
    if not isinstance(wanted, str):
        raise InputError(f"{what} names one measure of utility ({', '.join(names)}); it was given "
                         f"{type(name).__name__}.")  # fmt: skip
    if wanted not in names:
        if wanted in RISKS:
            raise InputError(f'{what}: "{wanted}" is a risk; the measures of utility are: {", ".join(names)}.')
        hint = did_you_mean(wanted, names)
        raise InputError(f'{what}: there is no measure of utility named "{wanted}".{hint}')
    return measures[names.index(wanted)]


def checked_risk(name: Any, measures: Sequence[Measure], what: str = "risk", learnt: Sequence[str] = ()) -> str:
    """The name of a risk that is safer where it is lower; `learnt`: those that the study adds, of what must not be
    learnt and of the file."""
    if name in SAFER:
        raise InputError(f"{what}: a higher {name} is safer, so it sets no limit; take one of: {', '.join(USABLE)}.")
    if name in tuple(COUNTS):
        raise InputError(f"{what}: {name} counts {COUNTS[name]}, which is no risk; take one of: {', '.join(USABLE)}.")
    if name in [m.name for m in measures]:
        raise InputError(f'{what}: "{name}" is a measure of utility, not a risk; risks are: {", ".join(USABLE)}.')
    if name in learnt:
        return str(name)
    if isinstance(name, str) and name.startswith((LEARNT, HARM)):
        raise InputError(_not_learnt(name, what, learnt))
    if isinstance(name, str) and about_file(name):
        hint = did_you_mean(name, files) if (files := [n for n in learnt if about_file(n)]) else ""
        raise InputError(f'{what}: the study states no risk of the file "{name}"; state it in file_risks=[...].{hint}')
    if name not in (*USABLE, *(f"{r}{SHARE}" for r in PEOPLE)):
        raise InputError(f'{what}: there is no risk named "{name}".{did_you_mean(str(name), [*USABLE, *learnt])}')
    return str(name)


def _not_learnt(name: str, what: str, learnt: Sequence[str]) -> str:
    """Why there is no risk of that name, and what would make one."""
    head, v = (HARM, name.removeprefix(HARM)) if name.startswith(HARM) else (LEARNT, name.removeprefix(LEARNT))
    if head == HARM and f"{LEARNT}{v}" in learnt:
        return f'{what}: "{name}" needs costs, as Learns("{v}", costs={{...}}) with all four.'
    return (
        f'{what}: the study does not say that "{v}" must not be learnt, so there is no "{name}"; state '
        f'learns=["{v}"].{did_you_mean(name, learnt)}'
    )


def checked_limits(
    limits: Any, measures: Sequence[Measure], what: str = "max_risk", learnt: Sequence[str] = ()
) -> dict[str, float]:
    """Limits as {"found": 100}, or as shares of the targets, {"found": "2%"} or {"found_share": 0.02}.

    >>> checked_limits({"found": "2%", "over_threshold": 50}, [])
    {'found_share': 0.02, 'over_threshold': 50.0}
    """
    example = f'{what}={{"found": 100}} or {what}={{"found": "2%"}}'
    if not isinstance(limits, Mapping):
        raise InputError(f"{what} is a table of risks and their limits, such as {example}.")
    if not limits:
        raise InputError(f"{what} names no risk; state at least one limit, such as {example}.")
    out = {}
    for name, limit in limits.items():
        risk, value = _limit(checked_risk(name, measures, what, learnt), limit, what, example, learnt)
        out[risk] = value
    return out


def _limit(risk: str, limit: Any, what: str, example: str, learnt: Sequence[str]) -> tuple[str, float]:
    """One limit as a number of people or a share of targets, whichever was written."""
    if isinstance(limit, str):
        if risk.startswith(HARM):
            raise InputError(f"{what}: {risk} is in the unit of its costs, not a share; give a number.")
        if about_file(risk) and shared(risk) not in learnt:
            raise InputError(f"{what}: {risk} is no number of people, so it has no share; give a number.")
        return shared(risk), _percent(limit, f"{what}: the limit of {risk}")
    if isinstance(limit, bool) or not isinstance(limit, (int, float, np.integer, np.floating)) or np.isnan(limit):
        raise InputError(f"{what}: the limit of {risk} is a number from 0 upwards, such as {example}.")
    if limit < 0:
        raise InputError(f"{what}: the limit of {risk} is a number from 0 upwards, not {limit:g}.")
    if np.isinf(limit):
        raise InputError(f"{what}: the limit of {risk} is infinite, which limits nothing; give a number, or leave "
                         f"{risk} out.")  # fmt: skip
    if is_share(risk) and limit > 1:
        raise InputError(f'{what}: {risk} is a share of {_whom(risk)}, between 0 and 1; for {limit:g} percent write '
                         f'{limit / 100:g} or "{limit:g}%".')  # fmt: skip
    people = f"{risk}{SHARE}" in learnt if about_file(risk) else not risk.startswith(HARM)
    if not is_share(risk) and people and 0 < limit < 1:
        raise InputError(f'{what}: {risk} counts people, and {limit:g} of a person is meant for nobody. For '
                         f'{100 * limit:g} percent of {_whom(risk)} write {{"{risk}": "{100 * limit:g}%"}}; for nobody '
                         "write 0.")  # fmt: skip
    return risk, float(limit)


def _whom(risk: str) -> str:
    """Of what a share is one."""
    return "what it counts" if about_file(risk) else "the targets"


def _percent(text: str, what: str) -> float:
    """A percentage that is written as text, as a share."""
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.strip().endswith("%") or not 0 <= share <= 1:
        raise InputError(f'{what} is a number of people, or a percentage of the targets as "2%", between 0 and 100.')
    return share


def checked_floors(floors: Any, measures: Sequence[Measure], what: str = "min_utility") -> dict[str, float]:
    """The least utility by measure, as {"ci_overlap": 0.8}; the largest loss, where lower is better."""
    if not isinstance(floors, Mapping):
        raise InputError(
            f'{what} is a table of measures and what is asked of them, such as {what}={{"ci_overlap": 0.8}}.'
        )
    out = {}
    for name, floor in floors.items():
        measure = chosen_measure(measures, name, what)
        number = isinstance(floor, (int, float, np.integer, np.floating)) and not isinstance(floor, bool)
        if not number or not np.isfinite(floor):
            raise InputError(f"{what}: what is asked of {measure.name} is a number.")
        low, high = measure.range
        if not low <= floor <= high:
            raise InputError(f"{what}: {measure.name} lies between {low:g} and {high:g}, so {floor:g} cannot be asked.")
        out[measure.name] = float(floor)
    return out
