r"""The best assignment of types of targets to types of records: a transportation problem, solved exactly.

.. math:: \min_x \sum_{ab} c_{ab} x_{ab} + \sum_q \sum_{k \le y_q} h_q(k),
   \qquad \sum_b x_{ab} + y_a = n_a, \quad \sum_a x_{ab} \le m_b, \quad y_q = \sum_{a \in q} y_a

where :math:`y_a` targets are not placed and :math:`h_q(k)`, rising in k, is what the k-th one not placed costs in its
pool q. Successive shortest paths with duals: :math:`u_a \le c_{ab} + p_b` everywhere, with equality where x is
positive, and a record that is left over has price 0. So the duals prove what they solve.

Notation
--------
edge : (a, b), in rows start[a]..start[a+1]-1; the edge of a to its pool is number E + a
node : a type of records b < B, or the pool B + q
"""

from __future__ import annotations

from dataclasses import dataclass

from confide.attack.learning.one_to_one.levels import levelled
from confide.attack.learning.one_to_one.transport import Given, Problem
from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class Flow:
    """`x`: (E,) targets per edge; `away`: (A,) not placed; duals `u`: (A,), `price`: (B,), `pool`: (Q,)."""

    x: I64
    away: I64
    u: F64
    price: F64
    pool: F64


def solve(
    start: I64, col: I64, cost: F64, supply: I64, capacity: I64, pool_of: I64, pools: tuple[I64, F64], order: I64,
    given: Given | None = None, threads: int = 1,
) -> Flow:  # fmt: skip
    """The best flow. `pools`: where the costs of each begin, and these; those beyond are `NEVER`. `order`: who first.
    `threads`: pools are worked on at the same time, with the same answer; no record may be a candidate in two.

    `given`: a solution of another problem to begin with, of which is kept what is still best. That is right only where
    in the end every record is taken: else one left over would keep its price, and the duals would prove nothing.
    """
    problem = Problem(start, col, cost, capacity, pool_of, *pools, order, threads)
    tree, placed = problem.begin(given)
    left = supply - placed
    if len(pools[1]):
        tree, left = levelled(problem, tree, supply)
    problem.place(tree, left)
    e, b = len(col), len(capacity)
    return Flow(tree.x[:e], tree.x[e:], tree.u, tree.price[:b], tree.price[b:])
