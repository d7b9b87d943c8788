"""The sampler beside its transition matrix, worked out move by move; and beside exact marginals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag

from confide.attack.learning.one_to_one import marginals as module
from confide.attack.learning.one_to_one import sampled, walks
from confide.attack.learning.one_to_one.assign import assign
from confide.attack.learning.one_to_one.balance import balance
from confide.attack.learning.one_to_one.chains import Parts, Rows, State, aliases, sweeps
from confide.attack.learning.one_to_one.components import components
from confide.attack.learning.one_to_one.marginals import marginals
from confide.attack.learning.one_to_one.sampled import r_hat, sweeps_for
from tests.helpers.matchings import brute, matchings, matrix, problem, solved

CYCLE = np.eye(4) + np.roll(np.eye(4), 1, axis=1)


def put(s: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    return (*s[:i], j, *s[i + 1 :])


class Twin:
    """All states that the chain may be in, their weights, and the chance of every state after one step.

    A step is a walk through open states, in which one target u has nothing and the record h of the first one, t, is
    free; it ends in a matching. The chances of all ends are a linear system, from the table of the module.
    """

    def __init__(self, R: Any, people: int | None, w0: float, stop: float = 0.2) -> None:
        self.R, (self.t, self.r) = R, R.shape
        n = max(self.t, self.r) if people is None else people
        self.base = n - self.t - self.r
        self.least = max(-self.base, 0)
        self.w0 = w0 if people is None or n == self.r else float(n - self.r)
        self.stop, self.z = stop, R.sum(axis=1) + self.w0
        self.share = R / self.z[:, None]
        closed = people is None and self.t == self.r
        self.peak = self.share.max(axis=0) if closed else np.full(self.r, np.inf)
        self.states = [s for s in matchings(self.t, self.r) if self.weight(s) > 0]
        self.place = {s: k for k, s in enumerate(self.states)}

    def breaking(self, s: int) -> float:
        return self.base + s if s > self.least else 0.0

    def weight(self, s: tuple[int, ...]) -> float:
        """The product of R, and of the weights of breaking one pair after another."""
        pairs = [(i, j) for i, j in enumerate(s) if j >= 0]
        most = min(self.t, self.r)
        broken = np.prod([self.breaking(k) for k in range(len(pairs) + 1, most + 1)])
        return float(np.prod([self.R[p] for p in pairs]) * broken)

    def q(self, u: int, h: int) -> float:
        return self.stop + (1 - self.stop) * min(1.0, self.share[u, h] / self.peak[h]) if h >= 0 else self.stop

    def ends(self, s: tuple[int, ...], t: int, now: tuple[int, ...], u: int, moved: bool) -> Any:
        """What may come of an open state, with chance and the chance to be kept; matchings, or owners to go on with."""
        h, pairs, going = s[t], sum(j >= 0 for j in s), 1.0
        if moved:
            q = self.q(u, h)
            ratio = self.share[u, h] / self.share[t, h] if h >= 0 else self.z[t] / self.z[u]
            yield put(now, u, h), -1, q, ratio * self.q(t, h) / q
            going = 1 - q
        if self.w0:
            yield now, -1, going * self.w0 / self.z[u], self.breaking(pairs) / self.w0 if h >= 0 else 1.0
        for j in np.flatnonzero(self.R[u]).tolist():
            if j in now:
                owner = now.index(j)
                yield put(put(now, owner, -1), u, j), owner, going * self.share[u, j], 1.0
            else:
                kept = self.w0 / self.breaking(pairs + 1) if h < 0 else 1.0
                again = moved and j == h and going > 0
                yield put(now, u, j), -1, going * self.share[u, j], (1 - self.q(t, h)) / going if again else kept

    def walked(self, s: tuple[int, ...], t: int, window: range) -> Any:
        """The chance of every state after a walk from t that must end in a window."""
        first = (put(s, t, -1), t, False)
        known, todo = {first: 0}, [first]
        inner, out = [], []
        while todo:
            now, u, moved = todo.pop(0)
            out.append(np.zeros(len(self.states)))
            inner.append(dict[Any, float]())
            for new, owner, chance, kept in self.ends(s, t, now, u, moved):
                if owner >= 0:
                    node = (new, owner, True)
                    if node not in known:
                        known[node] = len(known)
                        todo.append(node)
                    inner[-1][node] = inner[-1].get(node, 0.0) + chance
                elif chance > 0:
                    accept = min(kept, 1.0) if u in window else 0.0
                    out[-1][self.place[s]] += chance * (1 - accept)
                    if accept > 0:
                        out[-1][self.place[new]] += chance * accept
        matrix = np.zeros((len(known), len(known)))
        for k, line in enumerate(inner):
            for node, chance in line.items():
                matrix[k, known[node]] += chance
        return np.linalg.solve(np.eye(len(known)) - matrix, np.array(out))[0]

    def chances(self, window: range | None = None) -> Any:
        """One step from every state, the first target drawn from a window."""
        window = range(self.t) if window is None else window
        return np.array([np.mean([self.walked(s, t, window) for t in window], axis=0) for s in self.states])


def arrays(twin: Twin, wide: int = 100) -> tuple[Rows, Parts]:
    row, col = np.nonzero(twin.R)
    start = np.searchsorted(row, np.arange(twin.t + 1))
    weight = twin.R[row, col]
    cut, other = np.empty(len(col)), np.empty(len(col), dtype=np.int64)
    aliases(start, weight, cut, other, np.empty((2, twin.r), dtype=np.int64))
    rows = Rows(start, col, np.log(weight), weight / twin.z[row], 1 / twin.z, cut, other)
    parts = Parts(
        np.array([0, twin.t]), np.arange(twin.t), np.arange(twin.r + 1), np.array([float(twin.base)]),
        np.array([twin.least]), np.array([twin.w0]), np.array([twin.stop]), twin.peak, wide,
    )  # fmt: skip
    return rows, parts


def state_of(s: tuple[int, ...], rows: Rows, r: int, seed: int) -> State:
    edge, owner = np.full(len(s), -1), np.full(r, -1)
    for i, j in enumerate(s):
        if j >= 0:
            edge[i] = rows.start[i] + int(np.flatnonzero(rows.col[rows.start[i] : rows.start[i + 1]] == j)[0])
            owner[j] = i
    pairs, key = np.array([sum(j >= 0 for j in s)]), np.array([seed * 7919 + 13], dtype=np.uint64)
    return State(edge, np.array(s), owner, pairs, key, np.zeros((3, 500), dtype=np.int64))


def run(many: int, rows: Rows, parts: Parts, state: State) -> Any:
    trace = np.zeros((2, len(parts.first) - 1, many))
    e, a = len(rows.col), len(rows.absent)
    sweeps(many, rows, parts, state, np.zeros(e), np.zeros(e), np.zeros(a), trace[0], trace[1])
    return trace[0]


R33 = np.array([[6.0, 3, 1], [6, 1, 1], [1, 1, 2]])
ZEROS = np.array([[1.0, 2, 0], [0, 1, 3], [2, 0, 1]])
CASES = [
    (R33, None, 0.0), (ZEROS, None, 0.0), (R33 / 2, 10, 0.0), (R33[:, :2], 4, 0.0), (R33[:2], None, 0.0),
    (R33[:, :2], None, 0.5), (CYCLE, None, 0.0), (ZEROS, 4, 0.0), (ZEROS, 3, 0.0), (R33 * [1, 9, 2], None, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("window", [None, range(2)])
@pytest.mark.parametrize(("R", "people", "w0"), CASES)
def test_detailed_balance_of_every_step(R: Any, people: int | None, w0: float, window: range | None) -> None:
    twin = Twin(R, people, w0)
    chances = twin.chances(window)
    flow = np.array([twin.weight(s) for s in twin.states])[:, None] * chances
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(chances)))
    assert flow == pytest.approx(flow.T, abs=1e-12)
    if window is None:
        reached = np.linalg.matrix_power(chances + np.eye(len(chances)), 60)
        assert (reached > 0).all()  # every matching leads to every other


@pytest.mark.parametrize(("R", "people", "w0"), CASES)
def test_the_loop_moves_as_the_matrix_says(R: Any, people: int | None, w0: float) -> None:
    """One sweep from each of a few states: as many steps as there are targets."""
    twin = Twin(R, people, w0)
    rows, parts = arrays(twin)
    agree(twin, rows, parts, np.linalg.matrix_power(twin.chances(), twin.t), 3_000)


def test_the_loop_goes_from_window_to_window() -> None:
    """Four targets in windows of two, whose first one has one or two: either way as the matrices say."""
    twin = Twin(CYCLE + 0.3, None, 0.0)
    rows, parts = arrays(twin, 2)
    one, two = (twin.chances(range(k, k + 1)) for k in (0, 3))
    left, middle, right = (twin.chances(range(k, k + 2)) for k in (0, 1, 2))
    powers = [np.linalg.matrix_power(m, 2) for m in (left, middle, right)]
    agree(twin, rows, parts, (one @ powers[1] @ two + powers[0] @ powers[2]) / 2, 6_000)


def agree(twin: Twin, rows: Rows, parts: Parts, expected: Any, many: int) -> None:
    for k in range(0, len(twin.states), max(len(twin.states) // 3, 1)):
        seen = np.zeros(len(twin.states))
        for seed in range(many):
            state = state_of(twin.states[k], rows, twin.r, seed)
            run(1, rows, parts, state)
            seen[twin.place[tuple(state.record.tolist())]] += 1
        error = np.sqrt(np.maximum(expected[k] * (1 - expected[k]), 1e-4) / many)
        assert (np.abs(seen / many - expected[k]) < 4.5 * error).all()


def test_walks_that_are_too_long_are_undone() -> None:
    twin = Twin(CYCLE + 0.3, None, 0.0, 0.01)
    rows, parts = arrays(twin)
    for s in twin.states:
        state = state_of(s, rows, 4, 3)._replace(path=np.zeros((3, 1), dtype=np.int64))
        run(20, rows, parts, state)
        for i, j in enumerate(state.record):
            assert state.owner[j] == i
            assert rows.col[state.edge[i]] == j


@pytest.mark.parametrize("seed", range(5))
def test_draws_by_aliases_meet_the_weights(seed: int) -> None:
    weight = np.random.default_rng(seed).gamma(0.3, size=9)
    cut, other = np.empty(9), np.empty(9, dtype=np.int64)
    start = np.array([0, 1, 1, 6, 9])
    aliases(start, weight, cut, other, np.empty((2, 9), dtype=np.int64))
    for lo, hi in pairwise(start.tolist()):
        p = np.zeros(9)
        for i in range(lo, hi):
            p[i] += cut[i] / (hi - lo)
            p[other[i]] += (1 - cut[i]) / (hi - lo)
        assert p[lo:hi] == pytest.approx(weight[lo:hi] / weight[lo:hi].sum())


def test_rows_and_columns_come_to_their_sums() -> None:
    rng = np.random.default_rng(1)
    R, n, m = rng.gamma(1.0, size=(3, 4)), np.array([2, 1, 3]), np.array([1, 2, 2, 1])
    price, start = np.zeros(4), np.arange(4) * 4
    balance(start, np.tile(np.arange(4), 3), np.log(R).ravel(), n, m, price, np.empty(4), np.empty(4), 200)
    plan = R * np.exp(-price) * m
    plan *= (n / plan.sum(axis=1))[:, None]
    assert plan.sum(axis=0) == pytest.approx(m)


def test_the_log_weight_is_that_of_the_state() -> None:
    twin = Twin(R33 / 2, 10, 0.0)
    rows, parts = arrays(twin)
    state = state_of(twin.states[-1], rows, 3, 5)
    before, after = run(1, rows, parts, state)[0, 0], 0.0
    first = tuple(state.record.tolist())
    after = run(50, rows, parts, state)[0, -1]
    now = tuple(state.record.tolist())
    assert after - before == pytest.approx(np.log(twin.weight(now) / twin.weight(first)))
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


def band(n: int, seed: int) -> Any:
    """Noisy numbers of which only neighbours can be confused: most R are 0."""
    y = np.sort(np.random.default_rng(seed).normal(size=n))
    z = y + np.random.default_rng(seed + 1).normal(size=n) * 0.3
    R = np.exp(-((y[:, None] - z) ** 2) / 0.18)
    return np.where((R > 1e-4) | np.eye(n, dtype=bool), R, 0.0)


@pytest.mark.parametrize("people", [None, 20])
@pytest.mark.parametrize("alike", [False, True])
def test_errors_are_as_large_as_is_said(alike: bool, people: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside exact marginals of 13 targets; alike: some of one type."""
    R, n, m = band(13, 2), None, None
    if alike:
        R, n, m = band(6, 3), [1, 3, 2, 2, 1, 4], [2, 1, 4, 3, 2, 1]
    types, graph = problem(R, n, m, people)
    parts = components(types, assign(types, graph, 1))
    exact = marginals(parts, None, 1, 1)
    assert exact.exact.all()
    monkeypatch.setattr(module.sums, "STATES", 1)
    runs = [marginals(parts, 500, seed, 1) for seed in range(12)]
    some = (exact.p > 0.05) & (exact.p < 0.95) & (runs[0].error > 0)
    z = np.array([(run.p - exact.p)[some] / run.error[some] for run in runs])
    assert some.sum() >= 10
    assert 0.7 < np.sqrt((z**2).mean()) < 1.3
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(12)
    assert np.nanmedian([run.r_hat for run in runs]) < 1.01


@pytest.mark.slow
def test_a_short_run_is_as_far_from_a_long_one_as_it_says() -> None:
    """A component of 120 targets, beyond sums; windows of 30 beside one window of all."""
    R = band(120, 5)
    types, graph = problem(R)
    parts = components(types, assign(types, graph, 1))
    short = marginals(parts, 200, 1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "WIDE", 30)
        long = marginals(parts, 3_000, 2, 2)
    some = (long.p > 0.01) & (long.p < 0.99) & (short.error > 0)
    z = (short.p - long.p)[some] / np.hypot(short.error[some], long.error[some])
    assert some.sum() > 1_000
    assert 0.85 < np.sqrt((z**2).mean()) < 1.15
    assert np.nanmax(short.r_hat) < 1.02
    assert np.nanmax(long.r_hat) < 1.005


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


def test_components_whose_chains_are_apart_get_more_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight components and far too few sweeps for all of them together."""
    types, graph = problem(block_diag(*(band(20, seed) for seed in range(8))))
    parts = components(types, assign(types, graph, 1))
    monkeypatch.setattr(module.sums, "STATES", 1)
    monkeypatch.setattr(sampled, "FEWEST", 20)
    monkeypatch.setattr(sampled, "WALKS", 20_000)
    found = marginals(parts, None, 1, 1)
    monkeypatch.setattr(module, "MOST", 0)  # not again
    once = marginals(parts, None, 1, 1)
    apart, still = (x.r_hat > sampled.TRUSTED for x in (once, found))
    assert 0 < apart.sum() < len(parts)
    assert still.sum() < apart.sum()
    assert found.sweeps == once.sweeps
    same = ~apart[parts.of_a][parts.best.graph.row]
    np.testing.assert_array_equal(found.p[same], once.p[same])
    assert found.error[~same].mean() < once.error[~same].mean()


def test_chains_that_disagree_are_told() -> None:
    rng = np.random.default_rng(0)
    good = rng.normal(size=(4, 500))
    assert r_hat(good) < 1.01
    assert r_hat(good + np.arange(4)[:, None]) > 1.5
    assert r_hat(np.linspace(0, 3, 500) + good / 10) > 1.5  # all drift the same way: halves differ
    assert r_hat(np.zeros((4, 10))) == 1.0
    assert np.isnan(r_hat(np.full((4, 10), np.nan)))
    assert sweeps_for(10, 10**6, True) > sweeps_for(100_000, 10**7, True) >= 100
    for edges, closed in ((10**6, False), (10**5, True)):
        assert sweeps_for(30_000, edges, closed) == 2 * sweeps_for(30_000, 10**6, True)
