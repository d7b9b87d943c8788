r"""Part A of several numbers together of which some were exchanged (swapped), so that a value is the very one or any.

With a chance a if a record kept its value and b for every other, :math:`\Pr(z \mid y) = b + (a - b) 1[y = z]`. So the
sum over what is believed falls into one for every set S of exchanged numbers,

.. math:: \sum_S \prod_{v \in S} (a_v - b_v) \prod_{v \notin S} b_v \; \Pr(y_S = z_S,\ z_R),

R the noisy numbers: each looks only at combinations with these values, or near them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from confide.attack.beliefs.joint_numbers import JointBelief
from confide.attack.beliefs.near_values import NearValues, SameValue
from confide.attack.engine.joint_pairs import Side, log_sums_plainly, sides
from confide.frames.columns import F64, I64
from confide.protect.likelihoods.match import Match

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene


def log_exchanged(
    scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64, single: Callable[..., F64]
) -> F64:
    """log of the sum over all sets S, shape (rows, K)."""
    moved = [i for i, n in enumerate(which) if isinstance(n.like_a, Match)]
    noisy = [i for i in range(len(which)) if i not in moved]
    kept, lost = _chances(scene, which, moved, rows)
    exact, near = _both(scene, which, belief, rows)
    out = np.full((len(rows), scene.classes.size), -np.inf)
    for many in range(len(moved) + 1):
        for s in combinations(moved, many):
            factor = sum((kept[i] if i in s else lost[i] for i in moved), np.zeros(len(rows)))
            part = _log_chance(scene, which, sorted([*noisy, *s]), belief, rows, single, exact, near)
            out = np.logaddexp(out, factor[:, None] + part)
    return out


def _chances(
    scene: Scene, which: Sequence[Number], moved: list[int], rows: I64
) -> tuple[dict[int, F64], dict[int, F64]]:
    """log(a - b) and log b of every exchanged number."""
    kept, lost = {}, {}
    for i in moved:
        like: Any = which[i].like_a
        same, diff = like.log_same[scene.rows][rows], like.log_diff[scene.rows][rows]
        with np.errstate(divide="ignore"):
            kept[i] = np.log(np.maximum(np.exp(same) - np.exp(diff), 0.0))
        lost[i] = diff
    return kept, lost


def _both(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> tuple[list[Side], list[Side]]:
    """Both sides of every number, among combinations of exact values and among neighbourhoods."""
    near_belief = belief.near
    assert near_belief is not None
    exact, near = sides(scene, which, belief, rows), sides(scene, which, near_belief, rows)
    for i, values in enumerate(belief.values):
        if values is not None:
            z = scene.released[which[i].variable].values[rows]
            exact[i] = Side(SameValue(), {"y": belief.nodes[i]}, {"y": z})
            near[i] = Side(
                values,
                values.around(near_belief.scores[i]),
                values.seen(z, others=sum(v is not None for v in belief.values) > 1),
            )
    return exact, near


def _log_chance(
    scene: Scene, which: Sequence[Number], dims: list[int], belief: JointBelief, rows: I64,
    single: Callable[..., F64], exact: list[Side], near: list[Side],
) -> F64:  # fmt: skip
    """log Pr(y_S = z_S, z_R), shape (rows, K)."""
    cell = scene.cell_r[rows]
    if not dims:
        return np.zeros((len(rows), scene.classes.size))
    if len(dims) == 1:
        n = which[dims[0]]
        if not isinstance(near[dims[0]].like, NearValues):
            return single(scene, n, rows, for_a=True)
        assert n.belief is not None
        return n.belief.log_point(scene.released[n.variable].values[rows], cell)
    assert belief.near is not None
    out = log_sums_plainly([near[i] for i in dims], belief.near, cell)
    return np.logaddexp(out, log_sums_plainly([exact[i] for i in dims], belief, cell))
