r"""The formula. For a target t and a released record j of its block,

.. math:: w_j(t) = \frac{\sum_{k \in S_t} e_k(t)\, L_{kj}}{m_j} \prod_v f_v(z_{jv} \mid t_v)

where k runs over joint categories (classes) of the uncertain variables, :math:`L_{kj}` is the likelihood of record
j's categories and unknown numbers in class k, :math:`e_k(t)` the belief in class k given all that is known of the
target, :math:`f_v` the likelihood of a known noisy number, and :math:`m_j` the same sum without the target
(1 / A in print). Where every class is known the sum has one term and e is 1.

`Scene` holds these arrays for one pattern of knowledge; `log_weights` is the formula for one target, plainly; the
compiled kernels do the same for all targets at once.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from confide.attack.record_side import log_unknown
from confide.attack.scene import Scene
from confide.attack.target_side import log_belief, log_limits, log_normaliser, log_numbers, no_class_fits
from confide.frames.columns import F64, I64
from confide.protect.evidence import take


def log_weights(scene: Scene, i: int) -> tuple[I64, dict[str, F64]]:
    """Candidates of target i (positions in `scene.rows`) and the logs of C (by variable), B and A."""
    rows = scene.members(int(scene.block_t[i]))
    parts: dict[str, F64] = {}
    if not len(rows):
        return rows, parts
    if scene.knowledge.nearest:
        parts["nearest"] = log_nearest(scene, i, rows)
    if scene.mixture:
        parts["unavailable"] = log_mixture(scene, i, rows)
    parts |= log_known(scene, i, rows)
    if any(u.like_a is not None for u in scene.uncertain):
        parts["others"] = -scene.log_m[rows]
    return rows, parts


def log_known(scene: Scene, i: int, rows: I64) -> dict[str, F64]:
    """log C by variable, for what multiplies in by itself rather than through the classes."""
    parts: dict[str, F64] = {}
    for at, (u, t, z) in enumerate(zip(scene.uncertain, scene.known_t, scene.records, strict=True)):
        part = scene.parts_known[at]
        if part is not None:
            like, target = part
            own = take(like.record, scene.rows[rows])
            parts[" + ".join(u.variables_known)] = like.log(take(target, np.full(len(rows), i)), own)
        elif t is not None and (scene.numeric[at] or u.direct or not scene.mixture):
            parts[" + ".join(u.variables)] = u.like.log(take(t, np.full(len(rows), i)), take(z, rows))
    return parts


def log_mixture(scene: Scene, i: int, rows: I64) -> F64:
    """log sum_k e_k(t) L_kj (times Pr(k, known numbers given record j's cell) with helpers)."""
    t = np.array([i])
    if no_class_fits(scene, t)[0]:
        # Belief in the unknown ones alone, likelihoods at the target's own known values.
        cell = scene.cells_r.of_records[rows] if scene.helped else np.repeat(scene.cells.of_targets[t], len(rows))
        return np.asarray(logsumexp(scene.log_pi_r[cell] + log_unknown(scene, rows, target=i), axis=1))
    joint = log_belief(scene, t) + _unknown_of_block(scene, int(scene.block_t[i]), rows)
    if scene.helped:
        cell = scene.cells_r.of_records[rows]
        joint = joint + scene.log_pi_r[cell] + log_limits(scene, cell, scene.numbers)
        joint = joint + log_numbers(scene, np.full(len(rows), i), cell, scene.numbers)
    out = logsumexp(joint, axis=1)
    return np.asarray(out - log_normaliser(scene, t)[0])


def _unknown_of_block(scene: Scene, block: int, rows: I64) -> F64:
    """`log_unknown` of a block's records, remembered: targets come block by block."""
    found = scene.remembered.get(block)
    if found is None:
        if len(scene.remembered) >= 8:
            scene.remembered.clear()
        found = scene.remembered[block] = log_unknown(scene, rows)
    return found


def log_nearest(scene: Scene, i: int, rows: I64) -> F64:
    """0 for the nearest records in standardised distance, -inf for others: a naive intruder's choice."""
    distance = np.zeros(len(rows))
    for v in scene.knowledge.nearest:
        z = scene.released[v].values
        scale = float(np.nanstd(scene.case.released[v].values)) or 1.0
        gap = np.abs(z[rows] - scene.targets[v].values[i]) / scale
        distance += np.where(np.isnan(gap), np.inf, gap) ** 2
    near = np.sqrt(distance)
    best = near.min()
    return np.where(near <= best * (1 + 1e-9), 0.0, -np.inf) if np.isfinite(best) else np.full(len(rows), -np.inf)
