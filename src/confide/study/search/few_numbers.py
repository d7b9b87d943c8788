"""What the comparison of the risky few with all is made of: releases met by every intruder, the table, the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.core.run.progress import Progress
from confide.frames.columns import F64
from confide.measure.risk.identification import MARGIN, summarise
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.release import Release
from confide.study.evaluate import measured, repeat_seed
from confide.study.meeting import attacks_of
from confide.study.search.forcing import without
from confide.study.search.trials import side_by_side
from confide.study.statement.study import Study
from confide.study.tradeoff.question import number, shown
from confide.study.tradeoff.repeats import Interval, interval

PLANNED, FEW, ALL = "as planned", "risky few", "all"
MORE = 2
"""Times as many repeats choose the rate for everybody: a rate that was lucky in a few would look cheap."""


@dataclass(frozen=True, eq=False)
class Met:
    """One release. `own`: by intruder, each original row's probability of its own record (0 where not released).
    `numbers`: by name, the worst intruder's risks, records touched, and utilities (nan where there is none)."""

    own: Mapping[str, F64]
    numbers: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Work:
    study: Study
    seed: int
    limit: float
    threads: int | None
    progress: Progress

    def met(self, plan: Plan, what: str, fresh: bool = False) -> list[Met]:
        """The plan in every repeat."""
        repeats = list(range(self.study.repeats))
        return side_by_side(lambda r, cores: self._once(plan, repeat_seed(self.seed, r, fresh=fresh), cores), repeats,
                            self.study.data.height, self.threads, what, self.progress)  # fmt: skip

    def at_risk(self, plan: Plan, what: str) -> float:
        """People at risk, by the worst intruder, over seeds that neither the few nor the comparison are met by."""
        first = self.study.repeats
        found = side_by_side(lambda r, cores: self._attacked(self._made(plan, repeat_seed(self.seed, r)), cores)[1],
                             range(first, first + MORE * first), self.study.data.height, self.threads, what,
                             self.progress)  # fmt: skip
        return float(np.mean([max(many for many, _ in risks) for risks in found]))

    def _made(self, plan: Plan, seed: int) -> Release:
        return plan.protect(self.study.source, seed=seed, draws="shared")

    def _once(self, plan: Plan, seed: int, cores: int) -> Met:
        release = self._made(plan, seed)
        own, risks = self._attacked(release, cores)
        values, _ = measured(release, self.study.measures, self.study.items)
        at_risk, matches = np.max(risks, axis=0)
        numbers = {
            "at_risk": float(at_risk),
            "expected_matches": float(matches),
            "touched": _touched(plan, release, seed),
        }
        return Met(own, numbers | {k: np.nan if v is None else v for k, v in values.items()})

    def _attacked(self, release: Release, cores: int) -> tuple[dict[str, F64], list[tuple[float, float]]]:
        """By intruder, everybody's probability of their own record; people at risk and expected matches."""
        own, risks = {}, []
        for name, who in self.study.intruders.items():
            (attack,) = attacks_of(who, release, cores)
            p = np.zeros(self.study.data.height)
            p[attack.truth] = attack.units["p_true"].fill_null(0.0).to_numpy()
            own[name] = p
            expected = summarise(attack.units, self.limit).expected_matches
            risks.append((float((p > self.limit * (1 + MARGIN)).sum()), np.nan if expected is None else expected))
        return own, risks


def _touched(plan: Plan, release: Release, seed: int) -> float:
    """Records that would be released otherwise without the steps that are raised: no other step's draws change."""
    plain, variables = without(plan)
    other = plain.protect(release.before, seed=seed, draws="shared")
    a, b = (r.frame.select(variables)[np.argsort(np.asarray(r.link))] for r in (release, other))
    differ = [a[v].cast(pl.String).ne_missing(b[v].cast(pl.String)).to_numpy() for v in variables]
    return float(np.any(differ, axis=0).sum())


def mean_of(met: Sequence[Met], name: str) -> float:
    return float(np.mean([m.numbers[name] for m in met]))


def table_of(
    met: Mapping[str, Sequence[Met]], rates: Mapping[str, float | None], measures: Sequence[Measure]
) -> pl.DataFrame:
    rows = []
    for what, each in met.items():
        row: dict[str, Any] = {"what": what, "rate": rates[what]}
        for name in ("at_risk", "expected_matches", "touched", *(m.name for m in measures)):
            found = interval([m.numbers[name] for m in each])
            ends = (None, None, None) if found is None else (found.mean, found.low, found.high)
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        rows.append(row)
    numbers = [c for c in rows[0] if c != "what"]
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(numbers, pl.Float64))


def gain_of(measure: Measure, met: Mapping[str, Sequence[Met]]) -> Interval:
    """How much better the few's utility is, repeat by repeat; above 0 is better, whatever the measure's direction."""
    sign = 1.0 if measure.direction == "higher" else -1.0
    few, every = ([m.numbers[measure.name] for m in met[what]] for what in (FEW, ALL))
    found = interval([sign * (a - b) if a != b else 0.0 for a, b in zip(few, every, strict=True)])
    return found or Interval(float("nan"), None, None, None, 0)


def reason_of(
    work: Work, met: Mapping[str, Sequence[Met]], rates: Mapping[str, float | None], rows: int, settled: bool,
    reached: bool, gain: Mapping[str, Interval],
) -> str:  # fmt: skip
    people = f"people whose own record has a probability above {work.limit:g}"
    before, after = (number(mean_of(met[w], "at_risk")) for w in (PLANNED, FEW))
    if not rows:
        return f"As planned there are {before} {people} with fresh seeds, and on average over repeats none to protect."
    said = [f"With fresh seeds, forcing {rows:,} records brings {people} from {before} to {after}."]
    if rows > work.study.data.height / 2:
        said.append(f"They are more than half of the {work.study.data.height:,} records: that is not a few.")
    if not settled:
        said.append("Forcing them left others at risk when rounds ended; more rounds may add records.")
    if ALL not in met:
        return " ".join([*said, "The steps have no rate to raise for everybody, so there is nothing to compare with."])
    rate, there = rates[ALL], number(mean_of(met[ALL], "at_risk"))
    none = "No rate for everybody did as well when rates were tried; "
    how = f"rate {rate:g} leaves" if not reached else f"Rate {rate:g} for everybody, chosen to do as well, leaves"
    said.append(f"{'' if reached else none}{how} {there}.")
    touched = [number(mean_of(met[w], "touched")) for w in (FEW, ALL)]
    said.append(f"The steps altered {touched[0]} records for the few and {touched[1]} for all.")
    return " ".join([*said, *(gain_words(name, found) for name, found in gain.items())])


def gain_words(name: str, found: Interval) -> str:
    if np.isnan(found.mean):
        return f"By {name} they cannot be compared: it cannot be computed."
    if found.low == found.high == 0:
        return f"By {name} they are equal."
    side = "better" if found.mean >= 0 else "worse"
    size = Interval(abs(found.mean), *_flipped(found), found.sd, found.repeats)
    said = f"By {name} the few is {side} by {shown(size)}"
    if found.low is None or found.high is None:
        return f"{said}; with one repeat the spread is not known."
    return f"{said}, which is within the spread over repeats." if found.low <= 0 <= found.high else f"{said}."


def _flipped(found: Interval) -> tuple[float | None, float | None]:
    if found.low is None or found.high is None or found.mean >= 0:
        return found.low, found.high
    return -found.high, -found.low
