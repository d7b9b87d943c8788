r"""The pairs that matter to marginals: those that are not hopeless beside the best assignment.

With its duals, :math:`R_{aj} e^{u_a - p_j} \le 1` says how much less probable a matching becomes that uses the pair (a,
j), at best. Small blocks keep all their pairs; elsewhere pairs below :math:`e^{-23}`, about one in :math:`10^{10}`, are
left out. What is left falls apart into more components, and these are smaller.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from confide.attack.learning.one_to_one.assign import Assignment
from confide.attack.learning.one_to_one.candidates import Graph, joined, likeliest, lowest, sources_of, spread
from confide.attack.learning.one_to_one.types import Types
from confide.frames.columns import I64, Bools

FAR = 23.0
"""Nats by which a pair may lie below the best assignment."""
FEW = 16
"""Types of targets up to which a block keeps all pairs, so that its marginals are exact."""
EDGES = 4_000_000
"""Pairs of large blocks that are kept in all."""
LEVELS = (64, 512, 4096, 32768)
"""Pairs of one type that are asked for, more where that was not enough."""


def nearby(types: Types, best: Assignment, threads: int) -> Assignment:
    """The same assignment on the graph of all pairs that matter; `whole` says where none of them is missing."""
    graph = best.graph
    whole = graph.whole.copy()
    room = EDGES
    for many in LEVELS:
        left = np.flatnonzero(~whole)
        many = min(many, max(room // max(len(left), 1), 1))
        if not len(left) or many < LEVELS[0] // 2:
            break
        graph, found = _with(types, graph, best, left, many, threads)
        whole[left] = found
        room = EDGES - len(graph.col)
    keep = _matters(types, graph, best)
    x = np.zeros(len(graph.col), dtype=np.int64)
    used = np.flatnonzero(best.x)
    x[graph.place(best.graph.row[used], best.graph.col[used])] = best.x[used]
    keep |= x > 0
    return replace(best, graph=replace(graph.cut(keep), whole=whole), x=x[keep])


def _with(types: Types, graph: Graph, best: Assignment, left: I64, many: int, threads: int) -> tuple[Graph, Bools]:
    """More pairs of some types, and of which of these there are no others that matter."""
    found = np.ones(len(left), dtype=bool)
    for source, mine in sources_of(types, left):
        wanted, of = np.unique(source.kernel[mine], return_inverse=True)
        price = lowest(source, best.price)
        target, record, log_w, _ = likeliest(source, wanted, np.full(len(wanted), many), price, threads)
        least = np.full(len(source.plan.targets), np.inf)
        np.minimum.at(least, target, log_w)
        full = np.bincount(target, minlength=len(least)) >= many
        a = mine + source.first
        reduced = least[wanted[of]] - source.log_absent[mine] + best.u[a]
        found[np.searchsorted(left, a)] = ~(full[wanted[of]] & (reduced > -FAR))
        rows, cols, log_r = spread(source, (target, record, log_w + price[record]))
        keep = log_r + best.u[rows] - best.price[cols] > -FAR
        graph = joined(graph, rows[keep], cols[keep], log_r[keep])
    return graph, found


def _matters(types: Types, graph: Graph, best: Assignment) -> Bools:
    """Pairs that are kept: all of small blocks, and all that are not hopeless."""
    close = graph.log_r + best.u[graph.row] - best.price[graph.col] > -FAR
    if not types.sources:
        return close | (len(types.supply) <= FEW)
    few = np.zeros(len(types.supply), dtype=bool)
    for source in types.sources:
        block = source.plan.block_t[source.kernel]
        few[source.first : source.last] = np.bincount(block)[block] <= FEW
    return close | (few & graph.whole)[graph.row]
