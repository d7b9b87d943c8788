r"""Coarsened values: a record says a set of values, and these sets do not overlap.

With C(j) the values that become what record j shows, and W the sum of the weights of all records that show it,

.. math:: p(y \mid t) = e(y \mid t) \left( w_\text{absent} + \frac{W_{C(y)}}{\sum_{v \in C(y)} e(v \mid t)} \right)

up to its sum: one pass over values, with no likelihood of pairs. Records that nobody believed in could have become say
nothing of the value.
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64

LEAST = 1e-12
"""Share of all weights below which no record is left."""


def coarse_rows(
    e: F64, nodes: tuple[I64, F64, I64], weight: F64, absent: F64, left: tuple[I64, F64] | None = None
) -> tuple[F64, F64, F64]:
    """Laws before they are divided by their sums (n, V), the belief in each set (n, C), and the weight of sets in which
    nobody believes (n,).

    `e` (n, B): belief in bins; `nodes`: each value's bin, its share of it, and its set (-1: none); `weight` (n, C).
    `left`: a place per row (-1: none) where the belief is not bin times share but the one stated.
    """
    n, values = len(e), len(nodes[0])
    p, d, lost = np.empty((n, values)), np.zeros(weight.shape), np.zeros(n)
    _coarse_rows(e, *nodes, weight, absent, *_none_left(left, n), p, d, lost)
    return p, d, lost


def coarse_without(
    found: tuple[F64, F64, F64, F64], nodes: tuple[I64, F64, I64], of: I64, own: I64, mine: F64, after: F64,
    left: F64, at: tuple[I64, F64] | None = None,
) -> F64:  # fmt: skip
    """The same without each person's own record, each row with sum one, shape (people, V).

    `found`: e, weights, d and lost of `coarse_rows`; `of`: whose row; `own`: the set that the own record shows, -1 for
    none, of weight `mine`; `after`: the weight of absence then; `left`: the share of all weights that is left.
    `at`: `left` of `coarse_rows`.
    """
    out = np.empty((len(of), len(nodes[0])))
    _coarse_without(*found, *nodes, of, own, mine, after, left > LEAST, *_none_left(at, len(found[0])), out)
    return out


def _none_left(left: tuple[I64, F64] | None, n: int) -> tuple[I64, F64]:
    return left if left is not None else (np.full(n, -1), np.zeros(n))


@compiled
def _coarse_rows(e, bins, share, code, weight, absent, at, mass, p, d, lost):  # type: ignore[no-untyped-def]
    for i in range(len(e)):
        for v in range(len(bins)):
            if code[v] >= 0:
                d[i, code[v]] += mass[i] if v == at[i] else e[i, bins[v]] * share[v]
        for c in range(weight.shape[1]):
            if d[i, c] <= 0:
                lost[i] += weight[i, c]
        for v in range(len(bins)):
            factor = absent[i] + lost[i]
            if code[v] >= 0 and d[i, code[v]] > 0:
                factor += weight[i, code[v]] / d[i, code[v]]
            p[i, v] = (mass[i] if v == at[i] else e[i, bins[v]] * share[v]) * factor


@compiled
def _coarse_without(  # type: ignore[no-untyped-def]
    e, weight, d, lost, bins, share, code, of, own, mine, after, fine, at, mass, out
):
    for u in range(len(of)):
        i, c = of[u], own[u]
        base = after[u] + lost[i]
        if c >= 0 and d[i, c] <= 0:
            base -= mine[u]
        whole = 0.0
        for v in range(len(bins)):
            factor = base
            if code[v] >= 0 and d[i, code[v]] > 0:
                held = weight[i, code[v]] - (mine[u] if code[v] == c else 0.0)
                factor += held / d[i, code[v]]
            out[u, v] = max((mass[i] if v == at[i] else e[i, bins[v]] * share[v]) * factor, 0.0)
            whole += out[u, v]
        for v in range(len(bins)):
            believed = mass[i] if v == at[i] else e[i, bins[v]] * share[v]
            out[u, v] = out[u, v] / whole if fine[u] and whole > 0 else believed
