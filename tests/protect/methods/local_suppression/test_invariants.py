"""What must hold of any file: nobody below k, bounds below the optimum below greedy, row order does not matter."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.protect.methods.local_suppression.bounds import alike, distance_bound
from confide.protect.methods.local_suppression.flows import allotted
from confide.protect.methods.local_suppression.pieces import Pieces, pieces_of
from confide.protect.methods.local_suppression.solution import left_below, solve
from tests.helpers.suppression import distance_bound as plain_bound
from tests.helpers.suppression import equals, least_cost

FILES = st.tuples(st.integers(4, 24), st.integers(1, 4), st.integers(2, 4), st.integers(0, 10**6), st.booleans())


def made(n: int, many: int, seed: int, gaps: bool, levels: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (n, many))
    return np.where(rng.random((n, many)) < 0.15, -1, codes) if gaps else codes


def pieces(codes: np.ndarray, weight: np.ndarray | None = None, asked: np.ndarray | None = None) -> Pieces:
    n = len(codes)
    weight = np.ones(n) if weight is None else weight
    return pieces_of(codes.astype(np.int64), weight, np.ones(n, dtype=bool) if asked is None else asked)[0]


def rows_of(found: Pieces, shown: bool) -> list[tuple[int, ...]]:
    table = found.shown if shown else found.codes
    return [tuple(row) for row in np.repeat(table, found.count, axis=0).tolist()]


@settings(deadline=None, max_examples=60)
@given(FILES)
def test_nobody_is_left_below_k(file: tuple[int, int, int, int, bool]) -> None:
    n, many, k, seed, gaps = file
    k = min(k, n)
    c = np.random.default_rng(seed).uniform(0.5, 3, many)
    for rule in ("own", "wildcard"):
        found = solve(pieces(made(n, many, seed, gaps)), {many: k}, c, rule, "greedy", "here")
        assert found.pieces.count.sum() == n
        shown, true = rows_of(found.pieces, True), rows_of(found.pieces, False)
        assert min(equals(shown, true, rule)) >= k
        for each in ("own", "person", "wildcard"):
            counted = np.repeat(alike(found.pieces, each, range(many)), found.pieces.count)
            assert counted.tolist() == equals(shown, true, each)
        if rule == "own":  # the stronger rule keeps the weaker ones
            assert left_below(found.pieces, {many: k}) == {"own": 0, "person": 0, "wildcard": 0}
            assert found.bound is not None
            assert found.bound <= found.cost + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.integers(4, 8), st.integers(1, 3), st.integers(2, 3), st.integers(0, 10**6), st.booleans())
def test_bounds_below_the_optimum_below_greedy(n: int, many: int, k: int, seed: int, gaps: bool) -> None:
    codes, c = made(n, many, seed, gaps), np.random.default_rng(seed).integers(1, 4, many).astype(float)
    file = pieces(codes)
    quick = solve(file, {many: k}, c, "own", "greedy", "here")
    exact = solve(file, {many: k}, c, "own", "exact", "here")
    rows = [tuple(row) for row in codes.tolist()]
    assert exact.cost == pytest.approx(least_cost(rows, k, c.tolist()))
    assert exact.bound == pytest.approx(exact.cost)
    assert quick.bound == pytest.approx(plain_bound(rows, k, c.tolist()))
    assert exact.linear is not None
    assert quick.bound is not None
    assert quick.bound <= exact.cost + 1e-9
    assert exact.linear <= exact.cost + 1e-9
    assert exact.cost <= quick.cost + 1e-9
    assert min(equals(rows_of(exact.pieces, True), rows, "own")) >= k


@settings(deadline=None, max_examples=30)
@given(FILES)
def test_row_order_does_not_matter(file: tuple[int, int, int, int, bool]) -> None:
    n, many, k, seed, gaps = file
    codes, order = made(n, many, seed, gaps), np.random.default_rng(seed).permutation(n)
    weight = np.random.default_rng(seed).integers(1, 4, n).astype(float)
    for rule in ("own", "wildcard"):
        a, b = (
            solve(pieces(x, w), {many: min(k, n)}, np.ones(many), rule, "greedy", "here").pieces
            for x, w in ((codes, weight), (codes[order], weight[order]))
        )
        assert np.array_equal(a.codes, b.codes)
        assert np.array_equal(a.hidden, b.hidden)
        assert np.array_equal(a.count, b.count)


@settings(deadline=None, max_examples=30)
@given(FILES)
def test_every_set_of_a_size_passes(file: tuple[int, int, int, int, bool]) -> None:
    n, many, k, seed, gaps = file
    sizes = {size: min(k + many - size, n) for size in range(1, many + 1)}
    for rule in ("own", "wildcard"):
        found = solve(pieces(made(n, many, seed, gaps)), sizes, np.ones(many), rule, "greedy", "here").pieces
        shown, true = rows_of(found, True), rows_of(found, False)
        for size, least in sizes.items():
            for within in combinations(range(many), size):
                part = [[tuple(row[v] for v in within) for row in rows] for rows in (shown, true)]
                assert min(equals(part[0], part[1], rule)) >= least


@settings(deadline=None, max_examples=40)
@given(FILES)
def test_only_those_at_risk_are_protected(file: tuple[int, int, int, int, bool]) -> None:
    n, many, k, seed, gaps = file
    k = min(k, n)
    codes, asked = made(n, many, seed, gaps), np.random.default_rng(seed).random(n) < 0.3
    for rule in ("own", "wildcard"):
        some = solve(pieces(codes, asked=asked), {many: k}, np.ones(many), rule, "greedy", "here")
        counted = alike(some.pieces, rule, range(many))
        assert bool((counted[some.pieces.asked] >= k).all())
        assert asked.any() or some.cost == 0


@settings(deadline=None, max_examples=30)
@given(FILES)
def test_counts_of_a_strange_release_are_kept(file: tuple[int, int, int, int, bool]) -> None:
    n, many, k, seed, gaps = file
    found = solve(pieces(made(n, many, seed, gaps)), {many: min(k, n)}, np.ones(many), "own", "greedy", "here").pieces

    def counted(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        each, of = np.unique(table, axis=0, return_inverse=True)
        return each, np.bincount(of.reshape(-1), weights=found.count)

    (y, n_y), (z, n_z) = counted(found.codes), counted(found.shown)
    true, shown, people = allotted(y, n_y, z, n_z)
    assert people.sum() == pytest.approx(n, rel=0.05)
    assert bool(((shown == -1) | (shown == true)).all())
    total = {tuple(row): 0.0 for row in y.tolist()}
    for row, p in zip(true.tolist(), people, strict=True):
        total[tuple(row)] += p
    assert [total[tuple(row)] for row in y.tolist()] == pytest.approx(n_y, rel=1e-6)


def test_bound_of_nothing_is_nothing() -> None:
    assert distance_bound(pieces(np.zeros((5, 2), dtype=np.int64)), 5, np.ones(2), (0, 1)) == 0
