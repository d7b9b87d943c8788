"""A question to the repeats of a study: which plans are within the limits on risk, and which of them is most useful."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confide.frames.columns import F64
from confide.measure.utility.measure import Measure
from confide.study.tradeoff.asked import chosen_intruders
from confide.study.tradeoff.repeats import Interval, Repeats, worst_of

Worst = tuple[str, Interval] | None
"""An intruder and the interval of a risk; None where a risk is not known."""


@dataclass(frozen=True, eq=False)
class Question:
    """A question: the repeats, the limits by risk, each plan's worst risks and utility (None where not known).

    `risks` are of the intruder with the largest mean, `upper` of the one whose interval reaches highest.
    """

    every: Repeats
    limits: Mapping[str, float]
    risks: Sequence[Mapping[str, Worst]]
    upper: Sequence[Mapping[str, Worst]]
    measure: Measure
    values: F64
    utility: Sequence[Interval | None]
    cautious: bool
    single: bool

    @classmethod
    def of(
        cls, every: Repeats, limits: Mapping[str, float], measure: Measure, intruder: str | None = None,
        cautious: bool = False,
    ) -> Question:  # fmt: skip
        """Ask it of the repeats of a study."""
        who = chosen_intruders(every.intruders, intruder)
        risks, upper = (_by_plan(every, limits, who, high) for high in (False, True))
        values = every.utility(measure.name)
        return cls(every, limits, risks, upper, measure, values, every.intervals(values), cautious, len(who) == 1)

    def order(self) -> list[int]:
        """The plans within the limits, the best first."""
        return sorted((k for k in range(len(self.every.plans)) if self.meets(k)), key=self.better)

    def held(self, plan: int, risk: str) -> Worst:
        """The intruder whose number is held against the limit, and the number's interval."""
        return (self.upper if self.cautious else self.risks)[plan][risk]

    def tried(self, plan: int, risk: str) -> float | None:
        """The number that is held against the limit: the largest mean, or with caution the largest upper end."""
        found = self.held(plan, risk)
        if found is None:
            return None
        return found[1].high if self.cautious else found[1].mean

    def ratio(self, plan: int) -> float:
        """The largest of risk / limit; infinite where a risk is not known or a limit of 0 is passed."""
        return max(ratio_of(self.tried(plan, risk), limit) for risk, limit in self.limits.items())

    def meets(self, plan: int) -> bool:
        return self.ratio(plan) <= 1 + 1e-12 and self.utility[plan] is not None

    def better(self, plan: int) -> tuple[float, float, int]:
        """Sorts the best first: utility, then the first risk, then the order of statement."""
        utility = self.utility[plan]
        sign = -1.0 if self.measure.direction == "higher" else 1.0
        first = self.risks[plan][next(iter(self.limits))]
        return (math.inf if utility is None else _rounded(sign * utility.mean),
                math.inf if first is None else _rounded(first[1].mean), plan)  # fmt: skip


def _by_plan(every: Repeats, risks: Iterable[str], who: Sequence[str], upper: bool) -> list[dict[str, Worst]]:
    worst = {risk: worst_of(every, risk, who, upper) for risk in risks}
    return [{risk: found[k] for risk, found in worst.items()} for k in range(len(every.plans))]


def ratio_of(risk: float | None, limit: float) -> float:
    if risk is None:
        return math.inf
    if limit == 0:
        return 0.0 if risk <= 0 else math.inf
    return risk / limit


def _rounded(x: float) -> float:
    """Without the last digits, in which equal numbers may differ."""
    return float(f"{x:.12g}")


def number(x: float) -> str:
    """A number for a sentence: 2,543 or 0.1235."""
    return f"{x:,.0f}" if math.isfinite(x) and abs(x) >= 1000 else f"{x:.4g}"


def shown(found: Interval | None) -> str:
    """A mean, and its interval where it has one."""
    if found is None:
        return "not known"
    if found.low is None or found.high is None or found.low == found.high:
        return number(found.mean)
    return f"{number(found.mean)} (95% interval {number(found.low)} to {number(found.high)})"
