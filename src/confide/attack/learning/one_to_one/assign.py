r"""The best assignment of everybody, and the proof of it.

Large blocks are solved on each target's likeliest candidates. The duals of that solution then judge every pair that was
left out, in one attack on prices: no left-out record may be worth more than

.. math:: \max_j \left( \log R_{aj} - p_j \right) \le -u_a .

Pairs that break this are added and the problem is solved again. If some are left in the end, the answer is at most
:math:`\sum_a n_a \max(0, \max_j(\log R_{aj} - p_j) + u_a)` nats from the best one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from confide.attack.learning.one_to_one.candidates import Edges, Graph, joined, likeliest, lowest, sources_of, spread
from confide.attack.learning.one_to_one.flows import Flow, solve
from confide.attack.learning.one_to_one.transport import NEVER, Given
from confide.attack.learning.one_to_one.types import Types
from confide.frames.columns import F64, I64

ROUNDS = 30
"""Times that the problem is solved; then what is left is stated as a gap."""
SLACK = 1e-7
"""Nats by which a left-out pair may seem better, from rounding."""
MORE = 32
"""Left-out pairs that are added for a type, beside twice as many as it has targets."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """`x`: (E,) targets per edge of the `graph`; `away`: (A,) targets of each type that are not placed; duals `u`: (A,)
    and `price`: (B,), log R - price + u is at most 0, and 0 where x is positive.

    `gap`: nats by which the best assignment may be better, 0 where it is proved that none is; `rounds`: how often the
    problem was solved.
    """

    graph: Graph
    x: I64
    away: I64
    u: F64
    price: F64
    gap: float
    rounds: int


def assign(types: Types, graph: Graph, threads: int, seed: int = 0) -> Assignment:
    """The most probable way to give every target a record of its own, or to none where membership is unsure."""
    draws = np.random.default_rng(seed)
    order, pools = draws.permutation(len(types.supply)), absence_costs(types)
    given: Given | None = None
    for rounds in range(1, ROUNDS + 1):
        flow = _solved(types, graph, pools, order, given, draws, threads)
        gap, more = _left_out(types, graph, flow, threads)
        if not len(more[0]) and given is not None and flow.away.any():  # prices of what is left over must be 0
            flow = _solved(types, graph, pools, order, None, draws, threads)
            gap, more = _left_out(types, graph, flow, threads)
        if not len(more[0]) or rounds == ROUNDS:
            break
        before, graph = graph, joined(graph, *more)
        given = _kept(before, graph, flow) if _everything(types) else None
    return Assignment(graph, flow.x, flow.away, flow.u, flow.price, gap, rounds)


def _solved(
    types: Types, graph: Graph, pools: tuple[I64, F64], order: I64, given: Given | None, draws: np.random.Generator,
    threads: int,
) -> Flow:  # fmt: skip
    """The solution with edges and records in an order drawn by lot: among assignments that are equally probable, which
    one is found must not depend on how values are sorted, since the truth may be sorted in the same way."""
    lot = draws.permutation(len(types.capacity))
    capacity = np.empty_like(types.capacity)
    capacity[lot] = types.capacity
    edges = np.lexsort((draws.random(len(graph.col)), graph.row))
    if given is not None:
        prices = np.empty_like(given.price)
        prices[lot] = given.price
        given = Given(given.x[edges], prices)
    block = types.block
    if types.people is None:  # nobody may be left over, so that what hangs together is a pool by itself
        block = _apart(graph, len(types.capacity))
        pools = np.zeros(int(block.max(initial=0)) + 2, dtype=np.int64), pools[1]
    flow = solve(
        graph.start, lot[graph.col[edges]], -graph.log_r[edges], types.supply, capacity, block, pools, order, given,
        threads,
    )  # fmt: skip
    x = np.empty_like(flow.x)
    x[edges] = flow.x
    return replace(flow, x=x, price=flow.price[lot])


def _apart(graph: Graph, records: int) -> I64:
    """Numbers of parts that share no record, of each type of targets."""
    n = len(graph.top)
    both = sp.csr_matrix((np.ones(len(graph.col), dtype=bool), graph.col, graph.start), shape=(n, records))
    every = sp.bmat([[None, both], [both.T, None]]) if n and records else sp.csr_matrix((n, n))
    return np.unique(connected_components(every, directed=False)[1][:n], return_inverse=True)[1].astype(np.int64)


def _kept(before: Graph, graph: Graph, flow: Flow) -> Given:
    """A solution on fewer edges, to begin with on more; prices of what could not be placed come down again."""
    used = np.flatnonzero(flow.x)
    x = np.zeros(len(graph.col), dtype=np.int64)
    x[graph.place(before.row[used], before.col[used])] = flow.x[used]
    return Given(x, np.where(flow.price > NEVER / 2, flow.price - NEVER, flow.price))


def _everything(types: Types) -> bool:
    """Whether every record is somebody's, once everybody is placed."""
    return types.people is None and int(types.supply.sum()) == int(types.capacity.sum())


def absence_costs(types: Types) -> tuple[I64, F64]:
    r"""What the k-th absent target of a block costs, from the prior of a matching with s pairs.

    .. math:: \frac{(N-T)_{r-s}}{(N)_r}: \qquad h(k) = -\log(N - r - k + 1), \quad k = 1, \dots, \min(T, N - r)
    """
    if types.people is None:
        return np.zeros(2, dtype=np.int64), np.zeros(0)
    targets = np.bincount(types.block, weights=types.supply, minlength=len(types.people)).astype(np.int64)
    many = np.minimum(targets, types.people - types.size)
    k = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    costs = -np.log(np.repeat(types.people - types.size, many) - k)
    return np.concatenate([[0], np.cumsum(many)]).astype(np.int64), costs


def _left_out(types: Types, graph: Graph, flow: Flow, threads: int) -> tuple[float, Edges]:
    """How far left-out pairs could improve the answer, and the best of those that could."""
    gap, found = 0.0, [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
    for source, mine in sources_of(types, np.flatnonzero(~graph.whole)):
        wanted, of = np.unique(source.kernel[mine], return_inverse=True)
        a, price = mine + source.first, lowest(source, flow.price)
        targets = np.bincount(of, weights=types.supply[a]).astype(np.int64)
        target, record, log_w, peak = likeliest(source, wanted, MORE + 2 * targets, price, threads)
        excess = peak[of] - source.log_absent[mine] + flow.u[a]
        gap += float((types.supply[a] * np.where(excess > SLACK, excess, 0.0)).sum())
        bad = np.isin(target, wanted[of[excess > SLACK]])
        rows, cols, log_r = spread(source, (target[bad], record[bad], log_w[bad] + price[record[bad]]))
        keep = (graph.place(rows, cols) < 0) & (flow.price[cols] - log_r - flow.u[rows] < -SLACK)
        found.append((rows[keep], cols[keep], log_r[keep]))
    return gap, tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # type: ignore[return-value]
