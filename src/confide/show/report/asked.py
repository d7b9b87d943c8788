"""What a rule asked for, as a page can say it: limits on risk, floors of utility, and what is best beyond them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from confide.show.names import capital, said
from confide.study.statement.rule import Rule
from confide.study.tradeoff.choice import Choice
from confide.study.tradeoff.question import number
from confide.study.tradeoff.risk_names import about_file, apart, counted, is_share, shared


@dataclass(frozen=True)
class Asked:
    """Limits by name of a risk, floors by name of a measure, and the measure that decides among plans within them.
    `beforehand`: it is the rule of the study."""

    limits: Mapping[str, float] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    by: str | None = None
    intruder: str | None = None
    cautious: bool = False
    beforehand: bool = False

    @classmethod
    def of(cls, choice: Any, rule: Rule | None) -> Asked:
        """What a choice went by; where there is none, what the study stated."""
        told = rule is not None
        whose = getattr(rule, "intruder", None), bool(getattr(rule, "cautious", False))
        if isinstance(choice, Choice):
            limits = _understood(choice.limits)
            told = told and list(limits) == list(_understood(rule.max_risk if rule else {}))
            return cls(limits, dict(getattr(choice, "floors", {}) or {}), choice.by, *whose, told)
        if rule is None or choice is not None:
            return cls()
        return cls(_understood(rule.max_risk), _floors(rule), rule.by, *whose, told)

    @property
    def hidden(self) -> bool:
        """Whether the numbers of the limits are kept inside."""
        return any(math.isnan(v) for v in self.limits.values())

    def outside(self) -> Asked:
        """What people outside may know of it: which risks were limited, and by what the choice was made."""
        return Asked(dict.fromkeys(self.limits, math.nan), by=self.by, beforehand=self.beforehand)

    def limit(self, risk: str, people: float | None) -> float | None:
        """The limit of a risk as a number of people."""
        if self.hidden:
            return None
        if risk in self.limits:
            return self.limits[risk]
        share = self.limits.get(f"{risk}_share")
        return None if share is None or not people else share * people

    def short(self, risk: str, people: float | None) -> str:
        """The limit of a risk in numbers, as it was stated; nothing where there is none."""
        name = risk if risk in self.limits else f"{risk}_share"
        return "" if name not in self.limits or self.hidden else _numbers(name, self.limits[name], people)

    def sentences(self, people: float | None) -> list[str]:
        """The rule as it was stated, in words."""
        if not self.limits:
            return ["No rule was stated."]
        limits = " and ".join(limit_words(r, v, people) for r, v in self.limits.items())
        out = [f"{limits[:1].upper()}{limits[1:]}{self._whose()}."]
        if self.hidden:
            limited = " and ".join(dict.fromkeys(said(counted(r)) for r in self.limits))
            out = [f"Limits were set on {limited}; their numbers are not stated here."]
        if self.floors:
            out.append(" ".join(f"{capital(said(m))} no worse than {number(v)}." for m, v in self.floors.items()))
        best = f"the best {said(self.by)}" if self.by else "the best utility"
        out.append(f"Of the plans that keep this, the one with {best}.")
        out.append("Stated before the results were seen." if self.beforehand else "Stated with the choice.")
        return out

    def _whose(self) -> str:
        if not self.beforehand or all(map(about_file, self.limits)):
            return ""
        who = f"the intruder {self.intruder}" if self.intruder else "the worst intruder"
        return f", for {who}" + (", by the upper end of the 95% interval" if self.cautious else "")


def limit_words(risk: str, limit: float, people: float | None) -> str:
    """A limit in words, as a count with its share or the other way round.

    >>> limit_words("found", 1000, 51_016), limit_words("found_share", 0.02, 51_016)
    ('people found at most 1,000 (2%)', 'people found at most 2% (1,020)')
    """
    words = said(counted(risk))
    return words if math.isnan(limit) else f"{words} at most {_numbers(risk, limit, people)}"


def _numbers(risk: str, limit: float, people: float | None) -> str:
    if apart(risk):  # of people who have a value or of records, not of all targets
        return _percent(limit) if is_share(risk) else number(limit)
    if is_share(risk):
        return _percent(limit) + (f" ({limit * people:,.0f})" if people else "")
    return number(limit) + (f" ({_percent(limit / people)})" if people and limit >= 1 else "")


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g}%"


def _understood(limits: Mapping[str, Any]) -> dict[str, float]:
    """Limits as numbers; "2%" of a count is a share."""
    out = {}
    for risk, value in limits.items():
        if isinstance(value, str):
            out[shared(risk)] = float(value.strip().removesuffix("%")) / 100
        else:
            out[risk] = float(value)
    return out


def _floors(rule: Rule) -> dict[str, float]:
    return {m: float(v) for m, v in dict(getattr(rule, "min_utility", None) or {}).items()}
