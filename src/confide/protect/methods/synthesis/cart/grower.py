"""Growing a tree: at each node the split that takes away most impurity, of any predictor.

Breiman, Friedman, Olshen and Stone (1984). A number is split between two neighbouring values. Categories are divided
into two groups: sorted by the mean of the target, and cut somewhere in that order. For numbers and for two classes the
best of all divisions is among these; for more classes the order is that of the first principal component of their
shares (Coppersmith, Hong and Hosking 1999). Of equal splits the first counts: earlier predictors, lower values.

Rows are sorted by each number once, and divided in that order at each node, so that a level of the tree costs a look at
each row per predictor.

Notation
--------
x : codes of predictors, shape (p, n): ranks of distinct values of a number, or categories
levels : categories of each predictor, 0 for a number
y : the target, centred numbers, or class codes as floats; classes : how many, 0 for numbers
order : rows by node, and inside a node by the codes of a number, shape (p, n)
lo, hi : a node's rows are lo..hi-1 of each order
L, R : the left and the right part of a node: n_L records, s_L their sum, or c_L[k] records of class k
gain : sum over both parts of s^2 / n, or of sum_k c_k^2 / n, less that of the node: what the impurity falls by
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from confide.core.run.compile import unfused
from confide.frames.columns import F64, I64, Bools

DEEPEST = 30
"""Levels of a tree, as customary trees have them."""
TURNS = 20
"""Steps of the power method that finds a principal component: an order of categories needs no more."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """A grown tree, one entry per node: the predictor it is split by (`feature`, -1 for a leaf), the `limit` up to
    which a number goes left, the left `child` (the right one follows), and where its categories begin (`start`) in
    `goes`, which says of each whether it goes left. `levels`: categories of each predictor, 0 for a number."""

    levels: I64
    feature: I64
    limit: F64
    child: I64
    start: I64
    goes: Bools

    @property
    def leaves(self) -> I64:
        """The nodes that are leaves."""
        return np.flatnonzero(self.feature < 0)

    def ends(self, values: F64) -> I64:
        """The node in which each record ends, shape (n,); `values`: of shape (p, n), as in `grow`."""
        found = _ends(values, self.levels, self.feature, self.limit, self.child, self.start, self.goes)
        return np.asarray(found)


def grow(values: F64, levels: I64, y: F64, classes: int, leaf: int, split: int, least: float) -> Nodes:
    """A tree on predictors of shape (p, n), numbers or codes of categories, for a target y.

    `leaf`: records of a leaf at least; `split`: of a node that is split; `least`: the gain of a split.
    """
    distinct = [np.unique(v) for v in values]
    x = np.stack([np.searchsorted(d, v) if not c else v for d, v, c in zip(distinct, values, levels, strict=True)])
    x = x.astype(np.int32)
    order = np.stack([np.argsort(c, kind="stable") for c in x]).astype(np.int32)
    most = 2 * (len(y) // leaf) + 3
    feature, at, above, child, start, goes = _grown(x, order, levels, y, classes, leaf, split, least, most)
    limit = np.zeros(len(feature))
    for j in np.flatnonzero(levels == 0):
        mine = np.flatnonzero(feature == j)
        limit[mine] = (distinct[j][at[mine]] + distinct[j][above[mine]]) / 2
    return Nodes(levels, feature, limit, child, start, goes)


@unfused
def _grown(x, order, levels, y, classes, leaf, split, least, most):  # type: ignore[no-untyped-def]
    p, n = x.shape
    feature, cut = np.full(most, -1, dtype=np.int64), np.zeros(most, dtype=np.int64)
    above = np.zeros(most, dtype=np.int64)
    child, start = np.full(most, -1, dtype=np.int64), np.zeros(most, dtype=np.int64)
    depth, lo, hi = np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64)
    goes, used = np.zeros(1024, dtype=np.bool_), 0
    left, spare = np.zeros(n, dtype=np.bool_), np.empty(n, dtype=np.int32)
    widest = max(levels.max(), 1)
    side, kept = np.zeros(widest, dtype=np.bool_), np.zeros(widest, dtype=np.bool_)
    work = (
        np.zeros(widest, dtype=np.int64), np.zeros(widest), np.zeros((widest, max(classes, 1))), np.zeros(widest),
        np.zeros(max(classes, 1)), np.zeros(max(classes, 1)), np.zeros(max(classes, 1)), np.zeros(max(classes, 1)),
    )  # fmt: skip
    hi[0], made, node = n, 1, 0
    while node < made:
        a, b = lo[node], hi[node]
        if b - a >= split and b - a >= 2 * leaf and depth[node] < DEEPEST:
            best, which, at = least, -1, 0
            for j in range(p):
                if levels[j]:
                    gain = _of_categories(x[j], order[j], a, b, levels[j], y, classes, leaf, work, side)
                    where = 0
                else:
                    gain, where = _of_number(x[j], order[j], a, b, y, classes, leaf, work)
                if gain > best:
                    best, which, at = gain, j, where
                    if levels[j]:
                        kept[: levels[j]] = side[: levels[j]]
            if which >= 0:
                feature[node], cut[node], child[node], start[node] = which, at, made, used
                if levels[which]:
                    while used + levels[which] > len(goes):
                        goes = np.concatenate((goes, np.zeros(len(goes), dtype=np.bool_)))
                    goes[used : used + levels[which]] = kept[: levels[which]]
                    used += levels[which]
                middle = _divide(x, order, a, b, which, at, levels[which], kept, left, spare)
                above[node] = x[which, order[which, middle]]
                lo[made], hi[made], lo[made + 1], hi[made + 1] = a, middle, middle, b
                depth[made] = depth[made + 1] = depth[node] + 1
                made += 2
        node += 1
    return feature[:made], cut[:made], above[:made], child[:made], start[:made], goes[:used]


@unfused(inner=True)
def _divide(x, order, a, b, which, at, levels, kept, left, spare):  # type: ignore[no-untyped-def]
    """Bring rows that go left before those that go right, in the order of each predictor; where the right begin."""
    middle = a
    for i in range(a, b):
        r = order[which, i]
        left[r] = kept[x[which, r]] if levels else x[which, r] <= at
        middle += left[r]
    for j in range(len(order)):
        one, two = a, 0
        for i in range(a, b):
            r = order[j, i]
            if left[r]:
                order[j, one] = r
                one += 1
            else:
                spare[two] = r
                two += 1
        for i in range(two):
            order[j, one + i] = spare[i]
    return middle


@unfused(inner=True)
def _of_number(x, order, a, b, y, classes, leaf, work):  # type: ignore[no-untyped-def]
    """The best gain of a split between two values of a number, and the highest code on the left."""
    n, best, at = b - a, 0.0, 0
    if x[order[a]] == x[order[b - 1]]:
        return best, at
    if classes == 0:
        s = 0.0
        for i in range(a, b):
            s += y[order[i]]
        whole, s_l = s * s / n, 0.0
        for i in range(a, b - leaf):
            s_l += y[order[i]]
            m = i - a + 1
            if m >= leaf and x[order[i]] < x[order[i + 1]]:
                gain = s_l * s_l / m + (s - s_l) * (s - s_l) / (n - m) - whole
                if gain > best:
                    best, at = gain, x[order[i]]
        return best, at
    c_l, c_r = work[4], work[5]
    c_l[:], c_r[:] = 0.0, 0.0
    for i in range(a, b):
        c_r[int(y[order[i]])] += 1
    q_l, q_r = 0.0, 0.0
    for k in range(classes):
        q_r += c_r[k] * c_r[k]
    whole = q_r / n
    for i in range(a, b - leaf):
        k = int(y[order[i]])
        q_l += 2 * c_l[k] + 1
        q_r -= 2 * c_r[k] - 1
        c_l[k] += 1
        c_r[k] -= 1
        m = i - a + 1
        if m >= leaf and x[order[i]] < x[order[i + 1]]:
            gain = q_l / m + q_r / (n - m) - whole
            if gain > best:
                best, at = gain, x[order[i]]
    return best, at


@unfused(inner=True)
def _of_categories(x, order, a, b, levels, y, classes, leaf, work, side):  # type: ignore[no-untyped-def]
    """The best gain of a division of categories; `side`: those that go left, absent ones with the larger part."""
    count, total, table, score = work[0], work[1], work[2], work[3]
    for g in range(levels):
        count[g], total[g] = 0, 0.0
        table[g, :classes] = 0.0
    for i in range(a, b):
        r = order[i]
        c = x[r]
        count[c] += 1
        if classes:
            table[c, int(y[r])] += 1
        else:
            total[c] += y[r]
    here = np.flatnonzero(count[:levels])
    if len(here) < 2:
        return 0.0
    if classes:
        _component(here, count, table, classes, work, score)
    else:
        for c in here:
            score[c] = total[c] / count[c]
    ranked = here[np.argsort(score[here], kind="mergesort")]
    n, m, best, at = b - a, 0, 0.0, -1
    c_l, c_r = work[4], work[5]
    s, s_l, whole = 0.0, 0.0, 0.0
    c_l[:], c_r[:] = 0.0, 0.0
    for c in ranked:
        s += total[c]
        for k in range(classes):
            c_r[k] += table[c, k]
    for k in range(classes):
        whole += c_r[k] * c_r[k]
    whole = whole / n if classes else s * s / n
    larger_left = False
    for g in range(len(ranked) - 1):
        c = ranked[g]
        m += count[c]
        s_l += total[c]
        q_l, q_r = s_l * s_l, (s - s_l) * (s - s_l)
        for k in range(classes):
            c_l[k] += table[c, k]
            c_r[k] -= table[c, k]
            q_l += c_l[k] * c_l[k]
            q_r += c_r[k] * c_r[k]
        if m >= leaf and n - m >= leaf:
            gain = q_l / m + q_r / (n - m) - whole
            if gain > best:
                best, at, larger_left = gain, g, 2 * m >= n
    for g in range(levels):
        side[g] = larger_left
    for g in range(len(ranked)):
        side[ranked[g]] = g <= at
    return best


@unfused(inner=True)
def _component(here, count, table, classes, work, score):  # type: ignore[no-untyped-def]
    """Scores of categories: their shares of classes, from the mean, along the direction in which they vary most."""
    mean, axis, new = work[4], work[6], work[7]
    n = 0.0
    mean[:classes] = 0.0
    for c in here:
        n += count[c]
        for k in range(classes):
            mean[k] += table[c, k]
    widest, most = 0, -1.0
    for k in range(classes):
        mean[k] /= n
        spread = 0.0
        for c in here:
            d = table[c, k] / count[c] - mean[k]
            spread += count[c] * d * d
        if spread > most:
            widest, most = k, spread
    axis[:classes] = 0.0
    axis[widest] = 1.0
    for _ in range(TURNS):
        new[:classes] = 0.0
        for c in here:
            s = 0.0
            for k in range(classes):
                s += (table[c, k] / count[c] - mean[k]) * axis[k]
            for k in range(classes):
                new[k] += count[c] * s * (table[c, k] / count[c] - mean[k])
        length = 0.0
        for k in range(classes):
            length += new[k] * new[k]
        if length == 0.0:
            break
        for k in range(classes):
            axis[k] = new[k] / np.sqrt(length)
    for c in here:
        score[c] = 0.0
        for k in range(classes):
            score[c] += (table[c, k] / count[c] - mean[k]) * axis[k]


@unfused
def _ends(values, levels, feature, limit, child, start, goes):  # type: ignore[no-untyped-def]
    n = values.shape[1]
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        node = 0
        while feature[node] >= 0:
            j = feature[node]
            go = goes[start[node] + int(values[j, i])] if levels[j] else values[j, i] <= limit[node]
            node = child[node] + (0 if go else 1)
        out[i] = node
    return out
