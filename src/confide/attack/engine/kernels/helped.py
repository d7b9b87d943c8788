"""Compiled loop over pairs where records show more than is known of the target: beliefs differ by record.

Notation as in `common`, arguments as in `arguments`.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import log_cell
from confide.attack.engine.kernels.common import SKIP, add_tables, finish
from confide.attack.engine.kernels.pairs import add_density
from confide.core.run.compile import compiled

FEW, NODES = 64, 9
"""Records of a block from which on a polynomial through so many values serves."""


@compiled(inner=True)
def add_synthetic(n, at, log_p, u, excess, half_logdet, out):  # type: ignore[no-untyped-def]
    """log Pr(known synthetic values given record and class), added to `out` of a block's n records."""
    for v in range(len(at)):
        if at[v] < 0:
            continue
        own = log_p[at[v] : at[v] + n]
        for j in range(n):
            out[j] += own[j]
        for w in range(len(at)):
            if excess[v, w] != 0.0:
                one, other, half = u[at[v] : at[v] + n], u[at[w] : at[w] + n], 0.5 * excess[v, w]
                for j in range(n):
                    out[j] -= half * one[j] * other[j]
    for j in range(n):
        out[j] -= half_logdet


@compiled(inner=True)
def log_sum(j, lo, classes, each, spike, edges, log_spike, mu, tau):  # type: ignore[no-untyped-def]
    """log of the sum over classes of `each` (classes, block) times Pr(known noisy numbers given record j and class).

    `spike`: (D,) which spike a number is, -1 for none of them, -2 where nothing is to be believed of it.
    """
    top, total = -np.inf, 0.0
    for i in range(len(classes)):
        value, k = each[i, j - lo], classes[i]
        for v in range(len(spike)):
            if spike[v] > -2:
                value += log_spike[v, k, spike[v], j]
            if spike[v] == -1:
                value += log_cell(edges[v, 0], edges[v, 1], mu[v, k, j], tau[v])
        if i == 0:
            top, total = value, 1.0
        elif value > top:
            total = total * math.exp(top - value) + 1.0
            top = value
        elif value > -np.inf:
            total += math.exp(value - top)
    return top + math.log(total) if len(classes) > 1 and top > -np.inf else top


@compiled(inner=True)
def add_areas(low, high, mu, tau, room, out):  # type: ignore[no-untyped-def]
    """log of the normal area between two edges around every mu, added to `out`.

    Beside the density at its middle, a narrow cell's area depends smoothly on the squared distance of that middle: a
    polynomial through a few exact values serves a whole block. To work in: `room`, as long as `out`.
    """
    n, mid, h = len(out), 0.5 * (low + high), (high - low) / tau
    far = 0.0
    for j in range(n):
        gap = abs(mid - mu[j])
        far = gap if gap > far else far
    far /= tau
    if n < FEW or not (0.0 < h < 0.5 and h * far < 3.0):
        for j in range(n):
            out[j] += log_cell(low, high, mu[j], tau)
        return
    at, slope = room[:NODES], room[NODES : 2 * NODES]
    for i in range(NODES):
        x = far * math.sin((2 * i + 1) * 0.7853981633974483 / NODES)
        at[i] = x * x
        slope[i] = log_cell(-0.5 * h, 0.5 * h, x, 1.0) + 0.5 * at[i]
    for k in range(1, NODES):
        for i in range(NODES - 1, k - 1, -1):
            slope[i] = (slope[i] - slope[i - 1]) / (at[i] - at[i - k]) if at[i] != at[i - k] else 0.0
    inv = 1.0 / tau
    for j in range(n):
        x = (mid - mu[j]) * inv
        square = x * x
        value = slope[NODES - 1]
        for i in range(NODES - 2, -1, -1):
            value = value * (square - at[i]) + slope[i]
        out[j] += value - 0.5 * square


@compiled(inner=True)
def least_that_matters(lo, most, trues, classes, each, believed, spike, edges):  # type: ignore[no-untyped-def]
    """Neither sums nor ranks of true records depend on records below it, given the `most` that each can have."""
    log_spike, mu, tau = believed
    best = 0
    for j in range(len(most)):
        best = j if most[j] > most[best] else best
    least = log_sum(lo + best, lo, classes, each, spike, edges, log_spike, mu, tau)
    for i in range(len(trues)):
        if trues[i] >= 0:
            own = log_sum(trues[i], lo, classes, each, spike, edges, log_spike, mu, tau)
            least = own if own < least else least
    return least - SKIP - math.log(len(most))


@compiled
def attack_helped(  # type: ignore[no-untyped-def]
    first, last, pairs, mixed, tables, synthetic, believed, noisy_ones, own, into, room
):
    """Targets first..last-1: w_j = sum_k e_k(t) w_kj Pr(known numbers given record j and k), times densities."""
    block_of, _, offsets, counts, _ = pairs
    log_w, k_start, k_list, k_weight = mixed
    t_row, column, log_t, starts, widths = tables
    slot, log_p, u, pattern, excess, half_logdet = synthetic
    spike, edges, log_spike, mu, tau = believed
    y, t_log, noisy, low, high, sd, even, half = noisy_ones
    true_start, true_at = own
    tops, out, truth = into
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        n = hi - lo
        w, scratch, each = room[0, :n], room[1, :n], room[2:, :n]
        classes = k_list[k_start[t] : k_start[t + 1]]
        trues = true_at[true_start[t] : true_start[t + 1]]
        for i in range(len(classes)):
            k = classes[i]
            for j in range(lo, hi):
                each[i, j - lo] = log_w[k, j] + k_weight[k_start[t] + i]
            add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_t, starts, widths, each[i])
            at = pattern[t]
            add_synthetic(n, slot[k_start[t] + i], log_p, u, excess[at], half_logdet[at], each[i])
            if n > 0:
                for v in range(y.shape[1]):
                    if noisy[b, v]:
                        add_density(lo, hi, even[v], half[v], True, low[v], high[v], y[t, v], sd[t, v], t_log[t, v],
                                    each[i])  # fmt: skip
        for j in range(n):
            w[j] = each[0, j] if len(classes) == 1 else log_sum(lo + j, lo, classes, each, spike[t, :0], edges[t],
                                                                log_spike, mu, tau)  # fmt: skip
        if len(classes) == 1:
            k = classes[0]
            for v in range(spike.shape[1]):
                if spike[t, v] > -2:
                    own_spike = log_spike[v, k, spike[t, v]]
                    for j in range(lo, hi):
                        w[j - lo] += own_spike[j]
                if spike[t, v] == -1:
                    add_areas(edges[t, v, 0], edges[t, v, 1], mu[v, k, lo:hi], tau[v], scratch, w)
        elif n > 0 and spike.shape[1] > 0:
            given = log_spike, mu, tau
            least = least_that_matters(lo, w, trues, classes, each, given, spike[t], edges[t])
            for j in range(lo, hi):
                if w[j - lo] >= least:
                    w[j - lo] = log_sum(j, lo, classes, each, spike[t], edges[t], log_spike, mu, tau)
                else:
                    w[j - lo] = -np.inf
        finish(w, counts[lo:hi], lo, trues, scratch, tops, out[t], truth[true_start[t] : true_start[t + 1]])
