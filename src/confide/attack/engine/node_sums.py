"""Averages over beliefs for any likelihood of a number: Pr(released value) summed over the values that are believed in.

Kinds with a compiled sum of their own do not come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from confide.frames.columns import F64, I64, Records
from confide.protect.seam.likelihood import Columns, Likelihood, take

if TYPE_CHECKING:
    from confide.attack.engine.scene import Number, Scene

PAIRS = 1_000_000
"""Pairs of a record and a believed value in one go."""


def log_sums(
    scene: Scene, number: Number, like: Likelihood, rows: I64, limit: tuple[float, float] | None = None
) -> F64:
    """log of sum over believed values y of Pr(y given cell, k) Pr(z_j given y), shape (rows, K)."""
    belief = number.belief
    assert belief is not None
    k = scene.classes.size
    cell = scene.cell_r[rows]
    z = take(like.record, scene.rows[rows])
    nodes = belief.nodes
    if like.runs:
        t = like.run(*(as_targets(scene, number, like, y) for y in (nodes.first, nodes.last)))
    else:
        t = as_targets(scene, number, like, nodes.values)
    allowed = np.ones(len(nodes), dtype=bool) if limit is None else nodes.inside(*limit)
    first, last = like.band(t, z)
    out = np.full((len(rows), k), -np.inf)
    for a, b in pieces(last - first, max(PAIRS // k, 1)):
        count = (last - first)[a:b]
        j = np.repeat(np.arange(a, b), count)
        g = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first[a:b], count)
        log_l = np.where(allowed[g], like.log(take(t, g), take(z, j)), -np.inf)
        top = np.full(b - a, -np.inf)
        np.maximum.at(top, j - a, log_l)
        top = np.where(np.isfinite(top), top, 0.0)
        term = np.exp(log_l - top[j - a])[:, None] * belief.law.mass(nodes, g, cell[j])
        total = np.zeros((b - a, k))
        np.add.at(total, j - a, term)
        with np.errstate(divide="ignore"):
            out[a:b] = top[:, None] + np.log(total)
    return out


def as_targets(scene: Scene, number: Number, like: Likelihood, values: F64) -> Columns:
    """Believed values in the form in which a likelihood takes true ones."""
    model = scene.uncertain[number.item].met(scene.case.original.select([number.variable]).take(np.zeros(1, np.int64)))
    return like.target(Records([model[number.variable].with_values(values)]))


def pieces(sizes: I64, most: int) -> list[tuple[int, int]]:
    """Consecutive ranges whose sizes add up to no more than so many, at least one each."""
    total, at, out = np.cumsum(sizes), 0, []
    while at < len(sizes):
        before = total[at - 1] if at else 0
        upto = max(int(np.searchsorted(total, before + most, side="right")), at + 1)
        out.append((at, upto))
        at = upto
    return out
