r"""What no suppression can do without, and who is left below k under each way of counting.

The bound: a released row shares its combination with k - 1 other rows, and hides every variable in which it differs
from one of them. So it hides at least its weighted distance to its (k-1)th nearest other row,

.. math:: \text{cost} \ge \sum_i w_i\, d_{(k-1)}(i), \qquad d(i, j) = \sum_v c_v\, 1[y_{iv} \ne y_{jv}]

with the sum over those who are to be protected. A value that the file lacks cannot be hidden, and costs nothing.

Notation as in `merging`; `count` of people in place of n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from confide.core.run.compile import unfused
from confide.frames.columns import F64, I64
from confide.frames.distinct import Distinct
from confide.protect.methods.local_suppression.pieces import Pieces


@unfused
def nearest_others(x, n, asked, c, k, out):  # type: ignore[no-untyped-def]
    """For each class below k with people to be protected the distance d to its (k-1)th nearest other row, else 0.

    `near`, `rows`: the k smallest distances so far, in rising order, with the rows at each.
    """
    near, rows = np.empty(k), np.empty(k, dtype=np.int64)
    for a in range(len(n)):
        out[a] = 0.0
        if asked[a] == 0 or n[a] >= k:
            continue
        held, total = 0, 0
        for b in range(len(n)):
            if b == a or n[b] == 0:
                continue
            d, least = 0.0, near[held - 1] if total >= k - n[a] else np.inf
            for v in range(x.shape[1]):
                if x[a, v] != x[b, v] and x[a, v] >= 0:
                    d += c[v]
                    if d >= least:
                        break
            if d >= least:
                continue
            at = held if held < k else k - 1
            held += 1 if held < k else 0
            while at > 0 and near[at - 1] > d:
                near[at], rows[at] = near[at - 1], rows[at - 1]
                at -= 1
            near[at], rows[at] = d, n[b]
            total = 0
            for i in range(held):  # drop what is not needed any more
                total += rows[i]
                if total >= k - n[a]:
                    held = i + 1
                    break
        out[a] = near[held - 1] if held else 0.0


def least_distances(x: I64, n: I64, asked: I64, importance: F64, k: int) -> F64:
    """`nearest_others` of classes, shape (G,)."""
    out = np.zeros(len(n))
    nearest_others(np.ascontiguousarray(x), n, asked, importance.astype(float), k, out)
    return out


def distance_bound(pieces: Pieces, k: int, importance: F64, within: Sequence[int]) -> float:
    """The least cost of hiding within some variables, from nothing hidden; no solution is cheaper."""
    x, n, asked, of = grouped(pieces, pieces.codes[:, list(within)])
    d = least_distances(x, n, asked, importance[list(within)], k)
    return float((d[of] * pieces.count * pieces.weight * pieces.asked).sum())


def grouped(pieces: Pieces, shown: I64) -> tuple[I64, I64, I64, I64]:
    """Classes of pieces that are alike in what is given: codes, people, people to be protected, each piece's class."""
    found = Distinct.rows(list(shown.T), len(shown))
    n = np.bincount(found.of, weights=pieces.count, minlength=len(found)).astype(np.int64)
    asked = np.bincount(found.of, weights=pieces.count * pieces.asked, minlength=len(found)).astype(np.int64)
    return shown[found.first], n, asked, found.of


@unfused
def count_fitting(a, b, n, first, second, out):  # type: ignore[no-untyped-def]
    """For each row of a how much of n the rows of b hold that agree with it; a value may be missing in a (`first`) or
    in b (`second`)."""
    for i in range(len(a)):
        total = 0.0
        for j in range(len(b)):
            fits = True
            for v in range(a.shape[1]):
                if a[i, v] != b[j, v] and not (first and a[i, v] < 0) and not (second and b[j, v] < 0):
                    fits = False
                    break
            if fits:
                total += n[j]
        out[i] = total


def alike(pieces: Pieces, rule: str, within: Sequence[int]) -> I64:
    """How many released rows each piece's people count as their equals, shape (P,).

    "own": rows that show the same, what is hidden being a value. "wildcard": rows that agree with theirs in all that
    both show. "person": rows that agree with their true values in all that is shown: the candidates of an intruder who
    knows these.
    """
    shown = pieces.shown[:, list(within)]
    z, n, _, of = grouped(pieces, shown)
    if rule == "own":
        return n[of]
    y = shown if rule == "wildcard" else pieces.codes[:, list(within)]
    first = Distinct.rows(list(y.T), len(y))
    return fitting(y[first.first], z, n, rule == "wildcard", True)[first.of].astype(np.int64)


def fitting(a: I64, b: I64, n: F64 | I64, first: bool, second: bool) -> F64:
    """`count_fitting`, shape (len(a),)."""
    out = np.zeros(len(a))
    count_fitting(np.ascontiguousarray(a), np.ascontiguousarray(b), n.astype(float), first, second, out)
    return out


def below(pieces: Pieces, rule: str, k: int, within: Sequence[int]) -> int:
    """People to be protected who have fewer than k equals."""
    return int((pieces.count * pieces.asked)[alike(pieces, rule, within) < k].sum())
