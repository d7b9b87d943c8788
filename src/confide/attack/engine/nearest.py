"""A naive intruder's choice among numbers: the nearest records.

Missing is nearest to missing, and an answer code to the same code: such values lie infinitely far from numbers and from
each other. So each number has one axis on which what is no number lies at infinity, and one more per answer code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.frames.columns import F64, I64, Records

if TYPE_CHECKING:
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
