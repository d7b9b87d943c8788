"""The transportation problem beside a dense solver of another make, and the duals that prove it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from confide.attack.learning.one_to_one import levels
from confide.attack.learning.one_to_one.flows import Flow, solve
from confide.attack.learning.one_to_one.transport import NEVER, Given


def dense(cost, n, m, pool, order=None, given=None) -> tuple[Flow, tuple]:
    there = np.isfinite(cost)
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    row, col = np.nonzero(there)
    order = np.arange(len(n)) if order is None else order
    pools = np.array([0, len(pool)]), np.asarray(pool, dtype=float)
    flow = solve(start, col, cost[there], n, m, np.zeros(len(n), dtype=np.int64), pools, order, given)
    return flow, (row, col, cost[there])


def twin(cost, n, m, pool) -> float:
    """Everybody by itself, beside one column for the k-th who is not placed."""
    t = int(n.sum())
    every = np.repeat(np.repeat(np.where(np.isfinite(cost), cost, 1e9), n, axis=0), m, axis=1)
    away = np.concatenate([pool, np.full(t, NEVER)])[:t]
    full = np.hstack([every, np.tile(away, (t, 1))])
    return float(full[linear_sum_assignment(full)].sum())


@pytest.mark.parametrize("enough", [0, levels.ENOUGH])  # levels are sought, or everybody is placed one by one
@pytest.mark.parametrize("seed", range(60))
def test_as_good_as_a_dense_solver_and_proved_by_its_duals(
    seed: int, enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "ENOUGH", enough)
    rng = np.random.default_rng(seed)
    a, b = rng.integers(1, 7, 2)
    n, m = rng.integers(1, 4, a), rng.integers(1, 4, b)
    cost = rng.normal(size=(a, b)).round(rng.integers(0, 6))  # rounded: ties
    cost[rng.random((a, b)) < 0.2] = np.inf
    room = int(rng.integers(0, 6)) + max(int(n.sum() - m.sum()), 0) if seed % 2 else 0
    pool = -np.log(np.arange(room, 0, -1.0))[: int(n.sum())]
    flow, (row, col, c) = dense(cost, n, m, pool, rng.permutation(a))
    y = int(flow.away.sum())
    value = float(flow.x @ c + np.concatenate([pool, np.full(int(n.sum()), NEVER)])[:y].sum())
    assert value == pytest.approx(twin(cost, n, m, pool), abs=1e-6)
    assert np.array_equal(np.bincount(row, weights=flow.x, minlength=a) + flow.away, n)
    assert (np.bincount(col, weights=flow.x, minlength=b) <= m).all()
    reduced = c + flow.price[col] - flow.u[row]
    slack = 1e-7 if y > len(pool) else 1e-9
    assert (reduced > -slack).all()
    assert np.abs(reduced[flow.x > 0]).max(initial=0.0) < slack
    left = np.bincount(col, weights=flow.x, minlength=b) < m
    assert (flow.price[left] == 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_any_prices_will_do_to_begin_with_where_every_record_is_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one = np.ones(12, dtype=np.int64)
    cost = rng.normal(size=(12, 12))
    best = float(cost[linear_sum_assignment(cost)].sum())
    for x in (np.zeros(144, dtype=np.int64), np.eye(12, dtype=np.int64).ravel()):
        flow, (_, _, c) = dense(cost, one, one, np.zeros(0), given=Given(x, rng.normal(size=12)))
        assert float(flow.x @ c) == pytest.approx(best, abs=1e-9)
    again, _ = dense(cost, one, one, np.zeros(0), given=Given(flow.x, flow.price))
    assert np.array_equal(again.x, flow.x)
    assert again.u == pytest.approx(flow.u, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_solution_is_mended_where_costs_fall(seed: int) -> None:
    """Types of several, every record taken in the end: what is still best is kept, the rest is placed again."""
    rng = np.random.default_rng(seed)
    n, m = np.array([1, 3, 2, 4, 2]), np.array([2, 2, 3, 1, 4])
    cost = rng.normal(size=(5, 5)).round(1)
    flow, _ = dense(cost, n, m, np.zeros(0))
    lower = cost - (rng.random((5, 5)) < 0.2) * rng.gamma(1.0, size=(5, 5)).round(1)
    mended, (row, col, c) = dense(lower, n, m, np.zeros(0), given=Given(flow.x, flow.price))
    assert float(mended.x @ c) == pytest.approx(twin(lower, n, m, np.zeros(0)), abs=1e-9)
    assert np.array_equal(np.bincount(row, weights=mended.x), n)
    assert np.array_equal(np.bincount(col, weights=mended.x), m)


def test_nobody_and_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    flow, _ = dense(np.zeros((0, 3)), none, np.ones(3, dtype=np.int64), np.zeros(0))
    assert len(flow.x) == len(flow.away) == 0
    flow, _ = dense(np.full((2, 1), np.inf), np.array([1, 2]), np.array([1]), np.zeros(0))
    assert flow.away.tolist() == [1, 2]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("room", [0, 4])
def test_pools_at_the_same_time_have_the_same_answer(seed: int, room: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, wide = 12, 5
    pool_of = np.repeat(np.arange(blocks), rng.integers(1, wide, blocks))
    cost = rng.normal(size=(len(pool_of), blocks * wide)).round(1)
    there = pool_of[:, None] == np.arange(blocks * wide) // wide  # no record is a candidate in two
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    n, m = rng.integers(1, 3, len(pool_of)), rng.integers(1, 3, blocks * wide)
    pools = np.arange(blocks + 1) * room, np.tile(-np.log(np.arange(room, 0, -1.0)), blocks)
    given = start, np.nonzero(there)[1], cost[there], n, m, pool_of, pools, rng.permutation(len(pool_of))
    one, several = solve(*given), solve(*given, threads=3)
    for name in ("x", "away", "u", "price", "pool"):
        np.testing.assert_array_equal(getattr(one, name), getattr(several, name))
    assert one.x.sum() + one.away.sum() == n.sum()
