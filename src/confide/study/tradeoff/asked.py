"""What a choice is asked by: which intruder, which measure of utility, which limits on which risks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from confide.core.errors import InputError, did_you_mean
from confide.measure.utility.measure import Measure
from confide.study.evaluate import RISKS

COUNTS = {"targets": "the records that were attacked", "unevaluated": "the records whose risk is not known"}
"""Of what a study keeps beside its risks, what says how much was attacked, not how much was found."""


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


def checked_risk(name: Any, measures: Sequence[Measure], what: str = "risk") -> str:
    """The name of a risk that is safer where it is lower."""
    usable = [r for r in RISKS if r not in ("false_match_rate", *COUNTS)]
    if name == "false_match_rate":
        raise InputError(f"{what}: a higher false_match_rate is safer, so it sets no limit; take one of: "
                         f"{', '.join(usable)}.")  # fmt: skip
    if name in tuple(COUNTS):
        raise InputError(f"{what}: {name} counts {COUNTS[name]}, which is no risk; take one of: {', '.join(usable)}.")
    if name in [m.name for m in measures]:
        raise InputError(f'{what}: "{name}" is a measure of utility, not a risk; risks are: {", ".join(usable)}.')
    if name not in usable:
        raise InputError(f'{what}: there is no risk named "{name}".{did_you_mean(str(name), usable)}')
    return str(name)


def checked_limits(limits: Any, measures: Sequence[Measure], what: str = "max_risk") -> dict[str, float]:
    """Limits as {"expected_matches": 100}: names of risks, numbers from 0 upwards."""
    example = f'{what}={{"expected_matches": 100}}'
    if not isinstance(limits, Mapping):
        raise InputError(f"{what} is a table of risks and their limits, such as {example}.")
    if not limits:
        raise InputError(f"{what} names no risk; state at least one limit, such as {example}.")
    out = {}
    for name, limit in limits.items():
        risk = checked_risk(name, measures, what)
        if isinstance(limit, bool) or not isinstance(limit, (int, float, np.integer, np.floating)) or np.isnan(limit):
            raise InputError(f"{what}: the limit of {risk} is a number from 0 upwards, such as {example}.")
        if limit < 0:
            raise InputError(f"{what}: the limit of {risk} is a number from 0 upwards, not {limit:g}.")
        if np.isinf(limit):
            raise InputError(f"{what}: the limit of {risk} is infinite, which limits nothing; give a number, or leave "
                             f"{risk} out.")  # fmt: skip
        out[risk] = float(limit)
    return out
