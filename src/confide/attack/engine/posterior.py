r"""The formula. For a target t and a released record j of its block,

.. math:: w_j(t) = \frac{\sum_{k \in S_t} e_k(t)\, L_{kj}}{m_j} \prod_v f_v(z_{jv} \mid t_v)

where k runs over joint categories (classes) of the uncertain variables, :math:`L_{kj}` is the likelihood of record
j's categories and unknown numbers in class k, :math:`e_k(t)` the belief in class k given all that is known of the
target, :math:`f_v` the likelihood of a known noisy number, and :math:`m_j` the same sum without the target
(1 / A in print). Where every class is known the sum has one term and e is 1.

`Scene` holds these arrays for one pattern of knowledge; `log_weights` is the formula for one target and `log_block`
for several of one block, plainly; the compiled kernels do the same for all targets at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from confide.attack.engine import kernels
from confide.attack.engine.nearest import log_nearest
from confide.attack.engine.record_side import log_unknown
from confide.attack.engine.scene import Scene
from confide.attack.engine.target_side import log_belief, log_limits, log_normaliser, log_numbers, no_class_fits
from confide.frames.columns import F64, I64
from confide.protect.seam.likelihood import Columns, Likelihood, take


def log_weights(scene: Scene, i: int) -> tuple[I64, dict[str, F64]]:
    """Candidates of target i (positions in `scene.rows`) and the logs of C (by variable), B and A."""
    rows = scene.members(int(scene.block_t[i]))
    if not len(rows):
        return rows, {}
    return rows, {
        name: part[0] for name, part in log_block(scene, np.array([i]), rows, unknown_of(scene, rows)).items()
    }


def log_block(scene: Scene, t: I64, rows: I64, unknown: F64 | None) -> dict[str, F64]:
    """The logs of C (by variable), B and A for targets of one block and records of it, each of shape (len(t), rows).

    `unknown`: `unknown_of` the rows.
    """
    shape = (len(t), len(rows))
    parts: dict[str, F64] = {}
    if scene.knowledge.nearest:
        parts["nearest"] = log_nearest(scene, t, rows)
    if unknown is not None:
        who, which = np.repeat(np.arange(len(t)), len(rows)), np.tile(np.arange(len(rows)), len(t))
        parts["unavailable"] = log_mixture(scene, t, rows, who, which, unknown).reshape(shape)
    for name, like, target, record, of in _known(scene):
        parts[name] = like.log_every(take(target, t), take(record, rows if of is None else of[rows]))
    if _others_matter(scene, rows):
        parts["others"] = np.tile(-scene.log_m[rows], (len(t), 1))
    return parts


def unknown_of(scene: Scene, rows: I64) -> F64 | None:
    """`log_unknown` of records where unknown classes are averaged over, else None."""
    return log_unknown(scene, rows) if scene.fit.mixture else None


def log_pairs(scene: Scene, t: I64, rows: I64, who: I64, which: I64, unknown: F64 | None) -> dict[str, F64]:
    """The same for pairs: targets t[who] beside records rows[which]. `unknown`: `log_unknown` of the rows."""
    parts: dict[str, F64] = {}
    if unknown is not None:
        parts["unavailable"] = log_mixture(scene, t, rows, who, which, unknown)
    parts |= log_known(scene, t[who], rows[which])
    if _others_matter(scene, rows):
        parts["others"] = -scene.log_m[rows][which]
    return parts


def _others_matter(scene: Scene, rows: I64) -> bool:
    """Whether part A can say something of these records."""
    says = any(u.like_a is not None or u.log_own is not None for u in scene.uncertain)
    return says or bool(scene.log_m[rows].any())


def log_known(scene: Scene, who: I64, which: I64) -> dict[str, F64]:
    """log C by variable, of aligned targets and records, for what multiplies in by itself and not through classes."""
    return {
        name: like.log_pairs(target, who, record, which if of is None else of[which])
        for name, like, target, record, of in _known(scene)
    }


def _known(scene: Scene) -> Iterator[tuple[str, Likelihood, Columns, Columns, I64 | None]]:
    """What multiplies in by itself and not through classes: its name, its likelihood, the sides of all targets and of
    records, and which of the latter each record of the scene is (None: the same)."""
    for at, (u, known, z) in enumerate(zip(scene.uncertain, scene.known_t, scene.records, strict=True)):
        part = scene.side.parts_known[at]
        if part is not None:
            like, target = part
            yield " + ".join(u.variables_known), like, target, like.record, scene.rows
        elif not u.silent and known is not None and (scene.fit.numeric[at] or u.direct or not scene.fit.mixture):
            yield " + ".join(u.variables), u.like, known, z, None


def log_mixture(scene: Scene, t: I64, rows: I64, who: I64, which: I64, unknown: F64) -> F64:
    """log sum_k e_k(t) L_kj (times Pr(k, known numbers given record j's cell) with helpers), of aligned pairs."""
    if scene.fit.helped:
        cell = scene.cell_r[rows]
        joint = log_belief(scene, t)[who] + unknown[which]
        joint = joint + (scene.fit.believed.log_pi_r[cell] + log_limits(scene, cell, scene.numbers))[which]
        joint = joint + log_numbers(scene, t[who], cell[which], scene.numbers, scene.fit.believed.correlation)
        out = np.asarray(logsumexp(joint, axis=1) - log_normaliser(scene, t)[who])
    else:  # beliefs in classes add up to 1
        out = np.empty(len(who))
        kernels.log_mix_pairs(log_belief(scene, t), np.ascontiguousarray(unknown), who, which, out)
    for at in np.flatnonzero(no_class_fits(scene, t)):
        # Belief in the unknown ones alone, likelihoods at the target's own known values.
        mine = np.flatnonzero(who == at)
        own = rows[which[mine]]
        cell = scene.cell_r[own] if scene.fit.helped else np.repeat(scene.cell_t[t[at]], len(own))
        out[mine] = logsumexp(scene.fit.believed.log_pi_r[cell] + log_unknown(scene, own, target=int(t[at])), axis=1)
    return out
