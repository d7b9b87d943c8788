"""A plan beside changes of it, repeat by repeat: how far each lowers risk, what it loses, which of two does more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.frames.columns import F64
from confide.measure.utility.measure import Measure
from confide.study.improve.glimpse import merit
from confide.study.tradeoff.question import Question
from confide.study.tradeoff.repeats import Interval, Repeats, interval, worst_of

TOGETHER = 0.95
"""How often the intervals of all differences hold together."""
UNKNOWN = Interval(float("nan"), None, None, None, 0)


@dataclass(frozen=True, eq=False)
class Against:
    """Plans of which the first is the one to be changed, over the same repeats.

    `lowered` and `lost`: by plan, how far risk is below and utility worse than those of the first, in each repeat;
    shape (p, r). `risks`, `values`: by plan, the risk of the worst intruder and the utility. `within`: whether a plan
    keeps all limits. `random`: whether two plans can come out otherwise.
    """

    asked: Question
    risk: str
    lowered: F64
    lost: F64
    random: tuple[bool, ...]

    @classmethod
    def of(
        cls, frame: pl.DataFrame, random: Mapping[str, bool], limits: Mapping[str, float], risk: str, measure: Measure
    ) -> Against:  # fmt: skip
        """From the table of a study whose first plan is the one to be changed."""
        every = Repeats.of(frame, random)
        asked = Question.of(every, limits, measure)
        worst = worst_of(every, risk, every.intruders)
        rows = [
            np.full(len(every.repeats), np.nan) if found is None else _held(every, every.risk(risk, found[0]), k)
            for k, found in enumerate(worst)
        ]
        sign = 1.0 if measure.direction == "higher" else -1.0
        values = np.stack([_held(every, asked.values, k) for k in range(len(every.plans))])
        risks = np.stack(rows)
        either = tuple(bool(r or every.random[0]) for r in every.random)
        return cls(asked, risk, risks[0] - risks, sign * (values[0] - values), either)

    @property
    def changes(self) -> range:
        """Places of the changed plans."""
        return range(1, len(self.lowered))

    @property
    def level(self) -> float:
        """The level of one interval, so that those of all changes, of risk and of utility, hold together."""
        return 1 - (1 - TOGETHER) / max(2 * len(self.changes), 1)

    def difference(self, values: F64, k: int) -> Interval:
        """The mean of a difference to the first plan, with an interval that holds together with all others."""
        if np.isnan(values[k]).any():
            return UNKNOWN
        return interval(values[k], self.random[k], level=self.level) or UNKNOWN

    def cost(self, k: int) -> float:
        """The utility that a change loses; 0 where that is not beyond noise."""
        lost = self.difference(self.lost, k)
        return lost.mean if surely_above(lost) else 0.0

    def above(self, a: int, b: int) -> bool:
        """Whether change a does more than change b beyond noise: lowers more risk per utility lost, or more risk where
        neither loses any beyond noise.

        With R the risk lowered and U the utility lost, a does more where R_a U_b - R_b U_a > 0; its error is that of
        the first-order change in the four means, repeat by repeat.
        """
        (ra, rb), (ua, ub) = self.lowered[[a, b]], self.lost[[a, b]]
        if not self.cost(a) and not self.cost(b):
            each = ra - rb
        else:
            each = ra * ub.mean() + ra.mean() * ub - rb * ua.mean() - rb.mean() * ua - (
                ra.mean() * ub.mean() - rb.mean() * ua.mean()
            )  # fmt: skip
        found = interval(each, self.random[a] or self.random[b], level=self.level)
        return found is not None and surely_above(found)

    def gives_more(self, a: int, b: int) -> bool:
        """Whether change a gives more utility back than change b, beyond noise."""
        found = interval(self.lost[b] - self.lost[a], self.random[a] or self.random[b], level=self.level)
        return found is not None and surely_above(found)

    def ordered(self, some: Sequence[int], back: bool) -> list[int]:
        """The best first, by means: what lowers risk most per utility lost, or gives most utility back."""
        if back:
            return sorted(some, key=lambda k: float(self.lost[k].mean()))
        return sorted(some, key=lambda k: merit(float(self.lowered[k].mean()), self.cost(k)))

    def ranks(self, order: Sequence[int], back: bool) -> list[int]:
        """Ranks, best 1; a change that cannot be told apart from the first of a rank shares it."""
        more = self.gives_more if back else self.above
        out, first = list[int](), 0
        for j, k in enumerate(order):
            if j and more(order[first], k):
                first = j
            out.append(first + 1)
        return out


def surely_above(found: Interval) -> bool:
    """Whether a mean is above 0 beyond noise; not where the spread is not known."""
    return found.low is not None and found.low > 0


def surely_below(found: Interval) -> bool:
    """Whether a mean is below 0 beyond noise."""
    return found.high is not None and found.high < 0


def _held(every: Repeats, values: F64, k: int) -> F64:
    """A plan's numbers in every repeat; what is not random meets them all."""
    row, there = values[k], every.there[k]
    return np.full(len(every.repeats), row[there][0]) if there.sum() == 1 else row
