"""Who may find most people: others need not attack again, where only the worst intruder counts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from confide.study.evaluate import Evaluated
from confide.study.levels import ERRORS
from confide.study.meeting import Met
from confide.study.tradeoff.risk_names import counted


def only_worst_counts(risks: Iterable[str]) -> bool:
    """Whether risks are all of people found, of which a first release tells how far they may be from their means."""
    return all(counted(risk) == "found" for risk in risks)


def may_be_worst(first: Mapping[str, Mapping[str, Met]]) -> list[str]:
    """Intruders who may find most people over all repeats, in number or as a share, given what each found in the first.

    The number found is a sum over targets of chances between 0 and 1, so its variance is at most its expectation.
    """
    found = {name: _most(met) for name, met in first.items()}
    known = [f for f in found.values() if f is not None]
    return [name for name, f in found.items() if f is None or not any(_beyond(other, f) for other in known)]


def _most(met: Mapping[str, Met]) -> tuple[float, float] | None:
    """Found and targets at the level that finds most; None where that is not known."""
    each = [(m.risks["found"], m.risks["targets"]) for m in met.values()]
    known = [(found, targets) for found, targets in each if found is not None and targets is not None]
    return max(known, default=None) if len(known) == len(each) else None


def _beyond(more: tuple[float, float], less: tuple[float, float]) -> bool:
    """Whether one is ahead beyond noise, in number and as a share of targets."""
    (a, n), (b, m) = more, less
    by_share = a / max(n, 1.0) - b / max(m, 1.0) > ERRORS * math.sqrt(a / max(n, 1.0) ** 2 + b / max(m, 1.0) ** 2)
    return a - b > ERRORS * math.sqrt(a + b) and by_share


def with_others(found: Evaluated, first: Evaluated) -> Evaluated:
    """A later release with those who did not attack it as they were in the first."""
    return replace(found, met={name: found.met.get(name, met) for name, met in first.met.items()})
