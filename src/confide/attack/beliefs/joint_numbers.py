r"""Several known uncertain numbers together in part A: one joint sum over pairs (triples, ...) of values that occur.

Numbers in a file depend on each other in ways no simple model has (a household's income equals its only wage). So
the belief in a combination of values is the reference file's own joint distribution, tilted towards the cell and class
(`score_tilts`). Values closer than the noise can tell apart are merged. In several dimensions a record of a small file
is often its own only neighbour, and its own values would then pass for how common such values are; so each combination
is blurred as far as its fifth neighbour lies, in units of the noise. In a dense file that is next to nothing.

With swapped numbers, whose values are exact, one record is taken off every :math:`n_g`, since the target itself is no
reason to expect somebody like it; what is taken off goes to combinations near by (`near_values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from confide.attack.beliefs.held_out import U64
from confide.attack.beliefs.near_values import NearValues, best_width
from confide.attack.beliefs.regressions import Fitted, NumberBelief
from confide.attack.beliefs.score_tilts import Predictors, Tilts, log_norms
from confide.frames.columns import F64, I64, Bools, Column
from confide.frames.distinct import Distinct
from confide.protect.likelihoods.match import Match
from confide.protect.likelihoods.normal import Normal
from confide.protect.seam.likelihood import Likelihood

NEIGHBOURS, FARTHEST = 5, 3.0
"""A combination is blurred to its neighbour of this number, but no farther than so many standard deviations."""
STEPS_PER_SD = 4
"""Combinations are merged on a grid of this many steps per standard deviation of the noise."""


@dataclass(frozen=True, eq=False)
class JointBelief:
    """`nodes`: (d, G) combinations, sorted by the first; `log_n`: (G,) log counts less the log density of their scores.

    `scores`: (d, G); `pattern`: (G,) which of P patterns each has; `log_pattern`: (P, cells, K) log of a pattern's
    probability; `log_share`: the same over the sum of its masses; `mu`: (P, d, cells, K) and `precision`: (P, d, d) as
    in `score_tilts`. `rest`: (P,) the share of each pattern that is left to combinations nobody else has. `blur`: (G,)
    how far each combination is blurred, in standard deviations of the noise. `near`: where numbers were exchanged, the
    belief in neighbourhoods of combinations, which has the rest (else it goes to the numbers one by one); `values`: how
    near values of such a number are, None for others.
    """

    nodes: F64
    scores: F64
    log_n: F64
    pattern: I64
    log_pattern: F64
    log_share: F64
    mu: F64
    precision: F64
    rest: F64
    blur: F64
    near: JointBelief | None = None
    values: tuple[NearValues | None, ...] = ()

    def log_rest(self, cell: I64) -> F64:
        """log of what is left to combinations nobody else has, shape (len(cell), K)."""
        taken = np.zeros(self.log_share.shape[1:])
        for p, rest in enumerate(self.rest):
            taken += rest * np.exp(self.log_pattern[p])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(taken)[cell])

    def log_masses(self, node: I64, cell: I64) -> F64:
        """log of belief in nodes given cells and classes, aligned, shape (n, K)."""
        p = self.pattern[node]
        out = self.log_n[node][:, None] + self.log_share[p, cell]
        gap = [s[node][:, None] - self.mu[p, i, cell] for i, s in enumerate(self.scores)]
        for i, j in product(range(len(gap)), repeat=2):
            out -= (0.5 * self.precision[p, i, j])[:, None] * gap[i] * gap[j]
        return out


def fit_joint(
    beliefs: Sequence[tuple[NumberBelief, Fitted]], likes: Sequence[Any], about: Predictors
) -> JointBelief | None:
    """The belief in combinations of several numbers, whose likelihoods are given; None where few rows have them all."""
    rows = beliefs[0][1].rows
    for _, fitted in beliefs[1:]:
        rows = np.intersect1d(rows, fitted.rows, assume_unique=True)
    if len(rows) < 3:
        return None
    y = [fitted.y[np.searchsorted(fitted.rows, rows)] for _, fitted in beliefs]
    values, scores = np.array(y), np.array([b.score(v) for (b, _), v in zip(beliefs, y, strict=True)])
    of = _Rows(values, scores, Tilts.fit(values, scores, rows, about))
    made = of.belief(likes)
    if not any(isinstance(like, Match) for like in likes):
        return made
    nearness = near_values([b for b, _ in beliefs], of.values, of.scores, likes, about.held.digest[rows])
    near = of.belief([like if v is None else v for like, v in zip(likes, nearness, strict=True)])
    with np.errstate(divide="ignore"):
        near = replace(near, log_share=near.log_share + np.log(made.rest)[:, None, None])
    return replace(made, near=near, values=nearness)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows that have all numbers: `values`, `scores`: (d, n), and what is fitted to them."""

    values: F64
    scores: F64
    tilts: Tilts

    def belief(self, likes: Sequence[Likelihood]) -> JointBelief:
        """The belief in their combinations, merged as far as these likelihoods cannot tell them apart."""
        tilts = self.tilts
        nodes, where, count = _merged(self.values, likes, tilts.of)
        order = np.argsort(nodes[0], kind="stable")
        scores = np.array([np.bincount(where, weights=v) / count for v in self.scores])[:, order]
        nodes, count = nodes[:, order], count[order]
        pattern = np.empty(len(where), dtype=np.int64)
        pattern[where] = tilts.of
        pattern = pattern[order]
        rest = np.zeros(len(tilts.mean))
        exact = not all(smooth(like) for like in likes)
        if exact:
            # Exact values: whoever is the target must not count as somebody else. One record less in each node.
            rest = np.bincount(pattern, minlength=len(rest)) / np.bincount(tilts.of, minlength=len(rest))
            count = count - 1
        blur = np.zeros(len(count)) if exact else _blur(likes, nodes, count)
        with np.errstate(divide="ignore"):
            log_n = np.log(count) - tilts.log_own(scores, pattern)
        norms = log_norms(log_n, scores, pattern, tilts)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(np.isfinite(norms), tilts.log_share + np.log1p(-rest)[:, None, None] - norms, -np.inf)
        return JointBelief(
            np.ascontiguousarray(nodes), np.ascontiguousarray(scores), log_n, pattern, tilts.log_share, share, tilts.mu,
            tilts.precision, rest, blur,
        )  # fmt: skip


def near_values(
    beliefs: Sequence[NumberBelief], values: F64, scores: F64, likes: Sequence[Likelihood], digest: U64
) -> tuple[NearValues | None, ...]:
    """How near values of the exchanged numbers are, None for others."""
    moved = [isinstance(like, Match) for like in likes]
    beside = [like.in_steps(y, 1.0) for like, y in zip(likes, values, strict=True) if smooth(like)]
    width = best_width(scores[moved], beside, digest)
    out: list[NearValues | None] = []
    for b, y, mine in zip(beliefs, values, moved, strict=True):
        if mine:
            known, count = np.unique(y, return_counts=True)
            out.append(NearValues(known, b.score(known), count / len(y), width, 1 / len(y)))
        else:
            out.append(None)
    return tuple(out)


def _merged(values: F64, likes: Sequence[Any], pattern: I64) -> tuple[F64, I64, F64]:
    """Combinations on a grid as fine as the noise: nodes (d, G) at their means, each row's node, counts.

    A number that is swapped, whose value matches or does not, stays as it is; so does one at a spike.
    """
    grid = [
        np.floor(like.in_steps(v, STEPS_PER_SD)) if smooth(like) else v for v, like in zip(values, likes, strict=True)
    ]
    distinct = Distinct.rows([*grid, pattern], values.shape[1])
    nodes = np.array([np.bincount(distinct.of, weights=v) / distinct.count for v in values])
    for i, like in enumerate(likes):
        if not smooth(like):
            nodes[i] = values[i][distinct.first]
    return nodes, distinct.of, distinct.count


def _blur(likes: Sequence[Any], nodes: F64, count: F64) -> F64:
    """How far each combination's fifth neighbour is, in standard deviations of the noise a dimension, shape (G,)."""
    from scipy.spatial import cKDTree  # a tenth of a second that other attacks do not need

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
