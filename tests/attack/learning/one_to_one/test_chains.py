"""The sampler beside its transition matrix, worked out move by move; and beside exact marginals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from confide.attack.learning.one_to_one import marginals as module
from confide.attack.learning.one_to_one.chains import Parts, Rows, State, sweeps
from confide.attack.learning.one_to_one.sampled import r_hat, sweeps_for
from tests.helpers.matchings import brute, matchings, matrix, solved

CYCLE = np.eye(4) + np.roll(np.eye(4), 1, axis=1)


class Twin:
    """All states that the chain may be in, their weights, and the chance of every move, as the page says it."""

    def __init__(self, R: Any, people: int | None, hole: float) -> None:
        self.R, (self.t, self.r) = R, R.shape
        n = max(self.t, self.r) if people is None else people
        self.base = n - self.t - self.r
        self.least = max(-self.base, 0)
        self.hole = hole
        self.w0 = hole if people is None or n == self.r else float(n - self.r)
        self.states = [s for s in matchings(self.t, self.r) if self.weight(s) > 0]
        self.place = {s: k for k, s in enumerate(self.states)}

    def breaking(self, s: int) -> float:
        return self.base + s if s > self.least else self.hole if s == self.least else 0.0

    def weight(self, s: tuple[int, ...]) -> float:
        """The product of R, and of the weights of breaking one pair after another."""
        pairs = [(i, j) for i, j in enumerate(s) if j >= 0]
        most = min(self.t, self.r)
        broken = np.prod([self.breaking(k) for k in range(len(pairs) + 1, most + 1)])
        return float(np.prod([self.R[p] for p in pairs]) * broken)

    def moves(self, s: tuple[int, ...]) -> Any:
        """The chance of every state after one step from s."""
        out = np.zeros(len(self.states))
        for t in range(self.t):
            z = self.R[t].sum() + self.w0
            for j in range(-1 if self.w0 else 0, self.r):
                chance = (self.w0 if j < 0 else self.R[t, j]) / z / self.t
                new, accept = self.tried(s, t, j)
                out[self.place[new]] += chance * accept
                out[self.place[s]] += chance * (1 - accept)
        return out

    def tried(self, s: tuple[int, ...], t: int, j: int) -> tuple[tuple[int, ...], float]:
        R, old, new = self.R, s[t], list(s)
        pairs = sum(k >= 0 for k in s)
        if j == old:
            return s, 1.0
        owner = s.index(j) if j >= 0 and j in s else -1
        new[t] = j
        if j < 0:
            accept = self.breaking(pairs) / self.w0
        elif owner < 0:
            accept = 1.0 if old >= 0 else self.w0 / self.breaking(pairs + 1)
        elif old < 0:
            new[owner] = -1
            accept = (R[t].sum() + self.w0) / (R[owner].sum() + self.w0)
        else:
            new[owner] = old
            accept = R[owner, old] / R[owner, j]
        target = tuple(new)
        return (target, min(accept, 1.0)) if accept > 0 and target in self.place else (s, 0.0)

    @property
    def chances(self) -> Any:
        return np.array([self.moves(s) for s in self.states])


def arrays(twin: Twin) -> tuple[Rows, Parts]:
    row, col = np.nonzero(twin.R)
    start = np.searchsorted(row, np.arange(twin.t + 1))
    total = twin.R.sum(axis=1)
    upto = np.concatenate([np.cumsum(twin.R[a][twin.R[a] > 0]) / total[a] for a in range(twin.t)])
    rows = Rows(start, col, np.log(twin.R[row, col]), upto, total)
    parts = Parts(
        np.array([0, twin.t]), np.arange(twin.t), np.arange(twin.r + 1), np.array([float(twin.base)]),
        np.array([twin.least]), np.array([twin.w0]), np.array([twin.hole]),
    )  # fmt: skip
    return rows, parts


def state_of(s: tuple[int, ...], rows: Rows, r: int, seed: int) -> State:
    edge, owner = np.full(len(s), -1), np.full(r, -1)
    for i, j in enumerate(s):
        if j >= 0:
            edge[i] = rows.start[i] + int(np.flatnonzero(rows.col[rows.start[i] : rows.start[i + 1]] == j)[0])
            owner[j] = i
    pairs, key = np.array([sum(j >= 0 for j in s)]), np.array([seed * 7919 + 13], dtype=np.uint64)
    return State(edge, np.array(s), owner, pairs, np.zeros(1), key)


def run(many: int, rows: Rows, parts: Parts, state: State) -> Any:
    c, trace = len(parts.first) - 1, np.zeros((2, len(parts.first) - 1, many))
    e, a = len(rows.col), len(rows.total)
    sweeps(many, rows, parts, state, np.zeros(e), np.zeros(e), np.zeros(a), np.zeros(c), trace[0], trace[1])
    return trace[0]


R33 = np.array([[6.0, 3, 1], [6, 1, 1], [1, 1, 2]])
ZEROS = np.array([[1.0, 2, 0], [0, 1, 3], [2, 0, 1]])
CASES = [
    (R33, None, 0.0), (ZEROS, None, 0.3), (R33 / 2, 10, 0.0), (R33[:, :2], 4, 1.0), (R33[:2], None, 0.2),
    (R33[:, :2], None, 0.5), (CYCLE, None, 0.25), (ZEROS, 4, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("R", "people", "hole"), CASES)
def test_detailed_balance_of_every_move(R: Any, people: int | None, hole: float) -> None:
    twin = Twin(R, people, hole)
    chances = twin.chances
    flow = np.array([twin.weight(s) for s in twin.states])[:, None] * chances
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)))
    assert flow == pytest.approx(flow.T, abs=1e-12)
    reached = np.linalg.matrix_power(chances + np.eye(len(chances)), 60)
    assert (reached > 0).all()  # every matching leads to every other


def test_without_the_one_unplaced_a_cycle_of_four_is_not_left() -> None:
    chances = Twin(CYCLE, None, 0.0)
    assert len(chances.states) == 2
    assert chances.chances == pytest.approx(np.eye(2))


@pytest.mark.parametrize(("R", "people", "hole"), CASES)
def test_the_loop_moves_as_the_matrix_says(R: Any, people: int | None, hole: float) -> None:
    """One sweep from each of a few states: as many steps as there are targets."""
    twin = Twin(R, people, hole)
    rows, parts = arrays(twin)
    expected = np.linalg.matrix_power(twin.chances, twin.t)
    for k in range(0, len(twin.states), max(len(twin.states) // 3, 1)):
        many, seen = 3_000, np.zeros(len(twin.states))
        for seed in range(many):
            state = state_of(twin.states[k], rows, twin.r, seed)
            run(1, rows, parts, state)
            seen[twin.place[tuple(state.record.tolist())]] += 1
        error = np.sqrt(np.maximum(expected[k] * (1 - expected[k]), 1e-4) / many)
        assert (np.abs(seen / many - expected[k]) < 4.5 * error).all()


def test_the_log_weight_is_that_of_the_state() -> None:
    twin = Twin(R33 / 2, 10, 0.0)
    rows, parts = arrays(twin)
    first = twin.states[-1]
    state = state_of(first, rows, 3, 5)
    trace = run(50, rows, parts, state)
    now = tuple(state.record.tolist())
    assert trace[0, -1] == pytest.approx(np.log(twin.weight(now) / twin.weight(first)))
    for i, j in enumerate(now):
        assert j < 0 or state.owner[j] == i
    assert state.pairs[0] == sum(j >= 0 for j in now)


def drawn(R: Any, people: int | None, monkeypatch: pytest.MonkeyPatch, many: int = 4_000) -> Any:
    monkeypatch.setattr(module.sums, "STATES", 1)
    return solved(R, people=people, sweeps=many)


@pytest.mark.parametrize("people", [None, 6, 9])
@pytest.mark.parametrize("kind", ["positive", "zeros", "cycle", "wide", "tall"])
def test_sampled_marginals_are_the_exact_ones(kind: str, people: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    R = {"wide": rng.gamma(0.5, size=(3, 5)), "tall": rng.gamma(0.5, size=(5, 3)), "cycle": CYCLE}.get(
        kind, rng.gamma(0.5, size=(4, 4))
    )
    if kind == "zeros":
        R = np.where((np.add.outer(np.arange(4), np.arange(4)) % 3 == 2) & ~np.eye(4, dtype=bool), 0.0, R)
    p, _ = brute(R, people)
    found = drawn(R, people, monkeypatch)
    assert not found.exact.any()
    gap = np.abs(matrix(found, R.shape) - p)
    assert (gap < 5 * matrix(found, R.shape, found.error) + 0.01).all()
    assert found.absent == pytest.approx(1 - p.sum(axis=1), abs=0.03)
    assert np.nanmax(found.r_hat) < 1.02
    assert found.held.min() > 0.4


def test_both_matchings_of_the_cycle_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = drawn(CYCLE * np.array([[2.0], [1], [1], [1]]), None, monkeypatch)
    assert found.p == pytest.approx(np.full(8, 0.5), abs=0.05)
    uneven = CYCLE.copy()
    uneven[0, 0] = 3.0
    p, _ = brute(uneven)
    assert matrix(drawn(uneven, None, monkeypatch), (4, 4)) == pytest.approx(p, abs=0.05)


def test_the_spread_is_that_of_the_number_right(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = solved(R33)
    assert drawn(R33, None, monkeypatch).spread == pytest.approx(exact.spread, rel=0.1)


def test_chains_that_disagree_are_told() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(4, 500))
    assert r_hat(good) < 1.01
    assert r_hat(good + np.arange(4)[:, None]) > 1.5
    assert r_hat(np.linspace(0, 3, 500) + good / 10) > 1.5  # all drift the same way: halves differ
    assert r_hat(np.zeros((4, 10))) == 1.0
    assert np.isnan(r_hat(np.full((4, 10), np.nan)))
    assert sweeps_for(10) > sweeps_for(100_000) >= 100
