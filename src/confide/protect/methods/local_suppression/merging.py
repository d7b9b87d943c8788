"""Greedy merging: the smallest class that is too small takes the rows that cost least to be like it.

Notation
--------
G classes of people who are alike in what is released, V variables.
x : (G, V) released codes, -1 where there is none
n : (G,) people; w : (G,) the sum of their weights; light : (G,) the least of these
asked : (G,) how many of them are to be protected
c : (V,) importance
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import unfused


@unfused(inner=True)
def _needed(n_a, n_b, asked_b, k):  # type: ignore[no-untyped-def]
    """Rows that class a takes from class b: what it lacks where b stays large enough, else all of b."""
    need = k - n_a
    if n_b > need and (asked_b == 0 or n_b - need >= k):
        return need
    return n_b


@unfused(inner=True)
def _dearer(x, a, b, c, w_a, w_b, best):  # type: ignore[no-untyped-def]
    """What it costs to hide where two classes differ; as soon as it reaches `best` the rest is not looked at."""
    cost = 0.0
    for v in range(x.shape[1]):
        if x[a, v] != x[b, v]:
            cost += c[v] * ((w_a if x[a, v] >= 0 else 0.0) + (w_b if x[b, v] >= 0 else 0.0))
            if cost > best:
                return cost
    return cost


@unfused(inner=True)
def _smallest(n, asked, alive, k):  # type: ignore[no-untyped-def]
    """The smallest class with people to be protected that is below k, -1 where there is none."""
    found = -1
    for g in range(len(n)):
        if alive[g] and asked[g] > 0 and n[g] < k and (found < 0 or n[g] < n[found]):
            found = g
    return found


@unfused
def merge_small(x, n, w, light, asked, c, k, credit, shared, moves):  # type: ignore[no-untyped-def]
    """Merge until no class with people to be protected is below k; changes its arguments, returns how many moves.

    A move (a, b, rows): so many rows of class b join class a, which from then on shows only what both show. `credit`:
    (G,) a part of what each class would have to hide in any case; a partner is that much cheaper. `shared`: the cost
    counts per person helped, so that two small classes which help each other come first.
    """
    alive = n > 0
    many = 0
    while True:
        a = _smallest(n, asked, alive, k)
        if a < 0:
            return many
        best, partner, rows = np.inf, -1, 0
        for b in range(len(n)):
            if b == a or not alive[b]:
                continue
            take = _needed(n[a], n[b], asked[b], k)
            helped = n[a] + (n[b] if asked[b] > 0 and n[b] < k else 0) if shared else 1
            cost = _dearer(x, a, b, c, w[a], w[b] if take == n[b] else light[b] * take, best * helped + credit[b])
            cost = (cost - credit[b]) / helped
            if cost < best:
                best, partner, rows = cost, b, take
        if partner < 0:
            return -1
        moves[many, 0], moves[many, 1], moves[many, 2] = a, partner, rows
        many += 1
        for v in range(x.shape[1]):
            if x[a, v] != x[partner, v]:
                x[a, v] = -1
        moved = w[partner] if rows == n[partner] else light[partner] * rows
        w[a] += moved
        w[partner] -= moved
        n[a] += rows
        n[partner] -= rows
        credit[a] = 0.0
        if n[partner] == 0:
            alive[partner] = False
