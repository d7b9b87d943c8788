"""What all loops over pairs share: log weights of categories, and the summaries of one target.

Notation
--------
j : distinct released record, sorted by block, inside a block by its first noisy value
t : distinct target, sorted by block and class
c_j : how many released rows record j stands for
l_j : log weight of record j for the current target
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import TOLERANCE, count_around, count_from, largest, scaled_exp, total_of
from confide.core.run.compile import compiled

SKIP = 36.0
"""Records whose weight is below exp(-SKIP) / n of the best one are not visited: below 1e-12 in total."""


@compiled(inner=True)
def add_base(lo, hi, codes, t_code, record_code, same, diff, log_m, out):  # type: ignore[no-untyped-def]
    """Log weights of a block's records for one class of targets: matches minus log m. Shapes: (V, r)."""
    for j in range(lo, hi):
        out[j - lo] = -log_m[j]
    for v in range(codes):
        tc = t_code[v]
        for j in range(lo, hi):
            if record_code[v, j] == tc:
                out[j - lo] += same[v, j]
            else:
                out[j - lo] += diff[v, j]


@compiled(inner=True)
def add_tables(lo, hi, tables, t_row, column, log_p, starts, widths, out):  # type: ignore[no-untyped-def]
    """The same for likelihoods given by matrices, stored one after another in `log_p`."""
    for v in range(tables):
        row = t_row[v]
        if row < 0:
            for j in range(lo, hi):
                out[j - lo] = -np.inf
        else:
            at = starts[v] + row * widths[v]
            for j in range(lo, hi):
                out[j - lo] += log_p[at + column[v, j]]


@compiled(inner=True)
def log_top_sum(weights, counts, peak, tops):  # type: ignore[no-untyped-def]
    """log of the sum of the largest weights relative to the peak, as many as `tops` (2, top) holds; -inf for none."""
    best, often, top = tops[0], tops[1], tops.shape[1]
    for k in range(top):
        best[k], often[k] = -np.inf, 0.0
    for j in range(len(weights)):
        if weights[j] > best[top - 1]:
            k = top - 1
            while k > 0 and best[k - 1] < weights[j]:
                best[k] = best[k - 1]
                often[k] = often[k - 1]
                k -= 1
            best[k] = weights[j]
            often[k] = counts[j]
    total = 0.0
    left = float(top)
    for k in range(top):
        if best[k] == -np.inf or left <= 0.0:
            break
        total += (often[k] if often[k] < left else left) * math.exp(best[k] - peak)
        left -= often[k]
    return math.log(total) if total > 0.0 else -np.inf


@compiled(inner=True)
def gather_largest(weights, place, peak, out):  # type: ignore[no-untyped-def]
    """The largest weights relative to the peak, as many as half of `out` holds, and in its other half their positions.

    A heap with the least of them at its root; -inf and -1 where there are fewer.
    """
    most = len(out) // 2
    size = 0
    for j in range(len(weights)):
        w = weights[j]
        if w == -np.inf or (size == most and w <= out[0]):
            continue
        if size < most:  # up from the end
            i = size
            size += 1
            while i > 0 and out[(i - 1) // 2] > w:
                out[i] = out[(i - 1) // 2]
                out[most + i] = out[most + (i - 1) // 2]
                i = (i - 1) // 2
        else:  # down from the root
            i = 0
            while 2 * i + 1 < size:
                k = 2 * i + 1
                k += 1 if k + 1 < size and out[k + 1] < out[k] else 0
                if out[k] >= w:
                    break
                out[i] = out[k]
                out[most + i] = out[most + k]
                i = k
        out[i] = w
        out[most + i] = place + j
    for i in range(most):
        out[i] = out[i] - peak if i < size else -np.inf
        out[most + i] = out[most + i] if i < size else -1.0


@compiled
def finish(weights, counts, place, true_at, scratch, tops, out, truth):  # type: ignore[no-untyped-def]
    """Summaries of one target's log weights.

    `out`: (log of the sum relative to the max, max, records at the max, log of the sum of the largest relative to the
    max, as many as `tops` has columns). `truth[k]`: (log weight, strictly above, at least as likely others) for the
    true record at position `true_at[k] - place`, skipped where negative. `scratch`: as long as `weights`; `tops`: two
    rows to work in. Where `out` is longer than 4, the rest is as `gather_largest` fills it.
    """
    peak = largest(weights)
    if len(out) > 4:
        gather_largest(weights, place, peak, out[4:])
    if peak == -np.inf:
        out[0] = -np.inf
        out[1] = -np.inf
        out[2] = 0.0
        out[3] = -np.inf
    else:
        scaled_exp(weights, counts, peak, scratch)
        out[0] = math.log(total_of(scratch))
        out[1] = peak
        out[2] = count_from(weights, counts, peak - TOLERANCE)
        if tops.shape[1] > 0:
            out[3] = log_top_sum(weights, counts, peak, tops)
    for k in range(len(true_at)):
        if true_at[k] < place:
            continue
        own = weights[true_at[k] - place]
        above, level = count_around(weights, counts, own)
        truth[k, 0] = own
        truth[k, 1] = above
        truth[k, 2] = level - 1.0


@compiled
def finish_each(weights, counts, which, ends, own, at, scratch, places, tops, out, truth):  # type: ignore[no-untyped-def]
    """The same for several targets: target i has the records which[ends[i]]..which[ends[i+1]-1], and the true records
    at[own[i]]..at[own[i+1]-1]. To work in: `scratch` and `places`, as long as the most of either."""
    for i in range(len(ends) - 1):
        a, e = ends[i], ends[i + 1]
        first, many = own[i], own[i + 1] - own[i]
        for k in range(many):
            places[k] = -1
            for j in range(a, e):
                if which[j] == at[first + k]:
                    places[k] = j - a
                    break
        finish(weights[a:e], counts[a:e], 0, places[:many], scratch[: e - a], tops, out[i], truth[first : first + many])
        for k in range(4 + (out.shape[1] - 4) // 2, out.shape[1]):
            if out[i, k] >= 0.0:
                out[i, k] = which[a + int(out[i, k])]
