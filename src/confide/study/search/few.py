"""Protect the risky few: raise protection only for records that intruders find, and compare with raising it for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder
from confide.core.checks import fraction
from confide.core.errors import InputError
from confide.core.random.seeds import checked_seed
from confide.core.result import Result
from confide.core.run.progress import Progress
from confide.measure.risk.identification import MARGIN
from confide.protect.plan import Plan
from confide.study.search.few_numbers import ALL, FEW, PLANNED, Met, Work, gain_of, reason_of, table_of
from confide.study.search.forcing import forcible, rate_of, with_forced, with_rate
from confide.study.search.trials import tried
from confide.study.statement.study import Study
from confide.study.tradeoff.repeats import Interval

STEP = 0.01
"""Between rates that are tried for everybody."""


@dataclass(frozen=True, eq=False, repr=False)
class Few(Result):
    """The plan with protection raised for the risky few, beside the plan as it was and with protection raised for all.

    `plan`: it forces the risky records, whose positions are private. `rows`: how many are forced. `table`: one row each
    for "as planned", "risky few" and "all": the rate, `at_risk` (people whose own record has a probability above the
    limit), `expected_matches`, `touched` (records whose values the raised steps altered), then every measure of
    utility; means over repeats with 95% intervals (`_low`, `_high`), risks of the worst intruder. `gain`: by measure,
    how much better the few's utility is than that of all, repeat by repeat. `reached`: whether some rate for everybody
    brings the risk down as far, on the seeds by which the rate is chosen. `reason`: in sentences.
    """

    plan: Plan = field(repr=False)
    rows: int
    table: pl.DataFrame
    gain: Mapping[str, Interval]
    reached: bool
    reason: str

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `table`."""
        return self.table

    def __repr__(self) -> str:
        return f"Few: {self.rows} records. {self.reason}"

    def __str__(self) -> str:
        return self.reason


def protect_few(
    data: Any, plan: Plan, *, intruders: Mapping[str, Intruder], utility: Any, limit: float = 0.2,
    seed: int | None = None, repeats: int = 3, rounds: int = 5, progress: Progress = None,
    threads: int | None = None,
) -> Few:  # fmt: skip
    """Find the records that an intruder finds, and raise protection only for them.

    The plan is carried out `repeats` times and attacked. Records whose own record has a probability above `limit`, on
    average over repeats and for any intruder, are the risky few. Every step that can be told whom to choose (a field
    `force`) is told to choose them. That changes the risk of others, so it is done again until no record is added, at
    most `rounds` times; a record that was forced once stays forced.

    Protecting all is the same steps with a higher `rate` for everybody: the smallest, to one percent, with no more
    people at risk than with the few, over twice as many repeats with seeds that nothing else is done by. Then all are
    compared on fresh seeds, which no choice was made by; there the two need not have equally many people at risk.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Swap("race", rate=0.02)], identifiers=["id"])
    >>> who = {"neighbour": cf.Intruder(knows=["sex", "race", "age"])}
    >>> few = cf.protect_few(cf.demo("heads").head(400), plan, intruders=who, utility=["hellinger"], seed=1)
    >>> few.table["what"].to_list()
    ['as planned', 'risky few', 'all']
    """
    if not isinstance(plan, Plan):
        raise InputError(f"protect_few takes the data, then a Plan; it was given {type(plan).__name__}.")
    if not 0 < fraction(limit, "limit") < 1:
        raise InputError("limit is a probability above 0 and below 1, such as 0.2.")
    if isinstance(rounds, bool) or not isinstance(rounds, int) or not 1 <= rounds <= 100:
        raise InputError("rounds is how often records may be added, a whole number from 1 to 100.")
    forcible(plan)
    study = Study(data, {PLANNED: plan}, intruders, utility, repeats, seed, limit)
    work = Work(study, checked_seed(seed), limit, threads, progress)
    tried(study, [study.everything], work.seed, threads, "the file", False)  # refuses what no plan could mend
    rows, settled = _risky(work, plan, rounds)
    return _compared(work, plan, with_forced(plan, rows), len(rows), settled)


def _risky(work: Work, plan: Plan, rounds: int) -> tuple[set[int], bool]:
    """Positions of the records to force, and whether the last look added none."""
    rows: set[int] = set()
    for k in range(rounds + 1):
        met = work.met(with_forced(plan, rows), f"risky few, round {k + 1}")
        means = [np.mean([m.own[name] for m in met], axis=0) for name in work.study.intruders]
        over = np.flatnonzero(np.max(means, axis=0) > work.limit * (1 + MARGIN)).tolist()
        if set(over) <= rows:
            return rows, True
        if k == rounds:
            break
        rows |= set(over)
    return rows, False


def _compared(work: Work, plan: Plan, few: Plan, rows: int, settled: bool) -> Few:
    rate, reached = rate_of(plan), True
    rates: dict[str, float | None] = {PLANNED: rate, FEW: rate}
    plans = {PLANNED: plan, FEW: few}
    if rate is not None:
        rates[ALL], reached = _for_all(work, plan, few, rate) if rows else (rate, True)
        plans[ALL] = plan if rates[ALL] == rate else with_rate(plan, rates[ALL] or rate)
    met: dict[str, list[Met]] = {}
    for what, each in plans.items():
        met[what] = met[PLANNED] if what != PLANNED and each is plan else work.met(each, what, fresh=True)
    table = table_of(met, rates, work.study.measures)
    gain = {m.name: gain_of(m, met) for m in work.study.measures} if ALL in met else {}
    reason = reason_of(work, met, rates, rows, settled, reached, gain)
    return Few(few, rows, table, gain, reached, reason)


def _for_all(work: Work, plan: Plan, few: Plan, rate: float) -> tuple[float, bool]:
    """The smallest rate for everybody that has no more people at risk than the few; the largest where none does."""
    goal = work.at_risk(few, f"{FEW}, once more")
    grid = [rate, *(g for g in np.round(np.arange(1, round(1 / STEP) + 1) * STEP, 10).tolist() if g > rate)]

    def fits(k: int) -> bool:
        return work.at_risk(with_rate(plan, grid[k]), f"{ALL}, rate {grid[k]:g}") <= goal

    low, high = 0, len(grid) - 1
    if work.at_risk(plan, f"{PLANNED}, once more") <= goal:
        return rate, True
    if not high or not fits(high):
        return grid[high], False
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return grid[high], True
