"""A range of blocks at a time: its targets, its records, and where their results go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from confide.attack.beliefs.class_logs import some
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into, Noisy, Own, Pairs, Tables
from confide.attack.engine.plain_loops import plainly
from confide.attack.engine.record_side import chosen, log_unknown
from confide.attack.engine.target_side import log_limits, no_class_fits
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.table import Table

PIECE = 512
"""Distinct targets in one piece of work."""
TARGETS = 2_000_000
"""Targets times classes in one range of targets."""
RECORDS = 8_000_000
"""Records times classes up to which all classes are worked on, whoever may have them."""


@dataclass(frozen=True, eq=False)
class Part:
    """Blocks b0..b1-1 of a plan, with the distinct targets t0..t1-1 and records r0..r1-1 that lie in them."""

    plan: KernelPlan
    whole: Into
    blocks: slice
    targets: slice
    records: slice

    @property
    def first(self) -> I64:
        """A row of each target."""
        return self.plan.first[self.targets]

    @property
    def rows(self) -> I64:
        """A row of each record."""
        return self.plan.records.first[self.records]

    @property
    def many_blocks(self) -> int:
        return int(self.blocks.stop - self.blocks.start)

    @property
    def block_of_records(self) -> I64:
        return np.asarray(self.plan.block_r[self.records] - self.blocks.start)

    @property
    def pairs_visited(self) -> float:
        return self.plan.pairs(self.targets.start, self.targets.stop)

    def pairs(self, by_record: F64) -> Pairs:
        plan, block_of = self.plan, self.plan.block_t[self.targets] - self.blocks.start
        offsets = plan.offsets[self.blocks.start : self.blocks.stop + 1] - self.records.start
        return Pairs(block_of, block_of, offsets, plan.records.count[self.records], by_record)

    @property
    def own(self) -> Own:
        at = self.plan.own.at[self._truth]
        start = self.plan.own.start[self.targets.start : self.targets.stop + 1] - self._truth.start
        return Own(start, np.where(at >= 0, at - self.records.start, -1))

    @property
    def into(self) -> Into:
        return Into(self.whole.tops, self.whole.out[self.targets], self.whole.truth[self._truth])

    @property
    def _truth(self) -> slice:
        return slice(*(int(self.plan.own.start[t]) for t in (self.targets.start, self.targets.stop)))

    def add(self, log_weight: F64) -> None:
        """Add to the log weights of all records, per target; gathered records are counted from the first of all."""
        self.into.out[:, 1] += log_weight
        self.into.truth[:, 0] += np.repeat(log_weight, np.diff(self.own.start))
        gathered = self.into.out[:, 4 + (self.into.out.shape[1] - 4) // 2 :]
        gathered[gathered >= 0] += self.records.start

    def numbers(self, noisy: Noisy) -> Noisy:
        """Known noisy numbers of these targets and records."""
        mine: Noisy = self.cut(noisy, ("y", "t_log", "sd"), ("low", "high"))
        return mine._replace(noisy=noisy.noisy[self.blocks])

    def cut(self, arrays: Any, by_target: tuple[str, ...], by_record: tuple[str, ...]) -> Any:
        """The same arrays for these targets and records."""
        mine = {name: np.ascontiguousarray(getattr(arrays, name)[self.targets]) for name in by_target}
        mine |= {name: np.ascontiguousarray(getattr(arrays, name)[..., self.records]) for name in by_record}
        return arrays._replace(**mine)

    @property
    def tables(self) -> Tables:
        """Tables of known values of which records show a coarser form: they multiply in beside classes."""
        s = self.plan.scene
        mine = [i for i, u in enumerate(s.uncertain) if u.behind]
        likes = [u.like for u in s.uncertain if u.behind and isinstance(u.like, Table)]
        rows = [t["row"][self.first] for i in mine if (t := s.known_t[i]) is not None]
        columns = [s.records[i]["column"][self.rows] for i in mine]
        width = [like.log_p.shape[1] for like in likes]
        start = np.cumsum([0, *(like.log_p.size for like in likes)])[:-1]
        return Tables(
            np.ascontiguousarray(np.array(rows, dtype=np.int64).reshape(len(mine), len(self.first)).T),
            np.array(columns, dtype=np.int64).reshape(len(mine), len(self.rows)),
            np.concatenate([np.zeros(0), *(like.log_p.ravel() for like in likes)]),
            np.array(start, dtype=np.int64), np.array(width, dtype=np.int64),
        )  # fmt: skip


def parts(plan: KernelPlan, into: Into, most: int) -> Iterator[Part]:
    """Ranges of blocks with about so many records, those that have targets; in ranges of targets where these times
    classes are many."""
    many = max(TARGETS // plan.scene.classes.size, 1)
    edges, n = [0], plan.scene.n_blocks
    while edges[-1] < n:
        upto = int(np.searchsorted(plan.offsets, plan.offsets[edges[-1]] + max(most, 1), side="right")) - 1
        edges.append(min(max(upto, edges[-1] + 1), n))
    for b0, b1 in pairwise(edges):
        t0, t1 = (int(x) for x in np.searchsorted(plan.block_t, [b0, b1]))
        records = slice(int(plan.offsets[b0]), int(plan.offsets[b1]))
        for t in range(t0, t1, many):
            yield Part(plan, into, slice(b0, b1), slice(t, min(t + many, t1)), records)


def pieces_of(first: int, last: int) -> list[tuple[int, int]]:
    """Targets first..last-1 in pieces."""
    return [(a, min(a + PIECE, last)) for a in range(first, last, PIECE)]


def own_room(into: Into) -> Into:
    """The same results with room of its own to work in, for one thread."""
    return into._replace(tops=np.empty_like(into.tops))


@dataclass(frozen=True, eq=False)
class Weights:
    """`log_w`: (records, classes) log w_kj of a part's records without what depends on the target, of those `classes`
    that some of its targets may have, rising (None: all)."""

    log_w: F64
    classes: I64 | None

    @classmethod
    def of(cls, part: Part, which: I64) -> Weights:
        """Given the classes that its targets may have, some of them many times."""
        s, used = part.plan.scene, np.unique(which)
        every = len(used) == s.classes.size or len(part.rows) * s.classes.size <= RECORDS
        return cls(log_records(part, None if every else used), None if every else used)

    def place(self, which: I64) -> I64:
        """Where classes stand among those that are there."""
        return which if self.classes is None else np.searchsorted(self.classes, which)


def log_records(part: Part, classes: I64 | None = None) -> F64:
    """log w_kj of the part's records, shape (records, K), without what depends on the target; `classes`: of these."""
    s, rows = part.plan.scene, part.rows
    log_w = log_unknown(s, rows, classes=classes)
    log_w -= s.log_m[rows][:, None]
    if s.fit.helped:
        cell = s.cell_r[rows]
        log_w += some(s.fit.believed.log_pi_r, cell, classes)
        if s.knowledge.limits:
            log_w += chosen(log_limits(s, cell, s.numbers), classes)
    return log_w


def without_class(part: Part, agree: F64) -> float:
    """Targets whom no class fits, by the formula itself; the pairs visited. `agree`: as `log_agree` gave it."""
    alone = np.flatnonzero(no_class_fits(part.plan.scene, part.first, agree)) + part.targets.start
    return sum(plainly(part.plan, part.whole, int(t), int(t) + 1) for t in alone)
