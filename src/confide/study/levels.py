"""The strongest intruder: every level that could find more is tried, and the one that is right most often is booked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from confide.attack.intruder import Intruder
from confide.attack.results.stronger import UNALTERED, level_of, levels_of
from confide.frames.columns import F64
from confide.protect.copies import Copies
from confide.protect.release import Release
from confide.study.meeting import Met
from confide.study.tradeoff.repeats import interval

Ways = Callable[[str, Intruder, "Release | Copies"], Mapping[str, Intruder]]
"""From an intruder's name, the intruder and the release: the levels at which it attacks, by name."""

NAIVE = "naive"
SHARE = 0.05
"""Of what is found; a level that is further ahead is not ahead by chance."""
ERRORS = 3.0
"""Standard errors of a difference by which a level may be behind in the first repeat and still come out ahead."""


def stated(name: str, who: Intruder, release: Release | Copies) -> Mapping[str, Intruder]:  # noqa: ARG001
    """Only as the study says."""
    return {level_of(who): who}


def every(name: str, who: Intruder, release: Release | Copies) -> Mapping[str, Intruder]:  # noqa: ARG001
    """At every level that could find more."""
    return levels_of(who, release)


def only(levels: Mapping[str, Sequence[str]]) -> Ways:
    """At the levels named for each intruder."""

    def ways(name: str, who: Intruder, release: Release | Copies) -> Mapping[str, Intruder]:  # noqa: ARG001
        return {level: one for level, one in levels_of(who).items() if level in levels[name]}

    return ways


def contenders(first: Mapping[str, Mapping[str, Met]]) -> dict[str, list[str]]:
    """By intruder, the levels that may be right most often over all repeats, given what each found in the first.

    The number found is a sum over targets of chances between 0 and 1, so its variance is at most its expectation.
    """
    return {name: _near_best(met) for name, met in first.items()}


def _near_best(met: Mapping[str, Met]) -> list[str]:
    found = {level: m.risks["found"] or 0.0 for level, m in met.items()}
    best = max(found.values(), default=0.0)
    return [level for level, n in found.items() if best - n <= ERRORS * math.sqrt(best + n)]


def booked(repeats: Sequence[Mapping[str, Met]]) -> str | None:
    """The level with the largest mean of `found` among those tried in every repeat; None where there is none.

    Of two that find the same, the one that was stated, or tried, first. A naive intruder claims too much whatever it
    finds; where it is ahead by no more than chance, the best of the others is booked, whose claims can be believed. One
    who leaves altered values aside is booked where the plan misleads those who read them: by more than chance, and by
    more than 5 percent.
    """
    shared = [level for level in repeats[0] if all(level in met for met in repeats)]
    found = {level: np.array([met[level].risks["found"] or 0.0 for met in repeats]) for level in shared}
    last = [level for level in shared if level in (NAIVE, UNALTERED)]
    rival = _most([level for level in shared if level not in last], found)
    if rival is None:
        return _most(shared, found)
    return _most([rival, *(level for level in last if _ahead(level, found[level], found[rival]))], found)


def _most(levels: Sequence[str], found: Mapping[str, F64]) -> str | None:
    return max(levels, key=lambda level: float(found[level].sum()), default=None)


def _ahead(level: str, more: F64, less: F64) -> bool:
    """Whether a level that is booked only for a reason is ahead of one that is booked for any."""
    gap = float((more - less).mean())
    if level == UNALTERED:
        noise = math.sqrt(float(more.mean() + less.mean()) / len(more))
        return gap > max(SHARE * float(more.mean()), ERRORS * noise)
    return gap > 0 and not _by_chance(more, less)


def _by_chance(more: F64, less: F64) -> bool:
    """Whether one level is ahead of another by at most 5 percent, and no further than repeats of the same draws differ:
    the 95 percent interval of the difference reaches 0. With one repeat, by the bound of `contenders`."""
    gap = float((more - less).mean())
    if gap > SHARE * float(more.mean()):
        return False
    ends = interval(more - less)
    if ends is None or ends.low is None:
        return gap <= ERRORS * math.sqrt(float(more.mean() + less.mean()))
    return ends.low <= 0
