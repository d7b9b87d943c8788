"""A naive intruder's choice among numbers: the nearest records.

Missing is nearest to missing, and an answer code to the same code: such values lie infinitely far from numbers and from
each other. So each number has one axis on which what is no number lies at infinity, and one more per answer code.

`log_nearest` says so of any targets and records, pair by pair. `near_records` is for the loop over all targets, which
searches: records that are finitely far from each other are sorted by the number with the most different values. With
one number known a target visits the two records beside it; with d of them about r^(1 - 1/d) of the r records of its
group, where values are spread evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.attack.engine.blocks import blocks, starts
from confide.attack.engine.kernels.arguments import Near
from confide.frames.columns import F64, I64, Records

if TYPE_CHECKING:
    from confide.attack.engine.kernel_plan import KernelPlan
    from confide.attack.engine.scene import Scene


def axes(scene: Scene, records: Records) -> F64:
    """Places of records (or targets) on all axes, shape (axes, n)."""
    out = []
    for v in scene.knowledge.nearest:
        codes, values = scene.released[v].special, records[v].values
        number = ~(np.isnan(values) | np.isin(values, codes))
        out.append(np.where(number, values, np.inf))
        out += [np.where(values == code, np.inf, 0.0) for code in codes]
    return np.array(out)


def scales(scene: Scene) -> F64:
    """The unit of each axis: a number's spread."""
    own = [(scene.fit.scales[v], *(1.0 for _ in scene.released[v].special)) for v in scene.knowledge.nearest]
    return np.concatenate(own)


def log_nearest(scene: Scene, t: I64, rows: I64) -> F64:
    """0 for the nearest records in standardised distance, -inf for others."""
    distance = np.zeros((len(t), len(rows)))
    own, theirs = axes(scene, scene.targets.take(t)), axes(scene, scene.released.take(rows))
    with np.errstate(invalid="ignore"):
        for y, z, unit in zip(own, theirs, scales(scene), strict=True):
            gap = np.abs(z - y[:, None]) / unit
            distance += np.where(np.isnan(gap), 0.0, gap) ** 2  # both at infinity
    near = np.sqrt(distance)
    best = near.min(axis=1, keepdims=True)
    return np.where((near <= best * (1 + 1e-9)) & np.isfinite(best), 0.0, -np.inf)


def near_records(plan: KernelPlan) -> Near:
    """The distinct records of a plan in groups, each sorted by a number that its records have."""
    s = plan.scene
    targets, records = s.targets.take(plan.first), s.released.take(plan.records.first)
    states_t, states_r = states(s, targets), states(s, records)
    group_r, group, many = blocks(
        [plan.block_r, *states_r], [plan.block_t, *states_t], len(plan.records), len(plan.first)
    )
    y, z = _values(s, targets), _values(s, records)
    by = np.full(many, -1, dtype=np.int64)
    for v in np.argsort([len(np.unique(values)) for values in z], kind="stable").tolist():
        by[group_r[states_r[v] == 0]] = v
    key = np.where(by[group_r] >= 0, z[by[group_r], np.arange(len(plan.records))], 0.0)
    order = np.lexsort((key, group_r)).astype(np.int64)
    unit = np.array([s.fit.scales[v] for v in s.knowledge.nearest])
    total = np.bincount(plan.block_r, weights=plan.records.count, minlength=s.n_blocks).astype(np.float64)
    start, sorted_z = starts(group_r[order], many), np.ascontiguousarray(z[:, order])
    return Near(np.ascontiguousarray(y.T), sorted_z, unit, order, start, by, key[order], group, total)


def states(scene: Scene, records: Records) -> list[I64]:
    """Of each number: 0 where a record has it, 1 where it is missing, 2 and more by answer code."""
    out = []
    for v in scene.knowledge.nearest:
        values = records[v].values
        found = np.isnan(values).astype(np.int64)
        for k, code in enumerate(scene.released[v].special):
            found[values == code] = 2 + k
        out.append(found)
    return out


def _values(scene: Scene, records: Records) -> F64:
    return np.array([records[v].values for v in scene.knowledge.nearest], dtype=np.float64)
