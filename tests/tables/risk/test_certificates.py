"""The fewest people who recover a zero: none fewer among all samples, and these do recover it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute
from tests.helpers.small_tables import NAMES, any_release, claims, counts_of, few, releases, scheme_of

KINDS = ["exact", "conventional", "random", "small", "suppress", "key"]


def fewest(found, counts):
    """The size of the smallest sample that recovers each target (columns of `found`), None where none does."""
    sizes = brute.samples(counts)[0].sum(axis=1)
    return [int(sizes[column].min()) if column.any() else None for column in found.T]


def recovered_by(constraints, counts, structural, known):
    """Cells that nobody else can be in once these people are known."""
    tables = brute.feasible(constraints, counts, structural)
    left = (tables[(tables >= known).all(axis=1)] - known).max(axis=0)
    held = np.ones(counts.size, bool) if structural is None else ~np.ravel(structural)
    return np.flatnonzero((left == 0) & held).tolist()


def check(published, counts, structural, most, targets=None):
    """Every certificate of one release against all samples."""
    constraints = claims(published)
    try:
        found = brute.recovered(constraints, counts, structural, targets)
    except brute.TooLarge:
        assume(False)
    cells = [i for (i,) in brute.groups(counts, structural, targets)]
    sizes = dict(zip(cells, fewest(found, counts), strict=True))
    attack = published.attack(known=range(most + 1), **({} if targets is None else {"targets": targets}))
    best = min((k for k in sizes.values() if k is not None), default=None)
    assert attack.smallest == best
    for cell in (None, *cells):
        certificate = attack.certificate(cell)
        expected = best if cell is None else sizes[cell]
        if expected is None:
            assert certificate is None
            continue
        assert certificate.people == expected
        known = np.zeros(counts.size, dtype=int)
        known[certificate.frame["cell"].to_numpy()] = certificate.frame["people"].to_numpy()
        assert known.sum() == expected
        assert (known <= counts.ravel()).all()
        emptied = recovered_by(constraints, counts, structural, known)
        wanted = [i for i in emptied if i in cells]
        assert certificate.recovered["cell"].to_list() == wanted
        assert cell is None or cell in wanted
        assert wanted
        assert str(certificate).endswith("cell." if len(wanted) == 1 else "cells.")


# One tree, two trees


@pytest.mark.parametrize("kind", KINDS)
@settings(few, max_examples=15)
@given(data=st.data())
def test_sums_that_nest_in_one_or_two_families(kind, data):
    """`known` does not matter here: a certificate may take more people than were asked for."""
    published, counts, structural, *_ = data.draw(releases(kind, ((3,), (4,), (2, 2), (2, 3))))
    assume(published.layout.families is not None)
    check(published, counts, structural, data.draw(st.sampled_from([0, int(counts.sum())])))


@settings(few, max_examples=20)
@given(data=st.data())
def test_certificates_of_chosen_targets(data):
    published, counts, structural, *_ = data.draw(releases("conventional", ((3,), (2, 2), (2, 3))))
    choices = [i for (i,) in brute.groups(counts, structural)]
    assume(choices)
    targets = sorted(data.draw(st.sets(st.sampled_from(choices), min_size=1)))
    check(published, counts, structural, 0, targets)


@settings(few, max_examples=15)
@given(data=st.data())
def test_hierarchies(data):
    counts = data.draw(counts_of(((6,),)))
    groups = {
        "g": {"x": ["0", "1", "2"], "y": ["3", "4", "5"]},
        "h": {"p": ["0", "1"], "q": ["2"], "r": ["3", "4", "5"]},
    }
    scheme, _ = data.draw(scheme_of(data.draw(st.sampled_from(["conventional", "random"])), 8))
    table = cf.Table(counts, names=["a"], hierarchies={"a": groups})
    margins = data.draw(st.sampled_from([[["g"]], [["g"], []], [["h"], ["g"], []], [["h"], []]]))
    published = table.publish(scheme, margins=margins, seed=data.draw(st.integers(0, 99)))
    assert published.layout.laminar
    check(published, counts, None, 0)


# Three variables and anything else


@pytest.mark.slow
@settings(few, max_examples=20)
@given(data=st.data())
def test_three_variables(data):
    kind = data.draw(st.sampled_from(["exact", "conventional", "random"]))
    published, counts, structural, *_ = data.draw(releases(kind, ((2, 2, 2),)))
    check(published, counts, structural, int(counts.sum()))


@pytest.mark.slow
@settings(few, max_examples=40)
@given(any_release())
def test_any_constraints(release):
    counts, constraints = release
    published = cf.Published.of(cf.Table(counts), constraints)
    check(published, counts, None, int(counts.sum()))


def test_whole_numbers_matter():
    """Over the rationals the first cell could be a half; the release alone empties it."""
    sums = [([0], 0, 1), ([0, 1, 2], 2, 2), ([0, 2, 3], 2, 2), ([0, 1, 3], 2, 2)]
    attack = cf.Published.of(cf.Table([0, 1, 1, 1]), sums).attack(known=range(4))
    assert attack.smallest == 0
    assert attack.certificate().people == 0
    assert attack.certificate(0).people == 0
    assert attack.cells.filter(n=0, cell=0)["risk"].to_list() == [1.0]
    assert attack.expected_zeros["expected"].to_list()[0] >= 1


@settings(few, max_examples=15)
@given(data=st.data())
def test_certificates_of_sums(data):
    """With sums as targets the certificate is of a whole sum."""
    published, counts, structural, *_ = data.draw(releases("conventional", ((2, 2), (2, 3))))
    axis = data.draw(st.sampled_from([0, 1]))
    free = np.ones(counts.size, bool) if structural is None else ~structural.ravel()
    sets = [[i for i in where if free[i]] for where in brute.margin(counts.shape, (axis,))]
    sets = [s for s in sets if s]
    try:
        sizes = [
            k for k in fewest(brute.recovered(claims(published), counts, structural, sets), counts) if k is not None
        ]
    except brute.TooLarge:
        assume(False)
    attack = published.attack(known=range(int(counts.sum()) + 1), aggregates=[[NAMES[axis]]])
    certificate = attack.certificate()
    assert attack.smallest == min(sizes, default=None)
    assert (certificate is None) == (not sizes)
    if sizes:
        assert certificate.people == min(sizes)
        known = np.zeros(counts.size, dtype=int)
        known[certificate.frame["cell"].to_numpy()] = certificate.frame["people"].to_numpy()
        emptied = recovered_by(claims(published), counts, structural, known)
        assert any(set(s) <= set(emptied) for s in sets)


# Numbers of people


@settings(few, max_examples=20)
@given(data=st.data(), probability=st.floats(0.001, 1))
def test_at_least(data, probability):
    published, counts, structural, *_ = data.draw(releases("conventional", ((3,), (2, 2))))
    asked = sorted(data.draw(st.sets(st.integers(0, int(counts.sum())), min_size=1)))
    risks = brute.sap(claims(published), counts, structural)
    assume(all(abs(float(r) - probability) > 1e-9 for r in risks))
    expected = next((n for n in asked if risks[n] >= probability), None)
    assert published.attack(known=asked).at_least(probability) == expected


def test_words():
    attack = cf.Table([2, 1, 3]).publish().attack(known=range(4))
    assert str(attack.certificate()) == "Knowing 1 person in 1 cell empties 1 cell."
    assert str(attack.certificate(2)) == "Knowing 3 people in 1 cell empties 1 cell."
    assert str(cf.Table([0, 1]).publish().attack(known=0).certificate()) == "The release alone empties 1 cell."
    assert cf.Table([2, 6]).publish(cf.RoundCells(4)).attack(known=8).certificate() is None
    assert attack.certificate(2).frame.columns == ["cell", "v1", "people"]
