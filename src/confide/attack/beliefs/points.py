r"""The values of a number that are believed in: all that occur, and fewer where the noise cannot tell them apart.

Values that lie together within a third of the noise's standard deviation become four points with weights that have
the same first eight moments, Gauss's rule for the file's own distribution among them:

.. math:: \sum_{i=1}^4 w_i x_i^r = \frac{1}{n_G} \sum_{y \in G} n_y y^r, \qquad r = 0 \ldots 7

Averages of a normal likelihood over the points are those over the values to about 1e-8. Likelihoods that can speak of a
whole run of values at once, such as those of ranks, take the run itself. Nothing is merged across a spike or across the
end of an interval that is asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from confide.frames.columns import F64, I64, Bools

RULE = 4
"""Points that a group of merged values becomes."""
GROUP, RUN = 16 / 3, 2
"""How wide such a group is, and how wide a run, in sixteenths of a standard deviation."""


@dataclass(frozen=True, eq=False)
class Points:
    """Values in rising order, shape (G,). `edges`: (G+1,) boundaries between them on the scale of normal scores, where
    a spike has no width; `spike`: which spike each is, -1 for none; `first`, `last`: the least and the greatest
    reference value that each stands for.
    """

    values: F64
    edges: F64
    spike: I64
    first: F64
    last: F64

    def __len__(self) -> int:
        return len(self.values)

    def inside(self, low: float, high: float) -> Bools:
        """Which lie in [low, high]."""
        return np.asarray((self.values >= low) & (self.values <= high))


def every(values: F64, edges: F64, spike: I64) -> Points:
    """All values as they are."""
    return Points(values, edges, spike, values, values)


@dataclass(frozen=True, eq=False)
class Merging:
    """How values are put together: `steps` puts them on a scale in whose units they cannot be told apart (None: each
    can); `runs`: the likelihood takes runs of values; `limits`: an interval that is asked about."""

    steps: Callable[[F64], F64] | None = None
    runs: bool = False
    limits: tuple[float, float] | None = None

    def groups(self, values: F64, spike: I64, width: float) -> I64:
        """Where groups of values begin: one per so many units, cut at spikes and at the ends of the interval."""
        assert self.steps is not None
        keys = [np.floor(self.steps(values) / width), spike]
        if self.limits is not None:
            keys.append((values >= self.limits[0]) & (values <= self.limits[1]))
        new = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
        return np.flatnonzero(np.concatenate([[True], new]))


def merged(whole: Points, count: F64, how: Merging, even: bool) -> Points:
    """Points that stand for all values; `count`: how often each value occurs. With `even`, edges are normal quantiles
    of counts."""
    if how.steps is None:
        return whole
    if not even:
        return _means(whole, count, how.groups(whole.values, whole.spike, 1))
    if how.runs:
        return _means(whole, count, how.groups(whole.values, whole.spike, RUN))
    return _by_rule(whole, count, how.groups(whole.values, whole.spike, GROUP))


def _means(whole: Points, count: F64, first: I64) -> Points:
    """One point per group, at its mean."""
    ends = np.append(first[1:], len(whole))
    mean = np.add.reduceat(whole.values * count, first) / np.add.reduceat(count, first)
    low, high = whole.values[first], whole.values[ends - 1]
    edges = np.append(whole.edges[first], whole.edges[-1])
    return Points(np.clip(mean, low, high), edges, whole.spike[first], low, high)


def _by_rule(whole: Points, count: F64, first: I64) -> Points:
    """Groups of more than four values by Gauss's rule, all other values as they are."""
    size = np.diff(np.append(first, len(whole)))
    many = size > RULE
    if not many.any():
        return whole
    group = np.repeat(np.arange(len(first)), size)
    alone = np.flatnonzero(~many[group])
    among = np.flatnonzero(many[group])
    place = (np.cumsum(many) - 1)[group[among]]
    points, weights = gauss_rule(whole.values[among], count[among], place, int(many.sum()))
    values = np.concatenate([whole.values[alone], points.ravel()])
    weight = np.concatenate([count[alone], weights.ravel()])
    spike = np.concatenate([whole.spike[alone], np.full(points.size, -1)])
    order = np.argsort(values, kind="stable")
    values, spike = values[order], spike[order]
    return Points(values, score_edges(np.where(spike < 0, weight[order], 0.0)), spike, values, values)


def score_edges(count: F64) -> F64:
    """Normal quantiles of the shares below each value and above the last."""
    total = np.cumsum(count)
    share = np.concatenate([[0.0], total / max(total[-1], 1e-300)])
    share[share >= share[-1]] = 1.0  # also where spikes come last
    return np.asarray(ndtri(share))


def gauss_rule(x: F64, count: F64, group: I64, n: int) -> tuple[F64, F64]:
    """Points and weights with the moments 0..7 of each of n groups of more than four distinct values; (n, 4) each.

    The three-term recurrence of the polynomials that are orthogonal over a group, then the eigenvalues of its Jacobi
    matrix (Golub and Welsch 1969).
    """
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(low, group, x)
    np.maximum.at(high, group, x)
    half, centre = 0.5 * (high - low), 0.5 * (high + low)
    u = (x - centre[group]) / half[group]
    jacobi = np.zeros((n, RULE, RULE))
    before, now = np.zeros_like(u), np.ones_like(u)
    norm, beta = np.bincount(group, weights=count, minlength=n), np.zeros(n)
    total = norm
    for i in range(RULE):
        alpha = np.bincount(group, weights=count * u * now * now, minlength=n) / norm
        jacobi[:, i, i] = alpha
        before, now = now, (u - alpha[group]) * now - beta[group] * before
        more = np.bincount(group, weights=count * now * now, minlength=n)
        beta, norm = more / norm, more
        if i + 1 < RULE:
            jacobi[:, i, i + 1] = jacobi[:, i + 1, i] = np.sqrt(beta)
    roots, vectors = np.linalg.eigh(jacobi)
    points = np.clip(centre[:, None] + half[:, None] * roots, low[:, None], high[:, None])
    return points, total[:, None] * vectors[:, 0, :] ** 2
