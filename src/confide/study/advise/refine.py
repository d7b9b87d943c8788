"""Weaker strengths of what keeps the limits already: half way to the nearest one that does not, again and again.

A forecast may always think of a mix that promises more. What is certain is that the best plan so far, a little weaker,
loses a little less; so the dials of the best are turned back first, whatever else is promised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confide.measure.utility.measure import Measure
from confide.study.advise.forecast import Ladder
from confide.study.advise.numbers import holds, loss_of
from confide.study.advise.space import Setting
from confide.study.advise.trials import Tried

BEST = 2
"""Candidates whose dials are turned back."""
FINEST = 0.1
"""Strengths of a dial are one apart; nearer to each other than so, they are alike."""


def turned_back(
    candidates: Sequence[Tried], ladders: Sequence[Ladder], limits: Mapping[str, float], measure: Measure
) -> Iterator[tuple[int, Setting]]:
    """Plans to start from, by their number, and settings with one dial weaker, around the best that keep the limits."""
    tried = {(c.base, c.setting) for c in candidates if c.evaluations or c.error}
    held = [
        (loss, c.name, c)
        for c in candidates
        if not c.error and holds(c, limits) and (loss := loss_of(c, measure)) is not None
    ]
    for _, _, c in sorted(held, key=lambda h: h[:2])[:BEST]:
        for k, strength in c.setting:
            weaker = _weaker(c, k, strength, ladders[k], tried)
            if weaker is not None:
                yield c.base, tuple((j, weaker if j == k else x) for j, x in c.setting)


def _weaker(c: Tried, dial: int, strength: Any, ladder: Ladder, tried: set[tuple[int, Setting]]) -> Any | None:
    """Half way to the nearest weaker strength that was tried beside the other dials as they are; the dial's next where
    none was; None where nothing is left between."""
    at = ladder.places[strength]
    below = [x for x in ladder.rungs() if ladder.places[x] < at]
    met = [x for x in below if (c.base, tuple((j, x if j == dial else y) for j, y in c.setting)) in tried]
    if not met:
        return next((x for x in reversed(below) if x in ladder.dial.strengths), None)
    if at - ladder.places[met[-1]] <= FINEST:
        return None
    half = ladder.dial.middle(strength, met[-1])
    if half is not None:
        ladder.places.setdefault(half, (at + ladder.places[met[-1]]) / 2)
    return half
