"""Compiled loops. Numbers in, numbers out: nothing here knows what a variable or a mechanism is.

Notation
--------
j : distinct released record, sorted by block, inside a block by its first noisy value
t : distinct target, sorted by block and class
c_j : how many released rows record j stands for
l_j : log weight of record j for the current target
"""

from __future__ import annotations

import math
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-9
"""Relative difference below which two probabilities count as equal."""
SKIP = 36.0
"""Records whose weight is below exp(-SKIP) / n of the best one are not visited: below 1e-12 in total."""


def _cache_folder() -> bool:
    """Point numba's cache at a writable folder; False where there is none."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return True
    base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    for folder in (base / "confide", Path(tempfile.gettempdir()) / f"confide-{os.getuid() if hasattr(os, 'getuid') else 0}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".probe"
            probe.touch()
            probe.unlink()
        except OSError:
            continue
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        return True
    return False


_CACHE = _cache_folder()

import numba  # noqa: E402 - the cache folder must be set first
from llvmlite import ir  # noqa: E402
from numba import types  # noqa: E402
from numba.extending import intrinsic  # noqa: E402

numba.config.CACHE_DIR = os.environ.get("NUMBA_CACHE_DIR", "")  # type: ignore[attr-defined]


def compiled(function: Any) -> Any:
    """Compile without the interpreter's lock, cached where a folder can be written; a*b+c may be fused."""
    return numba.njit(nogil=True, cache=_CACHE, fastmath={"contract"})(function)


def summing(function: Any) -> Any:
    """The same for loops that only add up: the order of additions is free, which lets them be vectorised.

    The order is fixed by the length of the array alone, so results depend on neither threads nor machine load.
    """
    return numba.njit(nogil=True, cache=_CACHE, fastmath={"contract", "reassoc"})(function)


@intrinsic  # type: ignore[misc]
def _as_float(typingctx: Any, bits: Any) -> Any:  # noqa: ARG001
    """Read 64 bits as a double."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic  # type: ignore[misc]
def _as_bits(typingctx: Any, number: Any) -> Any:  # noqa: ARG001
    """Read a double as 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@numba.njit(nogil=True, inline="always")  # type: ignore[misc]
def fast_exp(x: float) -> float:
    """exp(x) for x <= 700 by range reduction and a polynomial, in a form the compiler can vectorise.

    Relative error below 1e-15 (tested); arguments below -700 give a number below 1e-303 instead of 0.
    """
    x = x if x > -700.0 else -700.0
    # Adding 1.5 * 2^52 rounds to a whole number, whose bits then stand in the mantissa.
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10
    p = 1.6059043836821613e-10
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _as_float((_as_bits(shifted) + np.int64(1023)) << np.int64(52))


@compiled
def scaled_exp(values, counts, top, out):  # type: ignore[no-untyped-def]
    """out = counts * exp(values - top)."""
    for j in range(len(values)):
        out[j] = counts[j] * fast_exp(values[j] - top)


@summing
def total_of(values):  # type: ignore[no-untyped-def]
    """The sum."""
    total = 0.0
    for j in range(len(values)):
        total += values[j]
    return total


@summing
def count_from(values, counts, limit):  # type: ignore[no-untyped-def]
    """How many lie at or above a limit."""
    total = 0.0
    for j in range(len(values)):
        total += counts[j] if values[j] >= limit else 0.0
    return total


@summing
def count_around(values, counts, limit):  # type: ignore[no-untyped-def]
    """How many lie above a value and how many at or above it, within the tolerance for ties."""
    above = 0.0
    level = 0.0
    up = limit + TOLERANCE
    down = limit - TOLERANCE
    for j in range(len(values)):
        above += counts[j] if values[j] > up else 0.0
        level += counts[j] if values[j] >= down else 0.0
    return above, level


@compiled
def largest(values):  # type: ignore[no-untyped-def]
    """The largest value, -inf for none; eight at a time."""
    n = len(values)
    tops = np.full(8, -np.inf)
    for j in range(0, n - n % 8, 8):
        for k in range(8):
            tops[k] = values[j + k] if values[j + k] > tops[k] else tops[k]
    top = -np.inf
    for k in range(8):
        top = max(top, tops[k])
    for j in range(n - n % 8, n):
        top = max(top, values[j])
    return top


@compiled
def _log_ndtr(x):  # type: ignore[no-untyped-def]
    """log of the normal distribution function, accurate in the lower tail."""
    if x > -10.0:
        return math.log(0.5 * math.erfc(-x * 0.7071067811865476))
    # Continued fraction of the Mills ratio, bottom up.
    f = 0.0
    for k in range(40, 0, -1):
        f = k / (-x + f)
    return -0.5 * x * x - 0.9189385332046727 - math.log(-x + f)


@compiled
def log_cell(a, b):  # type: ignore[no-untyped-def]
    """log of the standard normal area between a and b (a < b); the same rule as `protect.evidence.log_cell`."""
    h = b - a
    x = 0.5 * (a + b)
    if h * max(1.0, abs(x)) < 2e-3:
        return -0.5 * x * x - 0.9189385332046727 + math.log(h) + math.log1p(h * h * (x * x - 1.0) / 24.0)
    if x > 0:
        a, b = -b, -a
    lower, upper = _log_ndtr(a), _log_ndtr(b)
    return upper + math.log1p(-math.exp(lower - upper))


@compiled
def _window(z, lo, hi, t, radius):  # type: ignore[no-untyped-def]
    """Positions in the sorted z[lo:hi] within radius of t."""
    a, b = lo, hi
    while a < b:
        m = (a + b) // 2
        if z[m] < t - radius:
            a = m + 1
        else:
            b = m
    first = a
    b = hi
    while a < b:
        m = (a + b) // 2
        if z[m] <= t + radius:
            a = m + 1
        else:
            b = m
    return first, a


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
def finish(weights, counts, place, true_at, scratch, out, truth):  # type: ignore[no-untyped-def]
    """Summaries of one target's log weights.

    `out`: (log sum, max, records at the max). `truth[k]`: (log weight, strictly above, at least as likely others)
    for the true record at position `true_at[k] - place`, skipped where negative. `scratch`: as long as `weights`.
    """
    top = largest(weights)
    if top == -np.inf:
        out[0] = -np.inf
        out[1] = -np.inf
        out[2] = 0.0
    else:
        scaled_exp(weights, counts, top, scratch)
        out[0] = top + math.log(total_of(scratch))
        out[1] = top
        out[2] = count_from(weights, counts, top - TOLERANCE)
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
    true_start, true_at, out, truth,
):  # fmt: skip
    """Targets first..last-1 whose known uncertain variables are all categories."""
    widest = 0
    for t in range(first, last):
        b = block_of[t]
        widest = max(widest, offsets[b + 1] - offsets[b])
    buffer = np.empty(widest)
    scratch = np.empty(widest)
    for t in range(first, last):
        b = block_of[t]
        lo, hi = offsets[b], offsets[b + 1]
        w = buffer[: hi - lo]
        add_base(lo, hi, t_code.shape[1], t_code[t], record_code, same, diff, log_m, w)
        add_tables(lo, hi, t_row.shape[1], t_row[t], column, log_p, starts, widths, w)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_noisy(  # type: ignore[no-untyped-def]
    first, last, block_of, class_of, offsets, counts, log_m,
    t_code, record_code, same, diff, t_row, column, log_p, starts, widths,
    y, t_log, noisy, low, high, sd, even, half,
    true_start, true_at, out, truth, visited,
):  # fmt: skip
    """Targets first..last-1 with d >= 1 known noisy numbers; records of a block sorted by the first of them.

    `y`, `t_log`: (targets, d) the target's value and what is added to its log (minus log allowed). `noisy`:
    (blocks, d) whether the block's label leaves the variable uncertain. `low`, `high`: (d, r) the cells.
    `even`: (d,) all cells are finite and of one width (the first variable's is 2 * `half`): then only records near
    the target are visited, and a quadratic serves where cells are small.
    """
    d = y.shape[1]
    widest = 0
    for t in range(first, last):
        b = block_of[t]
        widest = max(widest, offsets[b + 1] - offsets[b])
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
            finish(buffer[:0], counts[:0], 0, trues, scratch[:0], out[t], truth[true_start[t] : true_start[t + 1]])
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
            s = sd[0]
            near, _ = _window(middle, 0, n, y[t, 0], 0.0)
            best = -np.inf
            first_near, last_near = max(near - 8, 0), min(near + 8, n)
            for k in range(last_near - first_near + len(trues)):
                j = first_near + k if k < last_near - first_near else trues[k - last_near + first_near] - lo
                if j < 0:
                    continue
                value = base[j]
                for v in range(d):
                    if noisy[b, v]:
                        x = (0.5 * (low[v, lo + j] + high[v, lo + j]) - y[t, v]) / sd[v]
                        value -= 0.5 * x * x
                best = max(best, value)
            if best > -np.inf:
                reach = 2.0 * (peak - best + SKIP + math.log(n))
                a, e = _window(middle, 0, n, y[t, 0], s * math.sqrt(max(reach, 0.0)) + half)
                for k in range(len(trues)):  # the true record is always visited, with all that could beat it
                    at = trues[k] - lo
                    if at >= 0 and (at < a or at >= e):
                        a, e = 0, n
        w = buffer[: e - a]
        for j in range(a, e):
            w[j - a] = base[j]
        for v in range(d):
            if not noisy[b, v]:
                continue
            s = sd[v]
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
                    p, q = (low[v, lo + j] - yy) / s, (high[v, lo + j] - yy) / s
                    if p == q:
                        w[j - a] += add - 0.5 * p * p - 0.9189385332046727 - math.log(s)
                    else:
                        w[j - a] += add + log_cell(p, q)
        visited[0] += e - a
        finish(w, counts[lo + a : lo + e], lo + a, trues, scratch[: e - a], out[t], truth[true_start[t] : true_start[t + 1]])


@compiled
def log_node_sums(  # type: ignore[no-untyped-def]
    rows, low, high, sd, nodes, log_allowed, edges, mu, tau, cell, out,
):  # fmt: skip
    """log of sum over belief nodes g of Pr(g given cell, k) Pr(z_j given y_g), for each k; rows sorted by cell.

    `edges`: (G+1,) node boundaries on the normal-score scale; `mu`: (cells, K); `out`: (len(rows), K).
    """
    big, classes = len(nodes), mu.shape[1]
    mass = np.empty((big, classes))
    weight = np.empty(big)
    total = np.empty(classes)
    current = -1
    for i in range(len(rows)):
        j = rows[i]
        if cell[j] != current:
            current = cell[j]
            for k in range(classes):
                for g in range(big):
                    a, b = (edges[g] - mu[current, k]) / tau, (edges[g + 1] - mu[current, k]) / tau
                    if a + b > 0:
                        a, b = -b, -a
                    mass[g, k] = 0.5 * (math.erfc(-b * 0.7071067811865476) - math.erfc(-a * 0.7071067811865476))
        mid = 0.5 * (low[j] + high[j])
        if math.isinf(mid):
            near = big - 1 if low[j] > -np.inf else 0
            gap = np.inf
        else:
            near, _ = _window(nodes, 0, big, mid, 0.0)
            gap = np.inf
            for g in range(max(near - 1, 0), min(near + 1, big)):
                gap = min(gap, abs(nodes[g] - mid))
        a, e = _window(nodes, 0, big, mid, gap + 9.0 * sd + 0.5 * (high[j] - low[j])) if gap < np.inf else (0, big)
        top = -np.inf
        for g in range(a, e):
            p, q = (low[j] - nodes[g]) / sd, (high[j] - nodes[g]) / sd
            if p == q:
                weight[g] = -0.5 * p * p - 0.9189385332046727 - math.log(sd) - log_allowed[g]
            else:
                weight[g] = log_cell(p, q) - log_allowed[g]
            top = max(top, weight[g])
        for k in range(classes):
            total[k] = 0.0
        for g in range(a, e):
            f = math.exp(weight[g] - top)
            for k in range(classes):
                total[k] += f * mass[g, k]
        for k in range(classes):
            out[i, k] = top + math.log(total[k]) if total[k] > 0.0 else -np.inf


@compiled
def log_joint_sums(  # type: ignore[no-untyped-def]
    rows, low, high, sd, noise_precision, noise_half_logdet, correlated, nodes, log_allowed, scores, log_n, mu, precision,
    cell, out,
):  # fmt: skip
    """The same for d numbers together: log of sum over nodes g of Pr(g given cell, k) Pr(z_j given y_g); rows sorted by cell.

    `nodes`, `scores`: (d, G); `mu`: (d, cells, K); `precision`: (d, d) of the scores' residuals; `low`, `high`: (d, r).
    Independent noise uses the cells' areas; correlated noise the density at their middles times their widths.
    """
    d, big = nodes.shape
    classes = mu.shape[2]
    mass = np.empty((big, classes))
    weight = np.empty(big)
    total = np.empty(classes)
    x = np.empty(d)
    current = -1
    for i in range(len(rows)):
        j = rows[i]
        if cell[j] != current:
            current = cell[j]
            for k in range(classes):
                top = -np.inf
                for g in range(big):
                    q = 0.0
                    for v in range(d):
                        for w in range(d):
                            q += (scores[v, g] - mu[v, current, k]) * precision[v, w] * (scores[w, g] - mu[w, current, k])
                    mass[g, k] = log_n[g] - 0.5 * q
                    top = max(top, mass[g, k])
                norm = 0.0
                for g in range(big):
                    mass[g, k] = math.exp(mass[g, k] - top)
                    norm += mass[g, k]
                for g in range(big):
                    mass[g, k] /= norm
        for v in range(d):
            x[v] = 0.5 * (low[v, j] + high[v, j])
        a, e = _window(nodes[0], 0, big, x[0], 9.0 * sd[0] + 0.5 * (high[0, j] - low[0, j]))
        if a == e:
            a, e = 0, big
        # First the squared distances, cheaply; then areas for the nodes that can matter.
        nearest = np.inf
        for g in range(a, e):
            q = 0.0
            for v in range(d):
                gap = (x[v] - nodes[v, g]) / sd[v]
                q += gap * gap
            weight[g] = q
            nearest = min(nearest, q)
        top = -np.inf
        for g in range(a, e):
            if weight[g] > nearest + 100.0:
                weight[g] = -np.inf
                continue
            value = -log_allowed[g]
            if correlated:
                q = 0.0
                for v in range(d):
                    value += -0.9189385332046727 + (math.log((high[v, j] - low[v, j]) / sd[v]) if high[v, j] > low[v, j] else -math.log(sd[v]))
                    for w in range(d):
                        q += (x[v] - nodes[v, g]) / sd[v] * noise_precision[v, w] * (x[w] - nodes[w, g]) / sd[w]
                value -= 0.5 * q + noise_half_logdet
            else:
                for v in range(d):
                    p, q = (low[v, j] - nodes[v, g]) / sd[v], (high[v, j] - nodes[v, g]) / sd[v]
                    if p == q:
                        value += -0.5 * p * p - 0.9189385332046727 - math.log(sd[v])
                    else:
                        value += log_cell(p, q)
            weight[g] = value
            top = max(top, value)
        for k in range(classes):
            total[k] = 0.0
        for g in range(a, e):
            if weight[g] - top > -45.0:
                f = math.exp(weight[g] - top)
                for k in range(classes):
                    total[k] += f * mass[g, k]
        for k in range(classes):
            out[i, k] = top + math.log(total[k]) if total[k] > 0.0 else -np.inf


@compiled
def attack_mixture(  # type: ignore[no-untyped-def]
    first, last, block_of, offsets, counts, w_kj, k_start, k_list, k_weight,
    y, t_log, noisy, low, high, sd,
    true_start, true_at, out, truth,
):  # fmt: skip
    """Targets whose unknown classes are averaged over: w_j = sum_k e_k(t) w_kj, times densities of known numbers.

    `w_kj`: (K, r), scaled; `k_start`, `k_list`, `k_weight`: the classes of each target and their weights.
    """
    d = y.shape[1]
    widest = 0
    for t in range(first, last):
        b = block_of[t]
        widest = max(widest, offsets[b + 1] - offsets[b])
    buffer = np.empty(widest)
    scratch = np.empty(widest)
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
                p, q = (low[v, j] - y[t, v]) / sd[v], (high[v, j] - y[t, v]) / sd[v]
                if p == q:
                    w[j - lo] += t_log[t, v] - 0.5 * p * p - 0.9189385332046727 - math.log(sd[v])
                else:
                    w[j - lo] += t_log[t, v] + log_cell(p, q)
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip


@compiled
def attack_nearest(  # type: ignore[no-untyped-def]
    first, last, block_of, offsets, counts, y, z, scale, true_start, true_at, out, truth,
):  # fmt: skip
    """Targets first..last-1 of a naive intruder: the nearest records share everything. `y`: (targets, d), `z`: (d, r)."""
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
        finish(w, counts[lo:hi], lo, true_at[true_start[t] : true_start[t + 1]], scratch[: hi - lo], out[t],
               truth[true_start[t] : true_start[t + 1]])  # fmt: skip
