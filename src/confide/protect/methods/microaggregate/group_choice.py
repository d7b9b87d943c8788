r"""Which group a person of known values is in, given the means of all groups: a model learnt from a file.

A group made by nearest neighbours has no density of its own: where a member may lie depends on the groups around it.
So the chance of each group is modelled directly, as a choice among the groups that are released,

.. math:: \Pr(\text{group } j \mid y, Z) = \frac{n_j\, e^{h(y, j)}}{\sum_i n_i\, e^{h(y, i)}}

with :math:`n_j` the rows that carry mean j and h a sum of smooth functions of the distance d of y from mean j: relative
to the distance of the nearest mean, to that of the means around y, and to that of the means around j; and of what a
mean shows: whether it is a value of the file's precision, as that of equal members is, whether y has the same one, and
whether more rows carry it than a group has. The functions are linear between knots and learnt by penalised maximum
likelihood (a conditional logit) from members of groups, each beside the nearest groups and a sample of farther ones.

Notation
--------
m : distinct means, q : variables, f : features of a pair, theta : their weights, shape (f,)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from confide.core.run.compile import compiled
from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Bools
from confide.protect.methods.microaggregate.group_means import SAME, Means

NEAR_KNOTS = np.array([0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0])
FAR_KNOTS = np.arange(-8.0, 11.0)
"""Logarithms (base 2) of relative distances at which the smooth functions bend."""
BANDS = (12, 24, 48, 96, 192)
"""Candidates of a person in the fit: all of the nearest, some of those in each further band, some of the rest."""
FROM_BAND, FROM_REST = 4, 8
PEOPLE = 4000
"""People from whom the model is learnt, at most."""
STIFF, RIDGE = 1.0, 1e-2


def features(y: F64, nearest: F64, around: F64, means: Means, at: I64) -> F64:
    """The f features of people (values y, nearest mean, means around) beside means `at`, aligned; shape (pairs, f)."""
    gap = np.nan_to_num(y - means.values[at])
    d = np.sqrt((gap * gap).sum(axis=1))
    apart, same = d > SAME, np.abs(gap) <= SAME
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(nearest > 0, np.log2(d / nearest), NEAR_KNOTS[-1])
        here, there = np.log2(d / around), np.log2(d / means.spacing[at])
    parts = [hats(near, NEAR_KNOTS), hats(here, FAR_KNOTS), hats(there, FAR_KNOTS)]
    smooth = np.concatenate(parts, axis=1) * apart[:, None]
    whole, many = means.whole[at], means.many[at]
    flags = np.column_stack([~apart, ~apart & many, apart & many, whole & same, whole & ~same])
    return np.concatenate([smooth, flags], axis=1)


def hats(a: F64, knots: F64) -> F64:
    """Linear interpolation between knots as a matrix, value = hats @ heights; constant beyond the ends."""
    a = np.clip(np.nan_to_num(a, nan=0.0, posinf=knots[-1], neginf=knots[0]), knots[0], knots[-1])
    at = np.clip(np.searchsorted(knots, a, side="right") - 1, 0, len(knots) - 2)
    part = (a - knots[at]) / (knots[at + 1] - knots[at])
    out, rows = np.zeros((len(a), len(knots))), np.arange(len(a))
    out[rows, at], out[rows, at + 1] = 1 - part, part
    return out


def first_theta(q: int) -> F64:
    """What is assumed before anything is learnt: weights fall with the square of the distance."""
    return np.concatenate([-NEAR_KNOTS, -0.5 * FAR_KNOTS, -0.5 * FAR_KNOTS, np.zeros(3 + 2 * q)])


def learn(y: F64, own: I64, means: Means) -> F64:
    """Theta, from people y, shape (n, q), in the groups with means `own`; candidates are the means of their scope."""
    rng = np.random.default_rng(2005)
    x, offset, person, chosen, people = [], [], [], [], 0
    for who, among in _scopes(own, means, rng):
        near, spacing = means.around(y[who], among)
        i, at, log_weight = _candidates(y[who], own[who], means, among, rng)
        x.append(features(y[who][i], near[i], spacing[i], means, at))
        offset.append(log_weight + np.log(means.count[at]))
        person.append(i + people)
        chosen.append(at == own[who][i])
        people += len(who)
    q = y.shape[1]
    with one_blas_thread():
        return _fit(
            np.concatenate(x), np.concatenate(offset), np.concatenate(person), np.concatenate(chosen), _penalty(q),
            first_theta(q),
        )  # fmt: skip


def _scopes(own: I64, means: Means, rng: np.random.Generator) -> Iterator[tuple[I64, I64]]:
    """People to learn from, scope by scope, with the means of each; no more than PEOPLE of them."""
    scope = means.scope[own]
    take = np.sort(rng.permutation(len(own))[:PEOPLE])
    order = take[np.argsort(scope[take], kind="stable")]
    members = np.argsort(means.scope, kind="stable")
    for who in np.split(order, np.flatnonzero(np.diff(scope[order])) + 1):
        low, high = np.searchsorted(means.scope[members], [scope[who[0]], scope[who[0]] + 1])
        yield who, members[low:high]


def _candidates(
    y: F64, own: I64, means: Means, among: I64, rng: np.random.Generator
) -> tuple[I64, I64, F64]:  # fmt: skip
    """Pairs (person, mean) in the fit, with the log of how many means each stands for."""
    m, n = len(among), len(y)
    most = min(BANDS[-1], m)
    near = cKDTree(means.points[among]).query(np.nan_to_num(y), k=most)[1].reshape(n, most)
    parts = [(near[:, : BANDS[0]], np.ones((n, min(BANDS[0], m))))]
    for low, high in pairwise((*BANDS, m)):
        size = min(high, m) - low
        take = min(FROM_BAND, size)
        if size > 0 and high <= BANDS[-1]:
            chosen = low + np.argsort(rng.random((n, size)), axis=1)[:, :take]
            parts.append((np.take_along_axis(near, chosen, axis=1), np.full((n, take), size / take)))
        elif size > 0:
            drawn = rng.integers(0, m, (n, FROM_REST))
            far = ~(drawn[:, :, None] == near[:, None, :]).any(axis=2)  # those near are there already
            parts.append((drawn, far * (m / FROM_REST)))
    at = among[np.concatenate([g for g, _ in parts], axis=1)]
    weight = np.concatenate([w for _, w in parts], axis=1)
    weight[at == own[:, None]] = 0.0  # the own group is there once, for itself
    at, weight = np.column_stack([at, own]), np.column_stack([weight, np.ones(n)])
    keep = weight > 0
    return np.repeat(np.arange(n), keep.sum(axis=1)), at[keep], np.log(weight[keep])


def _penalty(q: int) -> F64:
    """On second differences of heights, and a little on everything."""
    sizes = (len(NEAR_KNOTS), len(FAR_KNOTS), len(FAR_KNOTS))
    out, at = RIDGE * np.eye(sum(sizes) + 3 + 2 * q), 0
    for size in sizes:
        bend = np.diff(np.eye(size), n=2, axis=0)
        out[at : at + size, at : at + size] += STIFF * bend.T @ bend
        at += size
    return out


def _fit(x: F64, offset: F64, person: I64, chosen: Bools, penalty: F64, first: F64) -> F64:
    """Newton's method with halved steps; the objective is concave. The penalty is on the distance from `first`."""
    starts = np.flatnonzero(np.diff(person, prepend=-1))
    mine = x[chosen].sum(axis=0)

    def state(theta: F64) -> tuple[float, F64]:
        score = offset + x @ theta
        top = np.maximum.reduceat(score, starts)[person]
        log_p = score - top - np.log(np.add.reduceat(np.exp(score - top), starts))[person]
        return float(log_p[chosen].sum() - 0.5 * (theta - first) @ penalty @ (theta - first)), np.exp(log_p)

    theta, pairs = first, sp.csr_matrix(x)
    value, p = state(theta)
    for _ in range(50):
        expected, curved = moments(pairs, np.append(starts, len(person)), p)
        slope = mine - expected - penalty @ (theta - first)
        step = np.linalg.solve(curved + penalty, slope)
        better, q = state(theta + step)
        while better < value and np.abs(step).max() > 1e-9:
            step = step / 2
            better, q = state(theta + step)
        gain, theta, value, p = better - value, theta + step, better, q
        if gain < 1e-3:
            break
    return theta


def moments(x: sp.csr_matrix, starts: I64, p: F64) -> tuple[F64, F64]:
    """Sums over people of the mean of their pairs' features, (f,), and of the covariance, (f, f), by chances p; the
    pairs of each begin at `starts`, which ends with their number."""
    mean, curved = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
    _moments(x.indptr.astype(np.int64), x.indices.astype(np.int64), x.data, starts, p, mean, curved)
    return mean, np.tril(curved) + np.tril(curved, -1).T


@compiled
def _moments(start, at, value, people, p, mean, curved):  # type: ignore[no-untyped-def]
    """On and below the diagonal. A pair has few features that are not 0, in rising order."""
    own = np.empty(len(mean))
    for g in range(len(people) - 1):
        own[:] = 0.0
        for i in range(people[g], people[g + 1]):
            for a in range(start[i], start[i + 1]):
                part = p[i] * value[a]
                own[at[a]] += part
                for b in range(start[i], a + 1):
                    curved[at[a], at[b]] += part * value[b]
        for a in range(len(own)):
            mean[a] += own[a]
            for b in range(a + 1 if own[a] != 0.0 else 0):
                curved[a, b] -= own[a] * own[b]
