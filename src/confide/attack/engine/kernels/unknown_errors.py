"""Compiled loops over pairs in which records carry errors of unknown size: sums over nodes of a variance.

Notation as in `common`; q is the squared distance between a target's value and a record's.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import TOLERANCE, fast_exp, largest, log_cell, window
from confide.attack.engine.kernels.common import SKIP, add_base, add_tables, finish
from confide.core.run.compile import compiled

TOGETHER, TILE = 16, 256
"""Targets worked on together, and records in one go, so that a record's nodes are read from memory once for all."""
ROOMS = 5
"""Rows of `room` before those of the targets worked on together."""


@compiled(inner=True)
def add_node(x, z, coef, steep, out):  # type: ignore[no-untyped-def]
    """out += coef exp(-steep q), q = (x - z)^2; arrays of one length, so that the loop can be vectorised."""
    for j in range(len(out)):
        q = x - z[j]
        out[j] += coef[j] * fast_exp(-steep[j] * q * q)


@compiled(inner=True)
def add_flat(x, add, z, there, flat, out):  # type: ignore[no-untyped-def]
    """out += add where there is a value, and - flat q."""
    for j in range(len(out)):
        q = x - z[j]
        out[j] += add * there[j] - flat[j] * q * q


@compiled(inner=True)
def add_spreads(lo, hi, x, x_add, z, there, flat, coef, steep, nodes, scratch, product, out):  # type: ignore[no-untyped-def]
    """Add log sum_k coef_k exp(-flat q - steep_k q), q = (x - z)^2, of every variable with an unknown error.

    The widest node is taken out as `flat`, so that no sum underflows and one logarithm serves several variables.
    """
    n = hi - lo
    if len(x) == 0 or n == 0:
        return
    total = scratch[:n]
    for j in range(n):
        product[j] = 1.0
    for v in range(len(x)):
        mine = z[v, lo:hi]
        add_flat(x[v], x_add[v], mine, there[v, lo:hi], flat[v, lo:hi], out)
        for j in range(n):
            total[j] = coef[v, 0, lo + j]
        for k in range(1, nodes[v]):
            add_node(x[v], mine, coef[v, k, lo:hi], steep[v, k, lo:hi], total)
        for j in range(n):
            product[j] *= total[j]
        if v & 3 == 3 or v == len(x) - 1:
            for j in range(n):
                out[j] += math.log(product[j])
                product[j] = 1.0


@compiled(inner=True)
def log_spreads(j, x, x_add, z, there, flat, coef, steep, nodes):  # type: ignore[no-untyped-def]
    """The same for one record."""
    out = 0.0
    for v in range(len(x)):
        q = x[v] - z[v, j]
        q *= q
        total = coef[v, 0, j]
        for k in range(1, nodes[v]):
            total += coef[v, k, j] * fast_exp(-steep[v, k, j] * q)
        out += x_add[v] * there[v, j] - flat[v, j] * q + math.log(total)
    return out


@compiled(inner=True)
def spread_window(x, reach, noise, bias, z, lo, hi):  # type: ignore[no-untyped-def]
    """Positions in the sorted z[lo:hi] with (x - z)^2 <= reach (noise + bias z^2); all where that has no end."""
    if reach <= 0.0:
        reach = 0.0
    lead = 1.0 - reach * bias
    if not (lead > 1e-9):
        return lo, hi
    square = x * x - lead * (x * x - reach * noise)
    root = math.sqrt(square) if square > 0.0 else 0.0
    middle, radius = x / lead, root / lead
    return window(z, lo, hi, middle, radius * (1.0 + 1e-12))


@compiled(inner=True)
def hopeful_ones(lo, hi, x, x_add, z, there, flat, peaks, base, least, scratch, out):  # type: ignore[no-untyped-def]
    """Positions (from `lo`) of records whose weight can reach `least`, by the widest nodes alone: no exponentials."""
    upper = scratch[: hi - lo]
    for j in range(len(upper)):
        upper[j] = base[j]
    for v in range(len(x)):
        add_flat(x[v], x_add[v] + peaks[v], z[v, lo:hi], there[v, lo:hi], flat[v, lo:hi], upper)
    kept = 0
    for j in range(len(upper)):
        if upper[j] >= least - TOLERANCE:
            out[kept] = j
            kept += 1
    return kept


@compiled
def attack_spread(  # type: ignore[no-untyped-def]
    first, last, pairs, codes, tables, noisy_ones, errors, own_records, into, room, places, visited
):
    """Targets first..last-1 with known numbers in which the records carry errors of unknown size.

    Records of a block are sorted by `z[0]`; where all of them have it (`whole`) only those near the target are visited,
    and of those only the ones that their widest nodes leave a chance. `room`, `places`: as `spread_room` makes them.
    """
    block_of, class_of, offsets, counts, log_m = pairs
    t_code, record_code, same, diff = codes
    t_row, column, log_p, starts, widths = tables
    y, t_log, noisy, low, high, sd, _, _ = noisy_ones
    x, x_add, z, there, flat, coef, steep, nodes, peaks, most, whole = errors
    true_start, true_at = own_records
    tops, out, truth = into
    d, s = y.shape[1], x.shape[1]
    base, scratch, product, stand, own = room[0], room[1], room[2], room[3], room[4]
    hopeful, true_place, starting, ending = places[0], places[1], places[2], places[3]
    batch = len(room) - ROOMS
    current, place, low_end, high_end = -1, -1, 0, 0
    peak = -np.inf
    for t in range(first, last):
        place += 1
        starting[place], ending[place] = 0, 0
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        n = hi - lo
        trues = true_at[true_start[t] : true_start[t + 1]]
        for k in range(len(trues)):
            own[k], true_place[k] = np.inf, -1
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
                top = x_add[t, v] + peaks[v]
                bound += top if v == 0 or top > 0.0 else 0.0
            for v in range(d):
                if noisy[b, v]:
                    top = -0.9189385332046727 - math.log(sd[t, v])
                    bound += t_log[t, v] + (top if top > 0.0 else 0.0)
            near, _ = window(z[0], lo, hi, x[t, 0], 0.0)
            first_near = near - 8 if near - 8 > lo else lo
            last_near = near + 8 if near + 8 < hi else hi
            for k in range(last_near - first_near + len(trues)):
                j = first_near + k if k < last_near - first_near else trues[k - last_near + first_near]
                if j < 0:
                    continue
                value = base[j - lo] + log_spreads(j, x[t], x_add[t], z, there, flat, coef, steep, nodes)
                for v in range(d):
                    if noisy[b, v]:
                        value += t_log[t, v] + log_cell(low[v, j], high[v, j], y[t, v], sd[t, v])
                best = value if value > best else best
                if k >= last_near - first_near:
                    own[k - last_near + first_near] = value
            if best > -np.inf:
                least = best - SKIP - math.log(n)
                reach = 2.0 * (bound - best + SKIP + math.log(n))
                a, e = spread_window(x[t, 0], reach, most[0], most[1], z[0], lo, hi)
                a, e = a - lo, e - lo
                for k in range(len(trues)):  # the true record is always visited, with all that could beat it
                    at = trues[k] - lo
                    if at >= 0 and (at < a or at >= e or own[k] < least):
                        a, e = 0, n
        w = room[ROOMS + place, : e - a]
        for j in range(a, e):
            w[j - a] = base[j]
        for v in range(d):
            if noisy[b, v]:
                for j in range(a, e):
                    w[j - a] += t_log[t, v] + log_cell(low[v, lo + j], high[v, lo + j], y[t, v], sd[t, v])
        kept = e - a
        if best > -np.inf:
            for k in range(len(trues)):
                if trues[k] >= 0 and own[k] < least:
                    least = own[k]
            kept = hopeful_ones(lo + a, lo + e, x[t], x_add[t], z, there, flat, peaks, w, least, scratch, hopeful)
        if 2 * kept > e - a:  # nearly all count: several such targets are worked on together, below
            visited[0] += e - a
            starting[place], ending[place] = lo + a, lo + e
            if a < e:
                low_end = lo + a if high_end == 0 or lo + a < low_end else low_end
                high_end = lo + e if lo + e > high_end else high_end
        else:
            visited[0] += kept
            for i in range(kept):  # gathered to the front, since positions only rise
                j = lo + a + hopeful[i]
                for k in range(len(trues)):
                    if trues[k] == j:
                        true_place[k] = i
                w[i] = w[hopeful[i]] + log_spreads(j, x[t], x_add[t], z, there, flat, coef, steep, nodes)
                stand[i] = counts[j]
            finish(w[:kept], stand[:kept], 0, true_place[: len(trues)], scratch[:kept], tops, out[t],
                   truth[true_start[t] : true_start[t + 1]])  # fmt: skip
            for i in range(4 + (out.shape[1] - 4) // 2, out.shape[1]):
                if out[t, i] >= 0.0:
                    out[t, i] = lo + a + hopeful[int(out[t, i])]
        if place == batch - 1 or t == last - 1:
            start = t - place
            for tile in range(low_end, high_end, TILE):
                for i in range(place + 1):
                    a = starting[i] if starting[i] > tile else tile
                    e = ending[i] if ending[i] < tile + TILE else tile + TILE
                    if a < e:
                        k, w = start + i, room[ROOMS + i, a - starting[i] : e - starting[i]]
                        add_spreads(a, e, x[k], x_add[k], z, there, flat, coef, steep, nodes, scratch, product, w)
            for i in range(place + 1):
                a, e = starting[i], ending[i]
                if a < e:
                    k = start + i
                    finish(room[ROOMS + i, : e - a], counts[a:e], a, true_at[true_start[k] : true_start[k + 1]],
                           scratch[: e - a], tops, out[k], truth[true_start[k] : true_start[k + 1]])  # fmt: skip
            place, low_end, high_end = -1, 0, 0
