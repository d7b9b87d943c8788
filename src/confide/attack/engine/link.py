r"""Known values that the plan altered, beside values of which the record's own are seen.

A value x that may be wrong is judged by the record's z, which is released as the file has it, and z goes with other
things: a record that shows a high age is a widow's more often than others. So what is known of altered variables,
:math:`\kappa`, and part A depend on z beside the labels l:

.. math:: w_j = \frac{\Pr(x \mid z_j)\, \Pr(\kappa \mid z_j, l)}{\Pr(x, \kappa \mid l)} \cdot
    \frac{\Pr(z^p_j \mid \kappa)}{\Pr(z^p_j \mid z_j, l)}

The last step in play is that dependence: a table of :math:`\Pr(\kappa \mid z_j, l)`, with part A given z and l in place
of that given l. The denominator is the absent's (`absence`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.attack.beliefs.cells import BINS, FINE
from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.engine.aspects import KnownNumber, fine_bins, known
from confide.attack.engine.fit import Fit, absence_of, aside
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.engine.target_side import log_agree
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.frames.columns import F64, I64, Records
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.table import Table

EACH = 20
"""Records of the file for each value shown, below which nothing is learnt from it."""


def linked(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> tuple[Knowledge, Fit]:
    """The same with that dependence as one more step in play, where there is any."""
    shown = [v for u in knowledge.uncertain if u.given_record for v in u.variables if _as_it_is(case, v)]
    beside = [i for i, u in enumerate(knowledge.uncertain) if _altered(u)]
    if not shown or not beside or not _enough(case, shown):
        return knowledge, fitted
    if fitted.helped and set(shown) <= set(knowledge.helpers):  # records' cells have them already
        joint = absence_of(case, knowledge, targets, fitted.between, beside)
        return knowledge, replace(fitted, absence=joint, whole_absence=True)
    steps = tuple(knowledge.uncertain[i] for i in beside)
    alone = replace(knowledge, uncertain=steps, helpers=(), limits={}, nearest=())
    given = replace(alone, helpers=tuple(shown))
    seen, base = _placed(case, given, targets), _placed(case, alone, targets)
    table = _table(seen, case.released.n)
    log_own = np.zeros(case.released.n)
    log_own[seen.rows] = base.log_m - seen.log_m
    name = f"{' + '.join(v for u in steps for v in u.variables)} given {' + '.join(shown)}"
    more = Uncertain((name,), (True,), table, None, lambda records: records, direct=True, log_own=log_own)
    return replace(knowledge, uncertain=(*knowledge.uncertain, more)), replace(
        fitted, numeric=(*fitted.numeric, False), absence=absence_of(case, knowledge, targets, fitted.between, beside)
    )


def _enough(case: Case, shown: Sequence[str]) -> bool:
    """Whether the file has records enough to learn what goes with the values shown."""
    n = float(case.original.n if case.original_count is None else case.original_count.sum())
    sizes = [len(np.unique(case.released[v].values)) for v in shown]
    return n >= EACH * max(size if size <= FINE else BINS for size in sizes)


def _as_it_is(case: Case, v: str) -> bool:
    """Whether records show a variable as the file has it, or in coarser form."""
    return case.compiled.way(v).random is None or case.only_modelled(v)


def _altered(u: Uncertain) -> bool:
    """Whether a step altered what is known, and part A asks about it."""
    return not u.direct and not u.silent and u.like_a is not None and all(u.known)


def _placed(case: Case, knowledge: Knowledge, targets: Records) -> Scene:
    """The altered steps alone, with part A."""
    fitted = aside(case, knowledge, targets)
    return Scene.place(case, knowledge, fitted, TargetSide.of(knowledge, fitted, targets))


@dataclass(frozen=True, eq=False)
class _Bin:
    """A known number in bins: each target's, -1 where it was not altered."""

    belief: NumberBelief
    ends: F64
    of: I64


def _table(seen: Scene, n: int) -> Table:
    """log Pr(known values given the record's cell): one row per distinct combination, and one that says nothing."""
    bins = _bins(seen)
    every = np.arange(seen.targets.n)
    agree = Distinct.rows([*_class_keys(seen), *(b.of for b in bins)], len(every))
    log_k = log_agree(seen, agree.first)
    rows = np.zeros((len(agree) + 1, len(seen.fit.believed.cells_r)))
    combos = Distinct.rows([b.of[agree.first] for b in bins], len(agree))
    for c in range(len(combos)):
        mine = np.flatnonzero(combos.of == c)
        given = np.asarray(seen.fit.believed.log_pi_r) + _log_bins(bins, int(agree.first[mine[0]]))
        top = np.maximum(given.max(axis=1, keepdims=True), -1e300)
        with np.errstate(divide="ignore"):
            rows[mine] = np.log(np.exp(log_k[mine]) @ np.exp(given - top).T) + top.T
    rows = np.where(np.isfinite(rows).any(axis=1, keepdims=True), rows, 0.0)
    column = np.zeros(n, dtype=np.int64)
    column[seen.rows] = seen.cell_r
    return Table(column, rows, lambda records: agree.of if records.n == len(every) else agree.of[records.rows])


def _class_keys(seen: Scene) -> list[I64]:
    """What tells targets apart by their known categories."""
    keys = []
    for i, u in enumerate(seen.uncertain):
        if not seen.fit.numeric[i]:
            keys += [c.values for c in u.met(seen.targets.select(u.variables)).values()]
    return keys


def _bins(seen: Scene) -> list[_Bin]:
    finest = fine_bins(sum(n.belief is not None for n in seen.numbers))
    case, out = seen.case, []
    about = (case.released, case.count) if case.intruder.beliefs == "released" else (case.original, case.original_count)
    for n in seen.numbers:
        u = seen.uncertain[n.item]
        if n.belief is not None:
            aspect = known(case, n.item, u, n.variable, *about, finest, finest)[0]
            assert isinstance(aspect, KnownNumber)
            values = aspect.values(u, seen.targets)
            out.append(_Bin(n.belief, aspect.ends, np.where(np.isnan(values), -1, values).astype(np.int64)))
    return out


def _log_bins(bins: Sequence[_Bin], target: int) -> F64 | float:
    """log Pr(the bins that hold a target's numbers given cell and class), shape (cells, K)."""
    out: F64 | float = 0.0
    for b in bins:
        if b.of[target] >= 0:
            low, high = b.ends[b.of[target]], np.nextafter(b.ends[b.of[target] + 1], -np.inf)
            out = out + b.belief.law.log_between(b.belief.every, low, high, np.arange(len(b.belief.law.mu)))
    return out
