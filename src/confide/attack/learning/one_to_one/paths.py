"""Shortest paths of the transportation problem: the loops that place one type of targets after another."""

from __future__ import annotations

import numpy as np

from confide.core.run.compile import compiled


@compiled(inner=True)
def sift_up(heap, at, place, key):  # type: ignore[no-untyped-def]
    """Move the node at a place of the heap towards its root."""
    node = heap[place]
    while place > 0 and key[heap[(place - 1) // 2]] > key[node]:
        heap[place] = heap[(place - 1) // 2]
        at[heap[place]] = place
        place = (place - 1) // 2
    heap[place] = node
    at[node] = place


@compiled(inner=True)
def pop(heap, at, size, key):  # type: ignore[no-untyped-def]
    """Take the nearest node from a heap of this size."""
    node = heap[0]
    at[node] = -2
    last = heap[size - 1]
    place = 0
    while 2 * place + 1 < size - 1:
        k = 2 * place + 1
        if k + 1 < size - 1 and key[heap[k + 1]] < key[heap[k]]:
            k += 1
        if key[heap[k]] >= key[last]:
            break
        heap[place] = heap[k]
        at[heap[place]] = place
        place = k
    if size > 1:
        heap[place] = last
        at[last] = place
    return node


@compiled(inner=True)
def reach(node, edge, distance, best, near, heap, at, came, touched, counts):  # type: ignore[no-untyped-def]
    """Note that a node can be reached by an edge at a distance, if that is nearer than known."""
    if distance >= best or at[node] == -2 or (at[node] >= 0 and distance >= near[node]):
        return
    if at[node] == -1:
        touched[counts[1]] = node
        counts[1] += 1
        heap[counts[0]] = node
        at[node] = counts[0]
        counts[0] += 1
    near[node] = distance
    came[node] = edge
    sift_up(heap, at, at[node], near)


@compiled(inner=True)
def scan(  # type: ignore[no-untyped-def]
    a, distance, best, start, col, cost, pool_of, u, price, near, heap, at, came, touched, counts
):
    """All nodes that a type of targets can go to, at the distance of the type."""
    for i in range(start[a], start[a + 1]):
        gap = cost[i] + price[col[i]] - u[a]
        reach(col[i], i, distance + (gap if gap > 0.0 else 0.0), best, near, heap, at, came, touched, counts)
    gap = price[pool_of[a]] - u[a]
    reach(pool_of[a], len(col) + a, distance + (gap if gap > 0.0 else 0.0), best, near, heap, at, came, touched, counts)


@compiled
def augment(  # type: ignore[no-untyped-def]
    start, col, cost, rows, capacity, pool_of, pool_start, pool_cost, beyond, order, todo, u, price, x, links, used,
    head, near, near_a, nodes, types
):  # fmt: skip
    """Place `todo` (A,) targets more of each type, one type after another. `u`, `price`, `x` and lists are changed.

    `beyond`: (Q,) what it costs not to place more than a pool has costs for. `used`: (nodes,) how many are there;
    `head`: (nodes,) its first edge with a flow; `links`: the next one into the same node, -1 at the end, -2 for an edge
    in no such list. To work in: `near` (nodes), `near_a` (A), `nodes` (4, nodes): heap, place there (-1: not met, -2:
    done), the edge by which a node was reached, those touched; `types` (3, A): the edge by which a type was reached
    (-1: not), those reached, their pools among nodes.
    """
    many, ties = len(capacity), len(near)
    heap, at, came, touched = nodes[0], nodes[1], nodes[2], nodes[3]
    by, seen = types[0], types[1]
    shifted = types[2]
    counts = np.zeros(2, dtype=np.int64)
    for k in range(len(todo)):
        by[k], shifted[k] = -1, pool_of[k] + many
    for k in range(ties):
        at[k] = -1
    for k in range(len(order)):
        source = order[k]
        left = todo[source]
        while left > 0:
            best, end, found = np.inf, -1, 1
            counts[0], counts[1] = 0, 0
            near_a[source], by[source], seen[0] = 0.0, len(x), source
            scan(source, 0.0, best, start, col, cost, shifted, u, price, near, heap, at, came, touched, counts)
            while counts[0] > 0 and near[heap[0]] < best:
                node = pop(heap, at, counts[0], near)
                counts[0] -= 1
                if node < many:  # a record that is free has price 0, or one with which the search began
                    more = 0.0 if used[node] < capacity[node] else np.inf
                else:
                    place = pool_start[node - many] + used[node]
                    more = pool_cost[place] if place < pool_start[node - many + 1] else beyond[node - many]
                    more -= price[node]
                if near[node] + (more if more > 0.0 else 0.0) < best:
                    best, end = near[node] + (more if more > 0.0 else 0.0), node
                edge, before = head[node] if near[node] < best else -1, -1  # else it leads no further
                while edge >= 0:
                    after = links[edge]
                    if x[edge] == 0:  # nobody is there any more
                        if before < 0:
                            head[node] = after
                        else:
                            links[before] = after
                        links[edge] = -2
                    else:
                        before = edge
                        a = rows[edge] if edge < len(col) else edge - len(col)
                        if by[a] < 0:
                            by[a], near_a[a], seen[found] = edge, near[node], a
                            found += 1
                            scan(a, near[node], best, start, col, cost, shifted, u, price, near, heap, at, came,
                                 touched, counts)  # fmt: skip
                    edge = after
            step = left
            if end < many:
                step = min(step, capacity[end] - used[end])
            elif pool_start[end - many] + used[end] < pool_start[end - many + 1]:
                step = 1
            node = end
            while True:  # back to the source: how many can move
                edge = came[node]
                a = rows[edge] if edge < len(col) else edge - len(col)
                if by[a] == len(x):
                    break
                step = min(step, x[by[a]])
                node = col[by[a]] if by[a] < len(col) else shifted[a]
            node = end
            while True:  # and the move itself
                edge = came[node]
                a = rows[edge] if edge < len(col) else edge - len(col)
                if links[edge] == -2:
                    links[edge] = head[node]
                    head[node] = edge
                x[edge] += step
                if by[a] == len(x):
                    break
                x[by[a]] -= step
                node = col[by[a]] if by[a] < len(col) else shifted[a]
            used[end] += step
            left -= step
            for i in range(found):
                u[seen[i]] += best - near_a[seen[i]]
                by[seen[i]] = -1
            for i in range(counts[1]):
                node = touched[i]
                if at[node] == -2 and near[node] < best:
                    price[node] += best - near[node]
                at[node] = -1
