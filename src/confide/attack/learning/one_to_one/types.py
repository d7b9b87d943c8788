"""Who is matched with what: targets and records of an attack, those that are alike as one type with a count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from confide.attack.engine.blocks import starts
from confide.attack.engine.kernel_plan import KernelPlan
from confide.attack.engine.membership import people_in_blocks
from confide.attack.engine.prepare import Prepared
from confide.attack.engine.scene import Scene
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct

TOGETHER = 16
"""Patterns of knowledge up to which records are merged; beyond, every row of the release is its own type."""


@dataclass(frozen=True, eq=False)
class Source:
    """One pattern of knowledge: its kernel plan, and places among all types.

    `first`: the number of its first type of targets; `kernel`: of each of its types, the plan's distinct target;
    `log_absent`: what its weights are divided by. `begin`, `types`: the types of records that each distinct record of
    the plan consists of.
    """

    plan: KernelPlan
    first: int
    kernel: I64
    log_absent: F64
    begin: I64
    types: I64

    @property
    def last(self) -> int:
        return self.first + len(self.kernel)

    @cached_property
    def by_kernel(self) -> tuple[I64, I64]:
        """Types in the order of their distinct targets, and where each of these begins."""
        order = np.argsort(self.kernel, kind="stable").astype(np.int64)
        return order, starts(self.kernel[order], len(self.plan.targets))


@dataclass(frozen=True, eq=False)
class Types:
    """`supply`: (A,) targets of each type; `capacity`: (B,) records of each type. `of_target`: each target's type, -1
    where nothing can be its record; `of_row`: each released row's, -1 where it is nobody's candidate. `block`: (A,)
    pools of targets among whom absence is counted together, `people` their N and `size` their records; None where
    everybody is known to be released.
    """

    sources: tuple[Source, ...]
    supply: I64
    capacity: I64
    of_target: I64
    of_row: I64
    block: I64
    people: I64 | None
    size: I64

    def __repr__(self) -> str:
        return f"Types: {len(self.supply):,} of {self.supply.sum():,} targets, {len(self.capacity):,} of records"

    @cached_property
    def rows(self) -> tuple[I64, I64]:
        """Rows of the release by type, and where each type begins."""
        order = np.argsort(self.of_row, kind="stable").astype(np.int64)
        order = order[self.of_row[order] >= 0]
        return order, starts(self.of_row[order], len(self.capacity))


def types_of(ready: Prepared) -> Types:
    """The types of an attack that is prepared."""
    scenes = [(mine, scene, units, KernelPlan.of(scene, units)) for mine, scene, units in ready.scenes()]
    of_merged, n_records = _record_types(ready.case.released.n, [(s, p) for _, s, _, p in scenes])
    of = ready.files.released.of
    of_row = of_merged if of is None else of_merged[of]
    sure = ready.intruder.membership == "certain"
    record = np.full(ready.who.records.n, -1, dtype=np.int64)
    sources: list[Source] = []
    first = 0
    for mine, scene, units, plan in scenes:
        keys = [plan.targets.of, *([] if sure else [scene.side.log_absent[plan.met]])]
        types = Distinct.rows(keys, len(plan.met))
        own = np.full(scene.targets.n, -1, dtype=np.int64)
        own[plan.met] = types.of + first
        record[ready.units.target[mine]] = own[units.target]
        absent = np.zeros(len(types)) if sure else scene.side.log_absent[plan.met][types.first]
        sources.append(Source(plan, first, plan.targets.of[types.first], absent, *_consists(plan, of_merged, scene)))
        first += len(types)
    of_target = record if ready.who.of is None else record[ready.who.of]
    supply = np.bincount(of_target[of_target >= 0], minlength=first).astype(np.int64)
    capacity = np.bincount(of_row[of_row >= 0], minlength=n_records).astype(np.int64)
    return Types(tuple(sources), supply, capacity, of_target, of_row, *_absence(ready, sources, supply))


def _record_types(n: int, scenes: list[tuple[Scene, KernelPlan]]) -> tuple[I64, int]:
    """The type of each (merged) released row, -1 where it is no candidate, and how many types there are."""
    keys = []
    for scene, plan in scenes:
        own = np.full(n, -1, dtype=np.int64)
        own[scene.rows] = plan.records.of
        keys.append(own)
    if not keys:
        return np.full(n, -1, dtype=np.int64), 0
    there = np.flatnonzero(np.max(keys, axis=0) >= 0)
    out = np.full(n, -1, dtype=np.int64)
    if len(keys) > TOGETHER:
        out[there] = np.arange(len(there))
        return out, len(there)
    found = Distinct.rows([k[there] for k in keys], len(there))
    out[there] = found.of
    return out, len(found)


def _consists(plan: KernelPlan, of_merged: I64, scene: Scene) -> tuple[I64, I64]:
    """The types that each distinct record of a plan consists of: where they begin, and these."""
    pairs = np.unique(np.stack([plan.records.of, of_merged[scene.rows]]), axis=1)
    return starts(pairs[0], len(plan.records)), np.asarray(pairs[1])


def _absence(ready: Prepared, sources: list[Source], supply: I64) -> tuple[I64, I64 | None, I64]:
    """Each type's pool, and of every pool N and how many records it has; no N where membership is certain."""
    if ready.intruder.membership == "certain" or not sources:
        return np.zeros(len(supply), dtype=np.int64), None, np.zeros(1, dtype=np.int64)
    source = sources[0]
    plan, scene = source.plan, source.plan.scene
    found, *_ = people_in_blocks(scene, ready.rows, ready.population, ready.weights, ready.behind)
    assert found is not None
    block = plan.block_t[source.kernel]
    size = np.bincount(scene.block_r, weights=scene.count, minlength=scene.n_blocks).astype(np.int64)
    targets = np.bincount(block, weights=supply, minlength=scene.n_blocks).astype(np.int64)
    return block, np.maximum(np.round(found).astype(np.int64), np.maximum(size, targets)), size
