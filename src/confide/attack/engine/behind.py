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
import polars as pl

from confide.attack.beliefs.cells import Cells
from confide.attack.beliefs.held_out import digests
from confide.attack.beliefs.label_regressions import FOLDS, Counted
from confide.attack.beliefs.values_behind import grouped, several
from confide.attack.engine.blocks import blocks
from confide.attack.engine.fit import helper
from confide.attack.evidence.case import Case, set_aside
from confide.attack.evidence.gather import Certain, Knowledge
from confide.frames.columns import I64, Column, Records, combine
from confide.frames.distinct import Distinct
from confide.protect.shared.category_codes import level_codes

PART = "\x00part"
"""The variable of targets that says without which part of the people something is believed of them."""
MOST = 64
"""Values, alone or joint, that are told apart behind one label."""
FEWER = (64, 24, 12, 8, 6, 4)
"""Of each variable, until their joint values are few enough; the last with as many variables as MOST allows."""


def people_in_parts(case: Case) -> I64 | None:
    """The part of every row of the original file, by all that it holds, so that a belief about somebody can rest on the
    others; None where no belief does."""
    return part_of_rows(case.original) if parts_are_asked(case) else None


def part_of_rows(records: Records) -> I64:
    """The part of people, by all that is held of them."""
    return (digests(records) % np.uint64(FOLDS)).astype(np.int64)


def with_parts(records: Records, part: I64) -> Records:
    """The same people, with the part of each as one more variable."""
    return records.replaced([Column(PART, "categorical", part, pl.Int64(), tuple(range(FOLDS + 1)))])


def parts_are_asked(case: Case) -> bool:
    """Whether some belief about somebody rests on the others."""
    known = {*case.intruder.knows, *case.intruder.between}
    shown = any(v not in known and case.compiled.way(v).random is None for v in case.released)
    return shown and bool(coarser(case, tuple(case.intruder.knows)))


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
    `codebooks`: what codes refer to. `label`, `value`: of every row of the reference, -1 where there is but one value
    behind its label. `ranks`: (variables, labels, k) the group of each variable in each joint one, counted inside its
    label; `ordered`: numbers.
    """

    file: Case
    names: tuple[str, ...]
    codebooks: tuple[Column, ...]
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
        codes = [level_codes(records[v], z)[0] for v, z in zip(self.names, self.codebooks, strict=True)]
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

    def counted(self, given: Given) -> tuple[Counted, Placing]:
        """Patterns whose label has several values behind it; and which of them any row has."""
        n, case = self.file.original.n, self.file
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
        mine = tuple(i for i, v in enumerate(given.names) if v in self.names and i < given.certain)
        joint = Distinct.rows([given.reference[i] for i in mine], n)
        keys = tuple(given.reference[i][joint.first] for i in mine)
        return counted, Placing(cells, mine, keys, self.label[joint.first], of[inside], cell[patterns.first[inside]])

    def without_rows(self) -> Values:
        """The same without what is as long as the file."""
        nobody = np.zeros(0, dtype=np.int64)
        return replace(self, file=set_aside(self.file), label=nobody, value=nobody)

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


@dataclass(frozen=True, eq=False)
class Placing:
    """Which pattern a row has, by its codes: `mine` of them make its joint label, `keys`, whose number is `number`, -1
    where one value is behind it. `label`, `cell`: of each pattern."""

    cells: Cells
    mine: tuple[int, ...]
    keys: tuple[I64, ...]
    number: I64
    label: I64
    cell: I64

    def of(self, codes: Sequence[I64], n: int) -> I64:
        """Of n rows, counted from 1, 0 for none."""
        label = _looked_up(self.keys, self.number, [codes[i] for i in self.mine], n, -1)
        if not self.mine:
            label = np.zeros(n, dtype=np.int64)
        at = self.cells.place(codes, n)
        return _looked_up([self.label, self.cell], 1 + np.arange(len(self.label)), [label, at], n, 0)


def _looked_up(keys: Sequence[I64], values: I64, asked: Sequence[I64], n: int, none: int) -> I64:
    """Of n rows the value that goes with their codes."""
    mine, at, number = blocks([k + 1 for k in keys], [a + 1 for a in asked], len(values), n)
    table = np.full(max(number, 1), none)
    table[mine] = values
    return np.where(at >= 0, table[np.maximum(at, 0)], none)


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
        case, tuple(behind), tuple(case.original[v].codebook() for v in behind), tuple(group),
        np.stack([m[both.first] for m in mine]), local, number[label.of], local[both.of], ranks,
        tuple(case.original[v].kind == "numeric" for v in behind),
    )  # fmt: skip


def _spread(label: I64, codes: I64) -> int:
    """How many values are behind labels."""
    return len(Distinct.rows([label, codes], len(label))) - len(Distinct.rows([label], len(label)))
