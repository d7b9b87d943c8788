r"""Hiding until every row agrees with k - 1 others in all that both show: the rule of sdcMicro and mu-ARGUS.

It needs few cells, since one hidden value makes a row the equal of many. It does not protect a person whose keys are
known: no other row need be able to be theirs. Greedy, one row at a time, those with the fewest equals first: the
cheapest set of variables that gives the row k equals; of equally cheap ones that which helps most rows below k.

Notation as in `merging`; M : variables on which two rows differ, both showing a value, as bits; f : a row's equals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.core.run.compile import unfused
from confide.frames.columns import F64
from confide.frames.distinct import Distinct
from confide.protect.methods.local_suppression.pieces import Pieces, Rows, taken

MOST = 14
"""Variables at most: all sets of them are looked at."""


@unfused(inner=True)
def _differing(x, a, b):  # type: ignore[no-untyped-def]
    """M of two classes."""
    found = 0
    for v in range(x.shape[1]):
        if x[a, v] != x[b, v] and x[a, v] >= 0 and x[b, v] >= 0:
            found |= 1 << v
    return found


@unfused(inner=True)
def _agree(x, a, b):  # type: ignore[no-untyped-def]
    """Whether two classes agree in all that both show: M is empty."""
    for v in range(x.shape[1] - 1, -1, -1):  # noqa: SIM110 - a compiled loop
        if x[a, v] != x[b, v] and x[a, v] >= 0 and x[b, v] >= 0:
            return False
    return True


@unfused(inner=True)
def _best_set(x, a, alive, n, f, c, k, rows, helped):  # type: ignore[no-untyped-def]
    """The cheapest set of variables with k equals once it is hidden; `rows`, `helped`: scratch of 2^V."""
    many = 1 << x.shape[1]
    rows[:many], helped[:many] = 0, 0
    for b in range(alive):
        m = _differing(x, a, b)
        rows[m] += n[b]
        if f[b] < k:
            helped[m] += n[b]
    for v in range(x.shape[1]):  # sums over subsets
        for s in range(many):
            if s >> v & 1:
                rows[s] += rows[s ^ (1 << v)]
                helped[s] += helped[s ^ (1 << v)]
    best, least, most = -1, np.inf, -1
    for s in range(many):
        if rows[s] < k:
            continue
        cost = 0.0
        for v in range(x.shape[1]):
            if s >> v & 1:
                cost += c[v] if x[a, v] >= 0 else np.inf  # hiding what is not there changes nothing
        if cost < least or (cost == least and helped[s] > most):
            best, least, most = s, cost, helped[s]
    return best


@unfused(inner=True)
def _fewest(alive, n, f, asked, w, k):  # type: ignore[no-untyped-def]
    """The class below k with the fewest equals; of those with as many the lightest."""
    found = -1
    for g in range(alive):
        if n[g] == 0 or not asked[g] or f[g] >= k:
            continue
        if found < 0 or f[g] < f[found] or (f[g] == f[found] and w[g] < w[found]):
            found = g
    return found


@unfused
def hide_rows(x, n, w, asked, of, alive, c, k, hidden):  # type: ignore[no-untyped-def]
    """Hide row by row; changes its arguments, returns the number of classes. Arrays have room for one more per row.

    `w`: weight of one person; `of`: the piece each class comes from; `hidden`: bits of what this loop hid.
    """
    many = 1 << x.shape[1]
    rows, helped = np.zeros(many, dtype=np.int64), np.zeros(many, dtype=np.int64)
    f = np.zeros(len(n), dtype=np.int64)
    for a in range(alive):
        for b in range(alive):
            if _agree(x, a, b):
                f[a] += n[b]
    while True:
        a = _fewest(alive, n, f, asked, w, k)
        if a < 0:
            return alive
        s = _best_set(x, a, alive, n, f, c, k, rows, helped)
        if s < 0:
            return -1
        new = alive  # one person leaves the class
        alive += 1
        n[a] -= 1
        n[new], w[new], asked[new], of[new], hidden[new] = 1, w[a], asked[a], of[a], hidden[a] | s
        for v in range(x.shape[1]):
            x[new, v] = -1 if s >> v & 1 else x[a, v]
        f[new] = 0
        for b in range(alive):
            if n[b] > 0 and _agree(x, new, b):
                f[new] += n[b]
                if b != new and not _agree(x, a, b):
                    f[b] += 1


def hide_wildcard(pieces: Pieces, k: int, importance: F64, within: Sequence[int]) -> Pieces:
    """More hidden, in the variables `within` only, until everybody who is to be protected has k equals there.

    Of people who are alike those of least weight come first.
    """
    at, by_weight = list(within), np.argsort(pieces.weight, kind="stable")
    alike = Distinct.rows([*pieces.codes.T, pieces.hidden, pieces.asked.astype(np.int64)], len(pieces.count))
    members: list[list[Rows]] = [[] for _ in range(len(alike))]
    for p in by_weight.tolist():
        members[int(alike.of[p])].append((p, int(pieces.count[p])))
    count = np.bincount(alike.of, weights=pieces.count, minlength=len(alike)).astype(np.int64)
    start, room = len(alike), int(count[pieces.asked[alike.first]].sum())

    def longer(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([values, np.zeros((room, *values.shape[1:]), dtype=values.dtype)])

    light = np.array([pieces.weight[each[0][0]] for each in members])
    x, n, w = longer(pieces.shown[alike.first][:, at]), longer(count), longer(light)
    asked, of = longer(pieces.asked[alike.first]), longer(np.arange(start, dtype=np.int64))
    hidden = np.zeros(start + room, dtype=np.int64)
    many = hide_rows(x, n, w, asked, of, start, importance[at].astype(float), k, hidden)
    assert many >= 0, "a file has at least k records"
    bits = np.zeros(many, dtype=np.int64)
    for v, own in enumerate(at):
        bits |= (hidden[:many] >> v & 1) << own
    out: list[tuple[int, int, int]] = []
    for g in [*range(start, many), *range(start)]:  # those who left, then those who stayed
        moved, members[of[g]] = taken(members[of[g]], int(n[g]))
        out += [(p, int(pieces.hidden[p] | bits[g]), c) for p, c in moved]
    return pieces.divided(out)
