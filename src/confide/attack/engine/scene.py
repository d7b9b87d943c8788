"""The fourth stage: rows of a release met with a fit. Blocks, cells, and log m of every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from confide.attack.beliefs.classes import Classes
from confide.attack.beliefs.numbers import NumberFit
from confide.attack.beliefs.regressions import NumberBelief
from confide.attack.beliefs.synthetic import BinnedBelief
from confide.attack.engine.blocks import blocks, starts
from confide.attack.engine.fit import Fit, by_name, helper_codes
from confide.attack.engine.record_side import log_m
from confide.attack.evidence.case import Case
from confide.attack.evidence.gather import Knowledge, Uncertain
from confide.frames.columns import F64, I64, Bools, Records
from confide.protect.seam.likelihood import Columns, Likelihood, take


@dataclass(frozen=True, eq=False)
class Number:
    """One uncertain number: what was fitted of it, its likelihoods, and the targets' side where it is known."""

    fit: NumberFit
    like: Likelihood
    like_a: Likelihood | None
    target: Columns | None

    @property
    def variable(self) -> str:
        return self.fit.variable

    @property
    def item(self) -> int:
        return self.fit.item

    @property
    def known(self) -> bool:
        return self.fit.known

    @property
    def belief(self) -> NumberBelief | None:
        return self.fit.belief

    @property
    def binned(self) -> BinnedBelief | None:
        return self.fit.binned

    @property
    def noisy(self) -> Bools | None:
        return self.fit.noisy


@dataclass(frozen=True, eq=False)
class TargetSide:
    """The targets of one pattern of knowledge as the formula needs them, whatever records they meet.

    `labels`: their certain labels; `cell`; `known`: per step their side of its likelihood, None where it is not known.
    `parts_known`: per step the likelihood of the known ones among numbers altered together, where some are not known.
    `log_absent`: log of what weights are divided by beside absence.
    """

    targets: Records
    labels: tuple[I64, ...]
    cell: I64
    known: tuple[Columns | None, ...]
    parts_known: tuple[tuple[Likelihood, Columns] | None, ...]
    numbers: tuple[Number, ...]
    numbers_t: tuple[Number, ...]
    log_absent: F64

    @classmethod
    def of(cls, knowledge: Knowledge, fit: Fit, targets: Records) -> TargetSide:
        """Place targets among cells, and ask every likelihood for its side of them."""
        steps, labels = knowledge.uncertain, tuple(c.of(targets) for c in knowledge.certain)
        cell = fit.believed.cells.place(labels, targets.n) if fit.needs_belief else np.zeros(targets.n, dtype=np.int64)
        log_absent = np.zeros(targets.n) if fit.absence is None else fit.absence.log(knowledge, targets, labels)
        for step in fit.more:
            log_absent = log_absent + step.log_absent(knowledge, targets)
        return cls(
            targets, labels, cell, tuple(u.like.target(u.met(targets)) if all(u.known) else None for u in steps),
            tuple(_part_known(u, number, targets) for u, number in zip(steps, fit.numeric, strict=True)),
            _numbers(steps, fit.believed.numbers, targets), _numbers(steps, fit.believed.numbers_t, targets),
            log_absent,
        )  # fmt: skip

    def take(self, rows: I64, fit: Fit) -> TargetSide:
        """Some of them. `fit`: theirs, which differs from that of all at most in how finely numbers are looked at."""
        return TargetSide(
            self.targets.take(rows), tuple(c[rows] for c in self.labels), self.cell[rows],
            tuple(None if t is None else take(t, rows) for t in self.known),
            tuple(None if part is None else (part[0], take(part[1], rows)) for part in self.parts_known),
            _taken(self.numbers, fit.believed.numbers, rows), _taken(self.numbers_t, fit.believed.numbers_t, rows),
            self.log_absent[rows],
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scene:
    """Some released rows met with targets of one pattern of knowledge.

    `rows`: positions in `case.released` that are candidates at all; `released`, `records`, `records_a`, `block_r`,
    `cell_r`, `log_m`, `count`: theirs (`count`: how many rows of the release each stands for). `block_t`: of the
    targets, -1 where no record shares all labels. `intervals`: known of variables that are certain. `integrals`: by
    unknown number, each row's place among integrals over what is believed of it, and these, shape (places, K).
    `in_order`: records are those that differ, as a plan sorts them.
    """

    case: Case
    knowledge: Knowledge
    fit: Fit
    side: TargetSide
    intervals: Mapping[str, tuple[float, float]]
    rows: I64
    released: Records
    records: tuple[Columns, ...]
    records_a: tuple[Columns | None, ...]
    count: F64
    block_r: I64
    block_t: I64
    n_blocks: int
    cell_r: I64
    log_m: F64
    integrals: Mapping[str, tuple[I64, F64]] = field(default_factory=dict)
    in_order: bool = False

    @classmethod
    def place(
        cls, case: Case, knowledge: Knowledge, fit: Fit, side: TargetSide, rows: I64 | None = None,
        known_m: F64 | None = None,
    ) -> Scene:  # fmt: skip
        """Place rows of the release, None for all that can be candidates. `known_m`: log m of every row of the release,
        where it was computed before."""
        rows = np.flatnonzero(knowledge.eligible) if rows is None else rows
        labels = [c.released[rows] for c in knowledge.certain]
        cell_r = np.zeros(len(rows), dtype=np.int64)
        if fit.needs_belief:
            given = [*labels, *(z[rows] for z in helper_codes(case, knowledge.helpers))]
            order = by_name(knowledge) if knowledge.helpers else range(len(given))
            cell_r = fit.believed.cells_r.place([given[i] for i in order], len(rows))
        scene = cls(
            case, knowledge, fit, side, {v: p for v, p in fit.between.items() if v not in knowledge.limits},
            rows, case.released.take(rows), tuple(take(u.like.record, rows) for u in knowledge.uncertain),
            tuple(None if u.like_a is None else take(u.like_a.record, rows) for u in knowledge.uncertain),
            np.ones(len(rows)) if case.count is None else case.count[rows],
            *blocks(labels, side.labels, len(rows), side.targets.n), cell_r, np.zeros(len(rows)),
        )  # fmt: skip
        return scene.with_others() if known_m is None else replace(scene, log_m=known_m[rows])

    def only(self, at: I64, side: TargetSide, targets: I64, fit: Fit, knowledge: Knowledge) -> tuple[Scene, I64]:
        """Some of the records and some of the targets, given their side; and the blocks that are left, as they were
        numbered. `fit`, `knowledge`: with intervals in place of open ones, on which log m does not hang here."""
        left, block_r = np.unique(self.block_r[at], return_inverse=True)
        block_t = np.full(len(targets), -1, dtype=np.int64)
        if len(left):
            near = np.minimum(np.searchsorted(left, self.block_t[targets]), len(left) - 1)
            block_t = np.where(left[near] == self.block_t[targets], near, -1)
        scene = replace(
            self, knowledge=knowledge, fit=fit, side=side,
            intervals={v: p for v, p in fit.between.items() if v not in knowledge.limits},
            rows=self.rows[at], released=self.released.take(at), records=tuple(take(z, at) for z in self.records),
            records_a=tuple(None if z is None else take(z, at) for z in self.records_a), count=self.count[at],
            block_r=block_r.astype(np.int64), block_t=block_t, n_blocks=len(left), cell_r=self.cell_r[at],
            log_m=self.log_m[at], integrals={v: (of[at], kept) for v, (of, kept) in self.integrals.items()},
        )  # fmt: skip
        return scene, left

    def with_absence(self, log_absent: F64) -> Scene:
        """The same where targets' weights are divided by more."""
        return replace(self, side=replace(self.side, log_absent=self.side.log_absent + log_absent))

    def with_others(self) -> Scene:
        """The same with log m = -log A of every record."""
        found, integrals = log_m(self)
        found = np.where(np.isfinite(found), found, 0.0)  # nobody can have led to such a record: C is 0 for all
        for u in self.uncertain:
            if u.log_own is not None:
                found = found - u.log_own[self.rows]
        return replace(self, log_m=found, integrals=integrals)

    def __repr__(self) -> str:
        return (
            f"Scene: {self.targets.n:,} targets, {len(self.rows):,} records in {self.n_blocks:,} blocks; {self.fit!r}"
        )

    @property
    def uncertain(self) -> tuple[Uncertain, ...]:
        return self.knowledge.uncertain

    @property
    def targets(self) -> Records:
        return self.side.targets

    @property
    def cell_t(self) -> I64:
        return self.side.cell

    @property
    def known_t(self) -> tuple[Columns | None, ...]:
        return self.side.known

    @property
    def numbers(self) -> tuple[Number, ...]:
        return self.side.numbers

    @property
    def classes(self) -> Classes:
        return self.fit.believed.classes

    @cached_property
    def _by_block(self) -> tuple[I64, I64]:
        order = np.argsort(self.block_r, kind="stable").astype(np.int64)
        return order, starts(self.block_r[order], self.n_blocks)

    def members(self, block: int) -> I64:
        """Positions of a block's records, in file order."""
        if block < 0:
            return np.zeros(0, dtype=np.int64)
        order, offsets = self._by_block
        return order[offsets[block] : offsets[block + 1]]

    def members_of(self, blocks: I64) -> I64:
        """The same of several blocks, whose numbers rise."""
        order, offsets = self._by_block
        edge = np.flatnonzero(np.diff(blocks, prepend=-2) != 1)  # those that follow one another lie together
        first, last = blocks[edge], blocks[np.append(edge[1:], len(blocks)) - 1] if len(blocks) else blocks
        found = [order[offsets[a] : offsets[b + 1]] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *found]))


def _numbers(steps: tuple[Uncertain, ...], fitted: tuple[NumberFit, ...], targets: Records) -> tuple[Number, ...]:
    out = []
    for n in fitted:
        u = steps[n.item]
        like = u.like.margins()[n.margin]
        like_a = None if u.like_a is None else u.like_a.margins()[n.margin]
        out.append(Number(n, like, like_a, like.target(u.met(targets)) if n.known else None))
    return tuple(out)


def _taken(every: tuple[Number, ...], fitted: tuple[NumberFit, ...], rows: I64) -> tuple[Number, ...]:
    return tuple(
        replace(n, fit=fit, target=None if n.target is None else take(n.target, rows))
        for n, fit in zip(every, fitted, strict=True)
    )


def _part_known(u: Uncertain, number: bool, targets: Records) -> tuple[Likelihood, Columns] | None:
    if not number or all(u.known) or not any(u.known):
        return None
    part = u.like.restricted([k for k, known in enumerate(u.known) if known])
    return part, part.target(u.met(targets))
