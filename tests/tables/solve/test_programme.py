"""The wrapper of HiGHS against SciPy's own copy of it, and what it says when there is no optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from confide.tables.layout import UNBOUNDED
from confide.tables.solve.programme import INF, Programme, whole


def _random(rng, rows=3, columns=5):
    matrix = rng.integers(0, 2, (rows, columns))
    inside = matrix @ rng.integers(0, 4, columns)
    lower, upper = inside - rng.integers(0, 2, rows), inside + rng.integers(0, 3, rows)
    return matrix, lower, upper, np.zeros(columns, dtype=np.int64), rng.integers(3, 6, columns)


def _table(matrix, lower, upper, low, high):
    """Every whole-number solution."""
    every = np.array(list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))))
    sums = every @ matrix.T
    return every[np.all((sums >= lower) & (sums <= upper), axis=1)]


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_a_kept_model_gives_what_fresh_ones_give(seed):
    rng = np.random.default_rng(seed)
    matrix, lower, upper, low, high = _random(rng)
    kept = Programme(csr_matrix(matrix), lower, upper, low, high)
    for _ in range(6):
        objective = rng.normal(size=5)
        at = rng.choice(5, 2, replace=False)
        high = high.copy()
        high[at] = rng.integers(2, 7, 2)
        kept.columns(low[at], high[at], at=at)
        row = rng.integers(3, size=1)
        upper = upper.copy()
        upper[row] += 1
        kept.rows(lower[row], upper[row], at=row)
        answer = kept.maximise(objective)
        theirs = linprog(
            -objective,
            A_ub=np.vstack([matrix, -matrix]),
            b_ub=np.concatenate([upper, -lower]),
            bounds=np.column_stack([low, high]),
        )
        if theirs.status == 2:
            assert answer.status == "infeasible"
            assert np.isnan(answer.value)
            assert answer.bound == -INF
        else:
            assert answer.status == "optimal"
            assert answer.value == pytest.approx(-theirs.fun)
            assert answer.bound == answer.value
            assert objective @ answer.x == pytest.approx(answer.value)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=40)
def test_whole_number_optima_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    matrix, lower, upper, low, high = _random(rng)
    every = _table(matrix, lower, upper, low, high)
    programme = Programme(csr_matrix(matrix), lower, upper, low, high, integer=True)
    for _ in range(3):
        objective = rng.integers(-5, 6, 5)
        best, worst = programme.maximise(objective), programme.minimise(objective)
        assert best.value == best.bound == (every @ objective).max()
        assert worst.value == worst.bound == (every @ objective).min()
        for answer in (best, worst):
            x = whole(answer.x)
            assert x is not None
            assert (every == x).all(axis=1).any()


@pytest.mark.parametrize("integer", [False, True])
def test_no_end_and_no_solution_are_told_apart(integer):
    programme = Programme(csr_matrix([[1, -1]]), [0], [0], [0, 0], [UNBOUNDED, UNBOUNDED], integer=integer)
    up = programme.maximise([1.0, 0.0])
    assert (up.status, up.value, up.bound) == ("unbounded", INF, INF)
    assert not up.found
    assert programme.minimise([1.0, 0.0]).value == 0
    assert programme.minimise([-1.0, 0.0]).bound == -INF
    programme.rows([5], [5])
    programme.columns([0, 0], [4, UNBOUNDED])
    none = programme.maximise([1.0, 0.0])
    assert (none.status, none.bound, none.found) == ("infeasible", -INF, False)
    assert programme.minimise([1.0, 0.0]).bound == INF
    programme.columns([0, 0], [6, UNBOUNDED])
    assert programme.maximise([1.0, 0.0]).value == 6


@pytest.mark.parametrize("integer", [False, True])
def test_crossed_bounds_have_no_solution(integer):
    programme = Programme(csr_matrix([[1, 1]]), [0], [4], [3, 0], [2, 9], integer=integer)
    assert programme.maximise([1.0, 1.0]).status == "infeasible"


def test_some_columns_may_be_whole_and_others_not():
    programme = Programme(csr_matrix([[2, 2]]), [0], [7], [0, 0], [UNBOUNDED, 0.25], integer=np.array([True, False]))
    answer = programme.maximise([1.0, 1.0])
    assert answer.value == pytest.approx(3.25)
    assert whole(answer.x) is None


def test_programmes_without_rows_or_columns():
    free = Programme(csr_matrix((0, 2)), [], [], [1, 1], [2, UNBOUNDED])
    assert free.maximise([1.0, -1.0]).value == 1
    assert free.maximise([0.0, 1.0]).status == "unbounded"
    nothing = Programme(csr_matrix((1, 0)), [0], [1], [], [])
    assert nothing.maximise([]).value == 0
    nothing.rows([1], [1])
    assert nothing.minimise([]).status == "infeasible"


def test_a_time_limit_proves_nothing():
    """Market splits (Cornuejols and Dawande 1998) are out of reach of branch and bound."""
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 100, (5, 40))
    half = matrix.sum(axis=1) // 2
    programme = Programme(csr_matrix(matrix), half, half, np.zeros(40), np.ones(40), integer=True, seconds=0.05)
    for _ in range(2):
        answer = programme.minimise(np.ones(40))
        assert answer.status == "unproven"
        assert answer.bound <= 40
        assert not answer.found
        assert np.isnan(answer.value)


def test_the_limit_is_for_each_solve():
    rng = np.random.default_rng(1)
    matrix, lower, upper, low, high = _random(rng, 30, 100)
    programme = Programme(csr_matrix(matrix), lower, upper, low, high, seconds=1.0)
    while programme._highs.getRunTime() < 1.2:  # together longer than the limit, each a small part of it
        assert programme.maximise(rng.normal(size=100)).status == "optimal"


def test_whole():
    assert whole(np.array([2.0000005, -1.0])).tolist() == [2, -1]
    assert whole(np.array([2.00001])) is None
    assert whole(np.array([np.nan])) is None
    assert whole(np.array([])).tolist() == []
