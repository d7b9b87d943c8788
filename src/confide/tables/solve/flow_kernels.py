"""Compiled loops on the residual graph of a table whose sums nest in two families. Numbers in, numbers out.

A graph is given by `start` (nodes + 1) and `head` (arcs, sorted by tail). Arc e is open unless gate[e] >= 0 and
shut[gate[e]]: gates are cells, which shut when all their people are known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from confide.core.run.compile import compiled


@compiled
def components(start: Any, head: Any, gate: Any, shut: Any) -> Any:
    """The strongly connected component of each node (Tarjan, without recursion)."""
    nodes = len(start) - 1
    label = np.full(nodes, -1, np.int64)
    met = np.full(nodes, -1, np.int64)
    low = np.zeros(nodes, np.int64)
    at = start[:-1].copy()
    path = np.empty(nodes, np.int64)
    stack = np.empty(nodes, np.int64)
    number, found, height = 0, 0, 0
    for root in range(nodes):
        if met[root] >= 0:
            continue
        depth = 0
        path[0] = stack[height] = root
        height += 1
        met[root] = low[root] = number
        number += 1
        while depth >= 0:
            v = path[depth]
            if at[v] < start[v + 1]:
                e = at[v]
                at[v] += 1
                if gate[e] >= 0 and shut[gate[e]]:
                    continue
                w = head[e]
                if met[w] < 0:
                    met[w] = low[w] = number
                    number += 1
                    stack[height] = w
                    height += 1
                    depth += 1
                    path[depth] = w
                elif label[w] < 0 and met[w] < low[v]:
                    low[v] = met[w]
                continue
            if low[v] == met[v]:
                while True:
                    height -= 1
                    label[stack[height]] = found
                    if stack[height] == v:
                        break
                found += 1
            depth -= 1
            if depth >= 0 and low[v] < low[path[depth]]:
                low[path[depth]] = low[v]
    return label


@compiled
def some_recovered(
    start: Any, head: Any, gate: Any, shut: Any, tail_of: Any, head_of: Any, tight: Any, group_start: Any, group: Any
) -> bool:
    """Whether all cells of some target are recovered: known in full, and with no way round to raise them."""
    label = components(start, head, gate, shut)
    for g in range(len(group_start) - 1):
        all_of_it = True
        for k in range(group_start[g], group_start[g + 1]):
            i = group[k]
            if i < 0 or not shut[i] or not (tight[i] or label[tail_of[i]] != label[head_of[i]]):
                all_of_it = False
                break
        if all_of_it:
            return True
    return False


@compiled
def smallest_set(
    start: Any, head: Any, gate: Any, shut: Any, tail_of: Any, head_of: Any, tight: Any, group_start: Any, group: Any,
    order: Any,
) -> Any:  # fmt: skip
    """A minimal part of `order` that still recovers something; the first are given up first. Changes `shut` back."""
    for i in order:
        shut[i] = True
    kept = np.ones(len(order), np.bool_)
    for k in range(len(order)):
        shut[order[k]] = False
        if some_recovered(start, head, gate, shut, tail_of, head_of, tight, group_start, group):
            kept[k] = False
        else:
            shut[order[k]] = True
    for i in order:
        shut[i] = False
    return order[kept]


@compiled(inner=True)
def _augment(start: Any, head: Any, twin: Any, room: Any, source: int, sink: int, limit: int) -> int:
    """One shortest augmenting path; returns what was pushed along it, 0 if there is none."""
    nodes = len(start) - 1
    by = np.full(nodes, -1, np.int64)
    queue = np.empty(nodes, np.int64)
    queue[0], first, last = source, 0, 1
    by[source] = -2
    while first < last and by[sink] == -1:
        v = queue[first]
        first += 1
        for e in range(start[v], start[v + 1]):
            w = head[e]
            if room[e] > 0 and by[w] == -1:
                by[w] = e
                queue[last] = w
                last += 1
    if by[sink] == -1:
        return 0
    push, v = limit, sink
    while v != source:
        e = by[v]
        push = min(push, room[e])
        v = head[twin[e]]
    v = sink
    while v != source:
        e = by[v]
        room[e] -= push
        room[twin[e]] += push
        v = head[twin[e]]
    return push


@compiled
def largest_flow(start: Any, head: Any, twin: Any, room: Any, source: int, sink: int, limit: int) -> int:
    """The largest flow from source to sink, at most `limit`. Uses up `room` (arcs); arc e and twin[e] are opposite."""
    total = 0
    while total < limit:
        push = _augment(start, head, twin, room, source, sink, limit - total)
        if push == 0:
            break
        total += push
    return total


@compiled
def largest_changes(
    start: Any, head: Any, twin: Any, room: Any, arc: Any, first: int, last: int, up: Any, down: Any, limit: int
) -> None:
    """How far each cell can rise (`up`) and fall (`down`) while all sums keep their bounds, for cells first..last.

    room[arc[i]]: by how much cell i may rise by its own bound; room[twin[arc[i]]]: by how much it may fall.
    """
    for i in range(first, last):
        e = arc[i]
        back = twin[e]
        tail, tip = head[back], head[e]
        for side in range(2):
            own = room[e] if side == 0 else room[back]
            if tail == tip or own == 0:
                change = own
            else:
                left = room.copy()
                left[e] = left[back] = 0
                a, b = (tip, tail) if side == 0 else (tail, tip)
                change = largest_flow(start, head, twin, left, a, b, min(own, limit))
            if side == 0:
                up[i] = change
            else:
                down[i] = change


@compiled
def reach(start: Any, head: Any, room: Any, source: int) -> Any:
    """The nodes that can be reached from a node over arcs with room."""
    seen = np.zeros(len(start) - 1, np.bool_)
    seen[source] = True
    queue = np.empty(len(start) - 1, np.int64)
    queue[0], first, last = source, 0, 1
    while first < last:
        v = queue[first]
        first += 1
        for e in range(start[v], start[v + 1]):
            if room[e] > 0 and not seen[head[e]]:
                seen[head[e]] = True
                queue[last] = head[e]
                last += 1
    return seen
