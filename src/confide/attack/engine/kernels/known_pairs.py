"""Compiled loops over all pairs of some targets and some records: known noisy numbers, and weights with them.

Notation as in `common`: targets t, records j, noisy numbers v.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import fast_exp, largest, log_cell
from confide.core.run.compile import compiled, summing

NARROW = 2e-2
"""Width of a cell times the distance to it, in standard deviations, up to which the log of its area is a polynomial in
the squared distance: what is left out, u^6 / 2835 with u = x h / 2, is below 1e-15."""
WIDER, FINE = 8e-2, 1e-2
"""The same with one term more for the nearer ones of records some of which are further off, where cells are narrower
than `FINE`: what is left out, u^8 / 37800 and terms like h^2 u^4, is below 1e-12."""

FEW = 4
"""Classes up to which a plain sum takes less time than one in parts side by side."""


@compiled(inner=True)
def add_normal_row(y, noisy, add, sd, low, high, noisy_j, middle, gap, extent, out):  # type: ignore[no-untyped-def]
    """log Pr(z_j given y) of one target, added to `out`: a polynomial where cells are all as wide, and narrow beside
    the distance.

    `extent`: how wide cells are (NaN: they differ), the least middle and the largest; `gap`: -inf for records that are
    not noisy, else 0.
    """
    if not noisy:
        for j in range(len(out)):
            out[j] = -np.inf if noisy_j[j] else out[j]
        return
    h, inv = extent[0] / sd, 1.0 / sd
    far = max(abs(extent[1] - y), abs(extent[2] - y)) * inv
    if h * (far + h) < NARROW:
        bend, flat = h * h * (1.0 - h * h / 30.0) / 24.0 - 0.5, -h * h * h * h / 2880.0
        const = add - 0.9189385332046727 - h * h / 24.0 + (math.log(h) if h > 0 else -math.log(sd))
        for j in range(len(out)):
            x = (middle[j] - y) * inv
            out[j] += const + x * x * (bend + flat * x * x) + gap[j]
        return
    least = WIDER / h if 0 < h < FINE else -1.0  # beyond, and where widths differ (NaN), areas themselves
    steep = h * h * h * h * h * h / 181440.0
    bend, flat = h * h * (1.0 - h * h / 30.0) / 24.0 - 0.5, -h * h * h * h / 2880.0
    const = add - 0.9189385332046727 - h * h * (1.0 - h * h / 60.0) / 24.0 + (math.log(h) if h > 0 else 0.0)
    for j in range(len(out)):
        x = (middle[j] - y) * inv
        if not noisy_j[j]:
            out[j] = -np.inf
        elif abs(x) < least:
            out[j] += const + x * x * (bend + x * x * (flat + steep * x * x))
        else:
            out[j] += add + log_cell(low[j], high[j], y, sd)


@compiled
def add_normal_pairs(first, last, true, record, out):  # type: ignore[no-untyped-def]
    """log Pr(z_j given y_t) of targets first..last-1, added to `out` (targets, records): 0 where neither is noisy, -inf
    where one of them is. `t_log` is added to each noisy target's."""
    y, noisy_t, t_log, sd = true
    low, high, noisy_j, middle, gap, extent = record
    for t in range(first, last):
        add_normal_row(y[t], noisy_t[t], t_log[t], sd[t], low, high, noisy_j, middle, gap, extent, out[t])


@compiled
def weigh_pairs(mixed, of, log_m, log_absent, least, block_t, block_r, true, record, w, top):  # type: ignore[no-untyped-def]
    """Weights of records in `w` (targets, records), relative to exp(`top`), which is the largest log, or `least`.

    Logs are `mixed` (targets, kinds of records) at each record's kind (`of`), less log_m and log_absent, with the
    densities of known noisy numbers (v, ...); records of another block have weight 0.
    """
    y, noisy_t, t_log, sd = true
    low, high, noisy_j, middle, gap, extent = record
    for t in range(len(w)):
        row = w[t]
        for j in range(len(row)):
            value = mixed[t, of[j]] - log_m[j] - log_absent[t]
            row[j] = value if block_r[j] == block_t[t] else -np.inf
        for v in range(len(y)):
            add_normal_row(y[v, t], noisy_t[v, t], t_log[v, t], sd[v, t], low[v], high[v], noisy_j[v], middle[v],
                           gap[v], extent[v], row)  # fmt: skip
        most = max(largest(row), least[t])
        most = most if most > -np.inf else 0.0
        top[t] = most
        for j in range(len(row)):
            x = row[j] - most
            row[j] = fast_exp(x) if x > -700.0 else 0.0


@compiled
def log_mix(start, which, log_e, of, table, rows, begin, like, unknown, top, out):  # type: ignore[no-untyped-def]
    """log sum_k e_k(t) a_k(c) L_kj of targets and records (`rows`), in `out` (targets, records).

    Classes that fit target t are which[start[t] : start[t + 1]], with log e beside them; records of cell c are those
    from begin[c] on; `table` has log a (cells, rows of targets, K), `of` each target's row there. `unknown`: log L
    (records, K), `like`: the same relative to exp(top).
    """
    mine = np.empty(table.shape[2])
    for t in range(len(out)):
        a, b = start[t], start[t + 1]
        for c in range(len(begin) - 1):
            high = -np.inf
            for i in range(a, b):
                mine[i - a] = log_e[i] + table[c, of[t], which[i]]
                high = max(high, mine[i - a])
            if not high > -np.inf:
                continue
            if b - a == 1:
                k = which[a]
                for j in rows[begin[c] : begin[c + 1]]:
                    out[t, j] = high + unknown[j, k]
                continue
            for i in range(b - a):
                mine[i] = math.exp(mine[i] - high)
            for j in rows[begin[c] : begin[c + 1]]:
                total = 0.0
                for i in range(a, b):
                    total += mine[i - a] * like[j, which[i]]
                out[t, j] = math.log(total) + high + top[j] if total > 0 else -np.inf


@summing
def _sum_of_exp(a, b, top):  # type: ignore[no-untyped-def]
    """Sum of exp(a + b - top)."""
    total = 0.0
    for k in range(len(a)):
        total += fast_exp(a[k] + b[k] - top)
    return total


@compiled
def log_mix_pairs(log_e, unknown, who, which, out):  # type: ignore[no-untyped-def]
    """log sum_k e_k(t) L_kj of targets t = who[i] beside records j = which[i], in `out`; -inf where no class fits both.

    `log_e`: (targets, K); `unknown`: log L (records, K).
    """
    classes = log_e.shape[1]
    for i in range(len(who)):
        t, j = who[i], which[i]
        top, total = -np.inf, 0.0
        for k in range(classes):
            both = log_e[t, k] + unknown[j, k]
            top = both if both > top else top
        if top == -np.inf:
            out[i] = top
            continue
        if classes > FEW:
            total = _sum_of_exp(log_e[t], unknown[j], top)
        else:
            for k in range(classes):
                total += fast_exp(log_e[t, k] + unknown[j, k] - top)
        out[i] = top + math.log(total)
