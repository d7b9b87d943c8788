"""Compiled loops over pairs of target and record. Numbers in, numbers out: no variable or mechanism is known here.

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

from confide.attack.kernels.arithmetic import (
    TOLERANCE,
    compiled,
    count_around,
    count_from,
    fast_exp,
    largest,
    log_cell,
    scaled_exp,
    total_of,
    window,
)

SKIP = 36.0
"""Records whose weight is below exp(-SKIP) / n of the best one are not visited: below 1e-12 in total."""


@compiled
def widest_block(first, last, block_of, offsets):  # type: ignore[no-untyped-def]
    """Records of the largest block among those of targets first..last-1."""
    widest = 0
    for t in range(first, last):
        b = block_of[t]
        widest = max(widest, offsets[b + 1] - offsets[b])
    return widest


@compiled
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


@compiled
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


@compiled
def log_top_sum(weights, counts, peak, top):  # type: ignore[no-untyped-def]
    """log of the sum of the `top` largest weights relative to the peak; -inf for none."""
    best = np.full(top, -np.inf)
    often = np.zeros(top)
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
        total += min(often[k], left) * math.exp(best[k] - peak)
        left -= often[k]
    return math.log(total) if total > 0.0 else -np.inf


@compiled
def finish(weights, counts, place, true_at, scratch, top, out, truth):  # type: ignore[no-untyped-def]
    """Summaries of one target's log weights.

    `out`: (log of the sum relative to the max, max, records at the max, log of the sum of the `top` largest relative to
    the max). `truth[k]`: (log weight, strictly above, at least as likely others) for the true record at position
    `true_at[k] - place`, skipped where negative. `scratch`: as long as `weights`.
    """
    peak = largest(weights)
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
        if top > 0:
            out[3] = log_top_sum(weights, counts, peak, top)
    for k in range(len(true_at)):
        if true_at[k] < place:
            continue
        own = weights[true_at[k] - place]
        above, level = count_around(weights, counts, own)
        truth[k, 0] = own
        truth[k, 1] = above
        truth[k, 2] = level - 1.0


@compiled
def attack_plain(  # type: ignore[no-untyped-def]
    first, last, block_of, offsets, counts, log_m,
    t_code, record_code, same, diff, t_row, column, log_p, starts, widths,
    true_start, true_at, top, out, truth,
):  # fmt: skip
    """Targets first..last-1 whose known uncertain variables are all categories."""
    widest = widest_block(first, last, block_of, offsets)
    buffer = np.empty(widest)
    scratch = np.empty(widest)
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = buffer[: hi - lo]
        add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, w)
        add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, w)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], top, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_noisy(  # type: ignore[no-untyped-def]
    first, last, block_of, class_of, offsets, counts, log_m,
    t_code, record_code, same, diff, t_row, column, log_p, starts, widths,
    y, t_log, noisy, low, high, sd, even, half,
    true_start, true_at, top, out, truth, visited,
):  # fmt: skip
    """Targets first..last-1 with d >= 1 known noisy numbers; records of a block sorted by the first of them.

    `y`, `t_log`, `sd`: (targets, d) the target's value, what is added to its log (minus log allowed), and how far it is
    spread. `noisy`:
    (blocks, d) whether the block's label leaves the variable uncertain. `low`, `high`: (d, r) the cells.
    `even`: (d,) all cells are finite and of one width (the first variable's is 2 * `half`): then only records near
    the target are visited, and a quadratic serves where cells are small.
    """
    d = y.shape[1]
    widest = widest_block(first, last, block_of, offsets)
    base = np.empty(widest)
    buffer = np.empty(widest)
    scratch = np.empty(widest)
    middle = np.empty(widest)
    current = -1
    peak = -np.inf
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        n = hi - lo
        trues = true_at[true_start[t] : true_start[t + 1]]
        if n == 0:
            finish(buffer[:0], counts[:0], 0, trues, scratch[:0], top, out[t], truth[true_start[t] : true_start[t + 1]])
            continue
        if class_of[t] != current:
            current = class_of[t]
            add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, base)
            add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, base)
            peak = -np.inf
            for j in range(n):
                peak = max(peak, base[j])
                middle[j] = 0.5 * (low[0, lo + j] + high[0, lo + j])
        a, e = 0, n
        if even[0] and noisy[b, 0] and n > 32 and peak > -np.inf:
            # The best of a few records near the target, and its own, bound how far away a record can still matter.
            s = sd[t, 0]
            near, _ = window(middle, 0, n, y[t, 0], 0.0)
            best, least = -np.inf, np.inf
            first_near, last_near = max(near - 8, 0), min(near + 8, n)
            for k in range(last_near - first_near + len(trues)):
                j = first_near + k if k < last_near - first_near else trues[k - last_near + first_near] - lo
                if j < 0:
                    continue
                value = base[j]
                for v in range(d):
                    if noisy[b, v]:
                        x = (0.5 * (low[v, lo + j] + high[v, lo + j]) - y[t, v]) / sd[t, v]
                        value -= 0.5 * x * x
                best = max(best, value)
                if k >= last_near - first_near:
                    least = min(least, value)
            if best > -np.inf:
                reach = 2.0 * (peak - best + SKIP + math.log(n))
                a, e = window(middle, 0, n, y[t, 0], s * math.sqrt(max(reach, 0.0)) + half)
                for k in range(len(trues)):  # the true record is always visited, with all that could beat it
                    at = trues[k] - lo
                    if at >= 0 and (at < a or at >= e or least < best - SKIP - math.log(n)):
                        a, e = 0, n
        w = buffer[: e - a]
        for j in range(a, e):
            w[j - a] = base[j]
        for v in range(d):
            if not noisy[b, v]:
                continue
            s = sd[t, v]
            yy = y[t, v]
            add = t_log[t, v]
            h = (high[v, lo + a] - low[v, lo + a]) / s
            inv = 1.0 / s
            far = max(abs(low[v, lo + a] - yy), abs(low[v, lo + e - 1] - yy))
            if v > 0 and even[v]:
                for j in range(a, e):
                    far = max(far, abs(low[v, lo + j] - yy))
            if even[v] and h * (far * inv + h) < 2e-3:
                bend = 1.0 - h * h / 12.0
                const = add - 0.9189385332046727 - h * h / 24.0 + (math.log(h) if h > 0 else -math.log(s))
                for j in range(a, e):
                    x = (0.5 * (low[v, lo + j] + high[v, lo + j]) - yy) * inv
                    w[j - a] += const - 0.5 * bend * x * x
            else:
                for j in range(a, e):
                    w[j - a] += add + log_cell(low[v, lo + j], high[v, lo + j], yy, s)
        visited[0] += e - a
        finish(
            w,
            counts[lo + a : lo + e],
            lo + a,
            trues,
            scratch[: e - a],
            top,
            out[t],
            truth[true_start[t] : true_start[t + 1]],
        )


@compiled
def add_spreads(lo, hi, x, x_add, z, there, flat, coef, steep, nodes, scratch, product, out):  # type: ignore[no-untyped-def]
    """Add log sum_k coef_k exp(-flat q - steep_k q), q = (x - z)^2, of every variable with an unknown error.

    The widest node is taken out as `flat`, so that no sum underflows and one logarithm serves all variables.
    """
    n = hi - lo
    if len(x) == 0:
        return
    for j in range(n):
        product[j] = 1.0
    for v in range(len(x)):
        xv = x[v]
        add = x_add[v]
        for j in range(n):
            q = xv - z[v, lo + j]
            q = q * q
            scratch[j] = coef[v, 0, lo + j]
            out[j] += add * there[v, lo + j] - flat[v, lo + j] * q
        for k in range(1, nodes[v]):
            for j in range(n):
                q = xv - z[v, lo + j]
                scratch[j] += coef[v, k, lo + j] * fast_exp(-steep[v, k, lo + j] * q * q)
        for j in range(n):
            product[j] *= scratch[j]
        if v % 4 == 3 or v == len(x) - 1:
            for j in range(n):
                out[j] += math.log(product[j])
                product[j] = 1.0


@compiled
def spread_window(x, reach, noise, bias, z, lo, hi):  # type: ignore[no-untyped-def]
    """Positions in the sorted z[lo:hi] with (x - z)^2 <= reach (noise + bias z^2); all where that has no end."""
    if reach <= 0.0:
        reach = 0.0
    lead = 1.0 - reach * bias
    if not (lead > 1e-9):
        return lo, hi
    root = math.sqrt(max(x * x - lead * (x * x - reach * noise), 0.0))
    middle, radius = x / lead, root / lead
    return window(z, lo, hi, middle, radius * (1.0 + 1e-12))


@compiled
def hopeful_ones(lo, hi, x, x_add, z, there, flat, peaks, base, least, scratch, out):  # type: ignore[no-untyped-def]
    """Positions (from `lo`) of records whose weight can reach `least`, by the widest nodes alone: no exponentials."""
    for j in range(hi - lo):
        scratch[j] = base[j]
    for v in range(len(x)):
        xv, add = x[v], x_add[v] + peaks[v]
        for j in range(lo, hi):
            q = xv - z[v, j]
            scratch[j - lo] += add * there[v, j] - flat[v, j] * q * q
    kept = 0
    for j in range(hi - lo):
        if scratch[j] >= least - TOLERANCE:
            out[kept] = j
            kept += 1
    return kept


@compiled
def attack_spread(  # type: ignore[no-untyped-def]
    first, last, block_of, class_of, offsets, counts, log_m,
    t_code, record_code, same, diff, t_row, column, log_p, starts, widths,
    y, t_log, noisy, low, high, sd, x, x_add, z, there, flat, coef, steep, nodes, peaks, most, whole,
    true_start, true_at, top, out, truth, visited,
):  # fmt: skip
    """Targets first..last-1 with known numbers in which the records carry errors of unknown size.

    `x`, `x_add`: (targets, s) the target's value and what is added to its log. `z`, `there`, `flat`: (s, r); `coef`,
    `steep`: (s, K, r), of which `nodes[v]` are used, the widest first. Records of a block are sorted by `z[0]`; where
    all of them have it (`whole`) only those near the target are visited, and of those only the ones that their widest
    nodes leave a chance: `peaks` are logs of each variable's largest density, `most` bounds the first one's variance.
    Noisy numbers as in `attack_noisy`.
    """
    d, s = y.shape[1], x.shape[1]
    widest = widest_block(first, last, block_of, offsets)
    base = np.empty(widest)
    buffer = np.empty(widest)
    scratch = np.empty(widest)
    product = np.empty(widest)
    hopeful = np.empty(widest, dtype=np.int64)
    stand = np.empty(widest)
    single = np.empty(1)
    current = -1
    peak = -np.inf
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        n = hi - lo
        trues = true_at[true_start[t] : true_start[t + 1]]
        own = np.full(len(trues), np.inf)
        best, least = -np.inf, np.inf
        if n and class_of[t] != current:
            current = class_of[t]
            add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, base)
            add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, base)
            peak = largest(base[:n])
        a, e = 0, n
        if whole and n > 32 and peak > -np.inf:
            bound = peak
            for v in range(s):
                bound += max(x_add[t, v] + peaks[v], 0.0) if v > 0 else x_add[t, v] + peaks[v]
            for v in range(d):
                if noisy[b, v]:
                    bound += t_log[t, v] + max(0.0, -0.9189385332046727 - math.log(sd[t, v]))
            near, _ = window(z[0], lo, hi, x[t, 0], 0.0)
            first_near, last_near = max(near - 8, lo), min(near + 8, hi)
            for k in range(last_near - first_near + len(trues)):
                j = first_near + k if k < last_near - first_near else trues[k - last_near + first_near]
                if j < 0:
                    continue
                single[0] = base[j - lo]
                add_spreads(j, j + 1, x[t], x_add[t], z, there, flat, coef, steep, nodes, scratch, product, single)
                for v in range(d):
                    if noisy[b, v]:
                        single[0] += t_log[t, v] + log_cell(low[v, j], high[v, j], y[t, v], sd[t, v])
                best = max(best, single[0])
                if k >= last_near - first_near:
                    own[k - last_near + first_near] = single[0]
            if best > -np.inf:
                least = best - SKIP - math.log(n)
                reach = 2.0 * (bound - best + SKIP + math.log(n))
                a, e = spread_window(x[t, 0], reach, most[0], most[1], z[0], lo, hi)
                a, e = a - lo, e - lo
                for k in range(len(trues)):  # the true record is always visited, with all that could beat it
                    at = trues[k] - lo
                    if at >= 0 and (at < a or at >= e or own[k] < least):
                        a, e = 0, n
        w = buffer[: e - a]
        for j in range(a, e):
            w[j - a] = base[j]
        for v in range(d):
            if noisy[b, v]:
                for j in range(a, e):
                    w[j - a] += t_log[t, v] + log_cell(low[v, lo + j], high[v, lo + j], y[t, v], sd[t, v])
        kept = e - a
        if best > -np.inf:
            for k in range(len(trues)):
                if trues[k] >= 0:
                    least = min(least, own[k])
            kept = hopeful_ones(lo + a, lo + e, x[t], x_add[t], z, there, flat, peaks, w, least, scratch, hopeful)
        visited[0] += kept
        if 2 * kept > e - a:
            visited[0] += e - a - kept
            add_spreads(lo + a, lo + e, x[t], x_add[t], z, there, flat, coef, steep, nodes, scratch, product, w)
            finish(w, counts[lo + a : lo + e], lo + a, trues, scratch[: e - a], top, out[t],
                   truth[true_start[t] : true_start[t + 1]])  # fmt: skip
            continue
        places = np.full(len(trues), -1)
        for i in range(kept):  # gathered to the front, since positions only rise
            j = lo + a + hopeful[i]
            for k in range(len(trues)):
                if trues[k] == j:
                    places[k] = i
            single[0] = w[hopeful[i]]
            add_spreads(j, j + 1, x[t], x_add[t], z, there, flat, coef, steep, nodes, scratch, product, single)
            w[i] = single[0]
            stand[i] = counts[j]
        finish(w[:kept], stand[:kept], 0, places, scratch[:kept], top, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_mixture(  # type: ignore[no-untyped-def]
    first, last, block_of, offsets, counts, w_kj, k_start, k_list, k_weight,
    y, t_log, noisy, low, high, sd, x, x_add, z, there, flat, coef, steep, nodes,
    true_start, true_at, top, out, truth,
):  # fmt: skip
    """Targets whose unknown classes are averaged over: w_j = sum_k e_k(t) w_kj, times densities of known numbers.

    Unknown errors around the records' values as in `attack_spread`. `w_kj`: (K, r), scaled; `k_start`, `k_list`,
    `k_weight`: the classes of each target and their weights.
    """
    d = y.shape[1]
    widest = widest_block(first, last, block_of, offsets)
    buffer = np.empty(widest)
    scratch = np.empty(widest)
    product = np.empty(widest)
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = buffer[: hi - lo]
        w[:] = 0.0
        for i in range(k_start[t], k_start[t + 1]):
            e, k = k_weight[i], k_list[i]
            for j in range(lo, hi):
                w[j - lo] += e * w_kj[k, j]
        for j in range(hi - lo):
            w[j] = math.log(w[j]) if w[j] > 0 else -np.inf
        for v in range(d):
            if not noisy[b, v]:
                continue
            for j in range(lo, hi):
                w[j - lo] += t_log[t, v] + log_cell(low[v, j], high[v, j], y[t, v], sd[t, v])
        add_spreads(lo, hi, x[t], x_add[t], z, there, flat, coef, steep, nodes, scratch, product, w)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], top, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_nearest(  # type: ignore[no-untyped-def]
    first, last, block_of, offsets, counts, y, z, scale, true_start, true_at, top, out, truth,
):  # fmt: skip
    """Targets first..last-1 of a naive intruder: the nearest records share all. `y`: (targets, d), `z`: (d, r)."""
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = np.empty(hi - lo)
        scratch = np.empty(hi - lo)
        best = np.inf
        for j in range(lo, hi):
            gap = 0.0
            for v in range(y.shape[1]):
                x = (z[v, j] - y[t, v]) / scale[v]
                gap += x * x
            w[j - lo] = math.sqrt(gap) if gap == gap else np.inf
            best = min(best, w[j - lo])
        for j in range(hi - lo):
            w[j] = 0.0 if w[j] <= best * (1.0 + TOLERANCE) and best < np.inf else -np.inf
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], top, out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip
