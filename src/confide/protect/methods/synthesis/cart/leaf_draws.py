"""Draws from leaves: evenly, independently or by the Bayesian bootstrap; and numbers smoothed between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.core.random.draws import Draws
from confide.frames.columns import F64, I64
from confide.protect.methods.synthesis.cart.tree import Tree

DRAWS = ("even", "independent", "bootstrap")
SHARED = 3
"""A number that so many records have, or more, is not smoothed: it is a peak, and nobody's own."""


def from_leaves(tree: Tree, leaf: I64, how: str, draws: Draws, rows: I64, attempt: int = 0) -> NDArray[Any]:
    """A value of its leaf for each record, shape (n,). `leaf`: of each record; `rows`: numbers of records."""
    u = draws.uniform(rows, attempt)
    if how == "bootstrap":
        return np.asarray(tree.values[weighted(tree, leaf, draws, u)])
    if how == "even" and not attempt:
        u = evenly(leaf, u, draws.of("place").uniform(rows))
    size = tree.starts[leaf + 1] - tree.starts[leaf]
    return np.asarray(tree.values[tree.starts[leaf] + np.minimum((u * size).astype(np.int64), size - 1)])


def evenly(leaf: I64, u: F64, inside: F64) -> F64:
    r"""Numbers in [0, 1), each uniform by itself; of the m records of a leaf one is in each of m equal parts.

    .. math:: u_i' = (\pi_i + v_i) / m

    with :math:`\pi_i` the rank of u among records of the leaf, from 0, and v (`inside`) uniform.

    >>> leaf, u = np.array([0, 0, 0, 1]), np.array([0.9, 0.1, 0.5, 0.2])
    >>> (3 * evenly(leaf, u, np.zeros(4))).round().astype(int).tolist()
    [2, 0, 1, 0]
    """
    order = np.lexsort((u, leaf))
    count = np.bincount(leaf)
    first = np.cumsum(count) - count
    rank = np.empty(len(leaf), dtype=np.int64)
    rank[order] = np.arange(len(leaf))
    return np.asarray((rank - first[leaf] + inside) / count[leaf])


def weighted(tree: Tree, leaf: I64, draws: Draws, u: F64) -> I64:
    """A position in the values for each record, inside its leaf, in proportion to weights drawn once for the file."""
    weight = draws.of("weight").exponential(np.arange(len(tree.values)))
    total = np.concatenate([[0.0], np.cumsum(weight)])
    low, high = total[tree.starts[leaf]], total[tree.starts[leaf + 1]]
    at = np.searchsorted(total, low + u * (high - low), side="right") - 1
    return np.asarray(np.clip(at, tree.starts[leaf], tree.starts[leaf + 1] - 1))


def smoothed(z: F64, file: F64, u: F64) -> F64:
    """Numbers moved between their neighbours in the file, evenly from half the way down to half the way up.

    `z`: values that occur in `file`, the file's values. What `SHARED` records or more have stays; the smallest and the
    largest are moved inwards alone.

    >>> smoothed(np.array([10.0, 20.0, 40.0]), np.array([10.0, 20.0, 40.0]), np.array([0.5, 0.5, 0.5])).tolist()
    [12.5, 22.5, 35.0]
    """
    values, count = np.unique(file, return_counts=True)
    half = np.diff(values) / 2
    low, high = values - np.append(0.0, half), values + np.append(half, 0.0)
    at = np.searchsorted(values, z)
    return np.where(count[at] < SHARED, low[at] + u * (high[at] - low[at]), z)
