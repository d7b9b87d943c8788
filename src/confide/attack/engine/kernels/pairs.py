"""Compiled loops over pairs of target and record. Numbers in, numbers out: no variable or mechanism is known here.

Notation as in `common`, arguments as in `arguments`. Where `into.out` has more columns than four, each loop gathers the
largest weights of a target in them (`gather_largest`).
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import log_cell, window
from confide.attack.engine.kernels.common import SKIP, add_base, add_tables, finish
from confide.attack.engine.kernels.unknown_errors import add_spreads
from confide.core.run.compile import compiled


@compiled(inner=True)
def add_density(lo, hi, even, half, anywhere, low, high, y, s, add, out):  # type: ignore[no-untyped-def]
    """log C of one known noisy number, for records lo..hi-1, to `out`: a quadratic where cells are even and narrow.

    `anywhere`: these records are not sorted by the number.
    """
    h = 2.0 * half / s
    inv = 1.0 / s
    far = abs(low[lo] - y)
    for j in range(lo if anywhere and even else hi - 1, hi):
        gap = abs(low[j] - y)
        far = gap if gap > far else far
    if even and h * (far * inv + h) < 2e-3:
        bend = 1.0 - h * h / 12.0
        const = add - 0.9189385332046727 - h * h / 24.0 + (math.log(h) if h > 0 else -math.log(s))
        for j in range(lo, hi):
            x = (0.5 * (low[j] + high[j]) - y) * inv
            out[j - lo] += const - 0.5 * bend * x * x
    else:
        for j in range(lo, hi):
            out[j - lo] += add + log_cell(low[j], high[j], y, s)


@compiled
def attack_plain(first, last, pairs, codes, tables, own, into, room):  # type: ignore[no-untyped-def]
    """Targets first..last-1 whose known uncertain variables are all categories."""
    block_of, _, offsets, counts, log_m = pairs
    t_code, record_code, same, diff = codes
    t_row, column, log_p, starts, widths = tables
    true_start, true_at = own
    tops, out, truth = into
    buffer, scratch = room[0], room[1]
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = buffer[: hi - lo]
        add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, w)
        add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, w)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], tops, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_noisy(first, last, pairs, codes, tables, noisy_ones, own, into, room, visited):  # type: ignore[no-untyped-def]
    """Targets first..last-1 with d >= 1 known noisy numbers; records of a block sorted by the first of them."""
    block_of, class_of, offsets, counts, log_m = pairs
    t_code, record_code, same, diff = codes
    t_row, column, log_p, starts, widths = tables
    y, t_log, noisy, low, high, sd, even, half = noisy_ones
    true_start, true_at = own
    tops, out, truth = into
    d = y.shape[1]
    base, buffer, scratch, middle = room[0], room[1], room[2], room[3]
    current = -1
    peak = -np.inf
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        n = hi - lo
        trues = true_at[true_start[t] : true_start[t + 1]]
        if n == 0:
            finish(
                buffer[:0], counts[:0], 0, trues, scratch[:0], tops, out[t], truth[true_start[t] : true_start[t + 1]]
            )
            continue
        if class_of[t] != current:
            current = class_of[t]
            add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, base)
            add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, base)
            peak = -np.inf
            for j in range(n):
                peak = base[j] if base[j] > peak else peak
                middle[j] = 0.5 * (low[0, lo + j] + high[0, lo + j])
        a, e = 0, n
        if even[0] and noisy[b, 0] and n > 32 and peak > -np.inf:
            # The best of a few records near the target, and its own, bound how far away a record can still matter.
            s = sd[t, 0]
            near, _ = window(middle, 0, n, y[t, 0], 0.0)
            best, least = -np.inf, np.inf
            first_near = near - 8 if near > 8 else 0
            last_near = near + 8 if near + 8 < n else n
            for k in range(last_near - first_near + len(trues)):
                j = first_near + k if k < last_near - first_near else trues[k - last_near + first_near] - lo
                if j < 0:
                    continue
                value = base[j]
                for v in range(d):
                    if noisy[b, v]:
                        x = (0.5 * (low[v, lo + j] + high[v, lo + j]) - y[t, v]) / sd[t, v]
                        value -= 0.5 * x * x
                best = value if value > best else best
                if k >= last_near - first_near:
                    least = value if value < least else least
            if best > -np.inf:
                reach = 2.0 * (peak - best + SKIP + math.log(n))
                a, e = window(middle, 0, n, y[t, 0], s * math.sqrt(reach if reach > 0.0 else 0.0) + half[0])
                for k in range(len(trues)):  # the true record is always visited, with all that could beat it
                    at = trues[k] - lo
                    if at >= 0 and (at < a or at >= e or least < best - SKIP - math.log(n)):
                        a, e = 0, n
        w = buffer[: e - a]
        for j in range(a, e):
            w[j - a] = base[j]
        for v in range(d):
            if noisy[b, v]:
                add_density(lo + a, lo + e, even[v], half[v], v > 0, low[v], high[v], y[t, v], sd[t, v], t_log[t, v], w)
        visited[0] += e - a
        finish(
            w,
            counts[lo + a : lo + e],
            lo + a,
            trues,
            scratch[: e - a],
            tops,
            out[t],
            truth[true_start[t] : true_start[t + 1]],
        )


@compiled
def attack_mixture(first, last, pairs, mixed, tables, noisy_ones, errors, own, into, room):  # type: ignore[no-untyped-def]
    """Targets whose unknown classes are averaged over: w_j = sum_k e_k(t) w_kj, times densities of known numbers."""
    block_of, _, offsets, counts, _ = pairs
    w_kj, k_start, k_list, k_weight = mixed
    t_row, column, log_p, starts, widths = tables
    y, t_log, noisy, low, high, sd, _, _ = noisy_ones
    x, x_add, z, there, flat, coef, steep, nodes, _, _, _ = errors
    true_start, true_at = own
    tops, out, truth = into
    d = y.shape[1]
    buffer, scratch, product = room[0], room[1], room[2]
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = buffer[: hi - lo]
        for j in range(hi - lo):
            w[j] = 0.0
        for i in range(k_start[t], k_start[t + 1]):
            e, k = k_weight[i], k_list[i]
            for j in range(lo, hi):
                w[j - lo] += e * w_kj[k, j]
        for j in range(hi - lo):
            w[j] = math.log(w[j]) if w[j] > 0 else -np.inf
        add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, w)
        for v in range(d):
            if not noisy[b, v]:
                continue
            for j in range(lo, hi):
                w[j - lo] += t_log[t, v] + log_cell(low[v, j], high[v, j], y[t, v], sd[t, v])
        add_spreads(lo, hi, x[t], x_add[t], z, there, flat, coef, steep, nodes, scratch, product, w)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], tops, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip
