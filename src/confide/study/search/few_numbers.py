"""What the comparison of the risky few with all is made of: releases met by every intruder, the table, the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.frames.columns import F64
from confide.measure.identification import MARGIN, summarise
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.release import Release
from confide.study.evaluate import attacks_of, measured, repeat_seed
from confide.study.search.forcing import without
from confide.study.search.trials import side_by_side
from confide.study.study import Study
from confide.study.tradeoff.question import number, shown
from confide.study.tradeoff.repeats import Interval, interval

PLANNED, FEW, ALL = "as planned", "risky few", "all"


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
    progress: bool | None

    def met(self, plan: Plan, what: str, fresh: bool = False) -> list[Met]:
        """The plan in every repeat."""
        repeats = list(range(self.study.repeats))
        return side_by_side(lambda r, cores: self._once(plan, repeat_seed(self.seed, r, fresh=fresh), cores), repeats,
                            self.study.data.height, self.threads, what, self.progress)  # fmt: skip

    def _once(self, plan: Plan, seed: int, cores: int) -> Met:
        release = plan.protect(self.study.data, seed=seed)
        own, risks = {}, []
        for name, who in self.study.intruders.items():
            (attack,) = attacks_of(who, release, cores)
            p = np.zeros(self.study.data.height)
            p[attack.truth] = attack.units["p_true"].fill_null(0.0).to_numpy()
            own[name] = p
            expected = summarise(attack.units, self.limit).expected_matches
            risks.append((float((p > self.limit * (1 + MARGIN)).sum()), np.nan if expected is None else expected))
        values, _ = measured(release, self.study.measures)
        at_risk, matches = np.max(risks, axis=0)
        numbers = {
            "at_risk": float(at_risk),
            "expected_matches": float(matches),
            "touched": _touched(plan, release, seed),
        }
        return Met(own, numbers | {k: np.nan if v is None else v for k, v in values.items()})


def _touched(plan: Plan, release: Release, seed: int) -> float:
    """Records that would be released otherwise without the steps that are raised: no other step's draws change."""
    plain, variables = without(plan)
    other = plain.protect(release.original, seed=seed)
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
    said = [f"Forcing {rows:,} records brings {people} from {before} to {after}."]
    if not settled:
        said.append("Forcing them left others at risk when rounds ended; more rounds may add records.")
    if ALL not in met:
        return " ".join([*said, "The steps have no rate to raise for everybody, so there is nothing to compare with."])
    rate, there = rates[ALL], number(mean_of(met[ALL], "at_risk"))
    if not reached:
        said.append(f"No rate for everybody reaches that: at rate {rate:g} there are still {there}.")
    else:
        said.append(f"For everybody that takes rate {rate:g} ({there} at risk).")
    touched = [number(mean_of(met[w], "touched")) for w in (FEW, ALL)]
    said.append(f"The steps altered {touched[0]} records for the few and {touched[1]} for all.")
    for name, found in gain.items():
        side = "better" if found.mean >= 0 else "worse"
        size = Interval(abs(found.mean), *_flipped(found), found.sd, found.repeats)
        said.append(f"By {name} the few is {side} by {shown(size)}.")
    return " ".join(said)


def _flipped(found: Interval) -> tuple[float | None, float | None]:
    if found.low is None or found.high is None or found.mean >= 0:
        return found.low, found.high
    return -found.high, -found.low
