"""What can be wrong with what must not be learnt, given the file, the plans and the intruders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from confide.attack.intruder import Intruder
from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.loss_limits import Exceeds
from confide.attack.learning.attributes.loss_values import Absolute
from confide.core.errors import InputError, did_you_mean
from confide.frames.columns import F64, Kind
from confide.frames.encoded import Encoded
from confide.protect.plan import Plan
from confide.study.statement.checks import sentences
from confide.study.statement.learns import Learns, as_learns

TINY = 1e-3
"""Of how far values lie from their median; a gain below that was hardly meant in the variable's unit."""


def learns_list(given: Any) -> list[Any]:
    """What was given, as a list; one alone is meant as a list of one."""
    return [given] if isinstance(given, (str, Learns, Mapping)) else list(given)


def stated_problems(given: Any) -> list[str]:
    """What is wrong with the statements themselves."""
    if not isinstance(given, (str, Learns, Mapping, Sequence)):
        return [f'learns is a list of variables, such as learns=["hh_income"], not {type(given).__name__}.']
    out = [f"learns: {p}" for one in learns_list(given) for p in sentences(lambda o=one: as_learns(o))]  # type: ignore[misc]
    if out:
        return out
    many = Counter(as_learns(one).variable for one in learns_list(given))
    return [f'learns: "{v}" is listed {n} times; keep one.' for v, n in many.items() if n > 1]


def learns_problems(
    learns: Sequence[Learns], source: Encoded, columns: Sequence[str], plans: Sequence[Plan],
    intruders: Mapping[str, Intruder], measures: Iterable[str],
) -> list[str]:  # fmt: skip
    """What the file, the plans or the intruders do not allow; statements that are themselves right."""
    names = set(measures)
    out = []
    for one in learns:
        v = one.variable
        if v not in columns:
            out.append(f'learns: there is no column "{v}".{did_you_mean(v, columns)}')
            continue
        if intruders and all(v in who.knows for who in intruders.values()):
            out.append(f'learns: every intruder knows "{v}" already, so nobody can learn it.')
        out += [
            f'learns: results have a column named "{risk}"; give the measure of that name a label.'
            for risk in one.risks if risk in names
        ]  # fmt: skip
        out += _about_role(v, plans) or [f"learns: {p}" for p in sentences(lambda o=one: _judge(o, source, plans))]  # type: ignore[misc]
    return out


def _about_role(v: str, plans: Sequence[Plan]) -> list[str]:
    if any(v in p.identifiers for p in plans):
        return [f'learns: "{v}" is an identifier, which has nothing to be learnt; name another variable.']
    if any(v == p.unit for p in plans):
        return [f'learns: "{v}" says which rows belong together; name another variable.']
    return []


def _judge(one: Learns, source: Encoded, plans: Sequence[Plan]) -> None:
    """Raise what the values of the variable do not allow."""
    v = one.variable
    kinds: set[Kind] = {p.kinds[v] for p in plans if v in p.kinds}
    column = source.column(v, kinds.pop() if len(kinds) == 1 else None)
    there = column.values[~column.missing]
    if not len(there):
        raise InputError(f'all values of "{v}" are missing; there is nothing to learn.')
    if (there == there[0]).all() and not column.missing.any():
        raise InputError(f'everybody has the same "{v}"; there is nothing to learn.')
    loss, gain = one.judged(column.kind == "numeric", column.levels)
    if column.kind == "numeric":
        _judge_numbers(one, loss, gain, there.astype(float))


def _judge_numbers(one: Learns, loss: Loss, gain: float, there: F64) -> None:
    if isinstance(loss, Exceeds):
        loss.check(float(there.min()), float(there.max()))
    far = float(np.abs(there - np.median(there)).mean())
    if isinstance(loss, Absolute) and 0 < gain < TINY * far:
        raise InputError(
            f'gain of "{one.variable}" is in its own unit under the absolute loss, and {gain:g} is less than a '
            "thousandth of how far values lie apart; for a share of the value use loss=Within(share=0.1)."
        )
