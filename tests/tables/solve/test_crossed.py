"""Exact margins of two-way tables: the closed form against enumeration and against factoring."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.tables.solve.crossed import crossed_counts, crossed_poly
from confide.tables.solve.expectation import expectation
from confide.tables.solve.factoring import factor
from confide.tables.solve.factoring_route import FlowRoute
from confide.tables.solve.routes import Effort
from tests.helpers import brute

tables = st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=3).map(np.array)


def margins_only(counts, **options):
    return cf.Table(counts, **options).publish(margins="all", cells=False)


@settings(deadline=None, max_examples=60)
@given(counts=tables.filter(lambda c: 1 <= c.sum() <= 9), data=st.data())
def test_some_row_or_column_known_in_full(counts, data):
    """By the definition of the closed form, for any cut of the degree; a smaller cut is the beginning of a larger one."""
    people = int(counts.sum())
    most = data.draw(st.integers(0, people))
    found = expectation(crossed_poly(counts, most), people, most)
    sets = brute.margin_sets(counts.shape, [(0,), (1,), ()], False)
    claims = [(s, int(counts.ravel()[list(s)].sum()), int(counts.ravel()[list(s)].sum())) for s in sets]
    assert found == brute.sap(claims, counts.ravel())[: most + 1]


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**16), most=st.integers(0, 7))
def test_larger_tables_by_factoring(seed, most):
    counts = np.random.default_rng(seed).poisson(0.8, (4, 6))
    if not counts.sum():
        counts[0, 0] = 1
    published = margins_only(counts)
    most = min(most, int(counts.sum()))
    route = FlowRoute(published, [np.array([i]) for i in range(counts.size)], Effort())
    assert crossed_poly(counts, most) == factor(route.oracle(route.targets, most), most).poly
    assert route.risk(most, True).method == "closed form of exact margins"


@pytest.mark.parametrize(
    "published",
    [
        margins_only([[1, 2], [0, 1]], structural=np.array([[False, False], [True, False]])),
        cf.Table([[1, 2], [3, 1]]).publish(cf.RoundCells(3), margins="all", cells=False),
        cf.Table([[1, 2], [3, 1]]).publish(margins="all"),
        cf.Table([[1, 2], [3, 1]]).publish(margins=[["v1"], []], cells=False),
        cf.Table([[[1, 2], [3, 1]]]).publish(margins=[["v1"], ["v2"]], cells=False),
    ],
)
def test_other_releases_are_not_taken_for_it(published):
    assert crossed_counts(published, np.ones(published.layout.cells, dtype=bool)) is None
