"""What a recovered zero says of somebody in the table: full, partial, or a combination; from the words alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute
from tests.helpers.small_tables import NAMES, claims, counts_of, few, releases, structural_of

STRENGTH = {"full": 2, "partial": 1, "combination": 0}
COUNTY = [["A", "B"], ["White", "Black", "Other"]]


# The twin


def alike(places, zero, keys):
    """Where somebody may be who has the levels of the zero in the keys."""
    return [p for p in places if all(p[k] == zero[k] for k in keys)]


def said(places, zero, keys):
    """The tag of a zero for somebody of whom the keys are known; None where nobody is left to whom it applies."""
    left = alike(places, zero, keys)
    if not left:
        return None
    if len(left) == 1:
        return "full"
    others = [a for a in range(len(zero)) if a not in keys]
    ruled_out = any(all(p[a] != zero[a] for p in left) for a in others)
    return "partial" if ruled_out else "combination"


def strongest(places, zero):
    """The strongest tag of all sets of keys, and how few keys it takes."""
    every = [k for size in range(len(zero)) for k in combinations(range(len(zero)), size)]
    tags = [(STRENGTH[said(places, zero, k) or "combination"], -len(k)) for k in every]
    return max(tags)


def check(table, recovered, places):
    """Frames of `recovered` against the twin; `recovered(keys)` makes them."""
    shape = table.counts.shape
    for row in recovered(None).iter_rows(named=True):
        zero = tuple(int(a) for a in np.unravel_index(row["cell"], shape))
        assert [row[n] for n in table.names] == [table.levels[a][k] for a, k in enumerate(zero)]
        given_keys = [table.names.index(n) for n in row["given"].split(", ") if n]
        best, fewest = strongest(places, zero)
        assert (STRENGTH[row["tag"]], -len(given_keys)) == (best, fewest)
        assert (said(places, zero, given_keys) or "combination") == row["tag"]
    for size in range(len(shape) + 1):
        for keys in combinations(range(len(shape)), size):
            names = [table.names[k] for k in keys]
            for row in recovered(names).iter_rows(named=True):
                zero = tuple(int(a) for a in np.unravel_index(row["cell"], shape))
                assert row["tag"] == (said(places, zero, keys) or "combination")
                assert row["given"] == ", ".join(names)


# Against the twin


@settings(few, max_examples=40)
@given(data=st.data())
def test_zeros_of_an_exact_table(data):
    counts = data.draw(counts_of(((3,), (2, 2), (2, 3), (3, 3), (2, 2, 2), (2, 2, 3))))
    structural = data.draw(structural_of(counts))
    table = cf.Table(counts, names=NAMES[: counts.ndim], structural=structural)
    attack = table.publish().attack(known=0)
    empty = (counts == 0) & (True if structural is None else ~structural)
    assert attack.recovered()["cell"].to_list() == np.flatnonzero(empty).tolist()
    check(table, attack.recovered, [tuple(p) for p in np.argwhere(counts > 0)])


@settings(few, max_examples=40)
@given(data=st.data())
def test_zeros_of_any_release(data):
    """Somebody may be wherever some table that fits has people."""
    kind = data.draw(st.sampled_from(["conventional", "random", "small", "exact"]))
    published, counts, structural, *_ = data.draw(releases(kind, ((3,), (2, 2), (2, 3))))
    _, upper = brute.bounds(claims(published), counts, structural)
    places = [tuple(p) for p, u in zip(np.ndindex(*counts.shape), upper, strict=True) if u is None or u > 0]
    check(published.table, published.attack(known=0).recovered, places)


@settings(few, max_examples=20)
@given(data=st.data())
def test_zeros_once_a_certificate_is_known(data):
    """Then the known people are no longer where somebody unknown may be."""
    published, counts, structural, *_ = data.draw(releases("conventional", ((3,), (2, 2), (2, 3))))
    attack = published.attack(known=0)
    found = attack.certificate()
    if found is None:
        return
    known = np.zeros(counts.size, dtype=int)
    known[found.frame["cell"].to_numpy()] = found.frame["people"].to_numpy()
    tables = brute.feasible(claims(published), counts, structural)
    left = (tables[(tables >= known).all(axis=1)] - known).max(axis=0)
    places = [tuple(p) for p, k in zip(np.ndindex(*counts.shape), left, strict=True) if k > 0]
    check(published.table, lambda keys: attack.certificate(keys=keys).recovered, places)
    held = np.ones(counts.size, bool) if structural is None else ~structural.ravel()
    assert found.recovered["cell"].to_list() == np.flatnonzero((left == 0) & held).tolist()


# The paper


def test_table_1_a_resident_of_county_b_is_black():
    attack = cf.Table([[15, 20, 5], [0, 30, 0]], names=["county", "race"], levels=COUNTY).publish().attack(known=0)
    assert attack.recovered().select("county", "race", "tag", "given").rows() == [
        ("B", "White", "full", "county"),
        ("B", "Other", "full", "county"),
    ]
    assert attack.recovered(keys=["race"])["tag"].to_list() == [
        "full",
        "full",
    ]  # no other White or Other is left but in A


def test_table_2_a_resident_of_county_b_is_not_white():
    attack = cf.Table([[15, 20, 5], [0, 28, 2]], names=["county", "race"], levels=COUNTY).publish().attack(known=0)
    assert attack.recovered(keys=["county"]).select("race", "tag", "given").rows() == [("White", "partial", "county")]
    assert attack.recovered(keys=[]).select("race", "tag", "given").rows() == [("White", "combination", "")]


def test_table_2_whoever_is_white_lives_in_county_a():
    attack = cf.Table([[15, 20, 5], [0, 28, 2]], names=["county", "race"], levels=COUNTY).publish().attack(known=0)
    assert attack.recovered().select("tag", "given").rows() == [("full", "race")]


# By hand


def test_one_variable_needs_no_keys():
    attack = cf.Table([4, 0, 3], names=["ill"]).publish().attack(known=0)
    assert attack.recovered().select("tag", "given").rows() == [("partial", "")]
    attack = cf.Table([4, 0], names=["ill"]).publish().attack(known=0)
    assert attack.recovered().select("tag", "given").rows() == [("full", "")]


def test_impossible_combinations_are_no_possibility():
    """Nobody of level 0 can have level 1; that nobody has level 2 leaves one possibility."""
    counts = [[3, 0, 0], [1, 1, 1]]
    mask = np.array([[False, True, False], 3 * [False]])
    attack = cf.Table(counts, names=["a", "b"], structural=mask).publish().attack(known=0)
    assert attack.recovered().select("cell", "tag", "given").rows() == [(2, "full", "a")]


def test_a_zero_among_three_variables():
    """Given any one variable, only the combination of the other two is ruled out; given two, the third is known."""
    counts = np.ones((2, 2, 2), dtype=int)
    counts[0, 0, 0] = 0
    attack = cf.Table(counts, names=["a", "b", "c"]).publish().attack(known=0)
    assert attack.recovered().select("tag", "given").rows() == [("full", "a, b")]
    for keys, tag in (([], "combination"), (["b"], "combination"), (["c", "a"], "full")):
        assert attack.recovered(keys=keys)["tag"].to_list() == [tag]


def test_unknown_keys_are_named():
    attack = cf.Table([[1, 0]], names=["sex", "ill"]).publish().attack(known=0)
    with pytest.raises(cf.InputError, match='Did you mean "sex"'):
        attack.recovered(keys=["sexe"])
