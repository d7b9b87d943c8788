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

from confide.attack.beliefs.cells import BINS, FINE, binned, cuts_of
from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.engine.aspects import KnownNumber, fine_bins, known
from confide.attack.engine.fit import Fit, absence_of, aside
from confide.attack.engine.scene import Scene, TargetSide
from confide.attack.engine.target_side import log_agree
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.frames.columns import F64, I64, Records, codes_in
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.table import Table

EACH = 20
"""Records of the file for each value shown, below which nothing is learnt from it."""


def with_link(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> Fit:
    """The same with that dependence as one more step in play, where there is any."""
    shown, beside = linked_variables(case, knowledge)
    if not shown:
        return fitted
    joint = absence_of(case, knowledge, targets, fitted.between, beside)
    if fitted.helped and set(shown) <= set(knowledge.helpers):  # records' cells have them already
        return replace(fitted, absence=joint, whole_absence=True)
    alone, given = _apart(knowledge, shown, beside)
    seen = aside(case, given, targets)
    link = Link(shown, beside, seen, aside(case, alone, targets), _fine(case, given, seen))
    return replace(fitted, numeric=(*fitted.numeric, False), absence=joint, more=(*fitted.more, link))


def linked_variables(case: Case, knowledge: Knowledge) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Variables of which records show what judges a known value, and the altered steps that go with them; none where
    nothing can be learnt of that."""
    shown = [v for u in knowledge.uncertain if u.given_record for v in u.variables if _as_it_is(case, v)]
    beside = [i for i, u in enumerate(knowledge.uncertain) if _altered(u)]
    if not shown or not beside or not _enough(case, shown):
        return (), ()
    return tuple(shown), tuple(beside)


def shown_codes(case: Case, v: str) -> I64:
    """Of each released row the code or bin by which cells tell it apart."""
    z = case.codebook(v)
    file = case.view().counted((v,)) if case.intruder.beliefs == "released" else case.originals(v)
    column = file.records[v]
    if case.intruder.beliefs != "released":
        column = case.compiled.way(v).after.image(column)
    size = len(z.levels) if z.kind == "categorical" else len(z)
    return binned(codes_in(case.released[v], z), cuts_of(codes_in(column, z), size, file.counts))


@dataclass(frozen=True, eq=False)
class Link:
    """`seen`, `alone`: fits of the altered steps given what is shown, and without it; `bins`: of known numbers among
    those believed in, by their place."""

    shown: tuple[str, ...]
    beside: tuple[int, ...]
    seen: Fit
    alone: Fit
    bins: tuple[tuple[int, KnownNumber], ...]

    def log_absent(self, knowledge: Knowledge, targets: Records) -> float:  # noqa: ARG002
        """See `More`: nothing of its own."""
        return 0.0

    def joined(self, case: Case, knowledge: Knowledge, fit: Fit, targets: Records) -> Knowledge:  # noqa: ARG002
        """See `More`."""
        alone, given = _apart(knowledge, self.shown, self.beside)
        seen, base = _placed(case, given, self.seen, targets), _placed(case, alone, self.alone, targets)
        table = _table(seen, self._bins(seen), case.released.n)
        log_own = np.zeros(case.released.n)
        log_own[seen.rows] = base.log_m - seen.log_m
        name = f"{' + '.join(v for u in alone.uncertain for v in u.variables)} given {' + '.join(self.shown)}"
        more = Uncertain((name,), (True,), table, None, lambda records: records, direct=True, log_own=log_own)
        return replace(knowledge, uncertain=(*knowledge.uncertain, more))

    def _bins(self, seen: Scene) -> list[_Bin]:
        out = []
        for i, aspect in self.bins:
            n = seen.numbers[i]
            assert n.belief is not None
            values = aspect.values(seen.uncertain[n.item], seen.targets)
            out.append(_Bin(n.belief, aspect.ends, np.where(np.isnan(values), -1, values).astype(np.int64)))
        return out


def _apart(knowledge: Knowledge, shown: Sequence[str], beside: Sequence[int]) -> tuple[Knowledge, Knowledge]:
    """The altered steps by themselves, and given what is shown."""
    steps = tuple(knowledge.uncertain[i] for i in beside)
    alone = replace(knowledge, uncertain=steps, helpers=(), limits={}, nearest=())
    return alone, replace(alone, helpers=tuple(shown))


def _enough(case: Case, shown: Sequence[str]) -> bool:
    """Whether the file has records enough to learn what goes with the values shown."""
    n = float(case.originals(shown[0]).counts.sum())
    sizes = [case.view().counted((v,)).records.n for v in shown]
    return n >= EACH * max(size if size <= FINE else BINS for size in sizes)


def _as_it_is(case: Case, v: str) -> bool:
    """Whether records show a variable as the file has it, or in coarser form."""
    return case.compiled.way(v).random is None or case.only_modelled(v)


def _altered(u: Uncertain) -> bool:
    """Whether a step altered what is known, and part A asks about it."""
    return not u.direct and not u.silent and u.like_a is not None and all(u.known)


def _placed(case: Case, knowledge: Knowledge, fitted: Fit, targets: Records) -> Scene:
    """The altered steps alone, with part A."""
    return Scene.place(case, knowledge, fitted, TargetSide.of(knowledge, fitted, targets))


@dataclass(frozen=True, eq=False)
class _Bin:
    """A known number in bins: each target's, -1 where it was not altered."""

    belief: NumberBelief
    ends: F64
    of: I64


def _table(seen: Scene, bins: Sequence[_Bin], n: int) -> Table:
    """log Pr(known values given the record's cell): one row per distinct combination, and one that says nothing."""
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


def _fine(case: Case, knowledge: Knowledge, seen: Fit) -> tuple[tuple[int, KnownNumber], ...]:
    """Bins of the known numbers that something is believed of."""
    believed = [(i, n) for i, n in enumerate(seen.believed.numbers) if n.belief is not None]
    finest, out = fine_bins(len(believed)), []
    about = (case.released, case.count) if case.intruder.beliefs == "released" else (case.original, case.original_count)
    for i, n in believed:
        aspect = known(case, n.item, knowledge.uncertain[n.item], n.variable, *about, finest, finest)[0]
        assert isinstance(aspect, KnownNumber)
        out.append((i, aspect))
    return tuple(out)


def _log_bins(bins: Sequence[_Bin], target: int) -> F64 | float:
    """log Pr(the bins that hold a target's numbers given cell and class), shape (cells, K)."""
    out: F64 | float = 0.0
    for b in bins:
        if b.of[target] >= 0:
            low, high = b.ends[b.of[target]], np.nextafter(b.ends[b.of[target] + 1], -np.inf)
            out = out + b.belief.law.log_between(b.belief.every, low, high, np.arange(len(b.belief.law.mu)))
    return out
