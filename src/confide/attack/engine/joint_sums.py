"""Part A of several known uncertain numbers together: sums over combinations of values that are believed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.joint_numbers import JointBelief, uncertain_in
from confide.attack.engine import kernels
from confide.attack.engine.joint_exchanged import log_exchanged
from confide.attack.engine.joint_pairs import log_sums_plainly, sides
from confide.attack.engine.kernels.arguments import JointNodes, JointNoise, Seen
from confide.attack.engine.room import node_room
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.normal import Normal

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene


def log_joint(scene: Scene, asked: Sequence[int], rows: I64, single: Callable[..., F64]) -> F64:
    """log of the joint integral over beliefs for known uncertain numbers, given by position, shape (rows, K).

    Records whose label leaves fewer than two numbers noisy take `single`, the one-number integral.
    """
    numbers = scene.numbers
    inside = np.stack(
        [uncertain_in(numbers[i].like_a, scene.case.released[numbers[i].variable], scene.rows[rows]) for i in asked]
    )
    out = np.zeros((len(rows), scene.classes.size))
    for pattern in np.unique(inside.T, axis=0):
        at = np.flatnonzero(np.all(inside == pattern[:, None], axis=0))
        found = tuple(i for i, noisy in zip(asked, pattern, strict=True) if noisy)
        which = [numbers[i] for i in found]
        out[at] = _log_together(scene, which, scene.fit.believed.joint.get(found), rows[at], single)
    return out


def _log_together(
    scene: Scene, which: Sequence[Number], belief: JointBelief | None, rows: I64, single: Callable[..., F64]
) -> F64:
    if belief is not None and belief.near is not None:
        return log_exchanged(scene, which, belief, rows, single)
    if belief is not None and all(isinstance(n.like_a, Normal) for n in which):
        return _log_sums(scene, which, belief, rows)
    alone = np.zeros((len(rows), scene.classes.size))
    if belief is None or belief.rest.any():
        for n in which:
            alone += single(scene, n, rows, for_a=True)
    if belief is None:
        return alone
    cell = scene.cell_r[rows]
    joint = log_sums_plainly(sides(scene, which, belief, rows), belief, cell)
    return np.asarray(np.logaddexp(joint, belief.log_rest(cell) + alone)) if belief.rest.any() else joint


def _log_sums(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> F64:
    likes: list[Any] = [n.like_a for n in which]
    low, high = (np.array([getattr(like, end)[scene.rows][rows] for like in likes]) for end in ("low", "high"))
    places = np.array([like.on(y) for like, y in zip(likes, belief.nodes, strict=True)])
    wider = np.hypot(1.0, belief.blur)
    sd = np.array([like.sd_at(y) * wider for like, y in zip(likes, belief.nodes, strict=True)])
    rho = noise_correlation(scene, which)
    allowed = _log_allowed(scene, which, belief.nodes)
    correlated = not np.array_equal(rho, np.eye(len(which)))
    cell = scene.cell_r[rows]
    order = np.argsort(cell, kind="stable")
    out = np.empty((len(rows), scene.classes.size))
    part = np.empty_like(out)
    noise = JointNoise(
        sd, np.asarray(np.linalg.inv(rho), dtype=float), 0.5 * float(np.linalg.slogdet(rho)[1]), correlated
    )
    believed = JointNodes(
        places, allowed, belief.scores, belief.log_n, belief.pattern, belief.log_share, belief.mu, belief.precision
    )
    space = node_room(belief.nodes.shape[1], scene.classes.size)
    kernels.log_joint_sums(order, cell, Seen(low, high), noise, believed, *space, np.empty(len(which)), part)
    out[order] = part
    return out


def _log_allowed(scene: Scene, which: Sequence[Number], nodes: F64) -> F64:
    """log of what may be drawn around each combination, shape (G,)."""
    u = scene.uncertain[which[0].item]
    if u.like_a is not None and all(n.item == which[0].item for n in which):
        together = u.like_a.log_allowed_jointly([u.variables.index(n.variable) for n in which], nodes)
        if together is not None:
            return together
    likes: list[Any] = [n.like_a for n in which]
    parts = [like.log_allowed(y) for like, y in zip(likes, nodes, strict=True) if isinstance(like, Normal)]
    return np.asarray(np.sum(parts, axis=0)) if parts else np.zeros(nodes.shape[1])


def noise_correlation(scene: Scene, numbers: Sequence[Number]) -> F64:
    """Correlation of the noise itself, for variables that one step altered jointly."""
    d = len(numbers)
    out = np.eye(d)
    for a in range(d):
        for b in range(a):
            if numbers[a].item == numbers[b].item:
                u = scene.uncertain[numbers[a].item]
                rho = u.like.correlation()
                i, j = u.variables.index(numbers[a].variable), u.variables.index(numbers[b].variable)
                out[a, b] = out[b, a] = rho[i, j]
    return out
