"""What else a record shows, as a step in play: which of the values behind a coarser one is likely to be its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from confide.attack.beliefs.behind_labels import log_behind
from confide.attack.engine.behind import PART, Given, Placing, Values, coarser
from confide.attack.engine.fit import Fit, helper_codes
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.frames.columns import F64, I64, Records
from confide.protect.likelihoods.table import Table


def with_values_behind(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> Fit:
    """The same with that step, where targets say without which part of the people something is believed of them."""
    names = coarser(case, fitted.knows)
    if PART not in targets or not names or not knowledge.helpers:
        return fitted
    values = Values.of(case, knowledge.certain, names)
    if values is None:
        return fitted
    asked = np.unique(targets[PART].values)
    counted, placing = values.counted(Given.of_records(case, knowledge))
    log_p = log_behind(counted, tuple(asked.tolist()))
    if not len(log_p):
        return fitted
    at_large = None
    if case.intruder.membership != "certain":
        mine, place = values.counted(Given.of_targets(case, knowledge.certain, targets))
        found = log_behind(mine, tuple(asked.tolist()))
        if not len(found):
            with np.errstate(divide="ignore"):
                found = np.log(mine.share())[mine.label].T[None].repeat(len(asked), axis=0)
        at_large = place, found
    step = ValuesBehind(values.without_rows(), asked, placing, log_p, at_large)
    return replace(fitted, numeric=(*fitted.numeric, False), more=(*fitted.more, step))


@dataclass(frozen=True, eq=False)
class ValuesBehind:
    """`log_p`: (parts asked for, values, patterns) log Pr(value given all that a record shows). `at_large`: the same
    given a target's certain labels, where that matters."""

    values: Values
    asked: I64
    placing: Placing
    log_p: F64
    at_large: tuple[Placing, F64] | None

    def joined(self, case: Case, knowledge: Knowledge, fit: Fit, targets: Records) -> Knowledge:  # noqa: ARG002
        """See `More`."""
        shown = [*(c.released for c in knowledge.certain), *helper_codes(case, knowledge.helpers)]
        column = self.placing.of(shown, case.released.n)
        log_p = np.pad(self.log_p.reshape(-1, self.log_p.shape[2]), ((0, 1), (1, 0)))
        name = f"{' + '.join(self.values.names)} by what else is shown"
        table = Table(column, log_p, self._rows)
        more = Uncertain((name,), (True,), table, None, lambda records: records, direct=True, once=True, behind=True)
        return replace(knowledge, uncertain=(*knowledge.uncertain, more))

    def _part(self, targets: Records) -> I64:
        return np.searchsorted(self.asked, targets[PART].values)

    def _rows(self, targets: Records) -> I64:
        """The row of the table of each target: its part and what is known of it; the last where that says nothing."""
        k, local = self.values.k, self.values.rows(targets)
        return np.where(local < k, self._part(targets) * k + local, len(self.asked) * k)

    def log_absent(self, knowledge: Knowledge, targets: Records) -> F64 | float:
        """log Pr(what is known given all certain labels) of each target; 0 where nothing is to be told apart."""
        if self.at_large is None:
            return 0.0
        placing, log_p = self.at_large
        local, column = self.values.rows(targets), placing.of([c.of(targets) for c in knowledge.certain], targets.n)
        there = (local < self.values.k) & (column > 0)
        found = np.zeros(targets.n)
        found[there] = log_p[self._part(targets)[there], local[there], column[there] - 1]
        return np.where(np.isfinite(found), found, 0.0)
