"""The posterior over records of every target, a few targets of one block at a time: nothing as long as n times r.

The plain formula serves every likelihood, level and membership; what is alike is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from confide.attack.engine.checks import check_scene
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.scene import Scene
from confide.attack.learning.attributes.pair_weights import way_of
from confide.attack.learning.attributes.row_sums import added_up
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

SMALL = 400
"""Records, and targets, of small blocks that are worked on together."""
EQUAL = 250_000
"""Records times targets of blocks that are worked on together, where all records of a block weigh the same."""


@dataclass(frozen=True, eq=False)
class Piece:
    """Some targets of one block, or of a few small ones. `targets`: their rows among those who are attacked; `rows`:
    the blocks' records, as rows of the (merged) release in rising order (one array for all pieces of a block), each
    standing for `count` of them; `w`
    (targets, kinds): weight of one record of each kind, relative to exp(`log_scale`), 0 for those of other blocks;
    `kind` (rows,): of each record; `absent`: the weight of absence on the same scale; `people`, `n_t`: N_t (0 where
    membership is certain) and how many records the block has, shape (targets,) each.
    """

    scene: Scene
    targets: I64
    rows: I64
    count: F64
    w: F64
    kind: I64
    absent: F64
    people: F64
    n_t: F64
    log_scale: F64

    @cached_property
    def total(self) -> F64:
        """The sum of all weights, shape (targets,)."""
        many = np.bincount(self.kind, weights=self.count, minlength=self.w.shape[1])
        return np.asarray(self.w @ many + self.absent)

    def sums(self, of: I64, many: int) -> F64:
        """Weights of all records added up by group, shape (targets, many); `of`: each record's group."""
        return added_up(self.w, self.kind, self.count, of, many)

    def weight_of(self, targets: I64, record: I64) -> F64:
        """Of one record for each of some targets (places here); 0 where there is none (-1)."""
        found = self.w[targets, self.kind[np.maximum(record, 0)]] if len(self.rows) else np.zeros(len(targets))
        return np.where(record >= 0, found, 0.0)


@dataclass(frozen=True, eq=False)
class EqualPiece(Piece):
    """Targets of blocks in which all records weigh the same: `w` (targets, 1). `block`, `of`: that of each target and
    of each record, among those that are here."""

    block: I64
    of: I64

    @classmethod
    def made(cls, scene: Scene, t: I64, at: I64, least: F64, *rest: Any) -> EqualPiece:
        """`t`, `at`: targets and records, of the scene; `least`: as of weights; `rest`: as the pieces' other fields."""
        targets, rows, count, absent, people, n_t = rest
        logs = -scene.side.log_absent[t]
        top = np.maximum(logs, least)
        there = np.zeros(scene.n_blocks, dtype=bool)
        there[scene.block_r[at]] = True
        place = np.cumsum(there) - 1
        return cls(
            scene, targets, rows, count, np.exp(logs - top)[:, None], np.zeros(len(at), dtype=np.int64),
            absent * np.exp(-top), people, n_t, top, place[scene.block_t[t]], place[scene.block_r[at]],
        )  # fmt: skip

    @cached_property
    def total(self) -> F64:
        return self.sums(np.zeros(len(self.of), dtype=np.int64), 1)[:, 0] + self.absent

    def sums(self, of: I64, many: int) -> F64:
        blocks = int(self.of.max(initial=-1)) + 1
        held = np.bincount(self.of * many + of, weights=self.count, minlength=blocks * many)
        return np.asarray(self.w * held.reshape(blocks, many)[self.block])

    def weight_of(self, targets: I64, record: I64) -> F64:
        mine = (record >= 0) & (self.of[np.maximum(record, 0)] == self.block[targets])
        return np.where(mine, self.w[targets, 0], 0.0)


def weigh_equal(scene: Scene) -> bool:
    """Whether nothing tells records of a block apart."""
    plain = not scene.uncertain and not scene.fit.mixture and not scene.knowledge.nearest
    return plain and not bool(scene.log_m.any())


def alike(ready: Prepared) -> I64:
    """For each target row the first one of whom the same is known, shape (n,)."""
    who = ready.who
    ends = [end for side in (who.low, who.high) for end in side.values()]
    found = Distinct.rows([*(c.values for c in who.records.values()), *ends], who.records.n)
    return found.first[found.of]


def pieces(ready: Prepared, only: int | None = None, equal: float | None = None) -> Iterator[Piece]:
    """All targets that have candidates, block after block; those of whom the same is known by the first of them.

    `only`: the row of one of them; `equal`: in place of `EQUAL`.
    """
    first = alike(ready)
    for rows, knows, between in ready.who.patterns(tuple(ready.intruder.knows), ready.case.told_missing):
        knowledge, fitted, side = ready.fitted(rows, knows, between)
        asked = np.flatnonzero(first[rows] == rows)
        if only is not None:
            asked = np.flatnonzero(rows == only)
            if not len(asked):
                continue
        scene = Scene.place(ready.case, knowledge, fitted, side)
        check_scene(scene, ready.intruder)
        people, *_ = people_in_blocks(scene, ready.rows, ready.population, ready.weights, ready.behind)
        yield from _of_scene(ready, scene, rows, asked, people, EQUAL if equal is None else equal)


def _of_scene(ready: Prepared, scene: Scene, rows: I64, asked: I64, people: F64 | None, most: float) -> Iterator[Piece]:
    order = asked[np.argsort(scene.block_t[asked], kind="stable")]
    order = order[scene.block_t[order] >= 0]
    block = scene.block_t[order]
    sizes = np.bincount(scene.block_r, weights=scene.count, minlength=max(scene.n_blocks, 1)).astype(float)
    way, equal = way_of(ready, scene, people is not None), ready.groups is None and weigh_equal(scene)
    for a, b in _batches(scene, block, most if equal else None):
        at = scene.members_of(block[a:b][np.diff(block[a:b], prepend=-1) > 0])
        here, held, count = way.among(at), scene.rows[at], scene.count[at]
        step = b - a if equal else max(int(here.pairs / max(len(at), 1)), 1)
        for i in range(a, b, step):
            t = order[i : min(i + step, b)]
            mine = scene.block_t[t]
            whole = np.zeros(len(t)) if people is None else people[mine]
            absent = np.zeros(len(t)) if people is None else np.maximum(whole - sizes[mine], 0.0)
            least = np.where(absent > 0, 0.0, -np.inf)  # absence weighs 1 each
            if equal:
                yield EqualPiece.made(scene, t, at, least, rows[t], held, count, absent, whole, sizes[mine])
                continue
            w, kind, top = here.weights(t, least)
            scaled = absent * np.exp(-top)
            yield Piece(scene, rows[t], held, count, w, kind, scaled, whole, sizes[mine], top)


def _batches(scene: Scene, block: I64, most: float | None) -> Iterator[tuple[int, int]]:
    """Ranges of targets, sorted by block, that are worked on together: one large block, or several small ones; `most`:
    records times targets, where all records of a block weigh the same."""
    if most == np.inf and len(block):
        yield 0, len(block)
        return
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1)) if len(block) else np.zeros(1, dtype=np.int64)
    size = np.bincount(scene.block_r, minlength=max(scene.n_blocks, 1))
    first, held = 0, 0
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        more = int(size[block[a]])
        much = held + more > SMALL or b - first > SMALL if most is None else (held + more) * (b - first) > most
        if a > first and (much or scene.knowledge.nearest):
            yield first, a
            first, held = a, 0
        held += more
    if len(block):
        yield first, len(block)
