"""A question to the repeats of a study: which plans are within the limits on risk, and which of them is most useful."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from confide.frames.columns import F64
from confide.measure.utility.measure import Measure
from confide.study.tradeoff.asked import chosen_intruders
from confide.study.tradeoff.repeats import Interval, Repeats, worst_of
from confide.study.tradeoff.risk_names import apart, is_share

Worst = tuple[str, Interval] | None
"""An intruder and the interval of a risk; None where a risk is not known."""


@dataclass(frozen=True, eq=False)
class Question:
    """A question: the repeats, the limits by risk, each plan's worst risks and utility (None where not known).

    `risks` are of the intruder with the largest mean, `upper` of the one whose interval reaches highest. `floors`: by
    measure, the least utility that is asked for, and `also`: each plan's utility by those measures. `who`: the
    intruders whose risk counts.
    """

    every: Repeats
    limits: Mapping[str, float]
    risks: Sequence[Mapping[str, Worst]]
    upper: Sequence[Mapping[str, Worst]]
    measure: Measure
    values: F64
    utility: Sequence[Interval | None]
    cautious: bool
    who: Sequence[str]
    floors: Mapping[Measure, float] = field(default_factory=dict)
    also: Mapping[str, Sequence[Interval | None]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, every: Repeats, limits: Mapping[str, float], measure: Measure, intruder: str | None = None,
        cautious: bool = False, floors: Mapping[Measure, float] | None = None,
    ) -> Question:  # fmt: skip
        """Ask it of the repeats of a study."""
        who = chosen_intruders(every.intruders, intruder)
        risks, upper = (_by_plan(every, limits, who, high) for high in (False, True))
        values = every.utility(measure.name)
        asked = {m.name: every.intervals(every.utility(m.name), m.range) for m in floors or {}}
        return cls(
            every, limits, risks, upper, measure, values, every.intervals(values, measure.range), cautious,
            who, floors or {}, asked,
        )  # fmt: skip

    @property
    def single(self) -> bool:
        """Whether one intruder is asked about."""
        return len(self.who) == 1

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

    def within(self, plan: int) -> bool:
        """Whether all risks are within their limits."""
        return self.ratio(plan) <= 1 + 1e-12

    def short(self, plan: int, measure: Measure) -> float | None:
        """By how much a plan misses what is asked of a measure, 0 where it does not; None where it is not known."""
        found = self.also[measure.name][plan]
        value = None if found is None else found.mean
        if found is not None and self.cautious:
            value = found.low if measure.direction == "higher" else found.high
        if value is None:
            return None
        gap = self.floors[measure] - value if measure.direction == "higher" else value - self.floors[measure]
        return max(gap, 0.0) if gap > 1e-12 else 0.0

    def useful(self, plan: int) -> bool:
        """Whether the plan has a utility, and all that is asked of others."""
        return self.utility[plan] is not None and all(self.short(plan, m) == 0.0 for m in self.floors)

    def meets(self, plan: int) -> bool:
        """Whether a plan is within all limits, those of risk and those of utility."""
        return self.within(plan) and self.useful(plan)

    def targets(self, plan: int, risk: str) -> float | None:
        """How many people the intruder looks for in this plan's release, whose number is held against a limit."""
        found = self.risks[plan][risk]
        return None if found is None else self.every.targets(found[0])[plan]

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


def amount(risk: str, x: float) -> str:
    """A risk for a sentence: a number of people, or a percentage."""
    return f"{100 * x:.3g}%" if is_share(risk) else number(x)


def aside(risk: str, x: float, targets: float | None) -> str:
    """The same as a share of so many targets, or as a number of them, whichever the risk is not."""
    if not targets or apart(risk):  # of people who have a value or of records, not of all targets
        return ""
    return f"{x * targets:,.0f} of {targets:,.0f}" if is_share(risk) else f"{100 * x / targets:.3g}% of {targets:,.0f}"


def shown(found: Interval | None, risk: str = "", targets: float | None = None) -> str:
    """A mean, its interval where it has one, and beside a risk its share or number."""
    if found is None:
        return "not known"
    spread = found.low is not None and found.high is not None and found.low != found.high
    parts = [aside(risk, found.mean, targets)] if risk else []
    if spread and found.low is not None and found.high is not None:
        parts.append(f"95% interval {amount(risk, found.low)} to {amount(risk, found.high)}")
    more = "; ".join(p for p in parts if p)
    return f"{amount(risk, found.mean)} ({more})" if more else amount(risk, found.mean)
