"""Targets that are sums of cells, or some cells only: recovered where the largest sum is that of the sample."""

from __future__ import annotations

from itertools import combinations

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
)

SMALL = ((3,), (2, 2), (2, 3), (2, 2, 2))


def possible(counts, structural):
    return np.ones(counts.size, bool) if structural is None else ~np.ravel(structural)


def sets_of(counts, structural, margins):
    """The entries of margins as sets of possible cells; those with none are no targets."""
    free = possible(counts, structural)
    every = [[i for i in where if free[i]] for axes in margins for where in brute.margin(counts.shape, axes)]
    return [s for s in every if s]


@st.composite
def some_margins(draw, dims):
    every = [axes for k in range(dims + 1) for axes in combinations(range(dims), k)]
    return draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))


@pytest.mark.parametrize("kind", KINDS)
@settings(few, max_examples=12)
@given(data=st.data())
def test_aggregates_equal_the_enumeration(kind, data):
    shapes = SMALL[:3] if kind == "controlled" else SMALL
    published, counts, structural, *_ = data.draw(releases(kind, shapes))
    margins = data.draw(some_margins(counts.ndim))
    sets = sets_of(counts, structural, margins)
    expected = enumerated(brute.sap, claims(published), counts, structural, sets)
    names = [[NAMES[a] for a in axes] for axes in margins]
    attack = published.attack(known=range(int(counts.sum()) + 1), aggregates=names)
    assert list(attack.fractions) == expected
    assert attack.exact
    assert attack.smallest == brute.smallest(expected)
    np.testing.assert_allclose(attack.frame["sap"], [float(f) for f in expected], rtol=0, atol=1e-12)


@settings(few, max_examples=20)
@given(data=st.data())
def test_depth_is_all_margins_of_so_many_variables(data):
    published, counts, structural, *_ = data.draw(releases("conventional", SMALL))
    depth = data.draw(st.integers(1, counts.ndim))
    margins = [axes for k in range(1, depth + 1) for axes in combinations(range(counts.ndim), k)]
    expected = enumerated(brute.sap, claims(published), counts, structural, sets_of(counts, structural, margins))
    assert risks(published, counts, depth=depth) == expected


@settings(few, max_examples=20)
@given(data=st.data())
def test_a_margin_of_all_variables_is_the_cells(data):
    published, counts, structural, *_ = data.draw(releases("conventional", SMALL))
    names = NAMES[: counts.ndim]
    assume(possible(counts, structural).any())
    assert risks(published, counts, aggregates=[names]) == risks(published, counts)
    assert risks(published, counts, aggregates=[names[::-1]]) == risks(published, counts)


@settings(few, max_examples=20)
@given(data=st.data())
def test_masks_positions_and_levels_name_the_same_targets(data):
    published, counts, structural, *_ = data.draw(releases(data.draw(st.sampled_from(KINDS)), ((2, 2), (2, 3))))
    rows = sorted(data.draw(st.sets(st.integers(0, counts.shape[0] - 1), min_size=1)))
    columns = sorted(data.draw(st.sets(st.integers(0, counts.shape[1] - 1), min_size=1)))
    mask = np.zeros(counts.shape, dtype=bool)
    mask[np.ix_(rows, columns)] = True
    wanted = [int(i) for i in np.flatnonzero(mask.ravel() & possible(counts, structural))]
    assume(wanted)
    expected = enumerated(brute.sap, claims(published), counts, structural, wanted)
    levels = {"a": [str(k) for k in rows], "b": columns}
    flat = mask.ravel()
    for targets in (mask, flat, flat.tolist(), np.flatnonzero(flat), np.flatnonzero(flat).tolist(), levels):
        assert risks(published, counts, targets=targets) == expected
    if len(rows) == 1:
        assert risks(published, counts, targets={"a": str(rows[0]), "b": columns}) == expected


@settings(few, max_examples=25)
@given(any_release(), st.data())
def test_sums_of_any_release(release, data):
    """Sets that overlap, as targets and as what is published."""
    counts, constraints = release
    table = cf.Table(counts.reshape(1, -1), names=["one", "each"])
    published = cf.Published.of(table, constraints)
    margins = data.draw(st.sampled_from([[["one"]], [["each"]], [["one"], ["each"]]]))
    sets = [[*range(counts.size)]] if margins == [["one"]] else [[i] for i in range(counts.size)]
    sets += [[*range(counts.size)]] if len(margins) == 2 else []
    expected = enumerated(brute.sap, constraints, counts, None, sets)
    assert risks(published, counts, aggregates=margins) == expected


@settings(few, max_examples=20)
@given(data=st.data())
def test_groupings_as_aggregates(data):
    counts = data.draw(counts_of(((2, 4),)))
    table = cf.Table(counts, names=["a", "b"], hierarchies={"b": {"broad": {"low": ["0", "1"], "high": ["2", "3"]}}})
    published = table.publish(cf.RoundCells(3), margins=[["a"], []])
    sets = brute.margin((2, 4), (0, (1, [0, 0, 1, 1])))
    expected = enumerated(brute.sap, claims(published), counts, None, sets)
    assert risks(published, counts, aggregates=[["a", "broad"]]) == expected


# Conditional tables


@settings(few, max_examples=30)
@given(data=st.data())
def test_given_is_the_table_of_those_people(data):
    counts = data.draw(counts_of(((2, 3), (2, 2, 3))))
    names = NAMES[: counts.ndim]
    mask = counts == 0
    keys = np.linspace(0, 0.9, counts.size).reshape(counts.shape)
    table = cf.Table(counts, names=names, structural=mask, keys=keys)
    fixed = data.draw(st.sets(st.integers(0, counts.ndim - 1), min_size=1, max_size=counts.ndim - 1))
    levels = {a: data.draw(st.integers(0, counts.shape[a] - 1)) for a in fixed}
    where = tuple(levels.get(a, slice(None)) for a in range(counts.ndim))
    for part in (
        table.given({names[a]: str(k) for a, k in levels.items()}),
        table.given(**{names[a]: k for a, k in levels.items()}),
    ):
        assert part.counts.tolist() == counts[where].tolist()
        assert part.structural.tolist() == mask[where].tolist()
        assert part.keys.tolist() == keys[where].tolist()
        assert part.names == tuple(n for a, n in enumerate(names) if a not in fixed)
        assert part.levels == tuple(v for a, v in enumerate(table.levels) if a not in fixed)
        if part.total:
            whole = cf.Table(counts[where], names=part.names, structural=mask[where])
            n = range(part.total + 1)
            assert part.publish(margins="all").attack(n).fractions == whole.publish(margins="all").attack(n).fractions


def test_given_keeps_the_groupings_of_the_others():
    table = cf.Table(
        np.arange(8).reshape(2, 4), names=["a", "b"],
        hierarchies={"b": {"broad": {"low": ["0", "1"], "high": ["2", "3"]}}, "a": {"both": {"x": ["0", "1"]}}},
    )  # fmt: skip
    part = table.given(a="1")
    assert part.margin(["broad"]).tolist() == [4 + 5, 6 + 7]
    with pytest.raises(cf.InputError):
        part.margin(["both"])


def test_given_with_nothing_given_is_the_table():
    table = cf.Table([[1, 2], [3, 0]])
    assert table.given().counts.tolist() == table.counts.tolist()


def test_a_grouping_is_no_level_to_condition_on():
    table = cf.Table([1, 2], names=["a"], hierarchies={"a": {"both": {"x": ["0", "1"]}}})
    with pytest.raises(cf.InputError, match="grouping"):
        table.given(both="x")
