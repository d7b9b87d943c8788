"""Compiled passes over likelihoods of records: what each record counts beside what is believed, and laws without one.

Plain NumPy of the same stands in the tests.
"""

from __future__ import annotations

import numpy as np

from confide.attack.learning.attributes.coarse import LEAST
from confide.attack.learning.attributes.people import NOTHING
from confide.core.run.compile import compiled
from confide.frames.columns import F64, I64


def beside_beliefs(d: F64, weight: F64, of: I64, more: F64, at: I64, rows: tuple[F64, I64], m: F64) -> F64:
    """Weights of records over what is believed of them, into `m` (n, records), and the weight of those in whom nobody
    believes.

    `d`: sums of beliefs times likelihoods, changed in place by what beliefs have `more` at one's own node (`at`, -1 for
    none); `weight` (targets, records), `of`: whose row; `rows`: likelihoods of nodes, and their windows.
    """
    lost = np.zeros(len(d))
    _beside_beliefs(d, weight, of, more, at, *rows, m, lost)
    return lost


def without_records(
    p: F64, e: F64, of: I64, more: F64, like: F64, own: I64, scale: F64, flat: F64, left: F64, total: F64
) -> F64:
    """Laws without each person's own record, each row with sum one; what is believed where no record is left.

    `p`, `e` (rows, V), `of`: whose row; `more`: by how much absence weighs more then; the own record takes `scale`
    times its likelihood (a row of `like`, -1 for none) and `flat` times what is believed.
    """
    out = np.empty((len(of), p.shape[1]))
    _without_records(p, e, of, more, like, own, scale, flat, left > LEAST * total, out)
    return out


@compiled
def _beside_beliefs(d, weight, of, more, at, turned, window, m, lost):  # type: ignore[no-untyped-def]
    for i in range(len(d)):
        own = weight[of[i]]
        if at[i] >= 0:
            low, high = window[at[i], 0], window[at[i], 1]
            like, mine = turned[at[i], low:high], d[i, low:high]
            for j in range(len(like)):
                less = mine[j] + more[i] * like[j]
                mine[j] = less if less > NOTHING * mine[j] else 0.0
        row, found, nobody = d[i], m[i], 0
        for j in range(len(row)):
            nobody += 0 if row[j] > 0 else 1
            found[j] = np.divide(own[j], row[j] if row[j] > 0 else 1.0)  # no look at zeros, for speed
        if nobody > 0:
            for j in range(len(row)):
                if not row[j] > 0:
                    found[j] = 0.0
                    lost[i] += own[j]


@compiled
def _without_records(p, e, of, more, like, own, scale, flat, fine, out):  # type: ignore[no-untyped-def]
    for u in range(len(of)):
        i, row = of[u], out[u]
        base = more[u] - flat[u]
        if own[u] >= 0:
            said = like[own[u]]
            for v in range(len(row)):
                row[v] = max(p[i, v] + e[i, v] * (base - scale[u] * said[v]), 0.0)
        else:
            for v in range(len(row)):
                row[v] = max(p[i, v] + e[i, v] * base, 0.0)
        whole = 0.0
        for v in range(len(row)):
            whole += row[v]
        for v in range(len(row)):
            row[v] = row[v] / whole if fine[u] and whole > 0 else e[i, v]
