"""Bounds and risks of random small releases of every scheme equal those of the definition, worked out by enumeration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute
from tests.helpers.small_tables import (
    KINDS,
    NAMES,
    any_release,
    claims,
    counts_of,
    enumerated,
    few,
    releases,
    risks,
    scheme_of,
    some,
)


def limits(published):
    frame = published.bounds().sort("cell")
    assert frame["cell"].to_list() == list(range(published.layout.cells))
    assert frame["proven"].all()
    return frame["lower"].to_list(), [brute.finite(u) for u in frame["upper"].to_list()]


def at_least(more, less):
    return all(a >= b for a, b in zip(more, less, strict=True))


# The definition


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@few
@given(data=st.data())
def test_risks_equal_the_enumeration(kind, data):
    published, counts, structural, *_ = data.draw(releases(kind))
    expected = enumerated(brute.sap, claims(published), counts, structural)
    frame = cf.sap(published, known=range(int(counts.sum()) + 1), fractions=True)
    assert [Fraction(f) for f in frame["fraction"]] == expected
    assert frame["status"].unique().to_list() == ["exact"]
    for column in ("sap", "lower", "upper"):
        np.testing.assert_allclose(frame[column].to_numpy(), [float(f) for f in expected], rtol=0, atol=1e-12)
    assert frame["standard_error"].to_list() == len(expected) * [0.0]
    assert at_least(expected[1:], expected[:-1])


@pytest.mark.parametrize("kind", KINDS)
@few
@given(data=st.data())
def test_bounds_equal_the_enumeration(kind, data):
    published, counts, structural, *_ = data.draw(releases(kind))
    lower, upper = limits(published)
    assert (lower, upper) == enumerated(brute.bounds, claims(published), counts, structural)
    assert all(a <= c and (b is None or c <= b) for a, c, b in zip(lower, counts.ravel(), upper, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@few
@given(data=st.data())
def test_a_release_states_what_its_scheme_allows(kind, data):
    """The published sums are those asked for, and each interval is one that somebody who knows the scheme can state."""
    published, counts, structural, margins, cells, options = data.draw(releases(kind))
    stated = claims(published)
    sets = brute.margin_sets(counts.shape, margins, cells)
    assert sorted(map(sorted, (s for s, *_ in stated))) == sorted(map(sorted, sets))
    free = np.ones(counts.size, dtype=bool) if structural is None else ~structural.ravel()
    for (where, low, high), truth in zip(stated, published.truth, strict=True):
        assert truth == counts.ravel()[list(where)].sum()
        assert low <= truth
        assert high is None or truth <= high
        if free[list(where)].any():
            assert (low, high) in brute.outcomes(kind, int(truth), **options)


@pytest.mark.parametrize("kind", ["exact", "conventional"])
@few
@given(data=st.data())
def test_schemes_without_chance_from_the_counts_alone(kind, data):
    """Nothing of the release is read here: the twin makes its own from the counts."""
    published, counts, structural, margins, cells, options = data.draw(releases(kind))
    own = brute.release(counts, kind, margins, cells=cells, **options)
    assert risks(published, counts) == enumerated(brute.sap, own, counts, structural)


@few
@given(data=st.data())
def test_risks_of_cells_equal_the_enumeration(data):
    published, counts, structural, *_ = data.draw(releases(data.draw(st.sampled_from(KINDS))))
    own = enumerated(brute.cell_risks, claims(published), counts, structural)
    attack = published.attack(known=range(int(counts.sum()) + 1))
    told = {(row["n"], row["cell"]): row["risk"] for row in attack.cells.iter_rows(named=True)}
    for (cell,), expected in zip(brute.groups(counts, structural), own, strict=True):
        for n, risk in enumerate(expected):
            assert told[n, cell] == pytest.approx(float(risk), abs=1e-12)
    whole = brute.sap(claims(published), counts, structural)
    assert list(attack.fractions) == whole
    assert attack.smallest == brute.smallest(whole)
    zeros = brute.expected_zeros(claims(published), counts, structural)
    for n, expected in enumerate(zeros):
        total = sum(risk for (k, _), risk in told.items() if k == n)
        assert total == pytest.approx(float(expected), abs=1e-9)


@few
@given(data=st.data())
def test_risks_of_chosen_targets(data):
    published, counts, structural, *_ = data.draw(releases(data.draw(st.sampled_from(KINDS))))
    choices = [i for (i,) in brute.groups(counts, structural)]
    assume(choices)
    targets = sorted(data.draw(st.sets(st.sampled_from(choices), min_size=1)))
    expected = enumerated(brute.sap, claims(published), counts, structural, targets)
    assert risks(published, counts, targets=targets) == expected
    assert at_least(risks(published, counts), expected)


# Any constraints


@some
@given(any_release())
def test_any_constraints(release):
    counts, constraints = release
    published = cf.Published.of(cf.Table(counts), constraints)
    assert limits(published) == enumerated(brute.bounds, constraints, counts)
    whole = brute.sap(constraints, counts)
    assert risks(published, counts) == whole
    without = cf.sap(published, known=range(int(counts.sum()) + 1), prove=False)
    exact = brute.sap([({i}, c, c) for i, c in enumerate(counts.tolist())], counts)
    for relaxed, truth, most in zip(without["sap"], whole, exact, strict=True):
        assert relaxed <= float(truth) + 1e-12
        assert truth <= most


@pytest.mark.slow
@some
@given(any_release())
def test_half_integers_do_not_count_as_tables(release):
    """The case that separates integers from rationals, with other constraints beside it."""
    counts, constraints = release
    base = len(counts)
    odd = [([0], 0, 1), ([0, 1, 2], 2, 2), ([0, 2, 3], 2, 2), ([0, 1, 3], 2, 2)]
    both = np.concatenate([counts, [0, 1, 1, 1]])
    joined = constraints + [([base + i for i in where], low, high) for where, low, high in odd]
    published = cf.Published.of(cf.Table(both), joined)
    assert risks(published, both) == (int(both.sum()) + 1) * [Fraction(1)]
    assert limits(published)[1][base] == 0


# More published, more known


@pytest.mark.parametrize("kind", ["exact", "conventional"])
@few
@given(data=st.data())
def test_publishing_more_never_lowers_the_risk(kind, data):
    counts = data.draw(counts_of(((3,), (2, 2), (2, 3), (2, 2, 2))))
    scheme, _ = data.draw(scheme_of(kind, counts.size))
    table = cf.Table(counts, names=NAMES[: counts.ndim])
    none, total, every = (risks(table.publish(scheme, margins=m), counts) for m in ("none", "total", "all"))
    alone = risks(table.publish(scheme, margins="all", cells=False), counts)
    assert at_least(total, none)
    assert at_least(every, total)
    assert at_least(every, alone)
    assert at_least(risks(table.publish(cf.Exact()), counts), every)


@pytest.mark.parametrize("kind", ["conventional", "random", "small", "key"])
@few
@given(data=st.data())
def test_sums_of_published_cells_tell_nothing_more(kind, data):
    counts = data.draw(counts_of(((3,), (2, 2), (2, 3), (2, 2, 2))))
    scheme, _ = data.draw(scheme_of(kind, counts.size))
    table, seed = cf.Table(counts, names=NAMES[: counts.ndim]), data.draw(st.integers(0, 2**16))
    summed = table.publish(scheme, margins="all", totals="summed", seed=seed)
    first = {name: getattr(summed, name)[: counts.size] for name in ("values", "shown", "lower", "upper")}
    cells = replace(summed, layout=table.axes.layout("none", cells=True), **first)
    assert risks(summed, counts) == risks(cells, counts) == enumerated(brute.sap, claims(cells), counts)
    assert limits(summed) == limits(cells)


@few
@given(data=st.data())
def test_without_integer_proofs_the_risk_is_a_lower_bound(data):
    kind = data.draw(st.sampled_from(["exact", "conventional", "random", "small", "suppress"]))
    published, counts, *_ = data.draw(releases(kind, ((2, 2, 2), (2, 2, 3))))
    whole = risks(published, counts)
    without = cf.sap(published, known=range(int(counts.sum()) + 1), prove=False)
    assert set(without["status"]) <= {"exact", "lower bound", "between bounds"}
    for relaxed, truth, status in zip(without["sap"], whole, without["status"], strict=True):
        assert relaxed <= float(truth) + 1e-12
        assert status != "exact" or relaxed == pytest.approx(float(truth), abs=1e-12)


# Groupings of levels


BROAD = [0, 0, 1, 1]
GROUPED = {"b": {"broad": {"low": ["0", "1"], "high": ["2", "3"]}}}
ALL_GROUPED = [(), (0,), (1,), ((1, BROAD),), (0, (1, BROAD))]


@pytest.mark.parametrize(
    ("margins", "axes"),
    [
        ([["broad"], []], [((1, BROAD),), ()]),
        ([["a", "broad"], ["b"]], [(0, (1, BROAD)), (1,)]),
        ([["a"], ["b"], ["broad"]], [(0,), (1,), ((1, BROAD),)]),
        ("all", ALL_GROUPED),
    ],
)
@settings(few, max_examples=10)
@given(data=st.data())
def test_hierarchy(margins, axes, data):
    counts = data.draw(counts_of(((2, 4),)))
    kind = data.draw(st.sampled_from(["exact", "conventional"]))
    scheme, options = data.draw(scheme_of(kind, counts.size))
    cells = data.draw(st.booleans())
    table = cf.Table(counts, names=["a", "b"], hierarchies=GROUPED)
    published = table.publish(scheme, margins=margins, cells=cells)
    own = brute.release(counts, kind, axes, cells=cells, **options)
    assert sorted((sorted(s), a, b) for s, a, b in claims(published)) == sorted((sorted(s), a, b) for s, a, b in own)
    assert limits(published) == enumerated(brute.bounds, own, counts)
    assert risks(published, counts) == brute.sap(own, counts)


# Corners


def test_nobody_in_the_table():
    published = cf.Table(np.zeros(3, dtype=int)).publish(cf.Exact())
    with pytest.raises(cf.InputError, match="every count is 0"):
        cf.sap(published)


def test_structural_zeros_are_no_targets_but_still_help():
    """The empty cell is no secret; that it is empty tells that the other cell of its row holds everybody there."""
    counts = np.array([[0, 2], [1, 1]])
    sets = {"margins": [["a"], ["b"]], "cells": False}
    plain = cf.Table(counts, names=["a", "b"]).publish(cf.Exact(), **sets)
    known = cf.Table(counts, names=["a", "b"], structural=counts == 0).publish(cf.Exact(), **sets)
    assert limits(plain) == ([0, 1, 0, 1], [1, 2, 1, 2])
    assert limits(known) == ([0, 2, 1, 1], [0, 2, 1, 1])
    assert risks(plain, counts)[:2] == [0, Fraction(1, 4)]
    assert risks(known, counts)[:2] == [0, Fraction(1, 2)]


def test_a_cell_that_nothing_speaks_of_has_no_upper_bound():
    published = cf.Published.of(cf.Table(np.array([1, 2, 0])), [([0], 1, 1)])
    assert limits(published) == ([1, 0, 0], [1, None, None])
    assert risks(published, np.array([1, 2, 0])) == [Fraction(n, 3) for n in range(4)]
