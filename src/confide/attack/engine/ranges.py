"""A range of blocks at a time: its targets, its records, and where their results go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into, Noisy, Own, Pairs, Tables
from confide.attack.engine.plain_loops import plainly
from confide.attack.engine.record_side import log_unknown
from confide.attack.engine.target_side import log_limits, no_class_fits
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.table import Table

PIECE = 512
"""Distinct targets in one piece of work."""


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
        some = {name: np.ascontiguousarray(getattr(arrays, name)[self.targets]) for name in by_target}
        some |= {name: np.ascontiguousarray(getattr(arrays, name)[..., self.records]) for name in by_record}
        return arrays._replace(**some)

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
    """Ranges of blocks with about so many records, those that have targets."""
    edges, n = [0], plan.scene.n_blocks
    while edges[-1] < n:
        upto = int(np.searchsorted(plan.offsets, plan.offsets[edges[-1]] + max(most, 1), side="right")) - 1
        edges.append(min(max(upto, edges[-1] + 1), n))
    for b0, b1 in pairwise(edges):
        t0, t1 = (int(x) for x in np.searchsorted(plan.block_t, [b0, b1]))
        if t0 < t1:
            records = slice(int(plan.offsets[b0]), int(plan.offsets[b1]))
            yield Part(plan, into, slice(b0, b1), slice(t0, t1), records)


def pieces_of(n: int) -> list[tuple[int, int]]:
    """Targets in pieces."""
    return [(a, min(a + PIECE, n)) for a in range(0, n, PIECE)]


def own_room(into: Into) -> Into:
    """The same results with room of its own to work in, for one thread."""
    return into._replace(tops=np.empty_like(into.tops))


def log_records(part: Part) -> F64:
    """log w_kj of the part's records, shape (records, K), without what depends on the target."""
    s, rows = part.plan.scene, part.rows
    log_w = log_unknown(s, rows) - s.log_m[rows][:, None]
    if s.fit.helped:
        cell = s.cell_r[rows]
        log_w = log_w + s.fit.believed.log_pi_r[cell] + log_limits(s, cell, s.numbers)
    return log_w


def without_class(part: Part) -> float:
    """Targets whom no class fits, by the formula itself; the pairs visited."""
    alone = np.flatnonzero(no_class_fits(part.plan.scene, part.first)) + part.targets.start
    return sum(plainly(part.plan, part.whole, int(t), int(t) + 1) for t in alone)
