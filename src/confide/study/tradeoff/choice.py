"""The choice: of the plans within the limits on risk, the one with the best utility; and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from confide.core.errors import InputError
from confide.core.result import Result
from confide.measure.utility.measure import Measure
from confide.study.released import missing_words
from confide.study.tradeoff.asked import checked_floors, checked_limits, chosen_measure
from confide.study.tradeoff.question import Question
from confide.study.tradeoff.reason import asked_words, nobody, reason_of, why_not
from confide.study.tradeoff.repeats import Repeats
from confide.study.tradeoff.risk_names import own_risks


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Result):
    """The plan that was chosen.

    `plan`: its name. `risks`: its mean risks, of those that were limited, by the worst intruder. `limits`: what was
    asked for. `by`: the measure of utility; `value` and `interval`: its mean and 95% interval (None where a random plan
    has one repeat). `reason`: why, in sentences. `table`: every plan, its risks, whether it meets the limits, its
    utility, and why it was not chosen. `floors`: by measure, what was asked of it. `asked`: the question as it was
    understood.
    """

    plan: str
    risks: Mapping[str, float]
    limits: Mapping[str, float]
    by: str
    value: float
    interval: tuple[float, float] | None
    reason: str
    table: pl.DataFrame
    floors: Mapping[str, float] = field(default_factory=dict)
    asked: str = ""

    @property
    def frame(self) -> pl.DataFrame:
        """The same as `table`."""
        return self.table

    def summary(self) -> pl.DataFrame:
        """The row of the plan that was chosen."""
        return self.table.filter(plan=self.plan).drop("why_not")

    def __repr__(self) -> str:
        return f'Choice: "{self.plan}". {self.reason}'

    def __str__(self) -> str:
        return self.reason


def choose(
    frame: pl.DataFrame, measures: Sequence[Measure], max_risk: Mapping[str, float | str],
    by: str | Measure | None = None, intruder: str | None = None, cautious: bool = False,
    random: Mapping[str, bool] | None = None, min_utility: Mapping[str, float] | None = None,
    released: pl.DataFrame | None = None,
) -> Choice:  # fmt: skip
    """Of the plans whose mean risks are within `max_risk`, the one with the best mean utility.

    `max_risk`: limits as {"found": 100} or {"found": "2%"}; they hold for the worst intruder unless one is named. `by`:
    the measure of utility. `cautious`: the worse ends of 95% intervals must be within the limits, not only the means.
    `random` says which plans have random steps. `min_utility`: what is asked of measures, as {"ci_overlap": 0.8}.
    `released`: how many variables and records each plan releases, which is said where some are missing. Of
    plans with the same utility the one with less of the first risk is taken, then the one stated first.

    >>> import confide as cf
    >>> frame = pl.DataFrame({"plan": ["a", "b", "c"], "intruder": "i", "repeat": 0, "expected_matches": [1.0, 5, 6],
    ...                       "hellinger": [0.4, 0.1, 0.2]})
    >>> choose(frame, [cf.Hellinger()], {"expected_matches": 5}).plan
    'b'
    """
    if not isinstance(cautious, bool):
        raise InputError("cautious is true (the worse ends of intervals are held against the limits) or false.")
    learnt = own_risks(frame.columns)
    limits, measure = checked_limits(max_risk, measures, learnt=learnt), chosen_measure(measures, by)
    least = checked_floors(min_utility or {}, measures)
    floors = {m: least[m.name] for m in measures if m.name in least}
    asked = Question.of(Repeats.of(frame, random), limits, measure, intruder, cautious, floors)
    order = asked.order()
    if not order:
        raise InputError(nobody(asked))
    best, utility = order[0], asked.utility[order[0]]
    assert utility is not None  # a plan without a utility meets nothing
    ends = None if utility.low is None or utility.high is None else (utility.low, utility.high)
    means = {risk: pair[1].mean for risk, pair in asked.risks[best].items() if pair is not None}
    table, name = _table(asked, best), asked.every.plans[best]
    reason = reason_of(asked, order, "" if released is None else missing_words(released, name))
    return Choice(name, means, limits, measure.name, utility.mean, ends, reason, table, least, asked_words(asked))


def _table(asked: Question, best: int) -> pl.DataFrame:
    rows = []
    for k, plan in enumerate(asked.every.plans):
        means = [None if (f := asked.risks[k][risk]) is None else f[1].mean for risk in asked.limits]
        utility = asked.utility[k]
        why = None if k == best else why_not(asked, k)
        rows.append((plan, *means, asked.meets(k), None if utility is None else utility.mean, why))
    schema = {"plan": pl.String, **dict.fromkeys(asked.limits, pl.Float64), "meets": pl.Boolean,
              asked.measure.name: pl.Float64, "why_not": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
