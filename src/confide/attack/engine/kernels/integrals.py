"""Compiled sums over what an intruder believes: Pr(released value) averaged over nodes of the true one."""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import fast_exp, largest, log_cell, window
from confide.attack.engine.kernels.tails import erfc
from confide.core.run.compile import compiled, summing

STEEP = 0.3
"""How far the slope of a logarithm, per step, may be from the one that values were made flat by."""


@compiled(inner=True)
def fill_masses(a, e, cell, k, believed, mass):  # type: ignore[no-untyped-def]
    """Pr(node given cell, k) of nodes a..e-1 into `mass` (G, K); neighbours share an edge, and what is known of it."""
    _, _, _, edges, spike, p_spike, mu, tau = believed
    rest = p_spike[cell, k, p_spike.shape[2] - 1]
    edge, flipped, shared = -1, False, 0.0
    for g in range(a, e):
        if spike[g] >= 0:
            mass[g, k] = p_spike[cell, k, spike[g]]
            continue
        low, high = (edges[g] - mu[cell, k]) / tau, (edges[g + 1] - mu[cell, k]) / tau
        flip = low + high > 0
        sign = 0.7071067811865476 if flip else -0.7071067811865476
        below = shared if edge == g and flip == flipped else erfc(sign * low)
        shared, edge, flipped = erfc(sign * high), g + 1, flip
        mass[g, k] = rest * (0.5 * (below - shared if flip else shared - below))


@compiled(inner=True)
def smallest(values):  # type: ignore[no-untyped-def]
    """The smallest value."""
    out = values[0]
    for i in range(1, len(values)):
        out = values[i] if values[i] < out else out
    return out


@compiled(inner=True)
def even_weights(mid, h, sd, nodes, log_allowed, weight):  # type: ignore[no-untyped-def]
    """log Pr(z_j given y_g) of narrow cells under noise of one size: `log_cell` without a branch or a logarithm."""
    rest = math.log(h) - 0.9189385332046727 - h * h / 24.0
    for g in range(len(nodes)):
        x = (mid - nodes[g]) / sd
        u = 0.25 * x * x * h * h
        weight[g] = rest - 0.5 * x * x + u / 6.0 - u * u / 180.0 - h * h * u / 180.0 - log_allowed[g]


@compiled(inner=True)
def exponentials(values, top):  # type: ignore[no-untyped-def]
    """exp(values - top), in place; 0 below 1e-299."""
    for g in range(len(values)):
        values[g] = fast_exp(values[g] - top) if values[g] - top > -688.0 else 0.0


@compiled(inner=True)
def add_scaled(f, values, out):  # type: ignore[no-untyped-def]
    """Adds f times values."""
    for m in range(len(values)):
        out[m] += f * values[m]


@compiled(inner=True)
def node_weights(low, high, nodes, sd, log_allowed, widest, weight):  # type: ignore[no-untyped-def]
    """log Pr(z_j given y_g) into `weight`, of the nodes a..e-1 that a record can have come from, and the largest."""
    big = len(nodes)
    mid = 0.5 * (low + high)
    if math.isinf(mid):
        near = big - 1 if low > -np.inf else 0
        gap = np.inf
    else:
        near, _ = window(nodes, 0, big, mid, 0.0)
        gap = np.inf
        for g in range(near - 1 if near > 0 else 0, near + 1 if near < big else big):
            away = abs(nodes[g] - mid)
            gap = away if away < gap else gap
    half = 0.5 * (high - low)
    a, e = window(nodes, 0, big, mid, gap + 9.0 * widest + half) if gap < np.inf else (0, big)
    while a < e and log_allowed[a] == np.inf:  # outside an interval that is known
        a += 1
    while a < e and log_allowed[e - 1] == np.inf:
        e -= 1
    if a == e:
        return a, e, -np.inf
    h = (high - low) / widest
    if 0.0 < h < 0.02 and h * (gap + 9.0 * widest + half) < 0.02 * widest and smallest(sd) == widest:
        even_weights(mid, h, widest, nodes[a:e], log_allowed[a:e], weight[a:e])
        return a, e, largest(weight[a:e])
    top = -np.inf
    for g in range(a, e):
        if sd[g] < widest and gap < np.inf and abs(nodes[g] - mid) > gap + 9.0 * sd[g] + half:
            weight[g] = -np.inf
            continue
        weight[g] = log_cell(low, high, nodes[g], sd[g]) - log_allowed[g]
        top = weight[g] if weight[g] > top else top
    return a, e, top


@compiled
def log_node_sums(rows, low, high, cell, believed, mass, weight, total, out):  # type: ignore[no-untyped-def]
    """log of sum over belief nodes g of Pr(g given cell, k) Pr(z_j given y_g), for each k; rows sorted by cell.

    `out`: (len(rows), K). To work in: `mass` (G, K), `weight` (G,), `total` (K,).
    """
    nodes, sd, log_allowed, _, _, _, mu, _ = believed
    classes = mu.shape[1]
    widest = largest(sd)
    current, start, stop = -1, 0, 0
    for i in range(len(rows)):
        j = rows[i]
        a, e, top = node_weights(low[j], high[j], nodes, sd, log_allowed, widest, weight)
        if cell[j] != current or start == stop:  # masses of nodes start..stop-1 are there
            current, start, stop = cell[j], a, a
        for k in range(classes):
            fill_masses(a, start, current, k, believed, mass)
            fill_masses(stop, e, current, k, believed, mass)
        start, stop = min(a, start), max(e, stop)
        for k in range(classes):
            total[k] = 0.0
        exponentials(weight[a:e], top)
        even = a + (e - a) // 4 * 4
        for g in range(a, even, 4):
            f, f1, f2, f3 = weight[g], weight[g + 1], weight[g + 2], weight[g + 3]
            for k in range(classes):
                total[k] += (f * mass[g, k] + f1 * mass[g + 1, k]) + (f2 * mass[g + 2, k] + f3 * mass[g + 3, k])
        for g in range(even, e):
            add_scaled(weight[g], mass[g], total)
        for k in range(classes):
            out[i, k] = top + math.log(total[k]) if total[k] > 0.0 else -np.inf


@compiled
def log_node_sums_between(rows, low, high, cell, believed, grid, weight, log_sum, flat, out):  # type: ignore[no-untyped-def]
    """The same where nearly every record has a cell of its own: sums at a few values of mu, and between them a
    polynomial. To work in: `weight` (G,), `log_sum` and `flat` (M,).
    """
    nodes, sd, log_allowed, _, spike, p_spike, mu, _ = believed
    mass, first, step, lagrange = grid
    classes, points = mu.shape[1], len(lagrange)
    widest, spikes = largest(sd), np.flatnonzero(spike >= 0)
    for i in range(len(rows)):
        j, c = rows[i], cell[rows[i]]
        a, e, top = node_weights(low[j], high[j], nodes, sd, log_allowed, widest, weight)
        least, most = mu[c, 0], mu[c, 0]
        for k in range(1, classes):
            least, most = min(least, mu[c, k]), max(most, mu[c, k])
        lo = int((least - first) / step) - points // 2 + 1
        hi = int((most - first) / step) + points // 2 + 1
        for m in range(lo, hi):
            log_sum[m] = 0.0
        exponentials(weight[a:e], top)
        for g in range(a, e):
            if weight[g] > 0.0:
                add_scaled(weight[g], mass[g, lo:hi], log_sum[lo:hi])
        for m in range(lo, hi):
            log_sum[m] = math.log(log_sum[m]) if log_sum[m] > 0.0 else -np.inf
        mid = int((0.5 * (least + most) - first) / step)
        base, slope = log_sum[mid], 0.5 * (log_sum[mid + 1] - log_sum[mid - 1])
        slope = slope if abs(base) < np.inf else np.inf
        if abs(slope) < np.inf:
            for m in range(lo, hi):
                flat[m] = fast_exp(log_sum[m] - base - slope * (m - mid))
        for k in range(classes):
            at = (mu[c, k] - first) / step
            near = int(at)
            if abs(0.5 * (log_sum[near + 1] - log_sum[near - 1]) - slope) < STEEP and at != near:
                value = flat_between(at - (near - points // 2 + 1), flat[near - points // 2 + 1 :], lagrange)
                value *= math.exp(base + slope * (at - mid))
            else:
                value = between(at, log_sum, lagrange)
            total = p_spike[c, k, p_spike.shape[2] - 1] * value
            for s in spikes:
                if a <= s < e:
                    total += weight[s] * p_spike[c, k, spike[s]]
            out[i, k] = top + math.log(total) if total > 0.0 else -np.inf


@summing
def flat_between(at, values, lagrange):  # type: ignore[no-untyped-def]
    """The polynomial through values at 0, 1, 2 ... (barycentric formula), between two of them."""
    above = 0.0
    below = 0.0
    for p in range(len(lagrange)):
        share = lagrange[p] / (at - p)
        above += share * values[p]
        below += share
    return above / below


@summing
def shares_between(at, log_values, base, slope, lagrange):  # type: ignore[no-untyped-def]
    """Both sums of the barycentric formula, of values over exp(base + slope p)."""
    above = 0.0
    below = 0.0
    for p in range(len(lagrange)):
        share = lagrange[p] / (at - p)
        above += share * fast_exp(log_values[p] - base - slope * p)
        below += share
    return above, below


@compiled(inner=True)
def between(at, log_values, lagrange):  # type: ignore[no-untyped-def]
    """A positive function at a place that is counted in steps, from logarithms of its values around it.

    A sum over nodes is a mixture of exponentials of mu: divided by the one that it follows here, it is nearly flat, and
    the polynomial through its values (barycentric formula) has about ten digits; fewer where it is below 1e-17.
    """
    points, mid = len(lagrange), int(at)
    start = mid - points // 2 + 1
    base, slope = log_values[mid], 0.5 * (log_values[mid + 1] - log_values[mid - 1])
    if not (base > -np.inf and abs(slope) < np.inf):
        return math.exp(base)
    if at == mid:
        return math.exp(base)
    above, below = shares_between(
        at - start, log_values[start : start + points], base + slope * (start - mid), slope, lagrange
    )
    return above / below * math.exp(base + slope * (at - mid))


@compiled
def log_joint_sums(rows, cell, seen, noise, believed, mass, weight, total, x, out):  # type: ignore[no-untyped-def]
    """The same for d numbers together: nodes g are combinations of values; rows sorted by cell.

    Independent noise uses the cells' areas; correlated noise the density at their middles times their widths. To
    work in: as above, and `x` (d,).
    """
    low, high = seen
    sd, noise_precision, noise_half_logdet, correlated = noise
    nodes, log_allowed, scores, log_n, pattern, log_share, mu, precision = believed
    d, big = nodes.shape
    classes = mu.shape[3]
    widest = largest(sd[0])
    current = -1
    for i in range(len(rows)):
        j = rows[i]
        if cell[j] != current:
            current = cell[j]
            for k in range(classes):
                for g in range(big):
                    p = pattern[g]
                    q = 0.0
                    for v in range(d):
                        for w in range(d):
                            q += (
                                (scores[v, g] - mu[p, v, current, k])
                                * precision[p, v, w]
                                * (scores[w, g] - mu[p, w, current, k])
                            )
                    mass[g, k] = math.exp(log_n[g] + log_share[p, current, k] - 0.5 * q)
        for v in range(d):
            x[v] = 0.5 * (low[v, j] + high[v, j])
        a, e = window(nodes[0], 0, big, x[0], 9.0 * widest + 0.5 * (high[0, j] - low[0, j]))
        if a == e:
            a, e = 0, big
        # First the squared distances, cheaply; then areas for the nodes that can matter.
        nearest = np.inf
        for g in range(a, e):
            q = 0.0
            for v in range(d):
                gap = (x[v] - nodes[v, g]) / sd[v, g]
                q += gap * gap
            weight[g] = q
            nearest = q if q < nearest else nearest
        top = -np.inf
        for g in range(a, e):
            if weight[g] > nearest + 100.0:
                weight[g] = -np.inf
                continue
            value = -log_allowed[g]
            if correlated:
                q = 0.0
                for v in range(d):
                    value += -0.9189385332046727 + (
                        math.log((high[v, j] - low[v, j]) / sd[v, g]) if high[v, j] > low[v, j] else -math.log(sd[v, g])
                    )
                    for w in range(d):
                        q += (x[v] - nodes[v, g]) / sd[v, g] * noise_precision[v, w] * (x[w] - nodes[w, g]) / sd[w, g]
                value -= 0.5 * q + noise_half_logdet
            else:
                for v in range(d):
                    value += log_cell(low[v, j], high[v, j], nodes[v, g], sd[v, g])
            weight[g] = value
            top = value if value > top else top
        for k in range(classes):
            total[k] = 0.0
        for g in range(a, e):
            if weight[g] - top > -45.0:
                f = math.exp(weight[g] - top)
                for k in range(classes):
                    total[k] += f * mass[g, k]
        for k in range(classes):
            out[i, k] = top + math.log(total[k]) if total[k] > 0.0 else -np.inf
