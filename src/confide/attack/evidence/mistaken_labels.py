"""What stays certain of values that the intruder may have wrong.

Nobody mistakes a missing value, an answer code or a zero that is kept for another value: such labels are certain. The
label of any other value is taken from the file, not from the mistaken value.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from confide.attack.evidence.case import Case
from confide.core.errors import InputError
from confide.frames.columns import I64, Bools, Records
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.evidence import Evidence, Labels
from confide.protect.seam.fitted import View
from confide.protect.shared.standing_apart import Apart

Label = Callable[[Records], I64]


def standing_apart(case: Case, v: str) -> list[Labels]:
    """Of a variable that is released as it is: missing or not, and answer codes; nothing where there are none."""
    original, released = case.originals(v).records[v], case.released[v]
    if original.kind == "categorical":
        if not original.missing.any():
            return []
        return [Labels(lambda records: records[v].missing.astype(np.int64), released.missing.astype(np.int64), 2)]
    apart = Apart.of(original, zeros=False)
    if not apart.values:
        return []
    seen = apart.of_released(released, case.compiled.way(v).after, original)
    return [Labels(lambda records: apart.of_values(records[v].values), seen, len(apart.values) + 1)]


def label_of_mistaken(case: Case, v: str, of: Label, like: Normal, view: View) -> Label:
    """The label of a noisy number that may be off: one that the file does not have is that of altered values."""
    file = case.originals(v).records
    met, own, altered = view.met(file)[v], of(file), _altered(case, v, like, view)
    kept = np.unique(own[~altered])
    if any(len(np.unique(met.values[(own == code) & ~met.missing])) > 1 for code in kept):
        raise InputError(
            f'errors: noise leaves values of "{v}" beyond a limit alone, and whoever is mistaken about the value '
            "cannot tell on which side it lies; leave it out of errors, or out of knows."
        )
    inside = int(own[altered][0]) if altered.any() else 0

    def label(records: Records) -> I64:
        codes = of(records)
        return np.where(np.isin(codes, kept), codes, inside)

    return label


def is_altered(case: Case, v: str, evidence: Evidence, view: View) -> Callable[[Records], Bools]:
    """Whose own value of such a number is an altered one."""
    like = evidence.likelihood
    assert isinstance(like, Normal)
    if v not in evidence.labels:
        return lambda records: like.altered(like.target(view.met(records)))
    label = label_of_mistaken(case, v, lambda records: evidence.labels[v].of(view.met(records)), like, view)
    kept = np.unique(label(case.originals(v).records)[~_altered(case, v, like, view)])
    return lambda records: ~np.isin(label(records), kept)


def _altered(case: Case, v: str, like: Normal, view: View) -> Bools:
    return like.altered(like.target(view.met(case.originals(v).records)))
