"""The candidates of every type of targets, with their weights: all in small blocks, the likeliest in large ones.

Where many records are about as likely, the likeliest are all close by, and a crowd of targets cannot get away through
them. So some are drawn by lot too, from each target's own probabilities: a path leads far in few steps.

Weights are R = C B A, without the prior; beside absence they are divided by what is believed of people who are absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from confide.attack.engine.blocks import starts
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Into, Own
from confide.attack.engine.loops import run_loops
from confide.attack.engine.node_sums import pieces
from confide.attack.engine.posterior import log_pairs, unknown_of
from confide.attack.engine.room import tops
from confide.attack.learning.one_to_one.types import Source, Types
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct

EVERY, SMALL = 2_000_000, 4_000
"""Pairs in all, and of one block, that are computed one by one, so that every candidate is there."""
PAIRS = 400_000
"""Pairs times classes that are worked on together."""
FIRST = 24
"""Candidates with which the search begins, beside four times as many as a type has targets."""
DRAWN, LOTS = 24, 16
"""Candidates of each type that are drawn by lot, and groups of targets with lots of their own."""
HELD = 2_000_000
"""Numbers that are gathered at once."""


Edges = tuple[I64, I64, F64]
"""Types of targets, types of records, log R."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Edges of types of targets to types of records: those of a are start[a]..start[a+1]-1, by rising `col`.

    `log_r`: (E,) log R; `top`: (A,) the largest; `whole`: (A,) whether every candidate is there.
    """

    start: I64
    col: I64
    log_r: F64
    top: F64
    whole: Bools

    def __repr__(self) -> str:
        return f"Graph: {len(self.col):,} candidates of {len(self.top):,} types of targets, {self.whole.sum():,} whole"

    @cached_property
    def row(self) -> I64:
        return np.repeat(np.arange(len(self.top)), np.diff(self.start))

    def place(self, row: I64, col: I64) -> I64:
        """Where edges are, -1 for those that are not there."""
        width = int(max(self.col.max(initial=0), col.max(initial=0))) + 1
        keys = self.row * width + self.col
        wanted = row * width + col
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        return np.where(keys[at] == wanted, at, -1) if len(keys) else np.full(len(wanted), -1)

    def cut(self, keep: Bools) -> Graph:
        """Some of the edges."""
        row = self.row[keep]
        return replace(self, start=starts(row, len(self.top)), col=self.col[keep], log_r=self.log_r[keep])


def graph_of(rows: I64, cols: I64, log_r: F64, top: F64, whole: Bools) -> Graph:
    """A graph from edges in any order, each once."""
    width = int(cols.max(initial=0)) + 1
    _, at = np.unique(rows * width + cols, return_index=True)
    return Graph(starts(rows[at], len(top)), cols[at], log_r[at], top, whole)


def joined(graph: Graph, rows: I64, cols: I64, log_r: F64) -> Graph:
    """The same with more edges."""
    every = np.concatenate([graph.row, rows]), np.concatenate([graph.col, cols]), np.concatenate([graph.log_r, log_r])
    return graph_of(*every, graph.top, graph.whole)


def candidates(types: Types, threads: int) -> Graph:
    """All candidates of small blocks, and of large ones the likeliest."""
    n = len(types.supply)
    parts: list[Edges] = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    whole, room = np.zeros(n, dtype=bool), EVERY
    for source in types.sources:
        plan = source.plan
        many = np.bincount(plan.block_t, minlength=len(plan.offsets) - 1) * np.diff(plan.offsets)
        order = np.argsort(many, kind="stable")
        small = np.zeros(len(many), dtype=bool)
        small[order[(np.cumsum(many[order]) <= room) & (many[order] <= SMALL)]] = True
        room -= int(many[small].sum())
        mine = small[plan.block_t]
        whole[source.first : source.last] = mine[source.kernel]
        parts.append(spread(source, every_pair(plan, np.flatnonzero(mine), threads)))
        targets = np.bincount(
            source.kernel, weights=types.supply[source.first : source.last], minlength=len(plan.targets)
        )
        large = np.flatnonzero(~mine)
        found = likeliest(source, large, FIRST + 4 * targets[large].astype(np.int64), None, threads)
        parts += [spread(source, found[:3]), spread(source, by_lot(source, large, threads))]
    rows, cols, log_r = (np.concatenate(part) for part in zip(*parts, strict=True))
    there = np.isfinite(log_r)
    top = np.full(n, -np.inf)
    np.maximum.at(top, rows, log_r)
    return graph_of(rows[there], cols[there], log_r[there], np.where(np.isfinite(top), top, 0.0), whole)


def likeliest(source: Source, wanted: I64, most: I64, price: F64 | None, threads: int) -> tuple[I64, I64, F64, F64]:
    """At least so many records of each distinct target (`most`), those with the largest log weight minus price, if
    there
    are so many: target, record, log weight minus price; and the largest of each target."""
    size = np.diff(source.plan.offsets)[source.plan.block_t[wanted]]
    level = 2 ** np.ceil(np.log2(np.maximum(np.minimum(most, size), 1))).astype(np.int64)
    peak, out = np.full(len(wanted), -np.inf), [(np.zeros(0, dtype=np.int64),) * 2 + (np.zeros(0),)]
    for many in np.unique(level):
        mine = np.flatnonzero(level == many)
        for a, b in pieces(np.full(len(mine), many), HELD):
            some = mine[a:b]
            row, record, log_w, peak[some] = gather(source.plan, wanted[some], int(many), price, threads)
            out.append((wanted[some][row], record, log_w))
    target, record, log_w = (np.concatenate(part) for part in zip(*out, strict=True))
    return target, record, log_w, peak


def by_lot(source: Source, wanted: I64, threads: int) -> Edges:
    """Some records of each distinct target, drawn from its own probabilities: target, record, log weight.

    The largest of log R plus Gumbel numbers are such draws, without replacement. Targets of a group share the numbers.
    """
    draws, out = np.random.default_rng(len(wanted)), [(np.zeros(0, dtype=np.int64),) * 2 + (np.zeros(0),)]
    group = draws.integers(0, LOTS, len(wanted))
    for k in range(LOTS):
        mine, lots = wanted[group == k], draws.gumbel(size=len(source.plan.records))
        if len(mine):
            target, record, log_w, _ = likeliest(source, mine, np.full(len(mine), DRAWN), -lots, threads)
            out.append((target, record, log_w - lots[record]))
    target, record, log_w = (np.concatenate(part) for part in zip(*out, strict=True))
    return target, record, log_w


def spread(source: Source, pairs: Edges) -> Edges:
    """From the plan's distinct targets and records to types."""
    target, record, log_w = pairs
    order, begin = source.by_kernel
    target, record, log_w = _times(begin, order, target, record, log_w)
    log_w = log_w - source.log_absent[target]
    record, target, log_w = _times(source.begin, source.types, record, target, log_w)
    return target + source.first, record, log_w


def _times(begin: I64, of: I64, at: I64, other: I64, values: F64) -> tuple[I64, I64, F64]:
    """Each pair as often as its first part has members of[begin[at]:begin[at + 1]], with them in its place."""
    many = begin[at + 1] - begin[at]
    within = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return of[np.repeat(begin[at], many) + within], np.repeat(other, many), np.repeat(values, many)


def every_pair(plan: KernelPlan, wanted: I64, threads: int) -> Edges:
    """Distinct targets beside all distinct records of their blocks: target, record, log weight."""
    block = plan.block_t[wanted]
    size = np.diff(plan.offsets)[block] if len(wanted) else np.zeros(0, dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    record = np.arange(ends[-1]) - np.repeat(ends[:-1] - plan.offsets[block], size)
    log_w = np.zeros(int(ends[-1]))
    most = max(PAIRS // plan.scene.classes.size, 1)

    def work(first: int, last: int) -> None:
        for a, b in pieces(size[first:last], most):
            mine = slice(int(ends[first + a]), int(ends[first + b]))
            log_w[mine] = weights_of(plan, wanted[first + a : first + b], size[first + a : first + b], record[mine])

    step = max(len(wanted) // (8 * threads), 64)
    run_pieces(work, [(k, min(k + step, len(wanted))) for k in range(0, len(wanted), step)], threads, lambda _: None)
    return np.repeat(wanted, size), record, log_w


def weights_of(plan: KernelPlan, targets: I64, size: I64, record: I64) -> F64:
    """log weights of pairs: each distinct target beside so many records, one target after another."""
    if not len(record):
        return np.zeros(0)
    some = Distinct.rows([record], len(record))
    rows = plan.records.first[record[some.first]]
    who = np.repeat(np.arange(len(targets)), size)
    out = np.zeros(len(record))
    for part in log_pairs(plan.scene, plan.first[targets], rows, who, some.of, unknown_of(plan.scene, rows)).values():
        out += part
    return out


def gather(plan: KernelPlan, wanted: I64, many: int, price: F64 | None, threads: int) -> tuple[I64, I64, F64, F64]:
    """The likeliest records of distinct targets, by the loops of the attack: place in `wanted`, record, log weight; and
    the largest of each target. `price`: of each distinct record, taken from its log weight."""
    scene = plan.scene
    if price is not None:
        scene = replace(scene, log_m=scene.log_m + price[plan.records.of])
    n = len(wanted)
    none = Own(np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    some = Distinct(plan.first[wanted], np.arange(n), np.ones(n))
    cut = replace(
        plan, scene=scene, targets=some, first=plan.first[wanted], block_t=plan.block_t[wanted],
        class_t=plan.class_t[wanted], own=none,
    )  # fmt: skip
    out = np.full((n, 4 + 2 * many), -np.inf)
    out[:, 2] = 0.0
    run_loops(cut, Into(tops(0), out, np.zeros((0, 3))), threads, lambda _: None)
    row, k = np.nonzero(out[:, 4 : 4 + many] > -np.inf)
    peak = out[:, 1]
    return row, out[row, 4 + many + k].astype(np.int64), out[row, 4 + k] + peak[row], peak


def lowest(source: Source, price: F64) -> F64:
    """The lowest price among the types of each distinct record."""
    if not len(source.types):
        return np.zeros(0)
    return np.asarray(np.minimum.reduceat(price[source.types], source.begin[:-1]))


def sources_of(types: Types, rows: I64) -> Sequence[tuple[Source, I64]]:
    """Some types of targets by source, counted from its first."""
    out = []
    for source in types.sources:
        mine = rows[(rows >= source.first) & (rows < source.last)] - source.first
        if len(mine):
            out.append((source, mine))
    return out
