"""Large blocks with one known noisy number: sums in boxes and searches in trees instead of a loop over pairs.

Whether that pays is decided by counting: the nodes, boxes and records that some targets needed, against the records
near them that the loop would visit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from confide.attack.engine import kernels
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.kernels.arguments import Boxes, Codes, Given, Into, OneNoisy, Shelves, Tables
from confide.attack.engine.kernels.common import SKIP
from confide.attack.engine.kernels.gauss_sums import FAR, NARROW, RADIUS, TERMS
from confide.attack.engine.kernels.line_trees import MOST
from confide.attack.engine.room import room
from confide.core.run.threads import run_pieces
from confide.frames.columns import F64, I64, Bools
from confide.frames.distinct import Distinct

PAIRS = 20_000_000
"""Pairs of a block below which the loop is always quick enough."""
FEW = 64
"""Records of a shelf at least, on average."""
ENTRIES = 8_000_000
"""Moments of a block at most."""
PIECE = 4_096
"""Distinct targets in one piece of work."""
TRIED = 64
"""Targets by which the cost is counted."""
DEARER = 8.0
"""A node, a box or a record of a search takes so many times as long as a pair in the loop."""

BUILT = 1.0
"""The same of a moment that is added up."""


@dataclass(frozen=True, eq=False)
class Block:
    """A block whose targets first..last-1 are compared with records lo..hi-1."""

    first: int
    last: int
    lo: int
    hi: int
    codes: Codes
    tables: Tables
    number: OneNoisy
    shelves: Shelves
    boxes: Boxes

    @classmethod
    def of(cls, plan: KernelPlan, given: Given, b: int, first: int, last: int) -> Block | None:
        """None where cells are wide, records agree in too little, or boxes would be too many."""
        numbers, lo, hi = given.numbers, int(plan.offsets[b]), int(plan.offsets[b + 1])
        s = float(numbers.sd[first, 0])
        h = 2.0 * float(numbers.half[0]) / s
        z = 0.5 * (numbers.low[0, lo:hi] + numbers.high[0, lo:hi])
        if h * math.sqrt(2.0 * SKIP) > NARROW or (np.diff(z) < -1e-9 * s).any():
            return None
        z = np.maximum.accumulate(z)  # middles are rounded
        alike = Distinct.rows(_kinds(plan, given, lo, hi), hi - lo)
        if len(alike) * FEW > hi - lo:
            return None
        order = np.argsort(alike.of, kind="stable")  # by number already, inside a block
        begin = np.searchsorted(alike.of[order], np.arange(len(alike) + 1))
        q = 0.5 * (1.0 - h * h / 12.0) / (s * s)
        const = -0.9189385332046727 - h * h / 24.0 + (math.log(h) if h > 0 else -math.log(s))
        boxes = _boxes(z, order, begin, -given.pairs.log_m[lo:hi], given.pairs.counts[lo:hi], math.sqrt(2.0 * q))
        if boxes is None:
            return None
        shelves = _shelves(z, order, begin, -given.pairs.log_m[lo:hi], given.pairs.counts[lo:hi], lo)
        some = lo + order[begin[:-1]]
        code, column = (np.take(x, some, axis=1) for x in (given.codes.code, given.tables.column))
        same, diff = (np.take(x, some, axis=1) for x in (given.codes.same, given.codes.diff))
        codes, tables = Codes(given.codes.t_code, code, same, diff), given.tables._replace(column=column)
        y, t_log = (np.ascontiguousarray(x[:, 0]) for x in (numbers.y, numbers.t_log))
        return cls(first, last, lo, hi, codes, tables, OneNoisy(y, t_log, q, h, const), shelves, boxes)

    def attack(self, first: int, last: int, plan: KernelPlan, into: Into) -> tuple[Bools, float]:
        """Fill the results of some targets. Which of them the loop has to do instead; what was visited."""
        many, boxes = len(self.shelves.begin) - 1, len(self.boxes.middle)
        space = (
            np.empty(many), np.empty(boxes), np.empty((TERMS, boxes)), np.empty((3, boxes)), np.zeros(many),
            np.empty((2, 2 * MOST), dtype=np.int64),
        )  # fmt: skip
        slow, visited = np.zeros(last - first, dtype=bool), np.zeros(1)
        kernels.attack_boxes(
            first, last, plan.class_t, self.codes, self.tables, self.number, plan.own, into, self.shelves, self.boxes,
            space, slow, visited,
        )  # fmt: skip
        return slow, float(visited[0])

    def pays(self, plan: KernelPlan, into: Into) -> bool:
        """Whether some of its targets need less work than the loop would do."""
        every = max((self.last - self.first) // TRIED, 1)
        some = np.arange(self.first, self.last, every)
        near = FAR / math.sqrt(2.0 * self.number.q)
        z = np.sort(self.shelves.z)
        y = self.number.y[some]
        loop = float((np.searchsorted(z, y + near) - np.searchsorted(z, y - near)).sum())
        steps, built = 0.0, BUILT * (self.boxes.moments.size + TERMS * len(z))
        for t in some:
            slow, visited = self.attack(int(t), int(t) + 1, plan, into)
            steps += len(z) if slow[0] else visited
        return DEARER * steps + built * len(some) / (self.last - self.first) < loop


def attack_in_boxes(
    plan: KernelPlan, given: Given, into: Into, threads: int, advance: Callable[[int], None]
) -> tuple[list[tuple[int, int]], float]:
    """Do the blocks for which it pays. The ranges of targets that are left, and what was visited."""
    left: list[tuple[int, int]] = []
    seen: list[float] = []
    begin = 0
    for b, first, last in _large(plan, given, into):
        block = Block.of(plan, given, b, first, last)
        if block is None or not block.pays(plan, into):
            continue
        pieces = [(a, min(a + PIECE, last)) for a in range(first, last, PIECE)]
        run_pieces(_work(block, plan, given, into, seen), pieces, threads, advance)
        left.append((begin, first))
        begin = last
    return [*left, (begin, len(plan.targets))], sum(seen)


def _work(block: Block, plan: KernelPlan, given: Given, into: Into, seen: list[float]) -> Callable[[int, int], None]:
    def work(first: int, last: int) -> None:
        slow, steps = block.attack(first, last, plan, into)
        visited = np.array([steps])
        if slow.any():
            space = room(4, plan.block_t[first : first + 1], plan.offsets)
            edges = np.flatnonzero(np.diff(np.concatenate([[False], slow, [False]]).astype(np.int8)))
            for a, e in edges.reshape(-1, 2):
                kernels.attack_noisy(first + int(a), first + int(e), *given, plan.own, into, space, visited)
        seen.append(float(visited[0]))

    return work


def _large(plan: KernelPlan, given: Given, into: Into) -> list[tuple[int, int, int]]:
    """Blocks with many pairs in which only the first number is noisy, with one spread: (block, targets' ends)."""
    numbers = given.numbers
    if into.out.shape[1] > 4 or into.tops.shape[1] or not numbers.even[0]:
        return []
    blocks = np.arange(plan.scene.n_blocks)
    first, last = np.searchsorted(plan.block_t, blocks), np.searchsorted(plan.block_t, blocks, side="right")
    alone = numbers.noisy[:, 0] & ~numbers.noisy[:, 1:].any(axis=1)
    many = (last - first).astype(float) * np.diff(plan.offsets)
    found = []
    for b in np.flatnonzero(alone & (many >= PAIRS)):
        sd, log_m = numbers.sd[first[b] : last[b], 0], given.pairs.log_m[plan.offsets[b] : plan.offsets[b + 1]]
        if sd.min() == sd.max() and np.isfinite(log_m).all():
            found.append((int(b), int(first[b]), int(last[b])))
    return found


def _kinds(plan: KernelPlan, given: Given, lo: int, hi: int) -> list[I64 | F64]:
    """What records of one shelf have in common: categories, and where their beliefs come from."""
    codes, columns = given.codes, given.tables.column[:, lo:hi]
    keys = [x[lo:hi] for rows in (codes.code, codes.same, codes.diff) for x in rows]
    return [plan.scene.cell_r[plan.records.first[lo:hi]], *keys, *columns]


def _shelves(z: F64, order: I64, begin: I64, g: F64, c: F64, lo: int) -> Shelves:
    levels = np.zeros((len(begin) - 1, MOST + 1), dtype=np.int64)
    tree = np.empty((kernels.lay_out(begin, levels), 6))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    made = Shelves(z[order], g[order], c[order].astype(float), begin, levels, tree, lo, place)
    kernels.grow(made.z, made.g, made.c, begin, levels, tree)
    return made


def _boxes(z: F64, order: I64, begin: I64, g: F64, c: F64, unit: float) -> Boxes | None:
    """Boxes that hold records, None where their moments would be too many."""
    number = np.floor((z - z[0]) * (unit / (2.0 * RADIUS)))
    if not number[-1] < 2.0**52:
        return None
    held, box = np.unique(number, return_inverse=True)
    many = len(begin) - 1
    if many * len(held) * TERMS > ENTRIES:
        return None
    middle = z[0] + (held + 0.5) * (2.0 * RADIUS / unit)
    edge, shift = np.empty((many, len(held) + 1), dtype=np.int64), np.empty((many, len(held)))
    moments = np.empty((many, len(held), TERMS))
    kernels.fill_boxes(
        z[order], g[order], c[order].astype(float), begin, box[order], middle, unit, edge, shift, moments
    )
    return Boxes(middle, edge, shift, moments)
