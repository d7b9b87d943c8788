r"""The level of costs at which as many are not placed as the rising costs of a pool allow.

Where costs of a pool rise, every further one not placed would ask all others there whether they can be placed instead.
So a level :math:`\lambda_q` is sought first: with the constant cost :math:`\lambda` nobody asks. The number
:math:`y(\lambda)` who are not placed falls with the level, the number :math:`k(\lambda)` of costs
:math:`h_q(k) \le \lambda` rises; where they meet, both problems have the same answer. Below that level, the
:math:`y - k` too many are taken out again and placed with the rising costs, one by one. Raising a level asks again only
those who are not placed: the duals of all others stay.
"""

from __future__ import annotations

import numpy as np

from confide.attack.learning.one_to_one.transport import NEVER, Problem, Tree
from confide.frames.columns import F64, I64, Bools

ENOUGH = 300_000
"""Those too many, times edges of their pool, that are placed one by one."""
TRIES = 60
"""Levels that are tried."""


def levelled(problem: Problem, tree: Tree, supply: I64) -> tuple[Tree, I64]:
    """All but a few targets placed, as the rising costs want it, and how many of each type are left to be placed."""
    q, b = len(problem.first), len(problem.capacity)
    of = np.repeat(np.arange(q), np.diff(problem.ends))
    edges = np.bincount(problem.pool_of[problem.rows], minlength=q)
    low, high = problem.first.copy(), np.full(q, np.inf)
    problem.place(tree, supply, low)
    over, under, grow = _upto(problem, of, low, tree.used[b:])[0], np.full(q, np.nan), np.ones(q)
    for k in range(TRIES):
        active = (over * edges > ENOUGH) & (high - low > 1e-12 * np.maximum(np.abs(low), 1.0))
        if not active.any():
            break
        middle = np.where(active, _middle(low, high, over, under, grow, k), low)
        trial = _raised(problem, tree, middle, active)
        many, short = _upto(problem, of, middle, trial.used[b:])
        good, bad = active & (short <= 0), active & (short > 0)
        tree = _merged(problem, tree, trial, good)
        low, over = np.where(good, middle, low), np.where(good, many, over)
        high, under, grow = np.where(bad, middle, high), np.where(bad, short, under), grow * 4
    return tree, _taken_out(problem, tree, over)


def _upto(problem: Problem, of: I64, level: F64, away: I64) -> tuple[I64, I64]:
    """How many too many are not placed for a level, and how many too few: costs up to the level, and below it."""
    q = len(level)
    upto = np.where(level >= NEVER, away, np.bincount(of[problem.h <= level[of]], minlength=q))
    return np.maximum(away - upto, 0), np.bincount(of[problem.h < level[of]], minlength=q) - away


def _middle(low: F64, high: F64, over: I64, under: F64, grow: F64, k: int) -> F64:
    """The next level: where a line through what is known of both ends meets zero, or in the middle; further and further
    up as long as nothing is too high."""
    share = np.where(np.isnan(under) | (k % 3 == 2), 0.5, np.clip(over / (over + np.nan_to_num(under) + 1), 0.02, 0.9))
    between = low + share * (np.where(np.isfinite(high), high, low) - low)
    return np.where(np.isfinite(high), between, np.minimum(low + grow, NEVER))


def _raised(problem: Problem, tree: Tree, level: F64, active: Bools) -> Tree:
    """The same problem with higher levels of some pools: whoever is not placed there is asked again."""
    out, e, b = tree.copy(), len(problem.col), len(problem.capacity)
    todo = np.where(active[problem.pool_of], out.x[e:], 0)
    out.x[e:] -= todo
    out.used[b:][active] = 0
    out.price[b:] = level
    problem.place(out, todo, level)
    return out


def _merged(problem: Problem, old: Tree, new: Tree, good: Bools) -> Tree:
    """The new state in some pools, the old one in others; no record is a candidate in two."""
    q = len(good)
    pool = np.zeros(len(problem.capacity), dtype=np.int64)
    pool[problem.col] = problem.pool_of[problem.rows]
    node = good[np.concatenate([pool, np.arange(q)])]
    kind = good[problem.pool_of]
    flow = np.concatenate([kind[problem.rows], kind])
    return Tree(
        np.where(flow, new.x, old.x), np.where(kind, new.u, old.u), np.where(node, new.price, old.price),
        np.where(flow, new.links, old.links), np.where(node, new.used, old.used), np.where(node, new.head, old.head),
    )  # fmt: skip


def _taken_out(problem: Problem, tree: Tree, over: I64) -> I64:
    """Those too many, of whichever types come first in their pools: how many of each type."""
    away = tree.x[len(problem.col) :]
    by = problem.order[np.argsort(problem.pool_of[problem.order], kind="stable")]
    upto = np.cumsum(away[by])
    pool = problem.pool_of[by]
    before = upto - away[by]
    base = before[np.searchsorted(pool, pool)] if len(pool) else before
    todo = np.zeros_like(away)
    todo[by] = np.clip(over[pool] - (before - base), 0, away[by])
    away -= todo
    tree.used[len(problem.capacity) :] -= over
    return todo
