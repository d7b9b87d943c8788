r"""Several known uncertain numbers together in part A: one joint sum over pairs (triples, ...) of values that occur.

Numbers in a file depend on each other in ways no simple model has (a household's income equals its only wage). So
the belief in a combination y of values is the reference file's own joint distribution, tilted towards the cell and
class by the same normal-score regressions as for one number alone:

.. math:: \Pr(y_g \mid c, k) \propto n_g \frac{N(s_g;\ \mu_{ck}, \Sigma)}{N(s_g;\ \bar s, S)}

with :math:`\Sigma` the covariance of the regressions' residuals and :math:`\bar s, S` the scores' own mean and
covariance. Values closer than the noise can tell apart are merged. In several dimensions a record of a small file is
often its own only neighbour, and its own values would then pass for how common such values are; so each combination is
blurred as far as its fifth neighbour lies, in units of the noise. In a dense file that is next to nothing.

With swapped numbers, whose values are exact, one record is taken off every :math:`n_g`, since the target itself is no
reason to expect somebody like it; what is taken off goes to the product of single beliefs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import logsumexp

from confide.attack.beliefs.sums import PAIRS, as_targets, pieces
from confide.attack.engine import kernels
from confide.attack.engine.grouping import Distinct
from confide.attack.engine.room import node_room
from confide.frames.columns import F64, I64, Bools
from confide.protect.seam.evidence import Columns, Likelihood, Match, Normal, take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene

NEIGHBOURS, FARTHEST = 5, 3.0
"""A combination is blurred to its neighbour of this number, but no farther than so many standard deviations."""
BLURS = (-1.0, 0.25, 1.0, FARTHEST)
"""Combinations blurred about alike are worked on together: how far they reach decides how many there are."""
STEPS_PER_SD = 4
"""Combinations are merged on a grid of this many steps per standard deviation of the noise."""


@dataclass(frozen=True, eq=False)
class JointBelief:
    """`nodes`: (d, G) combinations, sorted by the first; `log_n`: (G,) log counts less the log density of their scores.

    `scores`: (d, G); `mu`: (d, cells, K); `precision`: (d, d) of the residuals. `rest`: the share of belief that is
    left to combinations nobody else has, for which the numbers are taken one by one. `blur`: (G,) how far each
    combination is blurred, in standard deviations of the noise.
    """

    nodes: F64
    scores: F64
    log_n: F64
    mu: F64
    precision: F64
    rest: float
    blur: F64


def fit_joint(numbers: Sequence[Number]) -> JointBelief | None:
    """The belief in combinations of several numbers; None where the reference holds none (a uniform belief)."""
    beliefs = [n.belief for n in numbers]
    if any(b is None or not len(b.rows) for b in beliefs):
        return None
    rows = beliefs[0].rows  # type: ignore[union-attr]
    for b in beliefs[1:]:
        rows = np.intersect1d(rows, b.rows, assume_unique=True)  # type: ignore[union-attr]
    if len(rows) < 3:
        return None
    y, residual, s, mu = [], [], [], []
    for b in beliefs:
        assert b is not None
        at = np.searchsorted(b.rows, rows)
        y.append(b.y[at])
        residual.append(b.residual[at] * b.tau)
        s.append(b.score(b.y[at]))
        mu.append(b.mu)
    values, scores = np.array(y), np.array(s)
    nodes, where, count = _merged(values, numbers)
    at_node = np.array([np.bincount(where, weights=v) / count for v in scores])
    spread = np.cov(scores) + 1e-6 * np.eye(len(numbers))
    centred = at_node - scores.mean(axis=1, keepdims=True)
    log_marginal = -0.5 * np.einsum("ig,ij,jg->g", centred, np.linalg.inv(spread), centred)
    sigma = np.array(residual) @ np.array(residual).T / len(rows) + 1e-6 * np.eye(len(numbers))
    order = np.argsort(nodes[0], kind="stable")
    rest = 0.0
    if not all(smooth(n.like_a) for n in numbers):
        # Exact values: whoever is the target must not count as somebody else. One record less in each node, the share
        # so freed to the margins.
        rest = len(count) / len(rows) if np.any(count > 1) else 1.0
        count = count - 1
    blur = _blur(numbers, nodes, count) if rest == 0 else np.zeros(len(count))
    with np.errstate(divide="ignore"):
        log_n = np.log(count) - log_marginal
    return JointBelief(
        np.ascontiguousarray(nodes[:, order]), np.ascontiguousarray(at_node[:, order]), log_n[order],
        np.ascontiguousarray(np.array(mu)), np.asarray(np.linalg.inv(sigma), dtype=np.float64), rest,
        blur[order],
    )  # fmt: skip


def _merged(values: F64, numbers: Sequence[Number]) -> tuple[F64, I64, F64]:
    """Combinations on a grid as fine as the noise: nodes (d, G) at their means, each row's node, counts.

    A number that is swapped, whose value matches or does not, stays as it is.
    """
    likes: list[Any] = [n.like_a for n in numbers]
    grid = [
        np.floor(like.in_steps(v, STEPS_PER_SD)) if smooth(like) else v for v, like in zip(values, likes, strict=True)
    ]
    distinct = Distinct.rows(grid, values.shape[1])
    nodes = np.array([np.bincount(distinct.of, weights=v) / distinct.count for v in values])
    for i, like in enumerate(likes):
        if not smooth(like):
            nodes[i] = values[i][distinct.first]
    return nodes, distinct.of, distinct.count


def _blur(numbers: Sequence[Number], nodes: F64, count: F64) -> F64:
    """How far each combination's fifth neighbour is, in standard deviations of the noise a dimension, shape (G,)."""
    likes: list[Any] = [n.like_a for n in numbers]
    scaled = [like.in_steps(y, 1.0) for like, y in zip(likes, nodes, strict=True) if smooth(like)]
    points = np.stack(scaled, axis=1)
    distance, who = cKDTree(points).query(points, k=min(NEIGHBOURS + 1, len(points)))
    distance, who = distance.reshape(len(points), -1), who.reshape(len(points), -1)
    within = np.cumsum(count[who], axis=1) - 1  # without itself
    enough = within >= NEIGHBOURS
    at = np.where(enough.any(axis=1), enough.argmax(axis=1), distance.shape[1] - 1)
    return np.asarray(np.minimum(distance[np.arange(len(points)), at] / np.sqrt(len(scaled)), FARTHEST))


def log_joint(scene: Scene, numbers: Sequence[Number], rows: I64, single: Callable[..., F64]) -> F64:
    """log of the joint integral over beliefs for known uncertain numbers, shape (rows, K).

    Records whose label leaves fewer than two numbers noisy take `single`, the one-number integral.
    """
    # A noisy one first: the kernel looks near its value.
    numbers = sorted(numbers, key=lambda n: n.like_a.sd if isinstance(n.like_a, Normal) else -1.0, reverse=True)
    inside = np.stack([_inside(scene, n, rows) for n in numbers])
    out = np.zeros((len(rows), scene.classes.size))
    for pattern in np.unique(inside.T, axis=0):
        at = np.flatnonzero(np.all(inside == pattern[:, None], axis=0))
        which = [n for n, noisy in zip(numbers, pattern, strict=True) if noisy]
        for n in which:
            out[at] += single(scene, n, rows[at], for_a=True)
        belief = fit_joint(which) if len(which) > 1 else None
        if belief is not None and belief.rest < 1:
            compiled = all(isinstance(n.like_a, (Normal, Match)) for n in which)
            joint = (_log_sums if compiled else _log_sums_plainly)(scene, which, belief, rows[at])
            with np.errstate(divide="ignore"):
                out[at] = np.logaddexp(np.log1p(-belief.rest) + joint, np.log(belief.rest) + out[at])
    return out


def _inside(scene: Scene, number: Number, rows: I64) -> Bools:
    """Records whose value of a number is uncertain."""
    record = {} if number.like_a is None else number.like_a.record
    if "inside" in record:
        return np.asarray(record["inside"][scene.rows][rows])
    return np.asarray(~np.isnan(scene.released[number.variable].values[rows]))


def _log_sums(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> F64:
    low, high, same, diff = (np.zeros((len(which), len(rows))) for _ in range(4))
    for i, n in enumerate(which):
        like = n.like_a
        if isinstance(like, Normal):
            low[i], high[i] = like.low[scene.rows][rows], like.high[scene.rows][rows]
        elif isinstance(like, Match):
            low[i] = high[i] = scene.released[n.variable].values[rows]
            same[i], diff[i] = like.log_same[scene.rows][rows], like.log_diff[scene.rows][rows]
    noisy = np.array([isinstance(n.like_a, Normal) for n in which])
    sd, places = np.ones_like(belief.nodes), belief.nodes.copy()
    for i, n in enumerate(which):
        if isinstance(n.like_a, Normal):
            places[i] = n.like_a.on(belief.nodes[i])
            sd[i] = n.like_a.sd_at(belief.nodes[i]) * np.hypot(1.0, belief.blur)
    rho = noise_correlation(scene, which)
    allowed = _log_allowed(scene, which, belief.nodes)
    correlated = not np.array_equal(rho, np.eye(len(which)))
    cell = scene.cells_r.of_records[rows]
    order = np.argsort(cell, kind="stable")
    out = np.empty((len(rows), scene.classes.size))
    part = np.empty_like(out)
    kernels.log_joint_sums(
        order, low, high, sd, noisy, same, diff, np.linalg.inv(rho), 0.5 * float(np.linalg.slogdet(rho)[1]), correlated,
        places, allowed, belief.scores, belief.log_n, belief.mu, belief.precision, cell,
        *node_room(belief.nodes.shape[1], scene.classes.size), np.empty(len(which)), part,
    )  # fmt: skip
    out[order] = part
    return out


def _log_sums_plainly(scene: Scene, which: Sequence[Number], belief: JointBelief, rows: I64) -> F64:
    """The same sums for likelihoods without a compiled loop, cell by cell, over the combinations in reach."""
    likes: list[Any] = [n.like_a for n in which]
    t = [as_targets(scene, n, like, y) for n, like, y in zip(which, likes, belief.nodes, strict=True)]
    z = [take(like.record, scene.rows[rows]) for like in likes]
    where = [np.flatnonzero((belief.blur > a) & (belief.blur <= b)) for a, b in pairwise(BLURS)]
    parts = [_log_sums_of(scene, likes, t, z, belief, at, rows) for at in where if len(at)]
    return np.asarray(np.logaddexp.reduce(parts, axis=0))


def _log_sums_of(
    scene: Scene, likes: list[Any], nodes: list[Columns], z: list[Columns], belief: JointBelief, which: I64, rows: I64
) -> F64:
    """The part of those sums that is due to some of the combinations, blurred about alike."""
    t = [take(of, which) for of in nodes]
    blur = belief.blur[which]
    first, last = likes[0].band(t[0], z[0], float(blur.max(initial=0.0)))
    t = [like.blurred(of, blur) for like, of in zip(likes, t, strict=True)]
    cell, k = scene.cells_r.of_records[rows], scene.classes.size
    out = np.full((len(rows), k), -np.inf)
    order = np.argsort(cell, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1):
        gap = belief.scores[:, :, None] - belief.mu[:, cell[mine[0]], :][:, None, :]
        log_p = belief.log_n[:, None] - 0.5 * np.einsum("igk,ij,jgk->gk", gap, belief.precision, gap)
        log_p = (log_p - logsumexp(log_p, axis=0))[which]
        for a, b in pieces((last - first)[mine], max(PAIRS // k, 1)):
            at = mine[a:b]
            count = (last - first)[at]
            j = np.repeat(np.arange(b - a), count)
            g = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first[at], count)
            value = log_p[g]
            for like, of_node, of_record in zip(likes, t, z, strict=True):
                value = value + like.log(take(of_node, g), take(of_record, at[j]))[:, None]
            out[at] = _log_by_record(value, j, b - a)
    return out


def _log_by_record(value: F64, j: I64, n: int) -> F64:
    """log of sums of exponentials over the entries of each record, shape (n, K)."""
    top = np.full((n, value.shape[1]), -np.inf)
    np.maximum.at(top, j, value)
    safe = np.where(np.isfinite(top), top, 0.0)
    total = np.zeros_like(top)
    np.add.at(total, j, np.exp(value - safe[j]))
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(total))


def smooth(like: Likelihood | None) -> bool:
    """Whether a likelihood tells near values from far ones, so that near ones may be merged."""
    return like is not None and like.scale is not None


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
