"""Compiled loops for nested tables of counts. Numbers in, numbers out.

Notation: a subtree of a table holds N people; for t of them in the sample, four shares add up to 1: D "its sum can drop
by one", P "an exhausted cell here would be pinned by the next tight sum above", Z neither, and G "a zero is recovered".
Shares given t are never small by themselves, so nothing underflows, and nothing is subtracted, so that G and 1 - G both
keep their relative accuracy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled

D, P, Z, G = 0, 1, 2, 3


@compiled
def split_weights(size_x: int, size_y: int, t: int, weight: Any) -> tuple[int, int]:
    """P(j of t sampled people are in X) for j = first..last, hypergeometric; from the mode outwards, then scaled."""
    first, last = max(0, t - size_y), min(t, size_x)
    mode = min(max(int((t + 1.0) * (size_x + 1.0) / (size_x + size_y + 2.0)), first), last)
    weight[mode - first] = 1.0
    total = 1.0
    for j in range(mode, last):
        ratio = (float(size_x - j) * (t - j)) / (float(j + 1) * (size_y - t + j + 1))
        weight[j + 1 - first] = weight[j - first] * ratio
        total += weight[j + 1 - first]
    for j in range(mode, first, -1):
        ratio = (float(j) * (size_y - t + j)) / (float(size_x - j + 1) * (t - j + 1))
        weight[j - 1 - first] = weight[j - first] * ratio
        total += weight[j - 1 - first]
    for j in range(last - first + 1):
        weight[j] /= total
    return first, last


@compiled
def merge(x: Any, size_x: int, y: Any, size_y: int, out: Any, weight: Any) -> None:
    """Shares of two subtrees together. x, y, out: 4 x (highest t + 1); `out` must not be x or y."""
    top_x, top_y = x.shape[1] - 1, y.shape[1] - 1
    for t in range(out.shape[1]):
        first, last = split_weights(size_x, size_y, t, weight)
        d = p = z = g = 0.0
        for j in range(first, last + 1):
            if j > top_x or t - j > top_y:
                continue
            w = weight[j - first]
            dx, px, zx, gx = x[0, j], x[1, j], x[2, j], x[3, j]
            k = t - j
            dy, py, zy, gy = y[0, k], y[1, k], y[2, k], y[3, k]
            d += w * (dx * (dy + py + zy) + (px + zx) * dy)
            p += w * (px * (py + zy) + zx * py)
            z += w * zx * zy
            g += w * (gx * (dy + py + zy + gy) + (dx + px + zx) * gy)
        out[0, t], out[1, t], out[2, t], out[3, t] = d, p, z, g


@compiled(inner=True)
def joined(x: Any, size_x: int, y: Any, size_y: int, most: int, weight: Any) -> Any:
    out = np.empty((4, min(most, size_x + size_y) + 1))
    merge(x, size_x, y, size_y, out, weight)
    return out


@compiled(inner=True)
def leaf(count: int, low: float, up: float, target: bool, most: int) -> Any:
    """Shares of one cell. low, up: probabilities that its lower and its upper bound are at the true count."""
    top = min(most, count)
    out = np.zeros((4, top + 1))
    for t in range(top + 1):
        if t < count:
            out[0, t], out[2, t] = 1.0 - low, low
        elif target:
            out[1, t], out[3, t] = 1.0 - up, up
        else:
            out[2, t] = 1.0
    return out


@compiled(inner=True)
def power(x: Any, size: int, k: int, most: int, weight: Any) -> Any:
    """Shares of k alike subtrees of `size` people each, by repeated doubling."""
    result, held = x, 0
    base, base_size = x, size
    first = True
    while k > 0:
        if k & 1:
            if first:
                result, held, first = base, base_size, False
            else:
                result = joined(result, held, base, base_size, most, weight)
                held += base_size
        k >>= 1
        if k > 0:
            base = joined(base, base_size, base, base_size, most, weight)
            base_size *= 2
    return result


@compiled
def nested_risk(
    start: Any,
    count: Any,
    times: Any,
    low: Any,
    up: Any,
    target: Any,
    parent: Any,
    node_low: Any,
    node_up: Any,
    most: int,
) -> Any:
    """Shares at the root of a tree of published sums, for 0..most sampled people: 4 x (most + 1).

    Groups of alike cells in the order of their nodes: group g in start[v]..start[v+1] belongs to node v, holds
    `times` cells of `count` people each. The last node is the root. Children come before parents.
    """
    nodes = len(parent)
    weight = np.empty(most + 2)
    sizes = np.zeros(nodes, np.int64)
    held = [np.empty((0, 0)) for _ in range(nodes)]
    for v in range(nodes):
        large, stays = 0, 1.0
        for g in range(start[v], start[v + 1]):
            if count[g] > most:  # can not be exhausted: only whether it may drop matters
                large += count[g] * times[g]
                stays *= low[g] ** times[g]
                continue
            one = power(leaf(count[g], low[g], up[g], target[g], most), count[g], times[g], most, weight)
            size = count[g] * times[g]
            if held[v].size == 0:
                held[v], sizes[v] = one, size
            else:
                held[v] = joined(held[v], sizes[v], one, size, most, weight)
                sizes[v] += size
        if large > 0:
            block = np.zeros((4, most + 1))
            block[0, :], block[2, :] = 1.0 - stays, stays
            if held[v].size == 0:
                held[v], sizes[v] = block, large
            else:
                held[v] = joined(held[v], sizes[v], block, large, most, weight)
                sizes[v] += large
        here = held[v]
        if here.size == 0:
            continue
        for t in range(here.shape[1]):  # tight below: it can not drop; tight above: a pinned cell is recovered
            here[2, t] += here[0, t] * node_low[v]
            here[0, t] *= 1.0 - node_low[v]
            here[3, t] += here[1, t] * node_up[v]
            here[1, t] *= 1.0 - node_up[v]
        above = parent[v]
        if above >= 0:
            if held[above].size == 0:
                held[above], sizes[above] = here, sizes[v]
            else:
                held[above] = joined(held[above], sizes[above], here, sizes[v], most, weight)
                sizes[above] += sizes[v]
            held[v] = np.empty((0, 0))
    return held[nodes - 1]


@compiled
def share(safe: float, hit: float) -> float:
    """hit / (safe + hit); 1 only where nothing is safe, however little it is."""
    value = hit / (safe + hit)
    return min(value, 1.0 - 2.0**-53) if safe > 0.0 else value


@compiled(inner=True)
def least_certificate(
    start: Any, count: Any, low: Any, up: Any, target: Any, parent: Any, node_low: Any, node_up: Any
) -> int:
    """The fewest people whose knowledge recovers a zero; a very large number where none does. See `nested`."""
    never = 2**62
    nodes = len(parent)
    falls = np.zeros(nodes, np.int64)
    ways = np.zeros(nodes, np.int64)
    rest = np.full(nodes, never, np.int64)
    for v in range(nodes):
        for i in range(start[v], start[v + 1]):
            if low[i] == 0.0:
                falls[v] += count[i]
        ways[v] = 0 if node_low[v] > 0.0 else falls[v]
        if parent[v] >= 0:
            falls[parent[v]] += ways[v]
    least = never
    for v in range(nodes - 1, -1, -1):
        w = parent[v]
        if node_up[v] > 0.0:
            rest[v] = 0
        elif w >= 0 and rest[w] < never:
            rest[v] = rest[w] + falls[w] - ways[v]
        for i in range(start[v], start[v + 1]):
            if not target[i]:
                continue
            if up[i] > 0.0:
                least = min(least, count[i])
            elif rest[v] < never:
                own = count[i] if low[i] == 0.0 else 0
                least = min(least, count[i] + falls[v] - own + rest[v])
    return least


@compiled
def nested_risks(
    start: Any, count: Any, low: Any, up: Any, target: Any, parent: Any, node_low: Any, node_up: Any, most: int,
    first: int, last: int, out: Any,
) -> None:  # fmt: skip
    """The recovery probability (areas x (most + 1)) of areas first..last that share a layout; n is clamped to N."""
    cells = count.shape[1]
    times = np.ones(cells, np.int64)
    for a in range(first, last):
        people = 0
        for i in range(cells):
            people += count[a, i]
        top = min(most, people)
        shares = nested_risk(
            start, count[a], times, low[a], up[a], target, parent, node_low[a], node_up[a], top
        )  # fmt: skip
        least = least_certificate(start, count[a], low[a], up[a], target, parent, node_low[a], node_up[a])
        for t in range(top + 1):
            out[a, t] = share(shares[0, t] + shares[1, t] + shares[2, t], shares[3, t])
            if t >= least and out[a, t] == 0.0:
                out[a, t] = 5e-324  # too small for a float, but not 0
        for t in range(top + 1, most + 1):
            out[a, t] = out[a, top]
