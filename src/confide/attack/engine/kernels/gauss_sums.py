r"""Sums of normal densities over many records at once: expansions in boxes of half the noise's width.

With numbers in standard deviations, a box around m of half width r = `RADIUS`, d_j = z_j - m and x = y - m,

    sum_j c_j exp(g_j - (y - z_j)^2 / 2) = exp(-x^2 / 2) sum_p x^p M_p,
    M_p = sum_j c_j exp(g_j - d_j^2 / 2) d_j^p / p!

The series is that of exp(x d_j), cut after `TERMS` = P terms. For |x| <= `FAR` it is off, relative to each record's own
weight, by at most (FAR r)^P / P! / (1 - FAR r / (P + 1)) exp(FAR r) = 1.7e-15, and rounding adds at most about
exp(2 FAR r) times the precision of a number, 1e-13. As every weight is positive, the same holds of the sum. Records of
boxes further away than `FAR` are visited one by one, unless they cannot matter.
"""

from __future__ import annotations

import math

import numpy as np

from confide.attack.engine.kernels.arithmetic import TOLERANCE, fast_exp, largest
from confide.attack.engine.kernels.common import SKIP, add_base, add_tables
from confide.attack.engine.kernels.line_trees import MOST, best_on, count_on
from confide.core.run.compile import compiled

RADIUS = 0.25
TERMS = 28
FAR = 12.0
NARROW = 2e-2
"""Width of cells times distance, in standard deviations, up to which the log of a cell's area is a quadratic: what is
left out, u^4 / 180 with u = x h / 2, is below 6e-11."""


@compiled
def fill_boxes(z, g, c, begin, box, middle, unit, edge, shift, moments):  # type: ignore[no-untyped-def]
    """The moments of every box on every shelf.

    `box`: of each record; `middle`: (boxes,); `unit`: standard deviations per unit of z. `edge`: (shelves, boxes + 1)
    where a box's records begin; `shift`: (shelves, boxes) their largest g; `moments`: (shelves, boxes, TERMS).
    """
    for s in range(len(begin) - 1):
        j = begin[s]
        for i in range(len(middle)):
            edge[s, i] = j
            first, top = j, -np.inf
            while j < begin[s + 1] and box[j] == i:
                top = g[j] if g[j] > top else top
                j += 1
            shift[s, i] = top
            mine = moments[s, i]
            for p in range(TERMS):
                mine[p] = 0.0
            for k in range(first, j):
                d = (z[k] - middle[i]) * unit
                term = c[k] * fast_exp(g[k] - top - 0.5 * d * d)
                for p in range(TERMS):
                    mine[p] += term
                    term *= d / (p + 1)
        edge[s, len(middle)] = j


@compiled(inner=True)
def put_together(levels_of, shift, moments, top, sums):  # type: ignore[no-untyped-def]
    """All shelves for one class of targets, given what it adds to each one's logs: `sums` (TERMS, boxes), relative to
    exp(`top`)."""
    for i in range(len(top)):
        top[i] = -np.inf
        for s in range(len(levels_of)):
            x = levels_of[s] + shift[s, i]
            top[i] = x if x > top[i] else top[i]
        for p in range(TERMS):
            sums[p, i] = 0.0
        for s in range(len(levels_of)):
            x = levels_of[s] + shift[s, i]
            if x > -np.inf:
                scale = fast_exp(x - top[i])
                for p in range(TERMS):
                    sums[p, i] += scale * moments[s, i, p]


@compiled(inner=True)
def series(sums, a, e, x, out):  # type: ignore[no-untyped-def]
    """out = sum_p x^p sums[p] of boxes a..e-1, by Horner's rule, several boxes at a time."""
    for i in range(e - a):
        out[i] = sums[TERMS - 1, a + i]
    for p in range(TERMS - 2, -1, -1):
        row = sums[p, a:e]
        for i in range(e - a):
            out[i] = out[i] * x[i] + row[i]


@compiled(inner=True)
def box_sum(y, peak, least, highest, unit, levels_of, z, g, c, middle, edge, top, sums, work):  # type: ignore[no-untyped-def]
    """The sum of weights relative to exp(peak), of boxes that can hold one of at least exp(least); and what was seen.

    `highest`: the largest of `top`; `work`: (3, boxes) to work in.
    """
    reach = (math.sqrt(2.0 * max(highest - least, 0.0)) + RADIUS) / unit
    a, e = np.searchsorted(middle, y - reach), np.searchsorted(middle, y + reach, side="right")
    x, log, value = work[0, : e - a], work[1, : e - a], work[2, : e - a]
    total, steps = 0.0, e - a
    for i in range(e - a):
        x[i] = (y - middle[a + i]) * unit
        log[i] = top[a + i] - 0.5 * x[i] * x[i] - peak
        if abs(x[i]) > FAR:
            gap = abs(x[i]) - RADIUS
            if top[a + i] - 0.5 * gap * gap >= least:
                for s in range(len(levels_of)):
                    for j in range(edge[s, a + i], edge[s, a + i + 1] if levels_of[s] > -np.inf else 0):
                        d = (z[j] - y) * unit
                        total += c[j] * fast_exp(levels_of[s] + g[j] - 0.5 * d * d - peak)
                        steps += 1
            x[i], log[i] = 0.0, -700.0
    series(sums, a, e, x, value)
    for i in range(e - a):
        total += value[i] * fast_exp(log[i])
    return total, steps


@compiled(inner=True)
def count_all(y, q, limit, levels_of, shelves, stack):  # type: ignore[no-untyped-def]
    """How many rows of all shelves weigh more than a limit and how many as much, within the tolerance for ties; and
    what was seen."""
    z, g, c, begin, levels, tree, _, _ = shelves
    above, likely, steps = 0.0, 0.0, 0
    for s in range(len(levels_of)):
        if levels_of[s] > -np.inf:
            up, down = limit + TOLERANCE - levels_of[s], limit - TOLERANCE - levels_of[s]
            one, two, seen = count_on(s, y, q, up, down, z, g, c, begin, levels, tree, stack)
            above += one
            likely += two
            steps += seen
        elif limit == -np.inf:
            likely += tree[levels[s, levels[s, MOST]], 5]
    return above, likely, steps


@compiled(inner=True)
def best_of_all(y, q, peak, levels_of, shelves, stack):  # type: ignore[no-untyped-def]
    """The largest log weight on all shelves, `peak` if none is larger; and what was seen."""
    z, g, _, begin, levels, tree, _, _ = shelves
    steps = 0
    for s in range(len(levels_of)):
        if levels_of[s] > -np.inf:
            found, seen = best_on(s, y, q, peak - levels_of[s], z, g, begin, levels, tree, stack)
            peak = found + levels_of[s] if found + levels_of[s] > peak else peak
            steps += seen
    return peak, steps


@compiled
def attack_boxes(first, last, class_of, codes, tables, numbers, own, into, shelves, boxes, room, slow, visited):  # type: ignore[no-untyped-def]
    """Targets first..last-1 of one block, whose one known noisy number has a constant spread.

    `codes` and `tables` are those of a record of each shelf. `slow`: marks targets whose cells are too wide for their
    distances; their results are not to be used.
    """
    t_code, record_code, same, diff = codes
    t_row, column, log_p, starts, widths = tables
    y, t_log, q, h, const = numbers
    true_start, true_at = own
    _, out, truth = into
    z, g, c, begin, _, _, base_at, place_of = shelves
    middle, edge, shift, moments = boxes
    levels_of, top, sums, work, zero, stack = room
    many, n, unit = len(begin) - 1, len(z), math.sqrt(2.0 * q)
    current, highest = -1, -np.inf
    for t in range(first, last):
        if class_of[t] != current:
            current = class_of[t]
            add_base(0, many, t_code.shape[1], t_code[t], record_code, same, diff, zero, levels_of)
            add_tables(0, many, t_row.shape[1], t_row[t], column, log_p, starts, widths, levels_of)
            put_together(levels_of, shift, moments, top, sums)
            highest = largest(top)
        add, peak, lowest = const + t_log[t], -np.inf, np.inf
        for k in range(true_start[t], true_start[t + 1]):
            if true_at[k] >= 0:
                j = place_of[true_at[k] - base_at]
                x = levels_of[np.searchsorted(begin, j, side="right") - 1] + g[j] - q * (z[j] - y[t]) * (z[j] - y[t])
                truth[k, 0] = x + add
                peak = x if x > peak else peak
                lowest = x if -np.inf < x < lowest else lowest
        peak, steps = best_of_all(y[t], q, peak, levels_of, shelves, stack)
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = -np.inf, peak + add, 0.0, -np.inf
        if peak > -np.inf:
            least = peak - SKIP - math.log(n)
            lowest = least if least < lowest else lowest
            if h * (math.sqrt(2.0 * (highest - lowest)) + h) > NARROW:
                slow[t - first] = True
                continue
            total, seen = box_sum(y[t], peak, least, highest, unit, levels_of, z, g, c, middle, edge, top, sums,
                                  work)  # fmt: skip
            _, ties, more = count_all(y[t], q, peak, levels_of, shelves, stack)
            out[t, 0], out[t, 2] = math.log(total), ties
            steps += seen + more
        for k in range(true_start[t], true_start[t + 1]):
            if true_at[k] >= 0:
                above, likely, seen = count_all(y[t], q, truth[k, 0] - add, levels_of, shelves, stack)
                truth[k, 1], truth[k, 2] = above, likely - 1.0
                steps += seen
        visited[0] += steps
