"""What a setting that nobody tried would come to: effects of dials, each turned alone, added to what is known.

Logarithms of risks are added, intruder by intruder, and losses. That is a guess, good enough to say what to try next;
nothing is discarded by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confide.frames.columns import F64
from confide.measure.utility.measure import Measure
from confide.protect.seam.dials import Dial
from confide.study.advise.numbers import Place, loss_of, risks_of
from confide.study.advise.trials import SAMPLED, Tried

NEARLY = 0.9
"""Of the way towards the limits that anybody came; who came so far tells what the way costs."""
BEYOND = 1.0
"""Strengths beyond the last one tried up to which an effect is drawn out."""


class Ladder:
    """The strengths of one dial that are known of, each with a place: its own are 0, 1, 2, ..., others lie between."""

    def __init__(self, dial: Dial) -> None:
        self.dial = dial
        self.places: dict[Any, float] = {x: float(k) for k, x in enumerate(dial.strengths)}

    def rungs(self) -> list[Any]:
        """All strengths, weakest first."""
        return sorted(self.places, key=lambda x: self.places[x])

    def around(self, strength: Any) -> list[Any]:
        """Strengths half way to the next weaker and the next stronger one; new ones are remembered."""
        order = self.rungs()
        k, out = order.index(strength), []
        for other in (order[k - 1] if k else None, order[k + 1] if k + 1 < len(order) else None):
            if other is not None and (half := self.dial.middle(strength, other)) is not None:
                self.places.setdefault(half, (self.places[strength] + self.places[other]) / 2)
                out.append(half)
        return out


@dataclass(frozen=True, eq=False)
class Known:
    """What is known, or forecast, of a setting: by intruder and risk, log(risk / limit); and the loss."""

    logs: F64
    loss: float

    @property
    def worst(self) -> float:
        """The largest log(risk / limit); 0 is at the limit."""
        return float(self.logs.max(initial=-math.inf))

    @property
    def far(self) -> float:
        """The way that is left to the limits: what each intruder finds too much, in logarithms, added up."""
        return float(np.maximum(self.logs, 0.0).sum())


class Forecast:
    """Effects of single dials, learnt from candidates in which one is turned."""

    def __init__(self, ladders: Sequence[Ladder], limits: Mapping[str, float], measure: Measure) -> None:
        self.ladders, self.limits, self.measure = ladders, limits, measure
        self.places: tuple[Place, ...] = ()
        self.start: Known | None = None
        self.effects: dict[int, list[tuple[float, F64, float]]] = {}
        self.rate = 0.0

    def known(self, c: Tried, rung: int | None = None) -> Known | None:
        """What trials say of a candidate."""
        risks, loss = risks_of(c, self.limits, rung), loss_of(c, self.measure)
        if loss is None or not risks or (self.places and set(risks) != set(self.places)):
            return None
        self.places = self.places or tuple(risks)
        return Known(np.array([risks[p].log_ratio for p in self.places]), loss)

    def learn(self, anchor: Tried, candidates: Iterable[Tried]) -> None:
        """Read off effects: what one dial does, beside the file as it is."""
        self.start = self.known(anchor, _first(anchor))
        self.effects = {}
        tried = list(candidates)
        for c in tried:
            if c.base or len(c.setting) != 1 or self.start is None:
                continue
            found = self.known(c, _first(c))
            ((k, x),) = c.setting
            if found is not None and x in self.ladders[k].places:
                each = self.effects.setdefault(k, [(-1.0, np.zeros_like(self.start.logs), 0.0)])
                each.append((self.ladders[k].places[x], found.logs - self.start.logs, found.loss - self.start.loss))
        for each in self.effects.values():
            each.sort(key=lambda e: e[0])
        self.rate = self._rate(tried)

    def _rate(self, candidates: Iterable[Tried]) -> float:
        """What a step towards the limits costs: of those that came nearly as far as any, the least loss for the way."""
        start = self.start
        if start is None or start.far <= 0:
            return 0.0
        known = [k for c in candidates if (k := self.known(c)) is not None]
        done = [(start.far - k.far, k.loss) for k in known]
        most = max((d for d, _ in done), default=0.0)
        return min((loss / d for d, loss in done if d >= NEARLY * most and d > 0), default=0.0)

    def effect(self, dial: int, strength: Any) -> Known | None:
        """What a dial at a strength adds; between strengths that were tried in a straight line."""
        each = self.effects.get(dial)
        if each is None or strength not in self.ladders[dial].places:
            return None
        at = self.ladders[dial].places[strength]
        k = min(max(int(np.searchsorted([e[0] for e in each], at)), 1), len(each) - 1)
        (a, low, less), (b, high, more) = each[k - 1], each[k]
        t = min((at - a) / (b - a), 1 + BEYOND / (b - a))
        return Known(low + t * (high - low), less + t * (more - less))

    def moved(self, from_: Known, dial: int, old: Any | None, new: Any | None) -> Known | None:
        """What a setting comes to in which one dial is turned."""
        logs, loss = from_.logs, from_.loss
        for strength, sign in ((old, -1.0), (new, 1.0)):
            if strength is not None:
                change = self.effect(dial, strength)
                if change is None:
                    return None
                logs, loss = logs + sign * change.logs, loss + sign * change.loss
        return Known(logs, max(loss, 0.0))

    def promise(self, of: Known | None) -> float:
        """The loss of a setting, and what the rest of the way to the limits would cost at the best rate so far.
        Lower is better."""
        return math.inf if of is None else of.loss + of.far * self.rate


def _first(c: Tried) -> int | None:
    """The rung of a candidate's first trial: effects are read off trials that are alike."""
    return SAMPLED if c.sampled is not None else None
