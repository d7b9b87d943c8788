"""The expected risk of a scheme: the average over everything it might publish, written down one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import confide as cf
from tests.helpers import brute
from tests.helpers.small_tables import NAMES, counts_of, few, structural_of

SMALL = ((2,), (3,), (2, 2))


# The twin


def chances(scheme, truth):
    """What a true count may be stated to lie between, with probabilities, from the scheme's own outcomes."""
    out = {}
    for value, p in scheme.outcomes(int(truth)).items():
        (low,), (high,) = scheme.interval(np.array([value]))
        key = int(low), int(high)
        out[key] = out.get(key, Fraction(0)) + Fraction(p)
    assert abs(sum(out.values()) - 1) < Fraction(1, 10**12)
    return out


def average(scheme, counts, sets, structural=None, targets=None):
    """SAP averaged over all that the scheme may state of the sets, each drawn by itself."""
    flat = np.ravel(counts)
    ways = [list(chances(scheme, flat[sorted(s)].sum()).items()) for s in sets]
    if np.prod([float(len(w)) for w in ways]) > 150:
        raise brute.TooLarge
    mean = [Fraction(0)] * (int(flat.sum()) + 1)
    seen = 0
    for outcome in product(*ways):
        weight = np.prod([p for _, p in outcome])
        stated = [(s, low, high) for s, ((low, high), _) in zip(sets, outcome, strict=True)]
        mean = [m + weight * r for m, r in zip(mean, brute.sap(stated, flat, structural, targets), strict=True)]
        seen += weight
    return [m / seen for m in mean] if seen != 1 and isinstance(seen, Fraction) else mean


def enumerated(*args, **options):
    try:
        return average(*args, **options)
    except brute.TooLarge:
        assume(False)


def found(counts, scheme, structural=None, **options):
    table = cf.Table(counts, names=NAMES[: np.ndim(counts)], structural=structural)
    people = int(np.sum(counts))
    frame = cf.expected_sap(table, scheme, known=range(people + 1), fractions=True, **options)
    plain = cf.expected_sap(table, scheme, known=range(people + 1), **options)
    assert frame["n"].to_list() == list(range(people + 1))
    assert set(frame["status"]) == {"exact"}
    assert (frame["standard_error"] == 0).all()
    values = [Fraction(f) for f in frame["fraction"]]
    for column in (frame["sap"], plain["sap"]):
        assert column.to_list() == pytest.approx([float(v) for v in values], rel=1e-12, abs=1e-300)
    return values


def flat_sets(counts, margins):
    return brute.margin_sets(np.shape(counts), margins, cells=True)


# Random rounding


@settings(few, max_examples=25)
@given(data=st.data())
def test_random_rounding_of_cells_and_total(data):
    counts = data.draw(counts_of(SMALL))
    structural = data.draw(structural_of(counts))
    base = data.draw(st.integers(2, 4))
    scheme = cf.RoundCells(base, how="random")
    margins = data.draw(st.sampled_from(["none", "total"]))
    expected = enumerated(scheme, counts, flat_sets(counts, margins), structural)
    assert found(counts, scheme, structural, margins=margins) == expected


@settings(few, max_examples=20)
@given(data=st.data())
def test_random_rounding_of_margins_that_nest(data):
    counts = data.draw(counts_of(((2, 2), (3, 2))))
    scheme = cf.RoundCells(data.draw(st.integers(2, 3)), how="random")
    margins, names = data.draw(st.sampled_from([([(0,)], [["a"]]), ([(0,), ()], [["a"], []]), ([(1,)], [["b"]])]))
    assert found(counts, scheme, margins=names) == enumerated(scheme, counts, flat_sets(counts, margins))


@settings(few, max_examples=15)
@given(data=st.data())
def test_margins_alone(data):
    counts = data.draw(counts_of(((2, 2), (3, 2))))
    scheme = cf.RoundCells(3, how="random")
    sets = brute.margin_sets(counts.shape, [(0,), ()], cells=False)
    assert found(counts, scheme, margins=[["a"], []], cells=False) == enumerated(scheme, counts, sets)


@settings(few, max_examples=15)
@given(data=st.data())
def test_chosen_targets(data):
    counts = data.draw(counts_of(((3,), (2, 2))))
    targets = sorted(data.draw(st.sets(st.integers(0, counts.size - 1), min_size=1)))
    scheme = cf.RoundCells(3, how="random")
    expected = enumerated(scheme, counts, flat_sets(counts, "total"), None, targets)
    assert found(counts, scheme, margins="total", targets=targets) == expected


# Small counts


@pytest.mark.parametrize("totals", ["summed", "separate"])
@settings(few, max_examples=20)
@given(data=st.data())
def test_small_counts(totals, data):
    """Totals that are sums of published cells state nothing."""
    counts = data.draw(counts_of(((2,), (3,), (2, 2), (3, 2))))
    scheme = cf.SmallCounts(data.draw(st.integers(2, 4)))
    ways = [("none", "none"), ("total", "total"), ([(0,), ()], [["a"], []])]
    margins, names = data.draw(st.sampled_from(ways[: 1 + counts.ndim]))  # the margin of one variable is the cells
    sets = flat_sets(counts, "none" if totals == "summed" else margins)
    assert found(counts, scheme, margins=names, totals=totals) == enumerated(scheme, counts, sets)


# Cell keys


@settings(few, max_examples=15)
@given(data=st.data())
def test_cell_keys_of_cells(data):
    """Probabilities are floats here, so the average is one to rounding."""
    counts = data.draw(counts_of(((2,), (3,), (2, 2))))
    scheme = cf.CellKey.of(largest=1, variance=0.5)
    expected = enumerated(scheme, counts, flat_sets(counts, "none"))
    table = cf.Table(counts, names=NAMES[: counts.ndim])
    frame = cf.expected_sap(table, scheme, known=range(int(counts.sum()) + 1))
    assert set(frame["status"]) == {"exact"}
    assert frame["sap"].to_list() == pytest.approx([float(v) for v in expected], abs=1e-9)


# No chance, and simulation


def test_a_scheme_without_chance_has_one_release():
    table = cf.Table([[2, 1], [0, 3]])
    for scheme in (cf.Exact(), cf.RoundCells(3), None):
        frame = cf.expected_sap(table, scheme, margins="all", known=range(7))
        one = cf.sap(table.publish(scheme, margins="all"), known=range(7))
        assert frame.select("n", "sap").equals(one.select("n", "sap"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_and_columns_are_simulated(seed):
    """Sums that cross: the average over draws, within four standard errors of the one over all outcomes."""
    counts = np.array([[2, 1], [1, 0]])
    scheme = cf.RoundCells(2, how="random")
    sets = brute.margin_sets((2, 2), [(0,), (1,)], cells=True)
    ways = [list(chances(scheme, counts.ravel()[sorted(s)].sum()).items()) for s in sets]
    exact = np.zeros(5)
    for outcome in product(*ways):
        stated = [(s, *interval) for s, (interval, _) in zip(sets, outcome, strict=True)]
        exact += float(np.prod([p for _, p in outcome])) * np.array([float(r) for r in brute.sap(stated, counts)])
    table = cf.Table(counts, names=["a", "b"])
    options = {"margins": [["a"], ["b"]], "known": range(5), "draws": 400}
    frame = cf.expected_sap(table, scheme, seed=seed, **options)
    assert set(frame["status"]) == {"estimate"}
    gap = np.abs(frame["sap"].to_numpy() - exact)
    assert (gap <= 4 * frame["standard_error"].to_numpy() + 1e-12).all()
    assert frame.equals(cf.expected_sap(table, scheme, seed=seed, **options))


def test_cell_keys_with_a_total_are_simulated():
    """The key of a total is the sum of its cells' keys: not independent, so no closed form is claimed."""
    frame = cf.expected_sap(
        cf.Table([2, 1]), cf.CellKey.of(largest=1, variance=0.5), margins="total", known=3, draws=50
    )
    assert frame["status"].to_list() == ["estimate"]


def test_simulated_and_exact_averages_agree():
    """The closed form against the average of published releases."""
    counts, scheme = [2, 1, 5, 2, 4], cf.RoundCells(3, how="random")
    table = cf.Table(counts)
    exact = cf.expected_sap(table, scheme, margins="total", known=range(15))["sap"].to_numpy()
    many = cf.Tables(np.tile(counts, (2000, 1))).publish(scheme, margins="total", seed=4)
    each = (
        cf.sap(many, known=range(15))
        .group_by("n", maintain_order=True)
        .agg(m=pl.col("sap").mean(), s=pl.col("sap").std())
    )
    gap = np.abs(each["m"].to_numpy() - exact)
    assert (gap <= 4 * each["s"].to_numpy() / np.sqrt(2000) + 1e-12).all()


@pytest.mark.parametrize("counts", [[7, 7, 7, 2], [10, 10, 4, 1, 1], [40, 40, 40, 2]])
def test_cells_too_large_to_be_known_in_full_still_count(counts):
    """Whether any of them can fall decides if a total pins the small ones; several alike are several chances."""
    options = {"margins": "total", "known": range(4)}
    table, scheme = cf.Table(counts), cf.RoundCells(3, how="random")
    exact = [float(Fraction(f)) for f in cf.expected_sap(table, scheme, fractions=True, **options)["fraction"]]
    assert cf.expected_sap(table, scheme, **options)["sap"].to_list() == pytest.approx(exact, rel=1e-12)
