"""Steps in play that are made of beliefs, after those that evidence gives."""

from __future__ import annotations

from confide.attack.engine.behind_step import with_values_behind
from confide.attack.engine.fit import Fit
from confide.attack.engine.fit_homes import with_homes
from confide.attack.engine.link import with_link
from confide.attack.engine.mistaken_noise import with_mistaken_noise
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge
from confide.frames.columns import Records


def with_more(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> tuple[Knowledge, Fit]:
    """The same with steps that hang on mistakes, and on what goes with the values that records show; and with what rows
    of one unit have in common."""
    for fitted_more in (with_mistaken_noise, with_link, with_values_behind):
        before = len(fitted.more)
        fitted = fitted_more(case, knowledge, fitted, targets)
        for step in fitted.more[before:]:
            knowledge = step.joined(case, knowledge, fitted, targets)
    return knowledge, with_homes(case, knowledge, fitted)
