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
from functools import cached_property

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
    if np.diff(np.append(first, len(whole))).max(initial=0) <= RULE:
        return whole
    return _as_points(*_ruled(whole.values, count, whole.spike, first))


def _ruled(values: F64, count: F64, spike: I64, first: I64) -> tuple[F64, F64, I64]:
    """Values in rising order, their weights and spikes; groups begin at `first`."""
    size = np.diff(np.append(first, len(values)))
    many = size > RULE
    if not many.any():
        return values, count, spike
    group = np.repeat(np.arange(len(first)), size)
    alone = np.flatnonzero(~many[group])
    among = np.flatnonzero(many[group])
    place = (np.cumsum(many) - 1)[group[among]]
    points, weights = gauss_rule(values[among], count[among], place, int(many.sum()))
    found = np.concatenate([values[alone], points.ravel()])
    weight = np.concatenate([count[alone], weights.ravel()])
    spikes = np.concatenate([spike[alone], np.full(points.size, -1)])
    order = np.argsort(found, kind="stable")
    return found[order], weight[order], spikes[order]


def _as_points(values: F64, weight: F64, spike: I64) -> Points:
    return Points(values, score_edges(np.where(spike < 0, weight, 0.0)), spike, values, values)


@dataclass(frozen=True, eq=False)
class Groups:
    """All values of a number in the groups that become one or four points each, cut again by every interval that is
    asked about. `whole`, `count`: the values, and how often each occurs; `first`: where groups begin; `ruled`: whether
    they become points by Gauss's rule."""

    whole: Points
    count: F64
    first: I64
    ruled: bool

    @classmethod
    def of(cls, whole: Points, count: F64, how: Merging, even: bool) -> Groups | None:
        """The same groups as those of `merged`; None where nothing is merged."""
        if how.steps is None:
            return None
        width = 1 if not even else RUN if how.runs else GROUP
        return cls(whole, count, how.groups(whole.values, whole.spike, width), even and not how.runs)

    @cached_property
    def _each(self) -> tuple[F64, F64, I64, I64]:
        """Of all groups as they are: points, weights and spikes, and where the points of each begin."""
        size = np.diff(np.append(self.first, len(self.whole)))
        start = np.concatenate([[0], np.cumsum(np.where(size > RULE, RULE, size))])
        return *_ruled(self.whole.values, self.count, self.whole.spike, self.first), start

    def points(self, limits: tuple[float, float] | None = None) -> Points:
        """Those of `merged`; only groups that an end of the interval cuts are put together again."""
        cuts = self._cuts(limits)
        if not self.ruled:
            return _means(self.whole, self.count, np.union1d(self.first, cuts))
        values, weight, spike, start = self._each
        if not len(cuts):
            return _as_points(values, weight, spike)
        parts, upto = list[tuple[F64, F64, I64]](), 0
        ends = np.append(self.first, len(self.whole))
        group = np.searchsorted(self.first, cuts, side="right") - 1
        for g in np.unique(group).tolist():
            parts.append((values[upto : start[g]], weight[upto : start[g]], spike[upto : start[g]]))
            here, begin = slice(ends[g], ends[g + 1]), np.append(0, cuts[group == g] - ends[g])
            parts.append(_ruled(self.whole.values[here], self.count[here], self.whole.spike[here], begin))
            upto = start[g + 1]
        parts.append((values[upto:], weight[upto:], spike[upto:]))
        return _as_points(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _cuts(self, limits: tuple[float, float] | None) -> I64:
        """Where an end of the interval lies inside a group."""
        if limits is None:
            return np.zeros(0, dtype=np.int64)
        values = self.whole.values
        low = np.searchsorted(values, limits[0], side="left")
        high = np.searchsorted(values, limits[1], side="right")
        cuts = np.array([c for c in (low, high) if low < high and 0 < c < len(values)], dtype=np.int64)
        return cuts[~np.isin(cuts, self.first)]


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
