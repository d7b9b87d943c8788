"""Named groups of people, fully or partly known: every table and every place of the partly known is written down."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute
from tests.helpers.small_tables import NAMES, claims, counts_of, few, margins_of, releases, scheme_of, spoken

SMALL = ((3,), (2, 2), (2, 3), (2, 2, 2))


# The twin


def fits(shape, row):
    """The cells that somebody may be in of whom this is known: a level a variable, None for not known."""
    places = list(np.ndindex(*shape))
    return [k for k, at in enumerate(places) if all(v is None or v == a for v, a in zip(row, at, strict=True))]


def placements(shape, rows):
    """Every way to place the people of a group, as counts."""
    size = int(np.prod(shape))
    kinds = {row: rows.count(row) for row in rows}
    ways = [combinations_with_replacement(fits(shape, row), k) for row, k in kinds.items()]
    found = {tuple(np.bincount([c for part in way for c in part], minlength=size)) for way in product(*ways)}
    return [np.array(r) for r in sorted(found)]


def left_over(constraints, counts, structural, rows):
    """The most unknown people of each cell, over all tables that fit and all places of the group in them."""
    flat = np.ravel(counts)
    far = len(rows) + 1 + max([int(flat.max()), *(low for _, low, _ in constraints)])
    held = {k for where, _, high in constraints if high is not None for k in where}
    ends = [({k}, 0, far) for k in range(len(flat)) if k not in held]  # far enough to leave room for one more
    tables = brute.feasible([*constraints, *ends], flat, structural)
    left = np.full(len(flat), -1)
    for known in placements(np.shape(counts), rows):
        room = tables[(tables >= known).all(axis=1)] - known
        if len(room):
            left = np.maximum(left, room.max(axis=0))
    return left


def possible_group(counts, rows):
    """Whether the people can all be in the true table."""
    return any((known <= np.ravel(counts)).all() for known in placements(np.shape(counts), rows))


def as_frame(rows, names):
    """People as a frame of level labels; variables that are known of nobody are sometimes no column at all."""
    columns = {n: [None if r[a] is None else str(r[a]) for r in rows] for a, n in enumerate(names)}
    return pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))


@st.composite
def groups(draw, counts, forget):
    """People of the true table, of some of whom some variables are not known."""
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    chosen = draw(st.lists(st.sampled_from(range(len(cells))), unique=True, max_size=4))
    rows = []
    for k in chosen:
        at = np.unravel_index(cells[k], counts.shape)
        rows.append(tuple(None if forget and draw(st.booleans()) else int(a) for a in at))
    return rows


def check(published, counts, structural, rows):
    try:
        left = left_over(claims(published), counts, structural, rows)
    except brute.TooLarge:
        assume(False)
    possible = np.ones(counts.size, bool) if structural is None else ~structural.ravel()
    expected = np.flatnonzero((left == 0) & possible).tolist()
    attack = published.attack(known=as_frame(rows, NAMES[: counts.ndim]))
    assert attack.recovered()["cell"].to_list() == expected
    assert attack.frame.rows() == [(len(rows), float(bool(expected)), 0.0, *2 * [float(bool(expected))], "exact")]
    assert attack.fractions == (int(bool(expected)),)
    told = dict(attack.cells.select("cell", "risk").iter_rows())
    assert told == {int(i): float(i in expected) for i in np.flatnonzero(possible)}
    assert attack.expected_zeros["expected"].to_list() == [len(expected)]
    return attack


# Against the enumeration


@pytest.mark.slow
@pytest.mark.parametrize("forget", [False, True])
@settings(few, max_examples=40)
@given(data=st.data())
def test_named_groups_equal_the_enumeration(forget, data):
    kind = data.draw(st.sampled_from(["exact", "conventional", "random", "small", "suppress"]))
    published, counts, structural, *_ = data.draw(releases(kind, SMALL))
    check(published, counts, structural, data.draw(groups(counts, forget)))


@settings(few, max_examples=15)
@given(data=st.data())
def test_sums_of_three_variables(data):
    """Programmes all the way: the sums fall into more than two families."""
    counts = data.draw(counts_of(((2, 2, 2),)))
    table = cf.Table(counts, names=NAMES)
    published = table.publish(margins=[["a", "b"], ["a", "c"], ["b", "c"]], cells=False)
    check(published, counts, None, data.draw(groups(counts, True)))


@settings(few, max_examples=30)
@given(data=st.data())
def test_a_sample_known_in_full_is_the_definition(data):
    """SAP is the share of samples that recover something as named groups."""
    published, counts, structural, *_ = data.draw(releases("conventional", ((3,), (2, 2))))
    assume(counts.sum() <= 4)
    found = brute.recovered(claims(published), counts, structural).any(axis=1)
    drawn, _ = brute.samples(counts)
    for sample, hit in zip(drawn, found, strict=True):
        rows = [
            tuple(int(a) for a in np.unravel_index(k, counts.shape)) for k in np.repeat(np.arange(counts.size), sample)
        ]
        frame = cf.sap(published, known=as_frame(rows, NAMES[: counts.ndim]))
        assert frame["sap"].to_list() == [float(hit)]
        assert frame["n"].to_list() == [len(rows)]


@settings(few, max_examples=40)
@given(data=st.data())
def test_groups_that_cannot_be_in_the_table_are_refused(data):
    counts = data.draw(counts_of(SMALL))
    names = NAMES[: counts.ndim]
    row = st.tuples(*(st.sampled_from([None, *range(s)]) for s in counts.shape))
    rows = data.draw(st.lists(row, min_size=1, max_size=4))
    margins, cells = data.draw(margins_of(counts.ndim))
    scheme, _ = data.draw(scheme_of("conventional", counts.size))
    published = cf.Table(counts, names=names).publish(scheme, margins=spoken(margins), cells=cells)
    if possible_group(counts, rows):
        assert published.attack(known=as_frame(rows, names)).frame["n"].to_list() == [len(rows)]
    else:
        with pytest.raises(cf.InputError):
            published.attack(known=as_frame(rows, names))


@settings(few, max_examples=30)
@given(data=st.data())
def test_groups_and_sums_as_targets(data):
    """A sum of cells is recovered where no unknown person can be in any of them."""
    published, counts, structural, *_ = data.draw(releases("conventional", ((2, 2), (2, 3))))
    rows = data.draw(groups(counts, True))
    axis = data.draw(st.sampled_from([0, 1]))
    try:
        left = left_over(claims(published), counts, structural, rows)
    except brute.TooLarge:
        assume(False)
    possible = np.ones(counts.size, bool) if structural is None else ~structural.ravel()
    sets = [[i for i in where if possible[i]] for where in brute.margin(counts.shape, (axis,))]
    hit = any(where and (left[where] == 0).all() for where in sets)
    frame = cf.sap(published, known=as_frame(rows, NAMES[:2]), aggregates=[[NAMES[axis]]])
    assert frame["sap"].to_list() == [float(hit)]


# By hand

PLAIN = cf.Table([[1, 2], [3, 1]], names=["sex", "ill"], levels=[["m", "f"], ["no", "yes"]])


def test_nobody_known_is_the_release_alone():
    published = cf.Table([2, 0], names=["ill"]).publish()
    attack = published.attack(known=pl.DataFrame({"ill": []}, schema={"ill": pl.String}))
    assert attack.frame.select("n", "sap", "status").rows() == [(0, 1.0, "exact")]
    assert attack.recovered()["cell"].to_list() == [1]


def test_a_woman_of_whom_nothing_else_is_known():
    """Of four women one is known by her sex only; that empties nothing, as each of the others might be in either cell."""
    published = PLAIN.publish()
    some = {"sex": ["f"]}
    assert cf.sap(published, known=some)["sap"].to_list() == [0.0]
    assert cf.sap(published, known={"sex": 4 * ["f"]})["sap"].to_list() == [1.0]
    both = published.attack(known={"sex": 4 * ["f"]}).recovered()
    assert both.select("sex", "ill").rows() == [("f", "no"), ("f", "yes")]


def test_known_people_may_come_in_any_order_and_from_any_frame():
    pandas = pytest.importorskip("pandas")
    published = PLAIN.publish(cf.RoundCells(3), margins="all")
    rows = [("m", "no"), ("f", None), (None, "yes"), ("f", "no")]
    frames = []
    for order in (rows, rows[::-1]):
        columns = {"sex": [r[0] for r in order], "ill": [r[1] for r in order]}
        frames += [columns, pl.DataFrame(columns), pl.LazyFrame(columns), pandas.DataFrame(columns)]
        frames.append(pl.DataFrame(columns).select("ill", "sex"))
    first = cf.sap(published, known=frames[0]).rows()
    assert all(cf.sap(published, known=f).rows() == first for f in frames)


def test_more_people_than_a_cell_has_are_refused_without_naming_it():
    with pytest.raises(cf.InputError, match="More people are said to be known") as error:
        cf.sap(PLAIN.publish(), known={"sex": ["m", "m"], "ill": ["no", "no"]})
    assert "'no'" not in str(error.value)


def test_partly_known_people_beside_others_who_fill_the_cell():
    """One ill man more than there are, of whom only the illness is known."""
    crowd = {"sex": [*4 * ["f"], None, None, None], "ill": [*4 * [None], "yes", "yes", "yes"]}
    with pytest.raises(cf.InputError, match="do not fit"):
        cf.sap(PLAIN.publish(), known=crowd)


def test_numbers_with_gaps_are_the_levels_they_look_like():
    """pandas keeps whole numbers with missing ones among them as floats."""
    pandas = pytest.importorskip("pandas")
    published = cf.Table.of({"age": [1, 2, 2]}, by=["age"]).publish()
    for known in (pandas.DataFrame({"age": [1, None]}), pl.DataFrame({"age": [1.0, None]}), {"age": [1, None]}):
        assert published.attack(known=known).recovered()["cell"].to_list() == [0]


def test_booleans_are_levels_however_they_came_in():
    for table in (
        cf.Table.of({"ill": [False, True, True]}, by=["ill"]),
        cf.Table([1, 2], names=["ill"], levels=[[False, True]]),
    ):
        assert table.given({}).counts.tolist() == [1, 2]
        published = table.publish()
        assert published.attack(known={"ill": [False]}).recovered()["cell"].to_list() == [0]
        assert cf.sap(published, known=2, targets={"ill": True}, fractions=True)["fraction"].to_list() == ["1/3"]
