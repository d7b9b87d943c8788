r"""A plan seen by a part of the targets: its risk with the error of sampling, and its utility on the whole file.

Targets are drawn once for all plans, with a probability that rises with the risk that each has under the first plan, so
that those who matter are there. With :math:`d_i` what target i adds to the risk, and :math:`\pi_i` the probability with
which it is drawn, the risk is estimated by

.. math:: \sum_{i \in s} d_i / \pi_i, \qquad \text{with variance} \sum_{i \in s} (d_i / \pi_i)^2,

the variance being that of drawing targets and records: it is an upper estimate where only targets are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.attack.engine.run import run_attack
from confide.attack.intruder import Intruder
from confide.attack.results.stronger import levels_of
from confide.attack.results.units import found_matches, right_matches
from confide.core.errors import InputError
from confide.core.random.seeds import stream
from confide.frames.columns import F64, I64
from confide.measure.risk.identification import MARGIN
from confide.measure.utility.measure import Measure
from confide.protect.plan import Plan
from confide.protect.release import Release
from confide.study.evaluate import measured
from confide.study.file_numbers import file_numbers
from confide.study.statement.study import Study
from confide.study.tradeoff.risk_names import about_file, counted, is_share

EVENLY = 0.5
"""Share of the targets that is drawn whatever their risk."""


def per_target(units: pl.DataFrame, risk: str, threshold: float, behind: bool) -> F64:
    """What each target adds to a risk that counts people; sums are those of `summarise`."""
    by = {
        "found": lambda: found_matches(units, behind),
        "expected_matches": lambda: right_matches(units),
        "over_threshold": lambda: units["p_max"] > threshold * (1 + MARGIN),
        "claimed_matches": lambda: units["p_max"],
        "unique_declared": lambda: units["n_max"] == 1,
        "unique_matches": lambda: (units["n_max"] == 1) & units["hit"],
    }
    return np.asarray(by[risk]().cast(pl.Float64).fill_null(0.0).to_numpy(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The targets that are looked at: rows of the original, each with the probability with which it was drawn."""

    rows: I64
    chance: F64

    @classmethod
    def of(cls, risk: F64, many: int, seed: int) -> Drawn:
        """About so many targets, half of them by their risk; all where there are no more."""
        n = len(risk)
        if many >= n:
            return cls(np.arange(n), np.ones(n))
        total = risk.sum()
        share = EVENLY / n + (1 - EVENLY) * (risk / total if total > 0 else np.full(n, 1 / n))
        chance = np.minimum(1.0, many * share)
        taken = np.flatnonzero(stream(seed, "targets").random(n) < chance)
        return cls(taken, chance[taken])


@dataclass(frozen=True, eq=False)
class Glimpse:
    """What came of one plan. `each`: what each drawn target adds to the risk, by the worst intruder at its strongest
    level, divided by its chance of being drawn; of a risk of the file, the one number. `utility`: by the measure that
    is chosen by; nan where it has none. `sure`: every level that could find more was tried, not only that stated."""

    each: F64
    utility: float
    sure: bool = True

    @property
    def risk(self) -> float:
        """The estimate."""
        return float(self.each.sum())

    def lowered_from(self, before: Glimpse, exact: bool) -> tuple[float, float]:
        """How far the risk is below that of another plan, and the standard error; none where all is known exactly."""
        gap = before.each - self.each
        return float(gap.sum()), 0.0 if exact else float(np.sqrt((gap**2).sum()))


@dataclass(frozen=True, eq=False)
class Looking:
    """What is looked for: a study's file, intruders and risk, and the measure of utility that is chosen by."""

    study: Study
    risk: str
    measure: Measure

    def at(self, plan: Plan, drawn: Drawn, seed: int, cores: int, every: bool = True) -> Glimpse:
        """One plan once, met by the targets that were drawn, at every level or as intruders are stated."""
        release = plan.protect(self.study.source, seed=seed, draws="shared")
        values, _ = measured(release, [self.measure], self.study.items)
        value = values[self.measure.name]
        utility = np.nan if value is None else value
        if about_file(self.risk):
            found = file_numbers(release, self.study.on_file)[0][self.risk]
            return Glimpse(np.array([np.nan if found is None else found]), utility)
        each, _ = self.met(release, drawn.rows, cores, drawn.chance, every)
        sure = every or all(len(levels_of(who, release)) == 1 for who in self.study.intruders.values())
        by = [d / drawn.chance / self._targets(self.study.intruders[who], release) for who, d in each.items()]
        return Glimpse(max(by, key=lambda d: float(d.sum())), utility, sure)

    def _targets(self, who: Intruder, release: Release) -> float:
        """What a number of people is divided by: 1, or of a share the number of targets."""
        if not is_share(self.risk):
            return 1.0
        return float(self.study.data.height if who.membership == "in_file" else max(release.frame.height, 1))

    def met(
        self, release: Release, rows: I64, cores: int, chance: F64 | None = None, every: bool = True
    ) -> tuple[dict[str, F64], F64]:
        """By intruder, what each of some targets adds to the risk at the level that finds most, of every level or of
        that stated; and the largest probability that any intruder gives to each one's own record. `chance`: with which
        each was drawn, so that the level is the one that finds most of all people, not of those at risk, who are drawn
        more often."""
        weight = np.ones(len(rows)) if chance is None else 1 / chance
        each, own = dict[str, F64](), np.zeros(len(rows))
        for name, who in self.study.intruders.items():
            best = mine = np.zeros(len(rows))
            most = -1.0
            for found, added, p in self._levels(who, release, rows, weight, cores, every):
                if found > most:
                    best, most, mine = added, found, p
            each[name] = best
            own = np.maximum(own, mine)
        return each, own

    def _levels(
        self, who: Intruder, release: Release, rows: I64, weight: F64, cores: int, every: bool
    ) -> Iterator[tuple[float, F64, F64]]:
        """At each level: how many are found by these weights, what each target adds to the risk, the probability of its
        own record."""
        link = np.asarray(release.link)
        there = np.ones(len(rows), dtype=bool) if who.membership == "in_file" else np.isin(rows, link)
        behind = who.membership != "in_file" or len(link) == self.study.data.height
        some = rows[there]
        if not len(some):
            yield 0.0, np.zeros(len(rows)), np.zeros(len(rows))
            return
        targets = self.study.data[some]
        levels = levels_of(who, release) if every else {"": who}
        for k, one in enumerate(levels.values()):
            try:
                attack = run_attack(one, release, targets, some, threads=cores, progress=False, behind=behind)
            except InputError:
                if not k:
                    raise
                continue
            added, p = np.zeros(len(rows)), np.zeros(len(rows))
            added[there] = per_target(attack.units, counted(self.risk), self.study.threshold, behind)
            p[there] = attack.units["p_true"].fill_null(0.0).to_numpy()
            found = found_matches(attack.units, behind).fill_null(0.0).to_numpy()
            yield float(found @ weight[there]), added, p


def everybody(looking: Looking, plan: Plan, seed: int, cores: int) -> tuple[F64, F64]:
    """What every person adds to the risk of a plan, for the worst of intruders by person; and the largest probability
    of the own record."""
    release = plan.protect(looking.study.source, seed=seed, draws="shared")
    rows = np.arange(looking.study.data.height)
    each, own = looking.met(release, rows, cores)
    return np.max(list(each.values()), axis=0), own


def merit(lowered: float, lost: float) -> tuple[float, float]:
    """Sorts the best first: what lowers risk at no loss of utility, by how far; then by risk lowered per utility lost.

    >>> sorted([(10.0, 0.5), (3.0, 0.0), (8.0, 0.1), (5.0, -0.2)], key=lambda one: merit(*one))
    [(5.0, -0.2), (3.0, 0.0), (8.0, 0.1), (10.0, 0.5)]
    """
    return (-np.inf, -lowered) if lost <= 0 else (-lowered / lost, -lowered)
