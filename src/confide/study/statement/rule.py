"""Rule: how a plan will be chosen, stated before results are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from confide.core.documents.statement import Statement
from confide.core.errors import InputError
from confide.measure.utility.measure import Measure
from confide.study.tradeoff.asked import checked_floors, checked_limits, chosen_intruders, chosen_measure


@dataclass(frozen=True)
class Rule(Statement):
    """The best utility under limits on risk: what `StudyResult.choose` does, as part of the study.

    `max_risk`: by name of a risk, its largest tolerable mean: a number of people, or a share of the targets, as
    {"found": "2%"}. `by`: the measure of utility (may be left out where there is one only). `intruder`: whose risk
    counts; None: the worst of all. `cautious`: the worse ends of 95 percent intervals over repeats must be within the
    limits. `min_utility`: by measure, the least that is asked for (the largest loss, where lower is better).

    >>> import confide as cf
    >>> cf.Rule(max_risk={"found": "2%"}, by="entropy", min_utility={"ci_overlap": 0.8}).cautious
    False
    """

    max_risk: Mapping[str, float | str]
    by: str | None = None
    intruder: str | None = None
    cautious: bool = False
    min_utility: Mapping[str, float] = field(default_factory=dict)

    _section: ClassVar[str] = "choice"

    def problems(
        self, measures: Sequence[Measure], intruders: Sequence[str], whole: bool = True, learnt: Sequence[str] = ()
    ) -> list[str]:
        """What in the rule the study does not have. `whole`: whether these are all measures of the study, so that
        `by` can be looked for among them. `learnt`: names of risks of what must not be learnt."""
        out = []
        checks: list[Callable[[], Any]] = [
            lambda: checked_limits(self.max_risk, measures, learnt=learnt),
            lambda: chosen_intruders(intruders, self.intruder),
        ]
        if whole:
            checks.append(lambda: chosen_measure(measures, self.by))
            checks.append(lambda: checked_floors(self.min_utility, measures))
        for check in checks:
            try:
                check()
            except InputError as e:
                out.append(f"choice: {e}")
        return out
