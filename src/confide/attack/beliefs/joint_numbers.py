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

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import logsumexp

from confide.attack.beliefs.regressions import Fitted, NumberBelief
from confide.frames.columns import F64, I64, Bools, Column
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Likelihood

NEIGHBOURS, FARTHEST = 5, 3.0
"""A combination is blurred to its neighbour of this number, but no farther than so many standard deviations."""
NORM = 1_000_000
"""Combinations times cells in one go."""
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

    def log_masses(self, node: I64, cell: I64) -> F64:
        """log of belief in nodes given cells and classes but for the norm, aligned, shape (n, K)."""
        gap = self.scores[:, node][:, :, None] - self.mu[:, cell]
        out = np.broadcast_to(self.log_n[node][:, None], gap.shape[1:]).copy()
        for i, j in product(range(len(gap)), repeat=2):
            out -= (0.5 * self.precision[i, j]) * gap[i] * gap[j]
        return out

    def log_norm(self, cell: I64) -> F64:
        """What is to be taken off for these cells, shape (len(cell), K)."""
        cells, of = np.unique(cell, return_inverse=True)
        d, k = len(self.scores), self.mu.shape[2]
        mu = self.mu[:, cells].reshape(d, -1)
        slope, own = self.precision @ mu, -0.5 * np.einsum("ic,ij,jc->c", mu, self.precision, mu)
        base = self.log_n - 0.5 * np.einsum("ig,ij,jg->g", self.scores, self.precision, self.scores)
        out = np.empty(mu.shape[1])
        step = max(NORM // len(base), 1)
        for at in range(0, len(out), step):
            out[at : at + step] = logsumexp(slope[:, at : at + step].T @ self.scores + base, axis=1)
        return (out + own).reshape(len(cells), k)[of]


def fit_joint(beliefs: Sequence[tuple[NumberBelief, Fitted]], likes: Sequence[Any]) -> JointBelief | None:
    """The belief in combinations of several numbers, whose likelihoods are given; None where few rows have them all."""
    rows = beliefs[0][1].rows
    for _, fitted in beliefs[1:]:
        rows = np.intersect1d(rows, fitted.rows, assume_unique=True)
    if len(rows) < 3:
        return None
    y, residual, s, mu = [], [], [], []
    for b, fitted in beliefs:
        at = np.searchsorted(fitted.rows, rows)
        y.append(fitted.y[at])
        residual.append(fitted.residual[at])
        s.append(b.score(fitted.y[at]))
        mu.append(b.mu)
    values, scores = np.array(y), np.array(s)
    nodes, where, count = _merged(values, likes)
    at_node = np.array([np.bincount(where, weights=v) / count for v in scores])
    spread = np.cov(scores) + 1e-6 * np.eye(len(likes))
    centred = at_node - scores.mean(axis=1, keepdims=True)
    log_marginal = -0.5 * np.einsum("ig,ij,jg->g", centred, np.linalg.inv(spread), centred)
    sigma = np.array(residual) @ np.array(residual).T / len(rows) + 1e-6 * np.eye(len(likes))
    order = np.argsort(nodes[0], kind="stable")
    rest = 0.0
    if not all(smooth(like) for like in likes):
        # Exact values: whoever is the target must not count as somebody else. One record less in each node, the share
        # so freed to the margins.
        rest = len(count) / len(rows) if np.any(count > 1) else 1.0
        count = count - 1
    blur = _blur(likes, nodes, count) if rest == 0 else np.zeros(len(count))
    with np.errstate(divide="ignore"):
        log_n = np.log(count) - log_marginal
    return JointBelief(
        np.ascontiguousarray(nodes[:, order]), np.ascontiguousarray(at_node[:, order]), log_n[order],
        np.ascontiguousarray(np.array(mu)), np.asarray(np.linalg.inv(sigma), dtype=np.float64), rest,
        blur[order],
    )  # fmt: skip


def _merged(values: F64, likes: Sequence[Any]) -> tuple[F64, I64, F64]:
    """Combinations on a grid as fine as the noise: nodes (d, G) at their means, each row's node, counts.

    A number that is swapped, whose value matches or does not, stays as it is.
    """
    grid = [
        np.floor(like.in_steps(v, STEPS_PER_SD)) if smooth(like) else v for v, like in zip(values, likes, strict=True)
    ]
    distinct = Distinct.rows(grid, values.shape[1])
    nodes = np.array([np.bincount(distinct.of, weights=v) / distinct.count for v in values])
    for i, like in enumerate(likes):
        if not smooth(like):
            nodes[i] = values[i][distinct.first]
    return nodes, distinct.of, distinct.count


def _blur(likes: Sequence[Any], nodes: F64, count: F64) -> F64:
    """How far each combination's fifth neighbour is, in standard deviations of the noise a dimension, shape (G,)."""
    scaled = [like.in_steps(y, 1.0) for like, y in zip(likes, nodes, strict=True) if smooth(like)]
    points = np.stack(scaled, axis=1)
    distance, who = cKDTree(points).query(points, k=min(NEIGHBOURS + 1, len(points)))
    distance, who = distance.reshape(len(points), -1), who.reshape(len(points), -1)
    within = np.cumsum(count[who], axis=1) - 1  # without itself
    enough = within >= NEIGHBOURS
    at = np.where(enough.any(axis=1), enough.argmax(axis=1), distance.shape[1] - 1)
    return np.asarray(np.minimum(distance[np.arange(len(points)), at] / np.sqrt(len(scaled)), FARTHEST))


def smooth(like: Likelihood) -> bool:
    """Whether a likelihood tells near values from far ones, so that near ones may be merged."""
    return like.scale is not None


def known_together(known: Sequence[bool], likes: Sequence[Any]) -> list[int]:
    """Positions of known numbers that part A asks about. A noisy one comes first: loops look near its value."""
    asked = [i for i, (mine, like) in enumerate(zip(known, likes, strict=True)) if mine and like is not None]
    return sorted(asked, key=lambda i: likes[i].sd if isinstance(likes[i], Normal) else -1.0, reverse=True)


def uncertain_in(like: Likelihood | None, column: Column, rows: I64) -> Bools:
    """Records whose value of a number is uncertain."""
    record = {} if like is None else like.record
    return np.asarray(record["inside"][rows] if "inside" in record else ~np.isnan(column.values[rows]))
