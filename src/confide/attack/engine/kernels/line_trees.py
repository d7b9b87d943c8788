"""Searches among sorted records whose weight is a parabola in the target's number, without a visit to each.

A shelf is a run of records sorted by their number z, with parts g of their log weights that do not depend on the
target. Over it stands a binary tree: a leaf holds `LEAF` records, any other node two nodes. Of every node a line with
slope b and two heights is kept between which all its records lie,

    under <= g_j - b (z_j - z_low) <= over,

so that bounds of g_j - q (z_j - y)^2 over a node follow from its two ends and the top of a parabola. Where g is smooth,
lines are tight, and a search for the largest weight or a count of larger ones visits some dozens of nodes, however many
records there are. Bounds only decide what is visited: results are those of visiting every record.

Notation
--------
z, g, c : of the records of all shelves: number, part of the log weight, how many rows each stands for
q : half of one over the variance of the noise
tree : rows (z of the first record, z of the last, slope, under, over, sum of c)
levels : (shelves, MOST + 1) where each level of a shelf's tree begins among all nodes, leaves first; last its height
"""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled

LEAF = 16
"""Records in a leaf; also records by which a node's slope is chosen."""
MOST = 40
"""Levels of a tree at most."""
SLACK = 1e-12
"""Widening of bounds, relative to the numbers in them, beyond what rounding can move."""


@compiled
def lay_out(begin, levels):  # type: ignore[no-untyped-def]
    """Fill `levels` for shelves begin[s]..begin[s+1]-1; how many nodes there are."""
    total = 0
    for s in range(len(begin) - 1):
        many = (begin[s + 1] - begin[s] + LEAF - 1) // LEAF
        height = 0
        while True:
            levels[s, height] = total
            total += many
            if many <= 1:
                break
            many = (many + 1) // 2
            height += 1
        levels[s, MOST] = height
    return total


@compiled(inner=True)
def slope_of(z, g, a, e):  # type: ignore[no-untyped-def]
    """Slope of the least squares line through at most LEAF records, evenly spaced among a..e-1."""
    step = (e - a + LEAF - 1) // LEAF
    n, mean_z, mean_g = 0, 0.0, 0.0
    for j in range(a, e, step):
        n += 1
        mean_z += z[j] - z[a]
        mean_g += g[j] - g[a]
    mean_z /= n
    mean_g /= n
    below, above = 0.0, 0.0
    for j in range(a, e, step):
        x = z[j] - z[a] - mean_z
        below += x * x
        above += x * (g[j] - g[a] - mean_g)
    return above / below if below > 0.0 and above / below == above / below else 0.0


@compiled
def grow(z, g, c, begin, levels, tree):  # type: ignore[no-untyped-def]
    """Fill the trees of all shelves."""
    for s in range(len(begin) - 1):
        first, last = begin[s], begin[s + 1]
        for level in range(levels[s, MOST] + 1 if last > first else 0):
            span = LEAF << level
            for i in range((last - first + span - 1) // span):
                a = first + i * span
                e = a + span if a + span < last else last
                slope = slope_of(z, g, a, e)
                under, over, count = np.inf, -np.inf, 0.0
                if level == 0:
                    for j in range(a, e):
                        x = g[j] - slope * (z[j] - z[a])
                        under = x if x < under else under
                        over = x if x > over else over
                        count += c[j]
                else:
                    for k in range(2 * i, 2 * i + (2 if a + span // 2 < last else 1)):
                        child = tree[levels[s, level - 1] + k]
                        start = slope * (child[0] - z[a])
                        stop = slope * (child[1] - z[a]) - child[2] * (child[1] - child[0])
                        low, high = (start, stop) if start < stop else (stop, start)
                        under = child[3] - high if child[3] - high < under else under
                        over = child[4] - low if child[4] - low > over else over
                        count += child[5]
                slack = SLACK * (abs(under) + abs(over) + abs(slope * (z[e - 1] - z[a])))
                node = tree[levels[s, level] + i]
                node[0], node[1], node[2] = z[a], z[e - 1], slope
                node[3], node[4], node[5] = under - slack, over + slack, count


@compiled(inner=True)
def most_in(node, y, q):  # type: ignore[no-untyped-def]
    """At least the largest g_j - q (z_j - y)^2 of a node's records."""
    x = y + 0.5 * node[2] / q
    x = node[0] if x < node[0] else (node[1] if x > node[1] else x)
    return node[4] + node[2] * (x - node[0]) - q * (x - y) * (x - y)


@compiled(inner=True)
def least_in(node, y, q):  # type: ignore[no-untyped-def]
    """At most the smallest."""
    start, stop = node[0] - y, node[1] - y
    low = node[3] - q * start * start
    high = node[3] + node[2] * (node[1] - node[0]) - q * stop * stop
    return low if low < high else high


@compiled(inner=True)
def best_on(s, y, q, best, z, g, begin, levels, tree, stack):  # type: ignore[no-untyped-def]
    """The largest g_j - q (z_j - y)^2 of shelf s, `best` if none is larger; and how many nodes and records were seen.

    `stack`: (2, 2 MOST) positions to work in.
    """
    size, steps = 1, 0
    stack[0, 0], stack[1, 0] = levels[s, MOST], 0
    while size > 0:
        size -= 1
        level, i = stack[0, size], stack[1, size]
        steps += 1
        if most_in(tree[levels[s, level] + i], y, q) <= best:
            continue
        if level == 0:
            a = begin[s] + i * LEAF
            e = a + LEAF if a + LEAF < begin[s + 1] else begin[s + 1]
            steps += e - a
            for j in range(a, e):
                x = g[j] - q * (z[j] - y) * (z[j] - y)
                best = x if x > best else best
            continue
        left, right = 2 * i, 2 * i + 1
        at = levels[s, level - 1]
        if at + right < levels[s, level]:
            if most_in(tree[at + left], y, q) > most_in(tree[at + right], y, q):
                left, right = right, left  # the more hopeful one is seen first
            stack[0, size], stack[1, size] = level - 1, left
            left = right
            size += 1
        stack[0, size], stack[1, size] = level - 1, left
        size += 1
    return best, steps


@compiled(inner=True)
def count_on(s, y, q, up, down, z, g, c, begin, levels, tree, stack):  # type: ignore[no-untyped-def]
    """How many rows of shelf s have g_j - q (z_j - y)^2 > up and how many >= down; and what was seen."""
    above, level_with, steps = 0.0, 0.0, 0
    size = 1
    stack[0, 0], stack[1, 0] = levels[s, MOST], 0
    while size > 0:
        size -= 1
        level, i = stack[0, size], stack[1, size]
        node = tree[levels[s, level] + i]
        steps += 1
        if most_in(node, y, q) < down:
            continue
        if least_in(node, y, q) > up:
            above += node[5]
            level_with += node[5]
            continue
        if level == 0:
            a = begin[s] + i * LEAF
            e = a + LEAF if a + LEAF < begin[s + 1] else begin[s + 1]
            steps += e - a
            for j in range(a, e):
                x = g[j] - q * (z[j] - y) * (z[j] - y)
                above += c[j] if x > up else 0.0
                level_with += c[j] if x >= down else 0.0
            continue
        at = levels[s, level - 1]
        for k in range(2 * i, 2 * i + 2):
            if at + k < levels[s, level]:
                stack[0, size], stack[1, size] = level - 1, k
                size += 1
    return above, level_with, steps
