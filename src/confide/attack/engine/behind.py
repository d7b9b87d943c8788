r"""Known values of which records show a coarser form only: what else a record shows says which it is likelier to be.

Somebody's age is known, and records show ages in twenties. All records of the band agree with it alike; but one whose
job and pension fit the age is likelier than one whose do not. At level "exact" a record's weight has the factor

.. math:: \frac{\Pr(y_t \mid c_j, l_j, h_j)}{\Pr(y_t \mid c_t, l_t)}

with y the values behind coarser labels c, l the other certain labels, and h what the record shows beside. The numerator
is one more step in play, a table; the denominator matters beside absence only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.attack.beliefs.behind_labels import log_behind
from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.held_out import digests
from confide.attack.beliefs.label_regressions import FOLDS, Counted
from confide.attack.beliefs.values_behind import grouped, several
from confide.attack.engine.fit import Fit, helper
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Certain, Knowledge, Uncertain
from confide.frames.columns import F64, I64, Records, combine
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.table import Table
from confide.protect.shared.category_codes import level_codes

MOST = 64
"""Values, alone or joint, that are told apart behind one label."""
FEWER = (64, 24, 12, 8, 6, 4)
"""Of each variable, until their joint values are few enough; the last with as many variables as MOST allows."""


def with_values_behind(
    case: Case, knowledge: Knowledge, fitted: Fit, targets: Records, part: I64 | None
) -> tuple[Knowledge, Fit, F64 | None]:
    """The same with that step; and the log of the denominator for each target, None where nothing depends on it.

    `part`: of each target, as `people_in_parts` says; None where nobody asked.
    """
    names = coarser(case, fitted.knows)
    if part is None or not names or not knowledge.helpers:
        return knowledge, fitted, None
    values = Values.of(case, knowledge.certain, names)
    if values is None:
        return knowledge, fitted, None
    asked, of = np.unique(part, return_inverse=True)
    counted, column = values.counted(Given.of_records(case, knowledge))
    log_p = log_behind(counted, tuple(asked.tolist()))
    if not len(log_p):
        return knowledge, fitted, None
    local = values.rows(targets)
    row = np.where(local < values.k, of * values.k + local, len(asked) * values.k)
    table = Table(
        column, np.pad(log_p.reshape(-1, log_p.shape[2]), ((0, 1), (1, 0))),
        lambda records: row if records.n == len(row) else row[records.rows],
    )  # fmt: skip
    name = f"{' + '.join(values.names)} by what else is shown"
    more = Uncertain((name,), (True,), table, None, lambda records: records, direct=True, once=True, behind=True)
    fitted = replace(
        fitted, numeric=(*fitted.numeric, False), whole="what goes with known values is learnt from the whole file"
    )
    log_absent = None
    if case.intruder.membership != "certain":
        log_absent = values.log_large(Given.of_targets(case, knowledge.certain, targets), local, asked, of)
    return replace(knowledge, uncertain=(*knowledge.uncertain, more)), fitted, log_absent


def people_in_parts(case: Case) -> I64 | None:
    """The part of every row of the original file, by all that it holds, so that a belief about somebody can rest on the
    others; None where no belief does."""
    known = {*case.intruder.knows, *case.intruder.between}
    shown = any(v not in known and case.compiled.way(v).random is None for v in case.released)
    if not shown or not coarser(case, tuple(case.intruder.knows)):
        return None
    return (digests(case.original) % np.uint64(FOLDS)).astype(np.int64)


def coarser(case: Case, knows: Sequence[str]) -> list[str]:
    """Known variables that records show in coarser form, of which something can be believed."""
    asked = case.intruder.levels[1] == "exact" and case.intruder.levels[0] not in ("ignore", "naive")
    if not asked or case.intruder.beliefs != "original" or case.unit is not None or case.intruder.as_printed:
        return []
    return [
        v for v in knows if not case.altered(v) and v not in case.intruder.errors and case.compiled.way(v).after.steps
    ]


@dataclass(frozen=True, eq=False)
class Given:
    """What values behind labels are believed by: codes of the reference's rows and of rows that are asked about, `many`
    of them, of so many `sizes` and with these `names`; the first so many are `certain` labels."""

    reference: tuple[I64, ...]
    asked: tuple[I64, ...]
    sizes: tuple[int, ...]
    names: tuple[str, ...]
    certain: int
    many: int

    @classmethod
    def of_records(cls, case: Case, knowledge: Knowledge) -> Given:
        """All that records show."""
        shown = [helper(case, v, case.original) for v in knowledge.helpers]
        labels = [(c.of(case.original), c.released, c.size) for c in knowledge.certain]
        names = (*(c.name for c in knowledge.certain), *knowledge.helpers)
        return cls._of([*labels, *shown], names, len(labels), case.released.n)

    @classmethod
    def of_targets(cls, case: Case, certain: Sequence[Certain], targets: Records) -> Given:
        """The certain labels alone."""
        labels = [(c.of(case.original), c.of(targets), c.size) for c in certain]
        return cls._of(labels, tuple(c.name for c in certain), len(labels), targets.n)

    @classmethod
    def _of(cls, each: list[tuple[I64, I64, int]], names: tuple[str, ...], certain: int, many: int) -> Given:
        reference, asked = tuple(a for a, _, _ in each), tuple(b for _, b, _ in each)
        return cls(reference, asked, tuple(n for *_, n in each), names, certain, many)


@dataclass(frozen=True, eq=False)
class Values:
    """Values behind labels, of some variables together. `group`: by variable, that of each code of its values, -1 for
    none. `joint`: (variables, joint groups), of which each is the `local`-th behind its label, out of at most `k`.
    `label`, `value`: of every row of the reference, -1 where there is but one value behind its label. `ranks`:
    (variables, labels, k) the group of each variable in each joint one, counted inside its label; `ordered`: numbers.
    """

    case: Case
    names: tuple[str, ...]
    group: tuple[I64, ...]
    joint: I64
    local: I64
    label: I64
    value: I64
    ranks: I64
    ordered: tuple[bool, ...]

    @property
    def k(self) -> int:
        """Joint values behind one label, at most."""
        return int(self.ranks.shape[2])

    @classmethod
    def of(cls, case: Case, certain: Sequence[Certain], names: Sequence[str]) -> Values | None:
        """Of variables that have several values behind a label; None where none has."""
        labels = {v: next(c for c in certain if c.name == v).of(case.original) for v in names}
        codes = {v: level_codes(case.original[v], case.original[v])[0] for v in names}
        behind = [v for v in names if several(labels[v], codes[v]).any()]
        for most in FEWER:
            found = _joint(case, behind, labels, codes, most)
            if found is None or found.k <= MOST:
                return found
        many = int(np.log(MOST) / np.log(FEWER[-1]))
        return _joint(
            case, sorted(behind, key=lambda v: -_spread(labels[v], codes[v]))[:many], labels, codes, FEWER[-1]
        )

    def rows(self, records: Records) -> I64:
        """Of each person, the place of what is known behind its label; `k` where nothing is to be told apart."""
        return self._local(self._groups(records))

    def _groups(self, records: Records) -> list[I64]:
        codes = [level_codes(records[v], self.case.original[v])[0] for v in self.names]
        return [np.where(c >= 0, g[np.minimum(c, len(g) - 1)], -1) for c, g in zip(codes, self.group, strict=True)]

    def _local(self, groups: Sequence[I64]) -> I64:
        many = self.joint.shape[1]
        whole = combine(
            [np.concatenate([a, b]) for a, b in zip(self.joint, groups, strict=True)],
            [int(g.max(initial=-1)) + 1 for g in self.group],
        )
        order = np.argsort(whole[:many], kind="stable")
        at = order[np.clip(np.searchsorted(whole[:many], whole[many:], sorter=order), 0, many - 1)]
        return np.where(whole[at] == whole[many:], self.local[at], self.k)

    def log_large(self, given: Given, local: I64, asked: I64, of: I64) -> F64:
        """log Pr(what is known given all certain labels) of each target, who is what is asked about; 0 where nothing is
        to be told apart. `local`: as `rows` says; `asked`, `of`: the parts asked for, and which of them is each one's.
        """
        counted, column = self.counted(given)
        log_p = log_behind(counted, tuple(asked.tolist()))
        if not len(log_p):
            with np.errstate(divide="ignore"):
                log_p = np.log(counted.share())[counted.label].T[None].repeat(len(asked), axis=0)
        there = (local < self.k) & (column > 0)
        found = np.zeros(len(local))
        found[there] = log_p[of[there], local[there], column[there] - 1]
        return np.where(np.isfinite(found), found, 0.0)

    def counted(self, given: Given) -> tuple[Counted, I64]:
        """Patterns whose label has several values behind it; and of each row asked about which of them it has, counted
        from 1, 0 for none."""
        n, case = self.case.original.n, self.case
        lengths = [n, given.many]
        cells, both = Cells.fit([given.reference, given.asked], given.sizes, lengths, case.original_count)
        cell = np.concatenate(both)
        label = np.concatenate([self.label, self._label_of(given)])
        patterns = Distinct.rows([label, cell], n + given.many)
        of = label[patterns.first]
        inside = np.flatnonzero(of >= 0)
        place = np.zeros(len(patterns), dtype=np.int64)
        place[inside] = 1 + np.arange(len(inside))
        rows = np.flatnonzero(self.label >= 0)
        at = place[patterns.of[rows]] - 1
        weight = None if case.original_count is None else case.original_count[rows]
        digest = digests(case.original)[rows]
        part = (digest % np.uint64(FOLDS)).astype(np.int64)
        pairs = Distinct.rows([at, self.value[rows], part], len(rows), weight)
        key = np.full(len(inside), np.iinfo(np.uint64).max, dtype=np.uint64)
        np.minimum.at(key, at, digest)
        counted = Counted(
            of[inside], cells.patterns[:, cell[patterns.first[inside]]], key, at[pairs.first],
            self.value[rows][pairs.first], part[pairs.first], pairs.count, self.ranks, self.ordered,
            given.certain,
        )  # fmt: skip
        return counted, place[patterns.of[n:]]

    def _label_of(self, given: Given) -> I64:
        """The joint label of the rows asked about, as reference rows have them; -1 where one value is behind it."""
        mine = [i for i, v in enumerate(given.names) if v in self.names and i < given.certain]
        if not mine:
            return np.zeros(given.many, dtype=np.int64)
        codes = [np.concatenate([given.reference[i], given.asked[i]]) for i in mine]
        of = Distinct.rows(codes, len(codes[0])).of
        known = np.full(int(of.max(initial=-1)) + 1, -1)
        known[of[: len(self.label)]] = self.label
        return known[of[len(self.label) :]]


def _joint(
    case: Case, behind: Sequence[str], labels: Mapping[str, I64], codes: Mapping[str, I64], most: int
) -> Values | None:
    """Values with at most so many groups of each variable behind one of its labels; None where none has several."""
    if not behind:
        return None
    weight = case.original_count
    group = [grouped(codes[v], labels[v], case.original[v].kind == "numeric", weight, most) for v in behind]
    mine = [g[codes[v]] for g, v in zip(group, behind, strict=True)]
    n = case.original.n
    label = Distinct.rows([labels[v] for v in behind], n)
    both = Distinct.rows([label.of, *mine], n)
    of = label.of[both.first]
    start = np.searchsorted(of, np.arange(len(label)))
    local = np.arange(len(both)) - start[of]
    many = np.bincount(of, minlength=len(label))
    k = int(many.max())
    if k < 2:
        return None
    number = np.where(many > 1, np.cumsum(many > 1) - 1, -1)
    ranks = np.full((len(behind), int(number.max()) + 1, k), -1)
    inside = number[of] >= 0
    for v, g in enumerate(mine):
        first = np.full(len(label), np.iinfo(np.int64).max)
        np.minimum.at(first, of, g[both.first])
        ranks[v, number[of[inside]], local[inside]] = (g[both.first] - first[of])[inside]
    local = np.where(inside, local, k)
    return Values(
        case, tuple(behind), tuple(group), np.stack([m[both.first] for m in mine]), local, number[label.of],
        local[both.of], ranks, tuple(case.original[v].kind == "numeric" for v in behind),
    )  # fmt: skip


def _spread(label: I64, codes: I64) -> int:
    """How many values are behind labels."""
    return len(Distinct.rows([label, codes], len(label))) - len(Distinct.rows([label], len(label)))
