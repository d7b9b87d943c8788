r"""How a value that some players make together is shared out among them (Shapley 1953).

With :math:`v(S)` the value of a set of players, :math:`v(\emptyset) = 0`, player i of V gets

.. math:: \phi_i = \sum_{S \not\ni i} \frac{|S|!\,(V - |S| - 1)!}{V!}\, [v(S \cup \{i\}) - v(S)],

the mean, over all orders in which players may come in, of what is added when i does. Shares sum to v of all players.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from confide.frames.columns import F64, I64


def exact_shares(values: F64) -> F64:
    """Shares from the values of all sets. `values`: shape (2^V, T), row S by the bits of the set; gives (V, T).

    >>> exact_shares(np.array([[0.0], [1.0], [2.0], [5.0]])).T
    array([[2., 3.]])
    """
    n = (len(values) - 1).bit_length()
    sets = np.arange(1 << n)
    size = np.array([int(s).bit_count() for s in sets])
    weight = np.array([1 / (n * comb(n - 1, k)) if k < n else 0.0 for k in range(n + 1)])
    out = np.zeros((n, values.shape[1]))
    for i in range(n):
        without = sets[(sets >> i) & 1 == 0]
        out[i] = weight[size[without]] @ (values[without | (1 << i)] - values[without])
    return out


def shares_by_order(value: Callable[[int], F64], n: int, orders: I64, done: Callable[[int], None]) -> F64:
    """Shares from orders drawn at random, shape (pairs, V): what each pair of orders gives, shape (pairs, V, T).

    Each order is taken forwards and backwards: a player who comes late in one comes early in the other. In each of them
    shares sum to the value of all, so the mean over pairs does too; its standard error is that over pairs.
    """
    zero = np.zeros_like(value((1 << n) - 1))
    pairs = np.zeros((len(orders), n, len(zero)))
    for k, order in enumerate(orders):
        for way in (order, order[::-1]):
            mask, before = 0, zero
            for i in way:
                mask |= 1 << int(i)
                after = value(mask)
                pairs[k, i] += (after - before) / 2
                before = after
            done(1)
    return pairs


def drawn_orders(n: int, orders: int) -> I64:
    """Half as many orders of n players as asked for, at random but the same every time; each is used both ways."""
    rng = np.random.default_rng([n, orders])
    return np.array([rng.permutation(n) for _ in range((orders + 1) // 2)], dtype=np.int64)
