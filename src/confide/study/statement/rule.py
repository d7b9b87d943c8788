"""Rule: how a plan will be chosen, stated before results are seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from confide.core.documents.statement import Statement
from confide.core.errors import InputError
from confide.measure.utility.measure import Measure
from confide.study.tradeoff.asked import checked_limits, chosen_intruders, chosen_measure


@dataclass(frozen=True)
class Rule(Statement):
    """The best utility under limits on risk: what `StudyResult.choose` does, as part of the study.

    `max_risk`: by name of a risk, its largest tolerable mean. `by`: the measure of utility (may be left out where there
    is one only). `intruder`: whose risk counts; None: the worst of all. `cautious`: the upper end of the 95 percent
    interval over repeats must be within the limit.

    >>> import confide as cf
    >>> cf.Rule(max_risk={"expected_matches": 100}, by="ci_overlap").cautious
    False
    """

    max_risk: Mapping[str, float]
    by: str | None = None
    intruder: str | None = None
    cautious: bool = False

    _section: ClassVar[str] = "choice"

    def problems(self, measures: Sequence[Measure], intruders: Sequence[str], whole: bool = True) -> list[str]:
        """What in the rule the study does not have. `whole`: whether these are all measures of the study, so that
        `by` can be looked for among them."""
        out = []
        checks: list[Callable[[], Any]] = [
            lambda: checked_limits(self.max_risk, measures),
            lambda: chosen_intruders(intruders, self.intruder),
        ]
        if whole:
            checks.append(lambda: chosen_measure(measures, self.by))
        for check in checks:
            try:
                check()
            except InputError as e:
                out.append(f"choice: {e}")
        return out
