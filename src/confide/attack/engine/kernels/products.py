"""Log densities of errors of unknown size on a grid of targets' values, and summaries of rows that a product made.

Notation as in `common`.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import TOLERANCE, count_around, fast_exp
from confide.attack.engine.kernels.common import add_base, add_tables, finish
from confide.core.run.compile import compiled, summing


@compiled
def log_on_grid(first, last, grid, z, flat, coef, steep, nodes, out):  # type: ignore[no-untyped-def]
    """log sum_k coef_k exp(-(flat + steep_k) (x - z_j)^2) at values x of a grid, in `out` (grid, records), for records
    first..last-1; 0 where there is no first node."""
    for i in range(len(grid)):
        for j in range(first, last):
            q = (grid[i] - z[j]) * (grid[i] - z[j])
            total = coef[0, j]
            for k in range(1, nodes):
                total += coef[k, j] * fast_exp(-steep[k, j] * q)
            out[i, j] = math.log(total) - flat[j] * q if total > 0.0 else 0.0


@compiled(inner=True)
def add_and_find(base, w):  # type: ignore[no-untyped-def]
    """w += base; the largest of them."""
    n = len(w)
    even = n - (n & 3)
    a = b = c = d = -np.inf
    for j in range(0, even, 4):
        w[j] += base[j]
        w[j + 1] += base[j + 1]
        w[j + 2] += base[j + 2]
        w[j + 3] += base[j + 3]
        a = w[j] if w[j] > a else a
        b = w[j + 1] if w[j + 1] > b else b
        c = w[j + 2] if w[j + 2] > c else c
        d = w[j + 3] if w[j + 3] > d else d
    for j in range(even, n):
        w[j] += base[j]
        a = w[j] if w[j] > a else a
    a = b if b > a else a
    c = d if d > c else c
    return c if c > a else a


@summing
def sum_and_ties(w, counts, peak):  # type: ignore[no-untyped-def]
    """The sum relative to the peak, and how many lie at it within the tolerance for ties."""
    total, ties, least = 0.0, 0.0, peak - TOLERANCE
    for j in range(len(w)):
        total += counts[j] * fast_exp(w[j] - peak)
        ties += counts[j] if w[j] >= least else 0.0
    return total, ties


@compiled
def finish_rows(first, last, weights, pairs, codes, tables, own_records, into, room):  # type: ignore[no-untyped-def]
    """Summaries of targets first..last-1 of one block, given in `weights` (targets, records) what numbers say.

    Columns of `weights` are the records of the block.
    """
    block_of, class_of, offsets, counts, log_m = pairs
    t_code, record_code, same, diff = codes
    t_row, column, log_p, starts, widths = tables
    true_start, true_at = own_records
    tops, out, truth = into
    base, scratch = room[0], room[1]
    current = -1
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        if class_of[t] != current:
            current = class_of[t]
            add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, base)
            add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, base)
        w = weights[t - first]
        peak = add_and_find(base, w)
        if tops.shape[1] == 0 and out.shape[1] == 4 and peak > -np.inf:
            total, ties = sum_and_ties(w, counts[lo:hi], peak)
            out[t, 0], out[t, 1], out[t, 2], out[t, 3] = math.log(total), peak, ties, -np.inf
            for k in range(true_start[t], true_start[t + 1]):
                if true_at[k] >= 0:
                    truth[k, 0] = w[true_at[k] - lo]
                    above, level = count_around(w, counts[lo:hi], truth[k, 0])
                    truth[k, 1], truth[k, 2] = above, level - 1.0
            continue
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], tops, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip
